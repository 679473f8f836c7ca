//! Rates of the bottleneck over time, as steps that the guest takes.

use crate::network::{BURST, CLASS, DOWN, UP};
use guest::MTU;
use guest::plan::RateStep;
use link::Capacity;
use scenario::{Link, Scenario};
use units::{Duration, Rate};

/// Changes of rate closer together than this are one, of their mean: each takes the guest's time.
const CLOSEST: Duration = Duration::from_millis(20);
/// An outage is over by this much later than it should be, at most.
const MARGIN: Duration = Duration::from_millis(1);
/// Steps of the rates of both directions.
pub fn steps(scenario: &Scenario, link: &Link) -> Vec<RateStep> {
    let up = link.up.as_ref().map(|up| (&up.capacity, UP));
    let mut steps = Vec::new();
    for (capacity, (device, handle)) in [(&link.capacity, DOWN)].into_iter().chain(up) {
        for (at, hold, rate) in windows(capacity, scenario.duration) {
            // A full packet takes a little longer than an outage: it is on the wire meanwhile, and
            // no second one leaves just before the end.
            let packet = u64::from(MTU + link.wire.overhead());
            let least = Rate::from_bytes_over(packet, hold + MARGIN);
            steps.push(RateStep {
                at: at.as_nanos(),
                device: device.to_owned(),
                class: handle + CLASS,
                rate: (rate.max(least).as_bits() / 8).max(1),
                overhead: link.wire.overhead() as u16,
                burst: BURST,
            });
        }
    }
    steps.sort_by_key(|step| step.at);
    steps
}

/// A capacity that changes, in pieces that are not too short: from when, how long, and the mean
/// rate. None for a constant one.
fn windows(capacity: &Capacity, end: Duration) -> Vec<(Duration, Duration, Rate)> {
    let Capacity::Trace(trace) = capacity else {
        return Vec::new();
    };
    let pieces: Vec<(Rate, Duration)> = trace.pieces().collect();
    let mut starts = vec![Duration::ZERO];
    let mut at = 0u64;
    for (_, hold) in pieces.iter().cycle() {
        at = at.saturating_add(hold.as_nanos());
        let at = Duration::from_nanos(at);
        if at >= end {
            break;
        }
        let last = starts[starts.len() - 1];
        if at.saturating_sub(last) >= CLOSEST {
            starts.push(at);
        }
    }
    let ends = starts.iter().copied().skip(1).chain([end]);
    let window = |(from, until): (Duration, Duration)| {
        let span = until.saturating_sub(from);
        let bytes = capacity.bytes_between(from, until);
        (from, span, Rate::from_bytes_over(bytes as u64, span))
    };
    starts.iter().copied().zip(ends).map(window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_change_in_steps_that_are_not_too_short() {
        let capacity = |text: &str| {
            let trace = link::Trace::parse(text).unwrap();
            Capacity::Trace(std::sync::Arc::new(trace))
        };
        let ms = Duration::from_millis;
        // Mahimahi: a packet in each of the milliseconds 1 to 40, and then none until 100.
        let text: String = (1..=40).map(|n| format!("{n}\n")).collect::<String>() + "100\n";
        let windows = windows(&capacity(&text), ms(130));
        let starts: Vec<_> = windows.iter().map(|(at, ..)| at.as_millis()).collect();
        assert_eq!(starts, [0, 20, 40, 99, 119]);
        let rates: Vec<_> = windows.iter().map(|(.., r)| r.as_mbit_f64()).collect();
        assert_eq!(rates[0], 12.0);
        assert_eq!(rates[2], 0.0);
        let spans: u64 = windows.iter().map(|(_, span, _)| span.as_millis()).sum();
        assert_eq!(spans, 130);
        assert!(super::windows(&Capacity::Constant(Rate::from_bits(1)), ms(9)).is_empty());
    }
}
