//! The number of runs of each experiment: fixed in advance, from the run time of a pilot and the
//! spread of its values.
//!
//! Every experiment first gets its minimum; the rest of the time goes, step by step, to the
//! experiment where it decides most claims a second. That a claim needs so many units is a guess
//! from a few of them (Stein's two-stage sample), so half as many again are taken. Seeds on the
//! same trace count as units of their own here, which is too optimistic if traces differ more than
//! seeds do.

use scenario::ScenarioError;
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of an experiment's pilot.
#[derive(Debug, Clone, PartialEq)]
pub struct Pilot {
    /// The experiment's name.
    pub id: String,
    /// The kind of its calls: the name of a preset.
    pub calls: String,
    /// Units that one seed gives: traces, or one.
    pub units: u64,
    /// Seconds of one processor that one seed takes.
    pub seconds: f64,
    /// For each claim that more units would decide, how many that takes.
    pub needs: Vec<u64>,
}

/// No experiment is run with more seeds.
const MOST: u64 = 100;
/// Nor with fewer units, if one seed gives one unit.
const LEAST: u64 = 10;

impl Pilot {
    /// Seeds without which it is not run.
    fn least(&self) -> u64 {
        LEAST.div_ceil(self.units.max(1)).max(1)
    }

    /// Seeds that decide a claim which needs so many units.
    fn seeds(&self, need: u64) -> u64 {
        let units = need.saturating_add(need.div_ceil(2));
        units.div_ceil(self.units.max(1)).max(self.least())
    }

    /// Claims that so many seeds decide.
    fn decided(&self, seeds: u64) -> usize {
        let enough = |need: &&u64| self.seeds(**need) <= seeds;
        self.needs.iter().filter(enough).count()
    }

    /// From so many seeds on, the next numbers at which a claim more is decided.
    fn steps(&self, from: u64) -> impl Iterator<Item = u64> {
        let seeds = self.needs.iter().map(|need| self.seeds(*need));
        seeds.filter(move |seeds| (from + 1..=MOST).contains(seeds))
    }
}

/// The number of seeds of each of `pilots` within `seconds` of one processor, in their order; none
/// if not even the minimum of all fits.
pub fn seeds(pilots: &[Pilot], seconds: f64) -> Option<Vec<u64>> {
    let mut seeds: Vec<u64> = pilots.iter().map(Pilot::least).collect();
    let cost = |pilot: &Pilot, seeds: u64| pilot.seconds * seeds as f64;
    let spent = pilots.iter().zip(&seeds);
    let mut left = seconds - spent.map(|(pilot, seeds)| cost(pilot, *seeds)).sum::<f64>();
    if left < 0.0 {
        return None;
    }
    loop {
        let here = pilots.iter().zip(&seeds).enumerate();
        let steps = here.flat_map(|(place, (pilot, &from))| {
            pilot.steps(from).map(move |to| {
                let gain = pilot.decided(to) - pilot.decided(from);
                (place, to, gain as f64, cost(pilot, to - from))
            })
        });
        let fitting = steps.filter(|(.., cost)| *cost <= left);
        let best = fitting.max_by(|a, b| (a.2 * b.3).total_cmp(&(b.2 * a.3)));
        let Some((place, to, _, cost)) = best else {
            return Some(seeds);
        };
        seeds[place] = to;
        left -= cost;
    }
}

/// Seeds of each experiment, by preset of its calls, as they are written to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RunsBudget(BTreeMap<String, BTreeMap<String, u64>>);

impl RunsBudget {
    /// Those of `pilots` with so many `seeds` each.
    pub fn of(pilots: &[Pilot], seeds: &[u64]) -> Self {
        let mut runs = RunsBudget::default();
        for (pilot, seeds) in pilots.iter().zip(seeds) {
            let of_calls = runs.0.entry(pilot.calls.clone()).or_default();
            of_calls.insert(pilot.id.clone(), *seeds);
        }
        runs
    }

