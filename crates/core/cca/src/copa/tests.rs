//! Steps by hand, and flows behind one queue.

use super::*;
use crate::Signal;
use crate::reno::Reno;
use crate::testing::{MSS, at, settings, setup};
use crate::testpath;

fn copa(set: &[(&str, &str)]) -> Copa {
    Copa::new(&settings(set), &setup()).unwrap()
}

fn ack(rtt_ms: u64, round_start: bool) -> Ack {
    Ack {
        bytes: MSS,
        rtt: Some(Duration::from_millis(rtt_ms)),
        srtt: Duration::from_millis(rtt_ms),
        prior_in_flight: 100 * MSS,
        round_start,
        ..Ack::default()
    }
}

const LOSS: Congestion = Congestion {
    signal: Signal::Loss,
    lost: MSS,
    in_flight: 0,
    min_rtt: Duration::ZERO,
};

#[test]
fn doubles_below_the_target_then_steps_by_the_formula() {
    let mut copa = copa(&[]);
    // No queueing delay: no bound on the rate. One packet acknowledged, one more allowed.
    copa.on_ack(at(40), &ack(40, false));
    assert_eq!(copa.window(), 11_000);
    assert!(copa.in_slow_start());
    // RTTmin 40 ms. 61 ms later only the new sample is within srtt/2: RTTstanding 60 ms, dq
    // 20 ms. Target window: mss·RTTstanding/(δ·dq) = 1000·60/(0.5·20) = 6000 B, below 11 000.
    // Step: v·mss·acked/(δ·cwnd) = 1·1000·1000/(0.5·11 000) = 181.8 B down.
    copa.on_ack(at(101), &ack(60, false));
    assert_eq!((copa.window(), copa.in_slow_start()), (10_818, false));
    // dq 10 ms of 50 ms: target 1000·50/(0.5·10) = 10 000 B, still below: 184.87 B down.
    copa.on_ack(at(160), &ack(50, false));
    assert_eq!(copa.window(), 10_633);
    // dq 8 ms of 48 ms: target 1000·48/(0.5·8) = 12 000 B, above: 188.1 B up.
    copa.on_ack(at(200), &ack(48, false));
    assert_eq!(copa.window(), 10_821);
    // 2·cwnd/RTTstanding = 2·10 821·8 bit/48 ms = 3.607 Mbit/s; half of that for an encoder.
    assert_eq!(copa.pacing_rate(), Some(Rate::from_bits(3_607_000)));
    assert_eq!(copa.media_rate(Duration::ZERO), Rate::from_bits(1_803_500));
}

