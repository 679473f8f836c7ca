//! Calls over a path of fixed rate with one FIFO queue.

use super::*;
use crate::testing::{at, settings};
use std::collections::VecDeque;

/// The receiver's clock is ahead by this much.
const CLOCK: Duration = Duration::from_secs(1000);
/// Bytes of a packet.
const PACKET: u32 = 1200;

fn gcc(set: &[(&str, &str)], most_mbit: u64) -> Gcc {
    let setup = Setup {
        media_bounds: (
            Rate::from_bits(150_000),
            Rate::from_bits(most_mbit * 1_000_000),
        ),
        ..Setup::default()
    };
    Gcc::new(&settings(set), &setup).unwrap()
}

/// A call: 30 frames a second at the control's rate, a pacer, padding for probes, feedback every
/// 50 ms, 40 ms of propagation round trip.
struct Call {
    gcc: Gcc,
    rate: Rate,
    /// Bytes that fit into the queue.
    limit: u64,
    /// The encoder's own limit, if it has one below the control's.
    encoder: Option<Rate>,
    /// Every so many packets one is lost on the way, none where zero.
    drop_every: u64,
    /// Feedback gets lost while this is false.
    heard: bool,
    now: Instant,
    next_frame: Instant,
    next_send: Instant,
    next_feedback: Instant,
    waiting: u64,
    /// The probe being sent, since when, and how many packets of it have left.
    probe: Option<(Probe, Instant, u32)>,
    flight: VecDeque<Arrival>,
    sequence: u64,
    link_free: Instant,
    /// Greatest wait in the queue since a test last set it to zero.
    peak_wait: Duration,
    padding: u64,
}

const ONE_WAY: Duration = Duration::from_millis(20);

impl Call {
    fn new(gcc: Gcc, mbit: u64) -> Self {
        Call {
            gcc,
            rate: Rate::from_bits(mbit * 1_000_000),
            limit: 500_000,
            encoder: None,
            drop_every: 0,
            heard: true,
            now: Instant::ZERO,
            next_frame: Instant::ZERO,
            next_send: Instant::ZERO,
            next_feedback: at(50),
            waiting: 0,
            probe: None,
            flight: VecDeque::new(),
            sequence: 0,
            link_free: Instant::ZERO,
            peak_wait: Duration::ZERO,
            padding: 0,
        }
    }

    fn run(&mut self, end_ms: u64) {
        loop {
            self.take_probe();
            let busy = self.waiting > 0 || self.probe.is_some();
            let send = if busy { self.next_send } else { Instant::NEVER };
            let timer = self.gcc.next_timer().unwrap_or(Instant::NEVER);
            let next = send.min(timer).min(self.next_frame).min(self.next_feedback);
            if next > at(end_ms) {
                self.now = at(end_ms);
                return;
            }
            self.now = self.now.max(next);
            self.gcc.on_timer(self.now);
            if self.now >= self.next_frame {
                let target = self.gcc.media_rate(Duration::ZERO);
                let rate = self.encoder.map_or(target, |most| most.min(target));
                self.waiting += rate.bytes_in(Duration::from_secs(1) / 30);
                self.next_frame += Duration::from_secs(1) / 30;
            }
            if self.now >= self.next_feedback {
                self.next_feedback += Duration::from_millis(50);
                self.report();
            }
            if busy && self.now >= self.next_send {
                self.send();
            }
        }
    }

    fn take_probe(&mut self) {
        if self.probe.is_none()
            && let Some(probe) = self.gcc.take_probe(self.now)
        {
            self.probe = Some((probe, self.now, 0));
            self.next_send = self.now;
        }
    }

    fn send(&mut self) {
        let pacing = self.gcc.pacing_rate().unwrap();
        let gap = self.probe.map_or(pacing, |(probe, _, _)| probe.rate);
        let bytes = match self.probe {
            // A probe's packets are full, with media first.
            Some(_) => u64::from(PACKET),
            None => self.waiting.min(u64::from(PACKET)),
        };
        self.padding += bytes.saturating_sub(self.waiting);
        self.waiting = self.waiting.saturating_sub(bytes);
        self.transmit(bytes as u32);
        self.next_send = self.now.max(self.next_send) + gap.time_for(bytes);
        if let Some((probe, since, packets)) = &mut self.probe {
            *packets += 1;
            if self.now.since(*since) >= probe.span && *packets >= probe.packets {
                self.probe = None;
            }
        }
    }