    /// Reads them from `text`, found in `file`.
    ///
    /// # Errors
    /// The file, the place in it, the text found and the text expected.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        type Written = BTreeMap<String, BTreeMap<String, toml::Spanned<u64>>>;
        let written: Written = toml::from_str(text).map_err(|error| {
            let help =
                "write what `analects pilot` prints: [webrtc] and below it \"confucius/fig2\" = 10";
            ScenarioError::of_toml(file, text, &error, help)
        })?;
        let all = written.values().flatten();
        let none =
            |(_, seeds): &(&String, &toml::Spanned<u64>)| !(1..=MOST).contains(seeds.get_ref());
        if let Some((id, seeds)) = all.into_iter().find(none) {
            let message = format!("{id} has {} seeds", seeds.get_ref());
            let help = format!("write a number from 1 to {MOST}");
            return Err(ScenarioError {
                text: text.to_owned(),
                span: Some(seeds.span()),
                ..ScenarioError::about(file, &message, &help)
            });
        }
        let plain = |of: BTreeMap<String, toml::Spanned<u64>>| {
            let plain = of.into_iter().map(|(id, seeds)| (id, seeds.into_inner()));
            plain.collect()
        };
        let runs = written.into_iter().map(|(calls, of)| (calls, plain(of)));
        Ok(RunsBudget(runs.collect()))
    }

    /// As they are written.
    pub fn to_toml(&self) -> String {
        let text = toml::to_string(self);
        // Tables of tables of numbers can be written.
        text.unwrap_or_default()
    }

    /// The seeds of the experiment `id` with these `calls`.
    pub fn of_experiment(&self, calls: &str, id: &str) -> Option<u64> {
        self.0.get(calls)?.get(id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pilot(id: &str, units: u64, seconds: f64, needs: &[u64]) -> Pilot {
        Pilot {
            id: id.to_owned(),
            calls: "webrtc".to_owned(),
            units,
            seconds,
            needs: needs.to_vec(),
        }
    }

    #[test]
    fn the_least_is_run_or_nothing() {
        let pilots = [pilot("a", 1, 2.0, &[]), pilot("b", 43, 30.0, &[])];
        assert_eq!(seeds(&pilots, 49.0), None);
        assert_eq!(seeds(&pilots, 50.0), Some(vec![10, 1]));
        // Time beyond the need of all is not spent.
        assert_eq!(seeds(&pilots, 5000.0), Some(vec![10, 1]));
    }

    #[test]
    fn time_goes_where_it_decides_most() {
        // 10 units are had anyway; 20 needed are 30 taken, 40 are 60.
        let cheap = pilot("cheap", 1, 1.0, &[2, 20, 20]);
        let dear = pilot("dear", 1, 10.0, &[20]);
        let far = pilot("far", 1, 0.1, &[5000]);
        let pilots = [cheap, dear, far];
        let least = 10.0 + 100.0 + 1.0;
        assert_eq!(seeds(&pilots, least + 19.0), Some(vec![10, 10, 10]));
        assert_eq!(seeds(&pilots, least + 20.0), Some(vec![30, 10, 10]));
        assert_eq!(seeds(&pilots, least + 219.0), Some(vec![30, 10, 10]));
        assert_eq!(seeds(&pilots, least + 220.0), Some(vec![30, 30, 10]));
    }

    #[test]
    fn runs_are_read_as_they_are_written() {
        let pilots = [pilot("confucius/fig2", 1, 1.0, &[])];
        let runs = RunsBudget::of(&pilots, &[12]);
        let text = runs.to_toml();
        assert_eq!(text, "[webrtc]\n\"confucius/fig2\" = 12\n");
        assert_eq!(RunsBudget::parse("runs.toml", &text), Ok(runs.clone()));
        assert_eq!(runs.of_experiment("webrtc", "confucius/fig2"), Some(12));
        assert_eq!(runs.of_experiment("paper", "confucius/fig2"), None);
    }

    #[test]
    fn wrong_runs_name_file_and_line() {
        let refused = RunsBudget::parse("runs.toml", "[webrtc]\na = \"many\"\n").unwrap_err();
        assert_eq!(refused.place(), "runs.toml:2:5");
        for seeds in ["0", "101"] {
            let refused =
                RunsBudget::parse("runs.toml", &format!("[webrtc]\na = {seeds}")).unwrap_err();
            assert_eq!(refused.place(), "runs.toml:2:5");
            assert!(refused.message.contains(seeds), "{refused:?}");
        }
    }
}
