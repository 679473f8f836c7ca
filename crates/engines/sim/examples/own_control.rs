//! A congestion control of one's own: `steady`, which keeps a fixed delay in the queue.
//!
//! The parts of a control stand here in the order of the built-in ones: principles, parameters,
//! entry for the registry, code, tests. `main` puts it into a call and compares it with two
//! built-in ones.
//!
//! Principles: the smallest round trip of a round, less the smallest ever, is the queue's delay;
//! below `target` the window grows by a segment a round trip, above it shrinks by an eighth.
//! Not for: links where others fill the buffer without flow queuing; it gives way to them.

use cca::{Ack, Congestion, Control, ControlEntry, Setup};
use scenario::{Choice, Document, Names};
use sim::Simulator;
use std::error::Error;
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `steady`.
    pub struct SteadyParams {
        /// Delay that it keeps in the queue.
        target: Duration = "10ms", range "1ms".."1s", source "this example";
    }
}

/// `steady` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "steady",
    summary: "keeps a fixed delay in the queue",
    about: "One segment more a round trip while the queue is short, an eighth less while it is \
        long.\n\nNot for a FIFO that others fill: it gives way to them.",
    source: "an example",
    params: SteadyParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Steady::new(parts.settings, parts.setup)?)),
};

/// The control. Sizes in bytes.
#[derive(Debug)]
pub struct Steady {
    params: SteadyParams,
    mss: u64,
    window: u64,
    /// Smallest round trip since the last round began.
    shortest: Option<Duration>,
}

impl Steady {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        Ok(Steady {
            params: SteadyParams::parse(settings)?,
            mss: setup.mss,
            window: setup.initial_window,
            shortest: None,
        })
    }

    fn shrink(&mut self) {
        self.window = (self.window / 8 * 7).max(2 * self.mss);
    }
}

impl Control for Steady {
    fn on_ack(&mut self, _now: Instant, ack: &Ack) {
        let samples = self.shortest.into_iter().chain(ack.rtt);
        self.shortest = samples.min();
        if !ack.round_start {
            return;
        }
        let Some(shortest) = self.shortest.take() else {
            return;
        };
        if shortest.saturating_sub(ack.min_rtt) > self.params.target {
            self.shrink();
        } else if ack.window_limited && !ack.in_recovery {
            self.window += self.mss;
        }
    }

    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {
        self.shrink();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        self.window = 2 * self.mss;
    }

    // The rate of the encoder is the window per round trip, which is the trait's default.
    fn window(&self) -> u64 {
        self.window
    }
}

/// A call, and a page of twelve flows at 30 s.
const SCENARIO: &str = include_str!("../../../../scenarios/page-during-call.toml");

fn main() -> Result<(), Box<dyn Error>> {
    let mut simulator = Simulator::default();
    simulator.controls.add(ENTRY);
    let names: &dyn Names = &simulator;
    println!(
        "{:20}  {:10}  {:>7}  {:>12}  {:>11}",
        "control", "discipline", "stall s", "frame p95 ms", "call Mbit/s"
    );
    for control in ["gcc", "copa", "steady", "steady,target=30ms"] {
        let mut document = Document::parse("page-during-call.toml", SCENARIO)?;
        document.set("traffic.call.control", control)?;
        let scenario = document.resolve(names)?;
        for discipline in ["pfifo", "fq_codel"] {
            let choice = Choice::plain(discipline);
            let result = measure::run(&simulator, &scenario, &choice, 1, false)?;
            let call = &result.calls[0];
            println!(
                "{:20}  {:10}  {:7.2}  {:12.1}  {:11.2}",
                call.control,
                result.discipline,
                call.stall_s,
                call.frame_delay_ms.p95.unwrap_or(f64::NAN),
                call.goodput_mbps
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_below_the_target_and_shrinks_above_it() {
        let setup = Setup {
            mss: 1000,
            initial_window: 16_000,
            ..Setup::default()
        };
        let mut steady = Steady::new(&[], &setup).unwrap();
        let round = |rtt| Ack {
            rtt: Some(Duration::from_millis(rtt)),
            min_rtt: Duration::from_millis(40),
            round_start: true,
            window_limited: true,
            ..Ack::default()
        };
        steady.on_ack(Instant::ZERO, &round(50));
        assert_eq!(steady.window(), 17_000, "10 ms in the queue: one more");
        steady.on_ack(Instant::ZERO, &round(51));
        assert_eq!(steady.window(), 14_875, "11 ms: 17000 / 8 · 7");
    }
}
