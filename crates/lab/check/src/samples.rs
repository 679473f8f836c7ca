//! What an application tells of its call: a line of JSON for each moment, and the values that limits are about.

use crate::figure::{FIGURES, FPS, Told};
use crate::limit::Limit;
use std::collections::BTreeMap;
use units::Refusal;

/// Frames are back when so many of those before come, twice.
const BACK: f64 = 0.8;
/// More lines are no call's.
const MOST_LINES: usize = 1_000_000;

/// A line of the application's standard output.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputLine {
    /// When it was read, in s since the application began.
    pub read: f64,
    /// The text.
    pub text: String,
}

/// The statistics of a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The moment, in s since the application began.
    pub at: f64,
    /// By their names.
    pub statistics: BTreeMap<&'static str, f64>,
}

/// Those of a call, in the order of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples(pub Vec<Sample>);

impl Samples {
    /// Reads lines. Those that do not begin with `{` are the application's own affair.
    ///
    /// # Errors
    /// If one that does is no object of JSON.
    pub fn read(lines: &[OutputLine]) -> Result<Samples, Refusal> {
        let mut found = Vec::new();
        for (number, line) in (1..).zip(lines).take(MOST_LINES) {
            if line.text.trim_start().starts_with('{') {
                found.push(moment(number, line)?);
            }
        }
        // An application may hold lines back: none was told later than the one that was told soonest.
        let ages = found
            .iter()
            .filter_map(|(told, sample): &(Option<f64>, Sample)| Some(sample.at - (*told)?));
        let origin = ages.fold(f64::INFINITY, f64::min);
        let placed = found.into_iter().map(|(told, sample)| Sample {
            at: told.map_or(sample.at, |told| (told + origin).max(0.0)),
            ..sample
        });
        let mut samples: Vec<Sample> = placed.collect();
        samples.sort_by(|one, other| one.at.total_cmp(&other.at));
        Ok(Samples(samples))
    }

    /// A run's value of a limit's figure, of the time from `from` on; none where the application does not tell it.
    /// `steps` are the line's.
    pub fn value(&self, limit: &Limit, from: f64, steps: &[f64]) -> Option<f64> {
        match limit.figure.told {
            Told::Grown(key) => self.grown(key, from),
            Told::Part(part, rest) => {
                let [part, rest] = [self.grown(part, from)?, self.grown(rest, from)?];
                Some(if part > 0.0 {
                    part / (part + rest)
                } else {
                    0.0
                })
            }
            Told::Recovery => self.recovery(from, steps),
            _ => {
                let mut values: Vec<f64> = self
                    .moments(limit.figure.told, from)
                    .into_iter()
                    .map(|(_, value)| value)
                    .collect();
                limit.which.of(&mut values)
            }
        }
    }

    /// A figure's value at each moment from `from` on.
    pub fn moments(&self, told: Told, from: f64) -> Vec<(f64, f64)> {
        match told {
            Told::Moments(key) => self.series(key).filter(|(at, _)| *at >= from).collect(),
            Told::Bytes(key) => {
                let steps = self.growth(key, from).into_iter();
                steps
                    .map(|(since, at, by)| (at, 8.0 * by / (at - since).max(1e-3)))
                    .collect()
            }
            Told::Each(sum, count) => {
                let (sums, counts) = (self.growth(sum, from), self.growth(count, from));
                let pairs = sums
                    .into_iter()
                    .zip(counts)
                    .filter(|(_, (.., count))| *count > 0.0);
                pairs
                    .map(|((_, at, sum), (.., count))| (at, sum / count))
                    .collect()
            }
            Told::Grown(_) | Told::Part(..) | Told::Recovery => Vec::new(),
        }
    }

    /// When a counter grew from `from` on: since when, until when, and by how much.
    pub fn growth(&self, key: &str, from: f64) -> Vec<(f64, f64, f64)> {
        let all: Vec<(f64, f64)> = self.series(key).collect();
        // What it was when counting began is what was told last.
        let first = all.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let pairs = all[first..].windows(2);
        // A counter that begins again has grown by what it is. `packetsLost` may also take a few back.
        let by = |before: f64, now: f64| match now {
            now if now >= before => now - before,
            now if now < before / 2.0 => now,
            _ => 0.0,
        };
        pairs
            .map(|pair| (pair[0].0, pair[1].0, by(pair[0].1, pair[1].1)))
            .collect()
    }

    /// The last moment that was told.
    pub fn end(&self) -> f64 {
        self.0.last().map_or(0.0, |sample| sample.at)
    }

    fn series(&self, key: &str) -> impl Iterator<Item = (f64, f64)> {
        self.0
            .iter()
            .filter_map(move |sample| Some((sample.at, *sample.statistics.get(key)?)))
    }

    fn grown(&self, key: &str, from: f64) -> Option<f64> {
        let growth = self.growth(key, from);
        (!growth.is_empty()).then(|| growth.into_iter().map(|(.., by)| by).sum())
    }

    /// From the line's last step until as many frames come twice as did before the first one; until the end, if they
    /// never do.
    fn recovery(&self, from: f64, steps: &[f64]) -> Option<f64> {
        let (first, last) = (
            steps.iter().copied().reduce(f64::min)?,
            steps.iter().copied().reduce(f64::max)?,
        );
        let mut before: Vec<f64> = self
            .series(FPS)
            .filter(|(at, _)| (from..first).contains(at))
            .map(|(_, fps)| fps)
            .collect();
        let usual = measure::Statistic::Quantile(0.5).of(&mut before)?;
        let after: Vec<(f64, f64)> = self.series(FPS).filter(|(at, _)| *at >= last).collect();
        let back = after
            .windows(2)
            .find(|two| two.iter().all(|(_, fps)| *fps >= BACK * usual));
        let back = back.map_or_else(|| after.last().map(|(at, _)| *at), |two| Some(two[0].0));
        Some((back? - last).max(0.0))
    }
}

