//! A part of an experiment: some of its claims, and only the runs that they need.

use crate::Experiment;
use crate::claim::Claim;

impl Experiment {
    /// The experiment with the claims that `names` mean, and with the cases and values of axes that these are about;
    /// none if no claim is meant. A name is a claim's within the experiment, the whole one (`confucius/fig10/stall`),
    /// or that of a case, which means the claims about it. Scores and figures, which compare everything, are left out.
    ///
    /// Combinations that were drawn stay those of the whole experiment.
    #[must_use]
    pub fn only(mut self, names: &[String]) -> Option<Self> {
        let all = self.written.claim.len();
        let id = self.id.clone();
        let meant = |claim: &&Claim| {
            let whole = format!("{id}/{}", claim.id);
            let is = |name: &String| *name == claim.id || *name == whole;
            names
                .iter()
                .any(|name| is(name) || claim.of.0.contains(name))
        };
        let claims = self.written.claim.iter().filter(meant);
        let sentences: Vec<String> = claims.map(|claim| claim.sentence().to_owned()).collect();
        // A sentence is judged by all of its checks.
        (self.written.claim).retain(|claim| sentences.iter().any(|id| id == claim.sentence()));
        self.written.score.clear();
        self.written.figure.clear();
        self.written.curves.clear();
        self.keep_cases();
        if self.written.sample.is_none() {
            self.keep_values();
        }
        self.claims_left_out = all - self.written.claim.len();
        names.clone_into(&mut self.only);
        (!self.written.claim.is_empty()).then_some(self)
    }

    fn keep_cases(&mut self) {
        let claims = &self.written.claim;
        let named = |case: &String| {
            let mut claims = claims.iter();
            claims.any(|claim| claim.of.0.contains(case) || claim.to.0.contains(case))
        };
        self.written.cases.retain(|case| named(&case.name));
    }

    fn keep_values(&mut self) {
        let claims = &self.written.claim;
        for axis in &mut self.written.vary {
            let places: Option<Vec<&String>> =
                claims.iter().map(|of| of.place.get(&axis.name)).collect();
            let Some(labels) = places else {
                continue;
            };
            axis.values
                .retain(|value| labels.iter().any(|label| *label == value.label()));
            axis.quick.retain(|quick| labels.contains(&quick));
        }
    }

    /// What a page has to say of its runs: by what they were drawn, from which seed on, and how many claims are left
    /// out; empty if they are those of the file.
    pub fn said(&self) -> Option<String> {
        let seeds = (self.written.first_seed != 1)
            .then(|| format!("Seeds from {} on.", self.written.first_seed));
        let alone = (self.claims_left_out > 0).then(|| {
            format!(
                "{} other claims are left out: what would be chance among all of them may decide here (decision 0041).",
                self.claims_left_out
            )
        });
        let sentences: Vec<String> = [self.drawn_by(), seeds, alone]
            .into_iter()
            .flatten()
            .collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    const TEXT: &str = r#"
        title = "t"
        paper = "p"
        about = "a"
        cases = ["pfifo", "cake", "fq_codel"]
        seeds = 6
        [[vary]]
        name = "flows"
        path = "traffic.bulk.count"
        values = ["1", "2", "4"]
        quick = ["1"]
        [[claim]]
        id = "more"
        question = "q"
        metric = "bulk_rate"
        of = "cake"
        to = "pfifo"
        expect = "at least 0"
        where = { flows = "2" }
        [[claim]]
        id = "less"
        question = "q"
        metric = "bulk_rate"
        of = "fq_codel"
        expect = "at least 0"
        [scenario]
        duration = "5s"
        disciplines = ["pfifo"]
        link = { rate = "10mbit", rtt = "20ms" }
        traffic = [{ name = "bulk", kind = "bulk" }]
    "#;

    fn only(names: &[&str]) -> Option<Experiment> {
        let read = Experiment::parse("own/e", "e.toml", TEXT).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        read.only(&names)
    }

    #[test]
    fn only_what_a_claim_needs_is_run() {
        for name in ["more", "own/e/more", "cake"] {
            let one = only(&[name]).unwrap();
            let cases: Vec<_> = one.written.cases.iter().map(|case| &*case.name).collect();
            assert_eq!(cases, ["pfifo", "cake"], "{name}");
            let values: Vec<_> = one.written.vary[0]
                .values
                .iter()
                .map(|value| value.label())
                .collect();
            // A quick run has the value that the claim is about, too.
            assert_eq!((values, one.written.vary[0].quick.len()), (vec!["2"], 0));
            let said = one.said().unwrap();
            assert!(said.starts_with("1 other claims are left out"), "{said}");
        }
        let both = only(&["more", "less"]).unwrap();
        assert_eq!((both.written.cases.len(), both.said()), (3, None));
        assert_eq!(both.written.vary[0].values.len(), 3);
        assert!(only(&["nosuch"]).is_none());
    }
}
