//! Recorded capacity of a link.
//!
//! Two formats are read, told apart by the number of columns:
//! - `seconds megabits_per_second` a line, spaces or a comma between them; a sample holds until the next one.
//!   Times do not decrease, and are rebased to the first sample, so that they may count from 1970; of samples at one time
//!   the mean holds. The last sample holds as long as the one before it. A first line may name the columns.
//! - Mahimahi's: a whole number of milliseconds a line, not decreasing, each the moment at which
//!   1500 bytes could be delivered. The opportunities of a millisecond are spread evenly over it.
//!
//! Steps that a scenario states itself are a trace too, which never ends and so never repeats.
//!
//! Empty lines and lines that begin with `#` are passed over. A trace repeats when it ends.

mod generated;
mod replay;

pub use generated::generated;

use units::{Duration, Instant, Rate};

/// Capacity over time, repeating unless it consists of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Starts of the pieces, in nanoseconds; the first is 0.
    starts: Vec<u64>,
    /// Rates of the pieces.
    rates: Vec<Rate>,
    /// Length in nanoseconds.
    period: u64,
    /// The rate used for it.
    nominal: Rate,
    /// The capacity of one period, in bit-nanoseconds (bits per second times nanoseconds).
    carried: u128,
    /// Each piece is a sample, of one line.
    sampled: bool,
}

/// Why a text is not a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found {found}, expected {expected}")]
pub struct TraceError {
    /// The line, from 1.
    pub line: usize,
    /// The text found.
    pub found: String,
    /// The text expected, in the format that the number of columns in the first line says.
    pub expected: &'static str,
    /// That format, with an example; both if no line says which.
    pub format: &'static str,
}

/// The formats, with an example of each.
const SAMPLES: &str = "read as `seconds megabits_per_second` a line, for its first line has several columns; such as `0.0 20`";
const MAHIMAHI: &str = "read in Mahimahi's format, milliseconds a line, for its first line has one column; such as `7`";
const EITHER: &str = "such as `0.0 20`, or `7` in Mahimahi's format";

/// Longer traces than eleven days are a mistake.
const MAX_SECONDS: f64 = 1e6;
/// Later times, in seconds since 1970, are of other units: this one is in 2286.
const MAX_EPOCH: f64 = 1e10;
/// Words in the names of columns that say that a unit is another one.
const OTHER_UNITS: [&str; 25] = [
    "ms",
    "msec",
    "msecs",
    "millis",
    "milliseconds",
    "us",
    "usec",
    "microseconds",
    "ns",
    "nanoseconds",
    "kbps",
    "kbit",
    "kbits",
    "kb",
    "bps",
    "bit",
    "bits",
    "byte",
    "bytes",
    "gbps",
    "gbit",
    "gbits",
    "mbyte",
    "mbytes",
    "kbytes",
];
/// 1 Tbit/s.
const MAX_MBIT: f64 = 1e6;
/// Bytes of a Mahimahi opportunity.
const OPPORTUNITY: u64 = 1500;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const BIT_NANOS: u128 = 8_000_000_000;