/// The statistics of a line, and when the application says that they were.
fn moment(number: usize, line: &OutputLine) -> Result<(Option<f64>, Sample), Refusal> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line.text)
        .map_err(|error| {
            let shown = scenario::printable(&line.text, 60);
            Refusal::new(format!(
                "line {number} of what `near` prints, {shown:?}: {error}"
            ))
            .with_help(
                "let it print objects of JSON, each on a line, such as {\"framesPerSecond\": 30}",
            )
        })?;
    let number = |key: &str| object.get(key).and_then(serde_json::Value::as_f64);
    let keys = FIGURES.iter().flat_map(|figure| figure.keys());
    let statistics = keys.filter_map(|key| Some((key, number(key)?))).collect();
    let told = number("t").or_else(|| number("timestamp").map(|ms| ms / 1e3));
    let at = line.read;
    Ok((told, Sample { at, statistics }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[(f64, &str)]) -> Vec<OutputLine> {
        let line = |&(read, text): &(f64, &str)| OutputLine {
            read,
            text: text.to_owned(),
        };
        texts.iter().map(line).collect()
    }

    fn value(samples: &Samples, limit: &str, from: f64, steps: &[f64]) -> Option<f64> {
        samples.value(&limit.parse().unwrap(), from, steps)
    }

    fn each_second(fps: &[f64]) -> Samples {
        let sample = |(second, fps): (usize, &f64)| Sample {
            at: second as f64,
            statistics: BTreeMap::from([(FPS, *fps)]),
        };
        Samples(fps.iter().enumerate().map(sample).collect())
    }

    #[test]
    fn lines_become_values() {
        let samples = Samples::read(&lines(&[
            (0.1, "my call 1.0"),
            (1.0, r#"{"freezeCount": 1, "framesPerSecond": 10, "bytesReceived": 0, "packetsLost": 0, "packetsReceived": 0}"#),
            (2.0, r#"{"freezeCount": 1, "framesPerSecond": 30, "bytesReceived": 125000, "packetsLost": 1, "packetsReceived": 9}"#),
            (4.0, r#"{"freezeCount": 3, "framesPerSecond": 20, "bytesReceived": 375000, "packetsLost": 5, "packetsReceived": 45, "mine": 7}"#),
        ]))
        .unwrap();
        assert_eq!(value(&samples, "freezes <= 1", 0.0, &[]), Some(2.0));
        assert_eq!(value(&samples, "freezes <= 1", 2.0, &[]), Some(2.0));
        assert_eq!(value(&samples, "fps >= 1", 0.0, &[]), Some(20.0));
        assert_eq!(value(&samples, "fps_min >= 1", 1.5, &[]), Some(20.0));
        assert_eq!(value(&samples, "rate >= 1mbit", 0.0, &[]), Some(1e6));
        assert_eq!(value(&samples, "lost <= 1%", 0.0, &[]), Some(0.1));
        assert_eq!(value(&samples, "rtt <= 1s", 0.0, &[]), None);
        assert_eq!(samples.end(), 4.0);
    }

    #[test]
    fn a_counter_that_begins_again_has_grown() {
        let samples = Samples::read(&lines(&[
            (1.0, r#"{"freezeCount": 5}"#),
            (2.0, r#"{"freezeCount": 1}"#),
            (3.0, r#"{"freezeCount": null}"#),
            (4.0, r#"{"freezeCount": 2}"#),
            (5.0, r#"{"freezeCount": 1}"#),
        ]))
        .unwrap();
        assert_eq!(value(&samples, "freezes <= 1", 0.0, &[]), Some(2.0));
    }

    /// Standard output that is held back comes all at once; its own clock says what was when.
    #[test]
    fn moments_are_the_applications_own() {
        let told = lines(&[
            (10.0, r#"{"t": 101, "framesPerSecond": 1}"#),
            (10.0, r#"{"t": 105, "framesPerSecond": 2}"#),
            (10.0, r#"{"t": 109.5, "framesPerSecond": 3}"#),
        ]);
        let at: Vec<f64> = Samples::read(&told)
            .unwrap()
            .0
            .iter()
            .map(|sample| sample.at)
            .collect();
        assert_eq!(at, [1.5, 5.5, 10.0]);
        let stamped = lines(&[
            (2.0, r#"{"timestamp": 5000}"#),
            (3.1, r#"{"timestamp": 6000}"#),
        ]);
        let at: Vec<f64> = Samples::read(&stamped)
            .unwrap()
            .0
            .iter()
            .map(|sample| sample.at)
            .collect();
        assert_eq!(at, [2.0, 3.0]);
    }

    #[test]
    fn a_line_that_is_no_json_is_named() {
        let refusal = Samples::read(&lines(&[(0.0, "{}"), (1.0, "{\"t\": }")])).unwrap_err();
        assert!(refusal.message.contains("line 2"), "{refusal}");
    }

    #[test]
    fn recovery_is_counted_from_the_last_step() {
        let steps = [4.0, 6.0];
        let samples = each_second(&[
            5.0, 30.0, 30.0, 30.0, 10.0, 0.0, 0.0, 25.0, 10.0, 24.0, 30.0,
        ]);
        // The frames of second 7 do not stay.
        assert_eq!(value(&samples, "recover <= 3s", 1.0, &steps), Some(3.0));
        let never = each_second(&[30.0, 30.0, 30.0, 30.0, 0.0, 0.0, 0.0, 10.0]);
        assert_eq!(value(&never, "recover <= 3s", 1.0, &steps), Some(1.0));
        assert_eq!(value(&never, "recover <= 3s", 1.0, &[]), None);
    }
}
