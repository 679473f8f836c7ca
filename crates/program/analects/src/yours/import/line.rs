//! What the network did in a call, as keys of a scenario's `[link]`.

use super::recorded::Recorded;
use super::timeline::{NOTHING, TimelineCause, TimelineFinding};
use std::fmt::Write as _;
use units::Rate;

/// Outages that are closer, in seconds, are one step.
const CLOSE: f64 = 0.2;
/// The least share of losses that is written.
const LOSS: f64 = 0.0001;

/// The rate of a line that nobody named: no call alone has a queue on it.
const UNKNOWN: Rate = Rate::from_bits(100_000_000);
/// No more times than these are written.
pub const EPISODES: usize = 20;

/// The part of a call that becomes a scenario, and the line.
pub struct CallPart<'a> {
    /// The dump's name.
    pub name: &'a str,
    /// The line's rates; without them, `UNKNOWN`.
    pub down: Option<Rate>,
    pub up: Option<Rate>,
    /// Seconds of the call.
    pub from: usize,
    pub until: usize,
}

impl CallPart<'_> {
    /// The rates of the line, towards the caller and away.
    pub fn rates(&self) -> [Rate; 2] {
        [self.down, self.up].map(|rate| rate.unwrap_or(UNKNOWN))
    }
}

/// The line of a part of a call.
pub struct CallLine {
    /// The keys of its capacity towards the caller, and away.
    pub down: String,
    pub up: String,
    /// More keys of its wire.
    pub wire: String,
    /// Comments on them.
    pub notes: String,
}

/// A capacity that does not change.
pub fn constant(rate: Rate) -> String {
    format!("rate = \"{rate}\"")
}

/// The line, by the keys of its capacity each way, with the round trip in milliseconds, and more keys of its
/// wire. A recording does not know the buffer.
pub fn section(down: &str, up: &str, rtt: f64, wire: &str) -> String {
    format!(
        "[link]\n\
         {down}\n\
         rtt = \"{rtt:.1}ms\"\n\
         buffer = \"1000p\"\n\
         {wire}\n\
         [link.up]\n\
         {up}\n\
         buffer = \"1000p\"\n"
    )
}

impl CallLine {
    /// Of a part of a call.
    pub fn of(call: &Recorded, part: &CallPart<'_>) -> Self {
        let mut notes = String::new();
        for (option, rate, is) in [
            ("--down", part.down, part.rates()[0]),
            ("--up", part.up, part.rates()[1]),
        ] {
            if rate.is_none() {
                _ = writeln!(
                    notes,
                    "# {option} was not given: {is} is no rate that the dump knows."
                );
            }
        }
        let [down, up] = [TimelineCause::LossReceived, TimelineCause::LossSent].map(|loss| {
            let times = outages(call, part, loss);
            if !times.is_empty() {
                let way = if loss == TimelineCause::LossSent { "sent" } else { "received" };
                let times = times.iter().map(|of| format!("{:.1} to {:.1} s", of.0, of.1));
                // Writing to a string does not fail.
                _ = writeln!(
                    notes,
                    "# Nothing was {way} from {}: an outage. What was lost in it waits in the queue here.",
                    times.collect::<Vec<_>>().join(", ")
                );
            }
            times
        });
        let [towards, away] = part.rates();
        CallLine {
            down: capacity(towards, &down),
            up: capacity(away, &up),
            wire: loss(call, part, &mut notes),
            notes,
        }
    }
}

/// When nothing passed in the direction whose losses are `loss`, in seconds of the part.
fn outages(call: &Recorded, part: &CallPart<'_>, loss: TimelineCause) -> Vec<(f64, f64)> {
    let is_of = |of: &&TimelineFinding| match of.cause {
        TimelineCause::Outage => loss == TimelineCause::LossReceived || of.is_both,
        cause => cause == loss && of.lost > NOTHING,
    };
    let mut times: Vec<(f64, f64)> = Vec::new();
    for of in call.findings.iter().filter(is_of) {
        let (from, until) = within(of, part);
        match times.last_mut() {
            _ if until - from < CLOSE => {}
            Some(last) if from <= last.1 + CLOSE => last.1 = last.1.max(until),
            _ => times.push((from, until)),
        }
    }
    times.truncate(EPISODES);
    times
}

/// The time of a finding that is in the part, in seconds of the part.
fn within(of: &TimelineFinding, part: &CallPart<'_>) -> (f64, f64) {
    let [first, last] = [part.from, part.until].map(|second| second as f64);
    let [from, until] = [of.from, of.until].map(|time| time.clamp(first, last) - first);
    (from, until)
}

fn capacity(rate: Rate, outages: &[(f64, f64)]) -> String {
    if outages.is_empty() {
        return constant(rate);
    }
    let mut steps = Vec::new();
    if outages.iter().all(|of| of.0 >= CLOSE) {
        steps.push(format!("\"0s {rate}\""));
    }
    for (from, until) in outages {
        let from = if *from < CLOSE { 0.0 } else { *from };
        steps.push(format!("\"{from:.1}s 0mbit\", \"{until:.1}s {rate}\""));
    }
    format!("steps = [{}]", steps.join(", "))
}

/// The wire's losses: their mean, for they are the same all the time in a scenario, and both ways.
fn loss(call: &Recorded, part: &CallPart<'_>, notes: &mut String) -> String {
    let ways = [
        (
            TimelineCause::LossReceived,
            "received",
            !call.received.is_empty(),
        ),
        (
            TimelineCause::LossSent,
            "sent",
            call.sent.as_ref().is_some_and(|of| of.lost.is_some()),
        ),
    ];
    let mut means = Vec::new();
    for (cause, way, has_video) in ways {
        let of_way = |of: &&TimelineFinding| of.cause == cause && of.lost <= NOTHING;
        let mut times: Vec<&TimelineFinding> = call.findings.iter().filter(of_way).collect();
        // What was lost all the time has the rest in it.
        if times.iter().any(|of| of.is_always) {
            times.retain(|of| of.is_always);
        }
        let mut mean = 0.0;
        let mut told = Vec::new();
        for of in times {
            let (from, until) = within(of, part);
            let queued: f64 = call
                .episodes
                .iter()
                .map(|by| {
                    let common = of.until.min(by.until as f64) - of.from.max(by.from as f64);
                    common.max(0.0)
                })
                .sum();
            // In a time with long round trips the queue lost them, and will again.
            let time = (until - from).min((of.until - of.from - queued).max(0.0));
            mean += of.lost * time / (part.until - part.from) as f64;
            if time > 0.0 && told.len() < EPISODES {
                told.push(format!(
                    "{:.1} % from {from:.0} to {until:.0} s",
                    100.0 * of.lost
                ));
            }
        }
        if !told.is_empty() {
            _ = writeln!(
                notes,
                "# Of what was {way}, the wire lost {}.",
                told.join(", ")
            );
        }
        if has_video || mean > 0.0 {
            means.push(mean);
        }
    }
    let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
    if mean < LOSS {
        return String::new();
    }
    *notes += "# A scenario loses the same all the time, and in both directions: this is the mean. Import that time\n\
               # alone (--from, --for) to have it as it was.\n";
    format!("loss = \"{:.2}%\"\n", 100.0 * mean)
}
