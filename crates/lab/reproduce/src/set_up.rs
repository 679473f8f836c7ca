//! How the set-up of an experiment's runs departs from the paper's: by what its file says, by the data, by the
//! calls, and by a quick run.

use crate::calls;
use crate::departures::{Departures, Difference};
use crate::experiment::{Experiment, STANDS_FOR};
use crate::matrix::Wanted;

/// Calls that are the paper's: of its library, or their stand-in.
const OF_THE_PAPER: [&str; 2] = [calls::PAPER, STANDS_FOR];

impl Experiment {
    /// How its runs depart from what it is about.
    pub(crate) fn departures(&self, wanted: Wanted<'_>) -> Departures {
        let written = &self.written;
        let mut differs: Vec<String> = written.differs.iter().map(Difference::told).collect();
        let recorded = written.traces.is_some() || written.pages.is_some();
        if recorded && wanted.data.are_generated() {
            differs.push(
                "Traces and pages are generated. ANALECTS_DATA with recorded ones would test it"
                    .to_owned(),
            );
        }
        if !OF_THE_PAPER.contains(&self.calls()) {
            let calls = self.calls();
            differs.push(format!(
                "Calls are {calls}, not the paper's. The same with calls paper would test it"
            ));
        }
        Departures {
            shortened: self.shortened(wanted.quick),
            differs,
            unstated: written.unstated.clone(),
        }
    }

    /// What a quick run leaves out other than seeds, of which fewer only widen intervals.
    fn shortened(&self, quick: bool) -> Option<String> {
        let fewer = &self.written.quick;
        let mut parts: Vec<String> = (fewer.set.iter())
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        parts.extend(fewer.traces.map(|traces| format!("{traces} traces")));
        parts.extend(fewer.sample.map(|size| format!("{size} combinations")));
        let axes = self.written.vary.iter();
        let axes = axes.filter(|axis| !axis.quick.is_empty());
        parts.extend(axes.map(|axis| format!("{} {}", axis.name, axis.quick.join(", "))));
        let parts = parts.join(", ");
        (quick && !parts.is_empty()).then(|| {
            format!(
                "A quick run is shortened ({parts}). `analects reproduce {}` would test it",
                self.id
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{ClaimVerdict, ClaimsPlace, Speaker, judged};
    use crate::data::Data;
    use crate::facts::Facts;
    use crate::records::Records;
    use crate::testing::{NoEngine, run};

    const TEXT: &str = r#"
        title = "t"
        paper = "figure 1"
        about = "a"
        cases = ["pfifo"]
        seeds = 4
        KEYS
        [quick]
        set = { duration = "1s" }
        [scenario]
        name = "s"
        [[claim]]
        id = "said"
        quote = "it stalls for less than a second"
        metric = "credited"
        of = "pfifo"
        expect = "less than 1"
        [[claim]]
        id = "asked"
        question = "Does it stall for less than a second?"
        metric = "credited"
        of = "pfifo"
        expect = "less than 1"
        "#;

    /// Verdicts on both claims if each run stalls for about so many seconds.
    fn verdicts(keys: &str, quick: bool, stall: f64) -> [ClaimVerdict; 2] {
        let text = TEXT.replace("KEYS", keys);
        let experiment = Experiment::parse("test", "test.toml", &text).unwrap();
        let data = Data::default();
        let facts = Facts::new(&NoEngine, &data);
        let runs = (1..=4).map(|seed| run("pfifo", seed, "credited", stall + 0.001 * seed as f64));
        let runs: Vec<_> = runs.collect();
        let wanted = Wanted { quick, data: &data };
        let records = Records::new(experiment.design(), quick, &facts, &runs);
        let departures = experiment.departures(wanted);
        let place = ClaimsPlace {
            experiment: "test",
            calls: None,
            paper: "figure 1",
            departures: &departures,
        };
        let mut both = judged(&experiment.written.claim, place, &records);
        both.iter_mut().for_each(|one| one.conclude(&departures));
        assert_eq!([both[0].kind, both[1].kind], [Speaker::Paper, Speaker::Own]);
        [0, 1].map(|of| both[of].verdict.unwrap())
    }

    #[test]
    fn what_another_set_up_leaves_of_a_verdict() {
        use ClaimVerdict::{Fails, Holds, Untested};
        let of = |keys: &str| [0.5, 2.0].map(|stall| verdicts(keys, false, stall));
        assert_eq!(of(""), [[Holds, Holds], [Fails, Fails]]);
        let differs = "differs = [{ what = \"another page\", test = \"the paper's\" }]";
        assert_eq!(of(differs), [[Untested, Holds], [Untested, Fails]]);
        // What holds where the paper is silent holds; that it does not cannot be said.
        let unstated = "unstated = [\"the buffer\"]";
        assert_eq!(of(unstated), [[Holds, Holds], [Untested, Fails]]);
        let generated = "traces = \"c1\"";
        assert_eq!(of(generated)[0], [Untested, Holds]);
        assert_eq!(verdicts("", true, 0.5), [Untested, Untested]);
    }
}
