//! Traces generated from numbers, for users without recorded ones.
//!
//! The logarithm of the capacity is a first-order autoregressive process sampled five times a
//! second, around a level that differs from trace to trace. Median, spread and persistence are those
//! of the recorded sets that the Confucius paper measures with (its section 7.1 and figure 24), as
//! read off the published recordings; long outages of the real ones are not modelled.

use super::Trace;
use units::random::Stream;
use units::{Duration, Rate, Refusal};

/// The properties of a set of traces.
struct Set {
    name: &'static str,
    /// Median capacity, Mbit/s.
    median: f64,
    /// Standard deviation of the logarithm between traces.
    between: f64,
    /// The same within a trace.
    within: f64,
    /// Correlation of one sample's logarithm with the next one's.
    persistence: f64,
}

const SETS: [Set; 5] = [
    set("c1", 52.0, 0.25, 0.45, 0.4),
    set("c2", 60.0, 0.1, 0.8, 0.75),
    set("c3", 250.0, 0.6, 0.8, 0.88),
    set("w1", 27.0, 0.25, 0.4, 0.5),
    set("w2", 19.0, 0.4, 0.7, 0.75),
];

const fn set(name: &'static str, median: f64, between: f64, within: f64, persistence: f64) -> Set {
    Set {
        name,
        median,
        between,
        within,
        persistence,
    }
}

/// Samples of a trace: four and a half minutes.
const SAMPLES: u64 = 1350;
/// Time that a sample holds.
const HOLD: Duration = Duration::from_millis(200);
/// No sample is less, Mbit/s.
const LEAST: f64 = 0.1;
/// Largest number of a set's traces.
const MOST: u64 = 1000;

/// The trace that `SET:NUMBER` names.
///
/// # Errors
/// A sentence with the existing sets.
pub fn generated(name: &str) -> Result<Trace, Refusal> {
    let refused = || {
        let help = format!("write generated:c1:1, with c1, c2, c3, w1 or w2 and 1 to {MOST}");
        Refusal::new(format!("there is no generated trace {name:?}")).with_help(help)
    };
    let (set, number) = name.split_once(':').ok_or_else(refused)?;
    let number: u64 = number.parse().map_err(|_| refused())?;
    let set = SETS.iter().find(|known| known.name == set);
    let set = set
        .filter(|_| (1..=MOST).contains(&number))
        .ok_or_else(refused)?;
    let mut chance = Stream::new(number, set.name);
    let level = chance.log_normal(set.median, set.between);
    let fresh = (1.0 - set.persistence * set.persistence).sqrt();
    let mut state = chance.normal();
    let rates = (0..SAMPLES).map(|_| {
        state = set.persistence * state + fresh * chance.normal();
        Rate::from_mbit_f64((level * libm::exp(set.within * state)).max(LEAST))
    });
    let rates: Vec<Rate> = rates.collect();
    let starts = (0..SAMPLES)
        .map(|sample| sample * HOLD.as_nanos())
        .collect();
    Ok(Trace::samples_at(starts, rates, SAMPLES * HOLD.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_level_and_each_trace_its_own() {
        let mean = |name: &str| generated(name).unwrap().nominal().as_bits() as f64 / 1e6;
        let means: Vec<f64> = (1..=100).map(|n| mean(&format!("w1:{n}"))).collect();
        // A log-normal's mean is its median times e^(s²/2), s² = 0.25² + 0.4²: 27 · 1.118 = 30.2.
        let all = means.iter().sum::<f64>() / 100.0;
        assert!((28.0..32.5).contains(&all), "{all}");
        assert_ne!(means[0], means[1]);
        assert_eq!(generated("w1:1"), generated("w1:1"));
    }

    #[test]
    fn what_there_is_not_is_refused() {
        for name in ["", "c1", "c4:1", "c1:0", "c1:1001", "c1:x", "c1:1:2"] {
            assert!(
                generated(name)
                    .unwrap_err()
                    .to_string()
                    .contains("generated:c1:1"),
                "{name}"
            );
        }
    }
}
