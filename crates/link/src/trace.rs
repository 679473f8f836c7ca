//! Recorded capacity of a link.
//!
//! Two formats are read, told apart by the number of columns:
//! - `seconds megabits_per_second` a line, spaces or a comma between them, times increasing; a sample holds until the next one.
//!   Times are rebased to the first sample; the last sample holds as long as the one before it.
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

/// Times above eleven days are a mistake.
const MAX_SECONDS: f64 = 1e6;
/// 1 Tbit/s.
const MAX_MBIT: f64 = 1e6;
/// Bytes of a Mahimahi opportunity.
const OPPORTUNITY: u64 = 1500;
const MILLISECOND: u64 = 1_000_000;
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
        let Some(&(first, line)) = lines.peek() else {
            return Err(TraceError {
                line: text.lines().count().max(1),
                found: "no samples".to_owned(),
                expected: "`seconds megabits_per_second`, or milliseconds in Mahimahi's format",
                format: EITHER,
            });
        };
        let trace = match columns(line).count() {
            1 => Self::mahimahi(lines)?,
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
        let mut rates = Vec::new();
        let mut origin = None;
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
            let seconds = number("seconds, from 0 to 1000000", MAX_SECONDS)?;
            let mbit = number("megabits per second, from 0 to 1000000", MAX_MBIT)?;
            if let Some(extra) = columns.next() {
                return Err(error(SAMPLES, line, extra, "two columns"));
            }
            let nanos = Duration::from_secs_f64(seconds).as_nanos();
            let start = nanos.saturating_sub(*origin.get_or_insert(nanos));
            if starts.last().is_some_and(|&last| start <= last) {
                return Err(error(
                    SAMPLES,
                    line,
                    text,
                    "a time later than the line before",
                ));
            }
            starts.push(start);
            rates.push(Rate::from_mbit_f64(mbit));
        }
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MILLISECOND)
    }

    #[test]
    fn samples_hold_are_rebased_and_repeat() {
        // 8 Mbit/s are 1000 B/ms; 16 Mbit/s twice that. The last sample holds for 1 s.
        let trace = Trace::parse("300.0 8\n301.0 16\n").unwrap();
        assert_eq!(trace.period(), Duration::from_secs(2));
        assert_eq!(trace.nominal().as_bits(), 12_000_000);
        assert_eq!(trace.finish(at(0), 1000), at(1));
        assert_eq!(trace.finish(at(999), 3000), at(1001), "across a border");
        assert_eq!(
            trace.finish(at(2000), 1000),
            at(2001),
            "again from the start"
        );
        assert_eq!(
            trace.finish(at(0), 3_000_000 + 1000),
            at(2001),
            "a whole period"
        );
        assert_eq!(trace.capacity_until(at(1500)), 2_000_000.0);
    }

    #[test]
    fn steps_do_not_repeat() {
        let mbit = |mbit: u64| Rate::from_bits(mbit * 1_000_000);
        let s = Duration::from_secs;
        let trace = Trace::steps(&[(s(0), mbit(8)), (s(2), mbit(16)), (s(5), mbit(4))]);
        assert_eq!((trace.nominal(), trace.period()), (mbit(8), Duration::MAX));
        // 1000 B at 8 Mbit/s until 2 s, then 2000 B at 16 Mbit/s.
        assert_eq!(trace.finish(at(1999), 3000), at(2001));
        // 500 B a millisecond from 5 s on, also a year later.
        assert_eq!(trace.finish(at(5000), 1000), at(5002));
        let year = 365 * 24 * 3600 * 1000;
        assert_eq!(trace.finish(at(year), 1000), at(year + 2));
        // 2 MB, 6 MB and 0.5 MB.
        assert_eq!(trace.capacity_until(at(6000)), 8_500_000.0);
    }

    #[test]
    fn after_a_last_step_to_zero_nothing_is_ever_sent() {
        let steps = [(0, 8_000_000), (1, 0)];
        let steps = steps.map(|(s, bits)| (Duration::from_secs(s), Rate::from_bits(bits)));
        let trace = Trace::steps(&steps);
        assert_eq!(trace.finish(at(999), 1000), at(1000));
        assert_eq!(trace.finish(at(999), 1001), Instant::NEVER);
        assert_eq!(trace.finish(at(2000), 1), Instant::NEVER);
        assert_eq!(trace.capacity_until(at(9000)), 1_000_000.0);
    }

    #[test]
    fn a_zero_sample_holds_packets_back() {
        let trace = Trace::parse("0 8\n1 0\n2 8\n").unwrap();
        assert_eq!(trace.finish(at(1000), 1000), at(2001));
    }

    #[test]
    fn mahimahi_opportunities() {
        // Two opportunities in the first millisecond, none in the next two, one in the fourth.
        let trace = Trace::parse("1\n1\n4\n").unwrap();
        assert_eq!(trace.period(), Duration::from_millis(4));
        assert_eq!(trace.rate_at(at(0)).as_bits(), 24_000_000);
        assert_eq!(trace.rate_at(at(1)).as_bits(), 0);
        assert_eq!(trace.rate_at(at(3)).as_bits(), 12_000_000);
        assert_eq!(trace.capacity_until(at(4)), 4500.0);
    }

    #[test]
    fn a_comma_is_as_good_as_a_space() {
        let spaces = Trace::parse("0 5\n1 7\n2 1.5\n").unwrap();
        assert_eq!(Trace::parse("0,5\n1, 7\n2 ,1.5\n"), Ok(spaces));
        let error = Trace::parse("seconds,mbit\n0,5\n").unwrap_err();
        assert!(error.to_string().starts_with("line 1: found \"seconds\""));
    }

    #[test]
    fn errors_name_the_line_and_what_is_wanted() {
        let message = |text| Trace::parse(text).unwrap_err().to_string();
        assert!(message("").contains("no samples"));
        assert!(message("1 5\n0.5 5\n").starts_with("line 2"));
        assert!(message("1 5\n1 5\n").contains("later than the line before"));
        assert!(message("1 fast\n").contains("\"fast\""));
        assert!(message("1 -5\n").contains("megabits per second"));
        assert!(message("1 1e20\n").contains("megabits per second"));
        assert!(message("5\n4\n").starts_with("line 2"));
        assert!(message("0 0\n1 0\n").contains("carries nothing"));
        assert!(message("1 2 3\n").contains("two columns"));
        assert!(message("nan 3\n").contains("seconds"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_trace_or_an_error(text in "([0-9. -]{0,9}[ \t]?[0-9e.]{0,9}\n?){0,8}") {
            if let Ok(trace) = Trace::parse(&text) {
                let end = trace.finish(at(7), 100_000);
                prop_assert!(end > at(7));
            }
        }

        #[test]
        fn finishing_in_two_steps_is_finishing_in_one(
            rates in proptest::collection::vec(0u32..100, 1..8),
            (a, b) in (1u64..1_000_000, 1u64..1_000_000),
        ) {
            let text: String = (0..).zip(&rates).map(|(t, r)| format!("{t} {r}\n")).collect();
            prop_assume!(rates.iter().any(|rate| *rate > 0));
            let trace = Trace::parse(&text).unwrap();
            let once = trace.finish(at(0), a + b).as_nanos();
            let twice = trace.finish(trace.finish(at(0), a), b).as_nanos();
            // Each step rounds up to the nanosecond.
            prop_assert!(twice >= once && twice - once <= 1_000_000_001, "{once} {twice}");
        }
    }
}