#[test]
fn the_velocity_doubles_after_three_rounds_and_falls_back_when_it_turns() {
    let mut copa = copa(&[("mode_switching", "no")]);
    copa.on_ack(at(0), &ack(40, false));
    copa.slow_start = false;
    copa.window = 100_000.0;
    copa.round_window = 100_000.0;
    let mut velocities = Vec::new();
    for round in 1..=7 {
        copa.on_ack(at(40 * round), &ack(40, true));
        velocities.push(copa.velocity);
    }
    // The window did not move before the first round's start. It rises from then on: "up" is
    // new at the second start, and the same at the third, fourth and fifth: doubled there.
    assert_eq!(velocities, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
    // A delay of 100 ms: target 1000·100/(0.5·60) = 3333 B. Down, with a velocity of one.
    let before = copa.window;
    copa.on_ack(at(400), &ack(100, false));
    assert_eq!(copa.velocity, 1.0);
    let step = 1000.0 * 1000.0 / (0.5 * before);
    assert!((before - copa.window - step).abs() < 1e-6);
}

#[test]
fn a_round_at_most_doubles_or_halves_the_window() {
    for (rtt, direction, expected) in [
        (40, WindowDirection::Up, 32_000.0),
        (100, WindowDirection::Down, 8_000.0),
    ] {
        let mut copa = copa(&[]);
        copa.on_ack(at(0), &ack(40, false));
        copa.slow_start = false;
        (copa.window, copa.round_window) = (16_000.0, 16_000.0);
        (copa.velocity, copa.direction) = (1e6, direction);
        for _ in 0..16 {
            copa.on_ack(at(100), &ack(rtt, false));
        }
        assert!(
            (copa.window / expected - 1.0).abs() < 0.05,
            "{}",
            copa.window
        );
    }
}

#[test]
fn a_queue_that_never_empties_turns_on_the_competition() {
    let mut copa = copa(&[]);
    copa.on_ack(at(0), &ack(40, false));
    // Between 80 and 110 ms permanently, with 3500 B between the targets of 4000 and 3143 B. dq is
    // at least 40 ms; a tenth of the swing is 7 ms, and a packet takes 23 or 31 ms.
    copa.slow_start = false;
    (copa.window, copa.round_window) = (3500.0, 3500.0);
    let mut now = 0;
    let mut entered = None;
    for round in 0..20 {
        let rtt = if round % 2 == 0 { 80 } else { 110 };
        now += rtt;
        copa.on_ack(at(now), &ack(rtt, true));
        if copa.competitive {
            entered.get_or_insert(round);
        }
    }
    // Acknowledgements at 80, 190, 270, 380 and 460 ms: 380 is less than 5·110, 460 more than 5·80.
    assert_eq!(entered, Some(4));
    // 1/δ rises by one a round from 2, and halves on loss, to no less than 2.
    let before = 1.0 / copa.delta;
    copa.on_ack(at(now + 80), &ack(80, true));
    assert!((1.0 / copa.delta - before - 1.0).abs() < 1e-9);
    copa.on_congestion(at(now + 80), &LOSS);
    assert!((1.0 / copa.delta - (before + 1.0) / 2.0).abs() < 1e-9);
    for _ in 0..9 {
        copa.on_congestion(at(now + 80), &LOSS);
    }
    assert_eq!(copa.delta, 0.5);
    // An empty queue ends it.
    copa.delta = 0.1;
    copa.on_ack(at(now + 200), &ack(41, true));
    assert_eq!((copa.competitive, copa.delta), (false, 0.5));
}

#[test]
fn loss_alone_changes_nothing_and_a_timeout_starts_over() {
    let mut copa = copa(&[]);
    copa.on_ack(at(0), &ack(40, false));
    copa.on_congestion(at(0), &LOSS);
    assert_eq!((copa.window(), copa.delta), (11_000, 0.5));
    copa.on_timeout(at(1000), 11_000);
    assert_eq!((copa.window(), copa.in_slow_start()), (2000, true));
}

#[test]
fn an_unused_window_stops_at_twice_its_use() {
    let mut copa = copa(&[]);
    // Never more than 8000 B in flight, and never a queue.
    for round in 1..100 {
        copa.on_sent(at(40 * round - 40), MSS, 8 * MSS);
        let unused = Ack {
            prior_in_flight: 8 * MSS,
            ..ack(40, true)
        };
        copa.on_ack(at(40 * round), &unused);
    }
    assert_eq!(copa.window(), 16_000);
}

#[test]
fn the_least_of_a_sliding_window() {
    let mut least = Least::default();
    let window = Duration::from_millis(100);
    let mut seen = Vec::new();
    for (ms, value) in [(0, 5), (50, 3), (60, 7), (150, 6), (161, 9), (270, 9)] {
        least.push(at(ms), value, window);
        seen.extend(least.get());
    }
    // 3 leaves after 150 ms, 7 was outlived by 6, which leaves after 250 ms.
    assert_eq!(seen, [5, 3, 3, 3, 6, 9]);
    for ms in 0..100_000 {
        least.push(at(ms), ms, Duration::from_secs(10));
    }
    assert!(least.values.len() <= STEPS as usize + 1);
}

/// Bulk senders behind one FIFO, acknowledged packet by packet.
struct Path {
    rate: Rate,
    rtt: Duration,
    /// Packets that may wait.
    limit: f64,
    now: Instant,
    link_free: Instant,
    flows: Vec<Flow>,
}

struct Flow {
    copa: Copa,
    /// Sends in Copa's place, if there.
    reno: Option<Reno>,
    starts: Instant,
    next_send: Instant,
    flight: VecDeque<Flying>,
    delivered: u64,
    round_end: u64,
    /// In recovery until this much is delivered.
    recovery_end: u64,
    srtt: Duration,
}

struct Flying {
    sent: Instant,
    /// When its acknowledgement comes, or its loss is noticed.
    known: Instant,
    lost: bool,
    /// Delivered when it left.
    delivered: u64,
}

impl Path {
    fn new(mbit: u64, rtt_ms: u64, starts_ms: &[u64]) -> Self {
        let flows = starts_ms.iter().map(|&ms| Flow {
            copa: copa(&[]),
            reno: None,
            starts: at(ms),
            next_send: at(ms),
            flight: VecDeque::new(),
            delivered: 0,
            round_end: 0,
            recovery_end: 0,
            srtt: Duration::ZERO,
        });
        Path {
            rate: Rate::from_bits(mbit * 1_000_000),
            rtt: Duration::from_millis(rtt_ms),
            limit: f64::INFINITY,
            now: Instant::ZERO,
            link_free: Instant::ZERO,
            flows: flows.collect(),
        }
    }

    /// Runs until `end`; returns the mean and the greatest queue in packets, as arrivals see it.
    fn run(&mut self, end: Instant) -> (f64, f64) {
        let (mut sum, mut count, mut most) = (0.0, 0.0, 0.0);
        while let Some((when, index)) = self.next().filter(|&(when, _)| when <= end) {
            self.now = when;
            let flow = &mut self.flows[index];
            if flow
                .flight
                .front()
                .is_some_and(|packet| packet.known == when)
            {
                flow.learn(when);
                continue;
            }
            let queue = self.rate.bytes_in(self.link_free.since(when)) as f64 / MSS as f64;
            sum += queue;
            count += 1.0;
            most = f64::max(most, queue);
            let lost = queue >= self.limit;
            if !lost {
                self.link_free = self.link_free.max(when) + self.rate.time_for(MSS);
            }
            flow.send(when, self.link_free + self.rtt, lost);
        }
        self.now = end;
        (sum / count, most)
    }

    /// The next event and whose it is.
    fn next(&self) -> Option<(Instant, usize)> {
        let of = |flow: &Flow| {
            let known = flow
                .flight
                .front()
                .map_or(Instant::NEVER, |packet| packet.known);
            let open = (flow.flight.len() as u64 + 1) * MSS <= flow.control().window();
            let send = if open { flow.next_send } else { Instant::NEVER };
            known.min(send).max(self.now)
        };
        let all = self.flows.iter().enumerate();
        all.map(|(index, flow)| (of(flow), index)).min()
    }

    /// Bytes delivered to each flow between now and `end`.
    fn measure(&mut self, end: Instant) -> Vec<f64> {
        let before: Vec<_> = self.flows.iter().map(|flow| flow.delivered).collect();
        self.run(end);
        let gained = self.flows.iter().zip(before);
        gained
            .map(|(flow, before)| (flow.delivered - before) as f64)
            .collect()
    }
}

impl Flow {
    fn control(&self) -> &dyn Control {
        match &self.reno {
            Some(reno) => reno,
            None => &self.copa,
        }
    }

    fn control_mut(&mut self) -> &mut dyn Control {
        match &mut self.reno {
            Some(reno) => reno,
            None => &mut self.copa,
        }
    }

    fn send(&mut self, now: Instant, known: Instant, lost: bool) {
        self.flight.push_back(Flying {
            sent: now,
            known,
            lost,
            delivered: self.delivered,
        });
        let in_flight = self.flight.len() as u64 * MSS;
        self.control_mut().on_sent(now, MSS, in_flight);
        let gap = self.control().pacing_rate().map(|rate| rate.time_for(MSS));
        self.next_send = now.max(self.starts) + gap.unwrap_or(Duration::ZERO);
    }

    /// The oldest packet is acknowledged or found lost.
    fn learn(&mut self, now: Instant) {
        let prior_in_flight = self.flight.len() as u64 * MSS;
        let Some(packet) = self.flight.pop_front() else {
            return;
        };
        if packet.lost {
            if packet.delivered >= self.recovery_end {
                self.recovery_end = self.delivered + prior_in_flight;
                self.control_mut().on_congestion(now, &LOSS);
            }
            return;
        }
        self.delivered += MSS;
        let rtt = now.since(packet.sent);
        self.srtt = match self.srtt {
            Duration::ZERO => rtt,
            srtt => srtt.scale(7, 8) + rtt / 8,
        };
        let round_start = packet.delivered >= self.round_end;
        if round_start {
            self.round_end = self.delivered;
        }
        let ack = Ack {
            bytes: MSS,
            rtt: Some(rtt),
            srtt: self.srtt,
            prior_in_flight,
            round_start,
            in_recovery: packet.delivered < self.recovery_end,
            window_limited: true,
            ..Ack::default()
        };
        self.control_mut().on_ack(now, &ack);
    }
}

#[test]
fn alone_it_fills_the_link_with_a_few_packets_in_the_queue() {
    // 8 Mbit/s carries 1000 packets a second.
    let mut path = Path::new(8, 40, &[0]);
    path.run(at(10_000));
    let (mean, most) = path.run(at(15_000));
    // 1/δ = 2 packets as RTTstanding sees it, some more as each arrival sees it.
    assert!((1.0..4.0).contains(&mean) && most < 6.0, "{mean} {most}");
    let carried = path.measure(at(20_000))[0] / 5e6;
    assert!(carried > 0.95, "{carried}");
    // Half of the capacity: the window follows and the queue drains, in swings that are still
    // wider for some seconds.
    path.rate = Rate::from_bits(4_000_000);
    path.run(at(22_000));
    let (mean, most) = path.run(at(30_000));
    assert!((1.0..4.0).contains(&mean) && most < 10.0, "{mean} {most}");
    let carried = path.measure(at(35_000))[0] / 2.5e6;
    assert!(carried > 0.95, "{carried}");
    assert!(!path.flows[0].copa.competitive);
}

#[test]
fn long_fat_paths_settle_and_slow_ones_do_not_compete_with_themselves() {
    for (mbit, rtt) in [(1, 20), (20, 100), (50, 100)] {
        let mut path = Path::new(mbit, rtt, &[0]);
        path.run(at(10_000));
        let mut carried = 0.0;
        for second in 11..=20 {
            carried += path.measure(at(1000 * second))[0] * 8e-7 / mbit as f64;
            assert!(!path.flows[0].copa.competitive, "{mbit} {rtt}");
        }
        assert!(carried > 0.9, "{mbit} {rtt} {carried}");
    }
}

#[test]
fn two_share_equally_when_one_comes_late() {
    let mut path = Path::new(8, 40, &[0, 5_000]);
    path.run(at(10_000));
    let got = path.measure(at(30_000));
    let total = got[0] + got[1];
    assert!(total > 0.95 * 20e6, "{got:?}");
    // Jain's index of two: 0.98 is a share of 43 to 57 %.
    let jain = total * total / (2.0 * (got[0] * got[0] + got[1] * got[1]));
    assert!(jain > 0.98, "{got:?}");
    let (mean, _) = path.run(at(35_000));
    assert!(mean < 12.0, "{mean}");
}

#[test]
fn mode_switching_holds_out_against_reno() {
    let share = |mode_switching| {
        let mut path = Path::new(8, 40, &[0, 0]);
        path.limit = 80.0;
        path.flows[0].copa = copa(&[("mode_switching", mode_switching)]);
        path.flows[1].reno = Some(Reno::new(&[], &setup()).unwrap());
        path.run(at(10_000));
        let got = path.measure(at(70_000));
        got[0] / (got[0] + got[1])
    };
    let (yes, no) = (share("yes"), share("no"));
    assert!((0.3..0.7).contains(&yes) && no < 0.15, "{yes} {no}");
}

/// A call: an encoder that follows the control with a frame every 33 ms.
#[test]
fn a_call_fills_the_link_with_a_short_queue() {
    let mut copa = copa(&[]);
    assert_eq!(copa.media_rate(Duration::ZERO), Rate::from_bits(300_000));
    let rtt = Duration::from_millis(40);
    let mut path = testpath::Path::new(Rate::from_bits(20_000_000), rtt, 500_000, MSS);
    path.source = testpath::Source::Frames(Duration::from_millis(33));
    path.run(&mut copa, at(4_000));
    path.peak_wait = Duration::ZERO;
    let before = path.delivered;
    path.run(&mut copa, at(20_000));
    let carried = (path.delivered - before) as f64 * 8.0 / (16.0 * 20e6);
    assert!(carried > 0.95, "{carried}");
    assert!(
        path.peak_wait < Duration::from_millis(5),
        "{}",
        path.peak_wait
    );
    assert!(!copa.competitive);
}
