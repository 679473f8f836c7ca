//! A control round any other: `capped(BASE)`, which lets it have no more than a given window.
//!
//! The control in parentheses is built by the registry and handed over; its settings are its own:
//! `capped(cubic,hystart=no),window=30kB`. A wrapper passes on all calls, and changes only the
//! behaviour it is made for.
//!
//! Principles: a sender that sends less than would fill the buffer leaves no queue behind, with any
//! control. Not for: paths whose product of rate and round trip is not known.

use cca::{Ack, Arrival, Congestion, Control, ControlEntry, EcnMode, Feedback, Parts, Probe, Slot};
use scenario::{Choice, Document, Names};
use sim::Simulator;
use std::error::Error;
use units::{Bytes, Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of `capped`.
    pub struct CappedParams {
        /// The largest window.
        window: Bytes = "64kB", range "2kB".."1GB", source "this example";
    }
}

/// `capped` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "capped",
    summary: "another control with a limited window",
    about: "The base decides, but the window is never larger than `window`.\n\nNot for paths whose \
        product of rate and round trip is not known.",
    source: "an example",
    params: CappedParams::SPECS,
    children: &[Slot {
        name: "BASE",
        default: "cubic",
        help: "The control that decides below the limit.",
    }],
    build: |parts| Ok(Box::new(Capped::new(parts)?)),
};

/// The control.
pub struct Capped {
    most: u64,
    base: Box<dyn Control>,
}

impl Capped {
    /// Round the base that was chosen.
    ///
    /// # Errors
    /// If a setting is refused, here or by the base.
    pub fn new(parts: &Parts<'_>) -> Result<Self, Refusal> {
        Ok(Capped {
            most: CappedParams::parse(parts.settings)?.window.get(),
            base: parts.child(0)?,
        })
    }
}

impl Control for Capped {
    fn window(&self) -> u64 {
        self.base.window().min(self.most)
    }

    fn media_rate(&self, srtt: Duration) -> Rate {
        let most = Rate::from_bytes_over(self.most, srtt);
        self.base.media_rate(srtt).min(most)
    }

    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        self.base.on_sent(now, bytes, in_flight);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.base.on_ack(now, ack);
    }

    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        self.base.on_congestion(now, congestion);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.base.on_recovered(now);
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u64) {
        self.base.on_timeout(now, in_flight);
    }

    fn on_spurious_timeout(&mut self, now: Instant) {
        self.base.on_spurious_timeout(now);
    }

    fn on_idle_restart(&mut self, now: Instant, idle: Duration) {
        self.base.on_idle_restart(now, idle);
    }

    fn on_arrivals(&mut self, now: Instant, arrivals: &[Arrival]) {
        self.base.on_arrivals(now, arrivals);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.base.next_timer()
    }

    fn on_timer(&mut self, now: Instant) {
        self.base.on_timer(now);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.base.pacing_rate()
    }

    fn take_probe(&mut self, now: Instant) -> Option<Probe> {
        self.base.take_probe(now)
    }

    fn in_slow_start(&self) -> bool {
        self.base.in_slow_start()
    }

    fn uses_prr(&self) -> bool {
        self.base.uses_prr()
    }

    fn feedback(&self) -> Feedback {
        self.base.feedback()
    }

    fn ecn(&self) -> EcnMode {
        self.base.ecn()
    }
}

/// A call, and a download from 10 s on.
const SCENARIO: &str = r#"
name = "own wrapper"
duration = "40s"
warmup = "20s"
disciplines = ["pfifo"]
[link]
rate = "20mbit"
rtt = "40ms"
[[traffic]]
name = "call"
kind = "call"
max_rate = "4mbit"
[[traffic]]
name = "download"
kind = "bulk"
start = "10s"
"#;

/// The 95th percentile of the delay of the call's frames, and the rate of the download, under
/// `control`: milliseconds and Mbit/s.
fn measured(control: &str) -> Result<(f64, f64), Box<dyn Error>> {
    let mut simulator = Simulator::default();
    simulator.controls.add(ENTRY);
    let names: &dyn Names = &simulator;
    let mut document = Document::parse("own_wrapper", SCENARIO)?;
    document.set("traffic.download.control", control)?;
    let scenario = document.resolve(names)?;
    let choice = Choice::plain("pfifo");
    let result = measure::run(&simulator, &scenario, &choice, 1, false)?;
    let delay = result.calls[0].frame_delay_ms.p95.unwrap_or(f64::NAN);
    Ok((delay, result.flows[0].goodput_mbps))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:28}  {:>12}  {:>13}",
        "control", "frame p95 ms", "download Mb/s"
    );
    for control in [
        "cubic",
        "capped(cubic)",
        "capped(bbr,version=3),window=30kB",
    ] {
        let (delay, goodput) = measured(control)?;
        println!("{control:28}  {delay:12.1}  {goodput:13.2}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cca::{Registry, Setup};

    fn build(choice: &str) -> Result<Box<dyn Control>, Refusal> {
        let mut registry = Registry::builtin();
        registry.add(ENTRY);
        registry.build(&choice.parse()?, &Setup::default())
    }

    /// Ten segments of 1448 bytes at first; each acknowledgement in slow start adds the bytes it
    /// acknowledges.
    #[test]
    fn the_base_decides_up_to_the_limit() {
        let mut capped = build("capped(reno),window=20kB").unwrap();
        assert_eq!(capped.window(), 14_480);
        for (acknowledged, window) in [(4_000, 18_480), (4_000, 20_000)] {
            let ack = Ack {
                bytes: acknowledged,
                window_limited: true,
                ..Ack::default()
            };
            capped.on_ack(Instant::ZERO, &ack);
            assert_eq!(capped.window(), window);
        }
        assert!(capped.in_slow_start());
    }

    #[test]
    fn what_the_base_needs_and_refuses_is_passed_on() {
        assert_eq!(build("capped(gcc)").unwrap().feedback(), Feedback::Arrivals);
        assert_eq!(build("capped(prague)").unwrap().ecn(), EcnMode::Scalable);
        assert_eq!(build("capped").unwrap().feedback(), Feedback::Acks);
        for (choice, refusal) in [
            (
                "capped(cubik)",
                "capped: there is no control \"cubik\"; did you mean cubic?",
            ),
            ("capped(bbr,version=2)", "capped: bbr: parameter version"),
            ("cubic(reno)", "cubic contains no other"),
        ] {
            let error = build(choice).err().unwrap().to_string();
            assert!(error.starts_with(refusal), "{choice}: {error}");
        }
    }

    /// 64 kB in 40 ms are 12.8 Mbit/s, which the link has left next to a call of 4 Mbit/s: no queue
    /// stands. Cubic alone fills the buffer of 1000 packets.
    #[test]
    fn a_window_below_the_product_leaves_no_queue() {
        let (delay, goodput) = measured("capped(cubic)").unwrap();
        assert!(delay < 100.0, "{delay} ms");
        assert!((11.0..12.9).contains(&goodput), "{goodput} Mbit/s");
        let (delay, _) = measured("cubic").unwrap();
        assert!(delay > 200.0, "{delay} ms");
    }

    /// A control that needs arrival times cannot serve a transfer, whatever wraps it.
    #[test]
    fn a_transfer_refuses_a_wrapped_media_control() {
        let error = measured("capped(gcc)").unwrap_err().to_string();
        assert!(error.contains("needs arrival times"), "{error}");
    }
}