    fn transmit(&mut self, bytes: u32) {
        let wait = self.link_free.since(self.now);
        let fits = self.rate.bytes_in(wait) + u64::from(bytes) <= self.limit;
        let dropped = self.drop_every > 0 && self.sequence.is_multiple_of(self.drop_every);
        let received = (fits && !dropped).then(|| {
            self.peak_wait = self.peak_wait.max(wait);
            self.link_free = self.link_free.max(self.now) + self.rate.time_for(bytes.into());
            self.link_free + ONE_WAY + CLOCK
        });
        self.flight.push_back(Arrival {
            sequence: self.sequence,
            bytes,
            sent: self.now,
            received,
            probe: self.probe.map(|(probe, _, _)| probe),
        });
        self.sequence += 1;
        self.gcc.on_sent(self.now, bytes.into(), 0);
    }

    /// Reports the arrivals up to the moment when the feedback left the receiver, and the losses
    /// before it.
    fn report(&mut self) {
        let left = self.now - ONE_WAY + CLOCK;
        let arrived = |arrival: &Arrival| arrival.received.is_some_and(|received| received <= left);
        let count = self
            .flight
            .iter()
            .rposition(arrived)
            .map_or(0, |last| last + 1);
        let arrivals: Vec<_> = self.flight.drain(..count).collect();
        if self.heard {
            self.gcc.on_arrivals(self.now, &arrivals);
        }
    }

    fn mbit(&self) -> f64 {
        self.gcc.media_rate(Duration::ZERO).as_mbit_f64()
    }
}

/// Runs to each second from `from` to `to`; the least and the greatest rate at those, in Mbit/s.
fn range(call: &mut Call, from: u64, to: u64) -> (f64, f64) {
    let mut range = (f64::INFINITY, 0.0);
    for second in from..=to {
        call.run(1000 * second);
        range = (range.0.min(call.mbit()), f64::max(range.1, call.mbit()));
    }
    range
}

#[test]
fn an_idle_link_is_filled_within_seconds_and_its_queue_stays_short() {
    for (estimator, settled) in [("trendline", 3), ("kalman", 7)] {
        let mut call = Call::new(gcc(&[("estimator", estimator)], 30), 20);
        let (least, _) = range(&mut call, 1, settled);
        assert!(least > 15.0, "{estimator} {least}");
        call.peak_wait = Duration::ZERO;
        let (least, most) = range(&mut call, settled, 30);
        assert!(least > 15.0 && most < 20.0, "{estimator} {least} {most}");
        // A frame of 17/30 Mbit leaves the pacer at 2.5·17 Mbit/s, in 13.3 ms, and passes the link
        // in 28.3 ms: its end waits 15 ms, in a queue that is empty before and after.
        let wait = call.peak_wait;
        assert!(wait < Duration::from_millis(20), "{estimator} {wait}");
    }
}

#[test]
fn half_of_the_capacity_is_found_and_the_queue_drained() {
    for estimator in ["trendline", "kalman"] {
        let mut call = Call::new(gcc(&[("estimator", estimator)], 30), 20);
        call.run(30_000);
        call.rate = Rate::from_bits(10_000_000);
        call.run(31_000);
        let rate = call.mbit();
        assert!((7.5..10.0).contains(&rate), "{estimator} {rate}");
        call.run(34_000);
        call.peak_wait = Duration::ZERO;
        let (least, most) = range(&mut call, 34, 60);
        assert!(least > 7.5 && most < 10.0, "{estimator} {least} {most}");
        let wait = call.peak_wait;
        assert!(wait < Duration::from_millis(25), "{estimator} {wait}");
    }
}

#[test]
fn without_probing_the_rate_grows_by_eight_percent_a_second() {
    let mut call = Call::new(gcc(&[("probing", "no")], 30), 20);
    // 300 kbit/s·1.08^10 = 648 kbit/s, less the first feedback's delay and more where the smallest
    // step of 1 kbit/s in 50 ms counts.
    let (_, most) = range(&mut call, 1, 10);
    assert!((0.6..0.7).contains(&most), "{most}");
    assert_eq!(call.padding, 0);
}

#[test]
fn the_encoders_most_is_the_most_and_ends_probing() {
    let mut call = Call::new(gcc(&[], 2), 20);
    call.run(1_000);
    assert_eq!(call.mbit(), 2.0);
    // The estimate has been probed at twice the encoder's most; the pacer sends at 1.1 of it.
    assert_eq!(call.gcc.pacing_rate(), Some(Rate::from_bits(4_400_000)));
    let padding = call.padding;
    assert!(padding > 0);
    call.run(30_000);
    assert_eq!((call.mbit(), call.padding), (2.0, padding));
}