impl Trace {
    /// Reads a trace in either format.
    ///
    /// # Errors
    /// If a line is not of the format, times run backwards, or its capacity is always
    /// zero.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut lines = (1..)
            .zip(text.lines().map(str::trim))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .peekable();
        let head = lines.next_if(|(_, line)| is_head(line));
        if let Some((line, head)) = head.filter(|(_, head)| has_other_units(head)) {
            return Err(error(
                SAMPLES,
                line,
                head,
                "columns of seconds and of Mbit/s",
            ));
        }
        let Some(&(first, line)) = lines.peek() else {
            return Err(TraceError {
                line: text.lines().count().max(1),
                found: "no samples".to_owned(),
                expected: "`seconds megabits_per_second`, or milliseconds in Mahimahi's format",
                format: EITHER,
            });
        };
        let trace = match (columns(line).count(), head) {
            (1, Some((line, head))) => {
                return Err(error(MAHIMAHI, line, head, "milliseconds in every line"));
            }
            (1, None) => Self::mahimahi(lines)?,
            _ => Self::samples(lines)?,
        };
        if trace.carried == 0 {
            return Err(TraceError {
                line: first,
                found: "a trace that carries nothing".to_owned(),
                expected: "at least one sample above zero",
                format: if columns(line).count() == 1 {
                    MAHIMAHI
                } else {
                    SAMPLES
                },
            });
        }
        Ok(trace)
    }

    fn samples<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Trace, TraceError> {
        let mut starts: Vec<u64> = Vec::new();
        // The sum of the samples of each time, and how many there are.
        let mut sums: Vec<(f64, u32)> = Vec::new();
        let mut origin: Option<f64> = None;
        for (line, text) in lines {
            let mut columns = columns(text);
            let mut number = |expected, max: f64| {
                let column = columns.next().unwrap_or("");
                column
                    .parse::<f64>()
                    .ok()
                    .filter(|value| (0.0..=max).contains(value))
                    .ok_or_else(|| error(SAMPLES, line, column, expected))
            };
            let seconds = number("seconds, since 1970 or since the trace began", MAX_EPOCH)?;
            let mbit = number("megabits per second, from 0 to 1000000", MAX_MBIT)?;
            if let Some(extra) = columns.next() {
                return Err(error(SAMPLES, line, extra, "two columns"));
            }
            let since = seconds - *origin.get_or_insert(seconds);
            let start = Duration::from_secs_f64(since.max(0.0)).as_nanos();
            let last = starts.last().copied();
            if since < 0.0 || last.is_some_and(|last| start < last) {
                let expected = "a time not before that of the line before";
                return Err(error(SAMPLES, line, text, expected));
            }
            if since > MAX_SECONDS {
                let expected = "a time at most 1000000 seconds after the first";
                return Err(error(SAMPLES, line, text, expected));
            }
            match sums.last_mut().filter(|_| last == Some(start)) {
                Some((sum, count)) => (*sum, *count) = (*sum + mbit, *count + 1),
                None => {
                    starts.push(start);
                    sums.push((mbit, 1));
                }
            }
        }
        let means = sums.iter().map(|(sum, count)| sum / f64::from(*count));
        let rates = means.map(Rate::from_mbit_f64).collect();
        let last = starts[starts.len() - 1];
        let hold = match starts.len() {
            1 => 1_000_000_000,
            n => last - starts[n - 2],
        };
        Ok(Self::samples_at(starts, rates, last + hold))
    }

    fn samples_at(starts: Vec<u64>, rates: Vec<Rate>, period: u64) -> Trace {
        Trace {
            sampled: true,
            ..Self::new(starts, rates, period)
        }
    }

    fn mahimahi<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Trace, TraceError> {
        const EXPECTED: &str = "a whole number of milliseconds, not below the line before";
        let mut starts = Vec::new();
        let mut rates: Vec<Rate> = Vec::new();
        let mut push = |start: u64, opportunities: u64| {
            let span = Duration::from_nanos(MILLISECOND);
            starts.push(start * MILLISECOND);
            rates.push(Rate::from_bytes_over(opportunities * OPPORTUNITY, span));
        };
        let (mut first, mut last) = (1, 0);
        let mut end = 0; // end of the last piece, in milliseconds
        let mut run = (0, 0); // a moment, and its opportunities so far
        let mut flush = |(moment, count): (u64, u64), end: &mut u64| {
            let start = moment.saturating_sub(1);
            if start > *end || (*end == 0 && start > 0) {
                push(*end, 0);
            }
            push(start, count);
            *end = start + 1;
        };
        for (line, text) in lines {
            let moment: u64 = text
                .parse()
                .ok()
                .filter(|&moment| moment <= 1_000_000_000)
                .ok_or_else(|| error(MAHIMAHI, line, text, EXPECTED))?;
            (first, last) = (line, moment);
            // Mahimahi counts an opportunity at 0 into the first millisecond.
            let moment = moment.max(1);
            if moment < run.0 {
                return Err(error(MAHIMAHI, line, text, EXPECTED));
            }
            if moment > run.0 && run.1 > 0 {
                flush(run, &mut end);
                run.1 = 0;
            }
            run = (moment, run.1 + 1);
        }
        if last == 0 {
            let expected = "a last line above 0, which says how long the trace is";
            return Err(error(MAHIMAHI, first, "0", expected));
        }
        flush(run, &mut end);
        Ok(Self::new(starts, rates, end * MILLISECOND))
    }

    /// A rate from each of these times on; the last one forever. The first time is zero, each other
    /// is later than the one before, and not all rates are zero.
    pub fn steps(steps: &[(Duration, Rate)]) -> Trace {
        let starts = steps.iter().map(|(at, _)| at.as_nanos()).collect();
        let rates = steps.iter().map(|(_, rate)| *rate).collect();
        Trace {
            nominal: steps[0].1,
            ..Self::new(starts, rates, u64::MAX)
        }
    }

    fn new(starts: Vec<u64>, rates: Vec<Rate>, period: u64) -> Trace {
        let ends = starts.iter().skip(1).chain([&period]);
        let carried: u128 = starts
            .iter()
            .zip(ends)
            .zip(&rates)
            .map(|((start, end), rate)| u128::from(end - start) * u128::from(rate.as_bits()))
            .sum();
        Trace {
            nominal: Rate::from_bits((carried / u128::from(period)) as u64),
            starts,
            rates,
            period,
            carried,
            sampled: false,
        }
    }

    /// The rate used for it: the mean over one period, and the first of steps.
    pub fn nominal(&self) -> Rate {
        self.nominal
    }

    /// Each piece's rate, and how long it holds.
    pub fn pieces(&self) -> impl Iterator<Item = (Rate, Duration)> {
        let ends = self.starts.iter().skip(1).chain([&self.period]);
        let holds = self
            .starts
            .iter()
            .zip(ends)
            .map(|(start, end)| Duration::from_nanos(end - start));
        self.rates.iter().copied().zip(holds)
    }

    /// The least and the greatest rate: of samples, or else of whole seconds, if there are some.
    pub fn range(&self) -> (Rate, Rate) {
        let seconds = self.period / SECOND;
        let rates: Vec<Rate> = if self.sampled || self.period == u64::MAX || seconds < 2 {
            self.rates.clone()
        } else {
            let at = |second| self.capacity_until(Instant::from_nanos(second * SECOND));
            let carried = (0..seconds).map(|second| at(second + 1) - at(second));
            carried
                .map(|bytes| Rate::from_mbit_f64(bytes * 8.0 / 1e6))
                .collect()
        };
        let of = |better: fn(Rate, Rate) -> Rate| rates.iter().copied().reduce(better);
        (
            of(Rate::min).unwrap_or_default(),
            of(Rate::max).unwrap_or_default(),
        )
    }

    /// The median time between samples, and the median of their rates; none of Mahimahi's format and of
    /// steps.
    pub fn medians(&self) -> Option<(Duration, Rate)> {
        let (mut holds, mut rates): (Vec<Duration>, Vec<Rate>) =
            self.pieces().map(|(rate, hold)| (hold, rate)).unzip();
        holds.sort_unstable();
        rates.sort_unstable();
        let middle = holds.len() / 2;
        self.sampled.then(|| (holds[middle], rates[middle]))
    }

    /// The length of one period; [`Duration::MAX`] for steps.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// The rate at a moment.
    pub fn rate_at(&self, now: Instant) -> Rate {
        self.rates[self.piece(now.as_nanos() % self.period)]
    }

    /// When the last of `bytes` has been sent if the first leaves at `start`.
    pub fn finish(&self, start: Instant, bytes: u64) -> Instant {
        let mut left = u128::from(bytes) * BIT_NANOS;
        let mut now = start.as_nanos();
        // Whole periods first, so that the walk below is bounded by one period.
        now = now.saturating_add(((left / self.carried) as u64).saturating_mul(self.period));
        left %= self.carried;
        let mut piece = self.piece(now % self.period);
        // Beyond the end of time no packet is ever sent.
        while left > 0 && now < u64::MAX {
            let rate = u128::from(self.rates[piece].as_bits());
            let end = self.starts.get(piece + 1).copied().unwrap_or(self.period);
            let span = end - now % self.period;
            let carries = rate * u128::from(span);
            if carries >= left {
                return Instant::from_nanos(now.saturating_add(left.div_ceil(rate) as u64));
            }
            left -= carries;
            now = now.saturating_add(span);
            piece = (piece + 1) % self.starts.len();
        }
        Instant::from_nanos(now)
    }

    /// How many bytes could be sent from the start of time until `now`.
    pub fn capacity_until(&self, now: Instant) -> f64 {
        let periods = now.as_nanos() / self.period;
        let rest = now.as_nanos() % self.period;
        let mut carried = u128::from(periods) * self.carried;
        for (piece, &start) in self
            .starts
            .iter()
            .enumerate()
            .take_while(|(_, s)| **s < rest)
        {
            let end = self.starts.get(piece + 1).copied().unwrap_or(self.period);
            carried += u128::from(end.min(rest) - start) * u128::from(self.rates[piece].as_bits());
        }
        carried as f64 / BIT_NANOS as f64
    }

    fn piece(&self, offset: u64) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }
}

/// Whether a line names columns instead of having numbers.
fn is_head(line: &str) -> bool {
    let first = columns(line).next().unwrap_or_default();
    first.parse::<f64>().is_err() && first.chars().any(char::is_alphabetic)
}

fn has_other_units(head: &str) -> bool {
    let lower = head.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| OTHER_UNITS.contains(&word))
}

/// The columns between spaces and commas.
fn columns(line: &str) -> impl Iterator<Item = &str> {
    let columns = line.split(|c: char| c.is_whitespace() || c == ',');
    columns.filter(|column| !column.is_empty())
}

fn error(format: &'static str, line: usize, found: &str, expected: &'static str) -> TraceError {
    let found: String = found.chars().take(60).collect();
    TraceError {
        line,
        found: format!("{found:?}"),
        expected,
        format,
    }
}

#[cfg(test)]
mod tests;
