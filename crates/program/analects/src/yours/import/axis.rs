//! The seconds of a call, and what counters did in them.

use super::dump::{DumpConnection, Sample};

/// The longest call in seconds; what a longer one has after it is not looked at.
const LONGEST: usize = 24 * 3600;
/// Seconds without a sample that are more than a late one: the page takes one each second.
pub const GAP: f64 = 3.0;
/// Seconds without a sample that no call outlives: its consent to receive ends after 30 (RFC 7675).
const LONGEST_GAP: f64 = 3600.0;
/// Samples that are closer, in seconds, are of one time.
const SAME: f64 = 0.001;

/// The seconds of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondsAxis {
    /// The first sample, in seconds since 1970.
    first: f64,
    /// How many seconds there are.
    pub seconds: usize,
    /// The times without samples, in seconds of the call.
    pub gaps: Vec<(f64, f64)>,
    /// Whether there are samples behind its end.
    pub goes_on: bool,
}

/// From one sample of a counter to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// In seconds of the call.
    pub from: f64,
    pub until: f64,
    /// By how much it grew.
    pub by: f64,
}

impl Step {
    /// Growth in a second.
    pub fn rate(&self) -> f64 {
        self.by / (self.until - self.from)
    }
}

impl SecondsAxis {
    /// The seconds in which there was video, or sound; none if there were less than two.
    pub fn of(connection: &DumpConnection, medium: &str) -> Option<SecondsAxis> {
        let counters = [
            ("outbound-rtp", "bytesSent"),
            ("inbound-rtp", "bytesReceived"),
        ];
        let samples = counters.into_iter().flat_map(|(of, count)| {
            let streams = connection.streams(of, medium).into_iter();
            streams
                .flat_map(|report| report.numbers(count))
                .collect::<Vec<_>>()
        });
        let times = sorted(samples.map(|of| of.0).collect());
        let first = *times.first()?;
        let end = times
            .windows(2)
            .position(|pair| pair[1] - pair[0] > LONGEST_GAP);
        let last = end.map_or_else(|| times.last().copied(), |at| times.get(at).copied())?;
        let seconds = ((last - first) as usize).min(LONGEST);
        let pairs = times
            .windows(2)
            .map(|pair| (pair[0] - first, pair[1] - first));
        let within = |(from, until): &(f64, f64)| until - from > GAP && *until <= last - first;
        (seconds >= 2).then(|| SecondsAxis {
            first,
            seconds,
            gaps: pairs.filter(within).collect(),
            goes_on: end.is_some() || last - first >= (LONGEST + 1) as f64,
        })
    }

    fn second(&self, time: f64) -> Option<usize> {
        let second = (time - self.first).max(0.0) as usize;
        (second < self.seconds).then_some(second)
    }

    /// By how much a counter grew in each second: all of it in the one that ends with the sample.
    pub fn growth(&self, counter: &[Sample]) -> Vec<f64> {
        let mut growth = vec![0.0; self.seconds];
        for pair in counter.windows(2) {
            let [(_, before), (time, now)] = [pair[0], pair[1]];
            if let Some(second) = self.second(time - 0.5) {
                growth[second] += (now - before).max(0.0);
            }
        }
        growth
    }

    /// The greatest value of each second that has one.
    pub fn greatest(&self, samples: &[Sample]) -> Vec<Option<f64>> {
        let mut most: Vec<Option<f64>> = vec![None; self.seconds];
        for (time, value) in samples {
            if let Some(second) = self.second(*time) {
                most[second] = Some(most[second].unwrap_or_default().max(*value));
            }
        }
        most
    }

    /// A counter of bytes as bit/s in each second. Between samples that are far apart it is their mean.
    pub fn rates(&self, counter: &[Sample]) -> Vec<f64> {
        let mut rates = vec![0.0; self.seconds];
        for step in self.steps(&[counter.to_vec()]) {
            if step.until - step.from <= 1.5 {
                let second = self.second(self.first + step.until - 0.5);
                second.into_iter().for_each(|at| rates[at] += 8.0 * step.by);
                continue;
            }
            let last = (step.until.ceil() as usize).min(self.seconds);
            let seconds = rates.iter_mut().enumerate().take(last);
            for (second, rate) in seconds.skip(step.from as usize) {
                let begins = second as f64;
                let part = step.until.min(begins + 1.0) - step.from.max(begins);
                *rate += 8.0 * step.rate() * part.max(0.0);
            }
        }
        rates
    }

    /// When it began, in words; nothing of a time that no calendar has.
    pub fn begin(&self) -> String {
        let time = jiff::Timestamp::from_second(self.first as i64);
        time.map_or_else(|_| String::new(), |time| time.to_string())
    }

    /// A time since 1970 in seconds of the call.
    pub fn at(&self, time: f64) -> f64 {
        (time - self.first).clamp(0.0, self.seconds as f64)
    }

    /// From sample to sample, by how much counters grew together.
    pub fn steps(&self, counters: &[Vec<Sample>]) -> Vec<Step> {
        let times = counters.iter().flatten().map(|of| of.0).collect();
        let mut times = sorted(times);
        times.dedup_by(|later, earlier| *later - *earlier < SAME);
        let steps = times.windows(2).filter_map(|pair| {
            let (from, until) = (self.at(pair[0]), self.at(pair[1]));
            let grew = |of: &Vec<Sample>| (value(of, pair[1]) - value(of, pair[0])).max(0.0);
            let by = counters.iter().map(grew).sum();
            (until > from).then_some(Step { from, until, by })
        });
        steps.collect()
    }
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

/// A counter at a time: its first value before it begins, its last after it ends, and between two samples as
/// if it grew evenly.
pub fn value(counter: &[Sample], time: f64) -> f64 {
    let after = counter.partition_point(|of| of.0 < time);
    match (
        after.checked_sub(1).and_then(|at| counter.get(at)),
        counter.get(after),
    ) {
        (Some(before), Some(next)) => {
            let part = (time - before.0) / (next.0 - before.0).max(f64::MIN_POSITIVE);
            before.1 + part.clamp(0.0, 1.0) * (next.1 - before.1)
        }
        (Some(of), None) | (None, Some(of)) => of.1,
        (None, None) => 0.0,
    }
}

/// The middle one of values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