#[test]
fn an_encoder_that_leaves_the_rate_unused_lets_it_be_probed() {
    let probed = |setting| {
        let mut call = Call::new(gcc(&[("alr_probing", setting)], 30), 20);
        call.encoder = Some(Rate::from_bits(500_000));
        call.run(30_000);
        call.rate = Rate::from_bits(40_000_000);
        let before = call.padding;
        let from = call.mbit();
        call.run(60_000);
        (call.padding - before, call.mbit() / from)
    };
    let (padding, growth) = probed("yes");
    // Estimates of some 19 Mbit/s are probed at twice that; 30 Mbit/s are the encoder's most.
    assert!(padding > 0 && growth > 1.3, "{padding} {growth}");
    assert_eq!(probed("no"), (0, 1.0));
}

#[test]
fn much_loss_lowers_the_rate_and_little_is_taken_for_the_paths_own() {
    let after = |every| {
        let mut call = Call::new(gcc(&[], 10), 20);
        call.run(5_000);
        assert_eq!(call.mbit(), 10.0);
        call.drop_every = every;
        call.run(10_900);
        call.mbit()
    };
    // One of five: the rate follows the arrivals, 0.8 of it, down towards 100 kbit/s over the loss
    // beyond 5 %: 0.67 Mbit/s.
    let rate = after(5);
    assert!((0.66..2.5).contains(&rate), "{rate}");
    // One of 25 is 4 %.
    assert_eq!(after(25), 10.0);
}

#[test]
fn feedback_that_stays_away_lowers_the_rate_every_second() {
    let mut call = Call::new(gcc(&[], 10), 20);
    call.run(5_000);
    call.heard = false;
    // The last feedback was at 5 s. At some 7.95 s the round trip would be three seconds.
    call.run(7_900);
    assert_eq!(call.mbit(), 10.0);
    // Then every second: 10·0.8³ = 5.12 Mbit/s.
    call.run(10_500);
    assert!((call.mbit() - 5.12).abs() < 1e-3, "{}", call.mbit());
    // Neither delay nor loss has set another one: the rate comes with the feedback.
    call.heard = true;
    call.run(11_000);
    assert_eq!(call.mbit(), 10.0);
}

#[test]
fn the_timer_rests_with_the_sender() {
    let mut gcc = gcc(&[], 10);
    assert_eq!(gcc.next_timer(), None);
    gcc.on_sent(at(0), 1200, 1200);
    assert_eq!(gcc.next_timer(), Some(at(25)));
    gcc.on_timer(at(10));
    assert_eq!(gcc.next_timer(), Some(at(25)), "too early");
    gcc.on_timer(at(25));
    assert_eq!(gcc.next_timer(), Some(at(50)));
    gcc.on_timer(at(10_000));
    assert_eq!(gcc.next_timer(), None);
    gcc.on_sent(at(11_000), 1200, 1200);
    assert_eq!(gcc.next_timer(), Some(at(11_025)));
}

#[test]
fn settings_are_checked() {
    let build = |name: &str, value: &str| {
        let settings = [(name.to_owned(), value.to_owned())];
        Gcc::new(&settings, &Setup::default()).map(|_| ())
    };
    assert!(build("estimator", "kalman").is_ok());
    let error = build("estimator", "magic").unwrap_err();
    assert_eq!(
        error.message,
        "parameter estimator: \"magic\" is not trendline or kalman"
    );
}

proptest::proptest! {
    /// For any report of a receiver, the rate stays within the encoder's bounds.
    #[test]
    fn no_feedback_takes_the_rate_out_of_bounds(
        claims in proptest::collection::vec(
            (
                0u64..5_000,
                proptest::option::of(proptest::prelude::any::<u64>()),
                0u32..100_000,
                proptest::option::of(0u32..6),
            ),
            1..200,
        ),
        kalman: bool,
    ) {
        let estimator = if kalman { "kalman" } else { "trendline" };
        let mut gcc = gcc(&[("estimator", estimator)], 10);
        for (index, chunk) in claims.chunks(7).enumerate() {
            let now = at(60 * index as u64 + 5_000);
            while gcc.take_probe(now).is_some() {}
            gcc.on_sent(now, 1200, 1200);
            let arrivals: Vec<_> = chunk
                .iter()
                .map(|&(sent, received, bytes, probe)| Arrival {
                    sequence: 0,
                    bytes,
                    sent: at(sent),
                    received: received.map(Instant::from_nanos),
                    probe: probe.map(|id| Probe {
                        id,
                        rate: Rate::from_bits(1_000_000),
                        span: Duration::from_millis(15),
                        packets: 5,
                    }),
                })
                .collect();
            gcc.on_arrivals(now, &arrivals);
            gcc.on_timer(now);
            let mbit = gcc.media_rate(Duration::ZERO).as_mbit_f64();
            proptest::prop_assert!((0.15..=10.0).contains(&mbit), "{}", mbit);
        }
    }
}
