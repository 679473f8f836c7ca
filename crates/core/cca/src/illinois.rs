//! `illinois`: loss decides when to slow down, delay decides by how much.
//!
//! Principles: as in Reno the window grows every round trip and shrinks on a loss, but both steps
//! depend on the average queueing delay of the last round trip: far from the greatest delay seen it
//! grows by up to ten segments and gives up an eighth on a loss (which congestion hardly caused);
//! near it, it grows by 0.3 and gives up half. The window's curve is concave.
//! Not for: calls (it fills the buffer, and lingers where it is full).
//!
//! Liu, Başar and Srikant, Performance Evaluation 65(6-7), 2008 ("the paper"); Linux
//! `tcp_illinois.c`, whose fixed-point arithmetic this has, in microseconds. As Linux does, it never
//! forgets the smallest and the greatest round trip; the queue's delay is measured from the one and
//! judged by the other.

use crate::window::Window;
use crate::{Ack, Congestion, Control, ControlEntry, Setup};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `illinois`.
    pub struct IllinoisParams {
        /// With a window of fewer segments than this, the control acts as Reno.
        win_thresh: u64 = "15", range "0".."1000000", source "Linux net/ipv4/tcp_illinois.c: win_thresh = 15";
        /// Number of consecutive round trips with almost no queue before the window grows fastest
        /// again.
        theta: u64 = "5", range "1".."255", source "Linux net/ipv4/tcp_illinois.c: theta = 5; the paper, 4.1";
    }
}

/// `illinois` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "illinois",
    summary: "Reno with steps by delay: 10 to 0.3 segments more, 1/8 to 1/2 less",
    about: "The window grows every round trip and shrinks on a loss. The average queueing delay of \
        the last round trip sets both steps: ten segments and an eighth with almost no queue, 0.3 \
        segments and a half near the greatest delay seen.\n\nNot for calls: it fills the buffer.",
    source: "Liu, Başar and Srikant, Performance Evaluation 2008; Linux net/ipv4/tcp_illinois.c",
    params: IllinoisParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Illinois::new(parts.settings, parts.setup)?)),
};

/// Segments more a round trip, in 128ths: at least 0.3 (rounded down), at most 10; 1 as Reno.
const ALPHA_SHIFT: u32 = 7;
const ALPHA_MIN: u64 = (3 << ALPHA_SHIFT) / 10;
const ALPHA_MAX: u64 = 10 << ALPHA_SHIFT;
const ALPHA_BASE: u64 = 1 << ALPHA_SHIFT;
/// The share of the window that a loss takes, in 64ths: 1/8 to 1/2; 1/2 as Reno.
const BETA_SHIFT: u32 = 6;
const BETA_MIN: u64 = (1 << BETA_SHIFT) / 8;
const BETA_MAX: u64 = (1 << BETA_SHIFT) / 2;
/// Longer round trips count as this: 3.3 s (Linux `RTT_MAX`, so that 32 bits suffice).
const RTT_MAX: u64 = u32::MAX as u64 / ALPHA_MAX;

/// Illinois' state. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Illinois {
    params: IllinoisParams,
    window: Window,
    /// Segments more a round trip, and the decrease on a loss.
    alpha: u64,
    beta: u64,
    delays: RttDelays,
    /// There was a queue since the window last grew fastest; round trips in which there was hardly
    /// one since.
    queued: bool,
    calm: u64,
    /// When this round began; it ends with a packet that was sent later.
    round: Instant,
}

/// Round trips, microseconds.
#[derive(Debug, Clone, Default)]
struct RttDelays {
    /// The smallest and the greatest so far.
    extremes: Option<(u64, u64)>,
    /// Those of this round: how long together, and how many.
    sum: u64,
    count: u64,
}

impl RttDelays {
    fn add(&mut self, rtt: Duration) {
        let rtt = rtt.as_micros().min(RTT_MAX);
        let (least, most) = self.extremes.unwrap_or((rtt, rtt));
        self.extremes = Some((least.min(rtt), most.max(rtt)));
        self.sum += rtt;
        self.count += 1;
    }

    fn start_round(&mut self) {
        (self.sum, self.count) = (0, 0);
    }

    /// The round's average queueing delay and the greatest ever.
    fn queueing(&self) -> Option<(u64, u64)> {
        let (least, most) = self.extremes?;
        Some((self.sum.checked_div(self.count)? - least, most - least))
    }
}

/// Segments more a round trip at an average queueing delay of `average`, of at most `most`, if that
/// is above one per cent of the latter: a hyperbola from 10 down to 0.3 (the paper, 3.1).
fn increase(average: u64, most: u64) -> u64 {
    let low = most / 100;
    let (range, above) = (most - low, average - low);
    range * ALPHA_MAX / (range + above * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
}

/// The decrease on a loss: an eighth up to a tenth of the greatest delay, half from eight tenths
/// on, a straight line between them (the paper, 3.1).
fn decrease(average: u64, most: u64) -> u64 {
    let (low, high) = (most / 10, 8 * most / 10);
    if average <= low {
        BETA_MIN
    } else if average >= high || high <= low {
        BETA_MAX
    } else {
        (BETA_MIN * high - BETA_MAX * low + (BETA_MAX - BETA_MIN) * average) / (high - low)
    }
}

impl Illinois {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        Ok(Illinois {
            params: IllinoisParams::parse(settings)?,
            window: Window::new(setup),
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            delays: RttDelays::default(),
            queued: false,
            calm: 0,
            round: Instant::ZERO,
        })
    }

    fn start_round(&mut self, now: Instant) {
        self.round = now;
        self.delays.start_round();
    }

    /// The once-a-round choice of both steps (Linux `update_params`).
    fn choose_steps(&mut self) {
        if self.window.bytes < self.params.win_thresh * self.window.mss {
            (self.alpha, self.beta) = (ALPHA_BASE, BETA_MAX);
        } else if let Some((average, most)) = self.delays.queueing() {
            self.alpha = self.choose_increase(average, most);
            self.beta = decrease(average, most);
        }
    }

    /// After a queue, one calm round trip does not make the window jump: `theta` must pass.
    fn choose_increase(&mut self, average: u64, most: u64) -> u64 {
        if average > most / 100 {
            self.queued = true;
            return increase(average, most);
        }
        if self.queued {
            self.calm += 1;
            if self.calm < self.params.theta {
                return self.alpha;
            }
            (self.queued, self.calm) = (false, 0);
        }
        ALPHA_MAX
    }

    /// `alpha` segments a round trip, in whole segments.
    fn grow(&mut self, acked: u64) {
        self.window.credit += acked;
        let due = (self.window.credit * self.alpha) >> ALPHA_SHIFT;
        if due >= self.window.bytes {
            self.window.bytes += due / self.window.bytes * self.window.mss;
            self.window.credit = 0;
        }
    }

    fn cut(&mut self) {
        let kept = self.window.bytes - ((self.window.bytes * self.beta) >> BETA_SHIFT);
        self.window.cut(kept);
    }
}

impl Control for Illinois {
    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(rtt);
        }
        if ack.in_recovery {
            return;
        }
        if ack.newest_sent >= self.round {
            self.choose_steps();
            self.start_round(now);
        }
        if !ack.window_limited {
            return;
        }
        if self.in_slow_start() {
            self.window.slow_start(ack.bytes);
        } else {
            self.grow(ack.bytes);
        }
    }

    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {
        self.cut();
        self.window.recover();
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.window.recovered();
    }

    fn on_timeout(&mut self, now: Instant, _in_flight: u64) {
        if self.window.timed_out() {
            self.cut();
        }
        self.window.restart();
        (self.alpha, self.beta) = (ALPHA_BASE, BETA_MAX);
        (self.queued, self.calm) = (false, 0);
        self.start_round(now);
    }

    fn on_spurious_timeout(&mut self, _now: Instant) {
        self.window.give_back();
    }

    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration) {
        self.window.after_idle();
    }

    fn window(&self) -> u64 {
        self.window.bytes
    }

    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reno::Reno;
    use crate::testing::{LOSS, MSS, ack, at, setup};
    use crate::testpath::Path;
    use units::Rate;

    /// In congestion avoidance with `window` segments, and round trips of 40 to 50 ms seen.
    fn illinois(window: u64) -> Illinois {
        let mut illinois = Illinois::new(&[], &setup()).unwrap();
        illinois.window.bytes = window * MSS;
        illinois.window.threshold = illinois.window.bytes;
        illinois.delays.extremes = Some((40_000, 50_000));
        illinois.start_round(at(100));
        illinois
    }

    /// One acknowledgement with a round trip of `us` that ends the round.
    fn round(illinois: &mut Illinois, us: u64) {
        illinois.on_ack(at(100), &ack(Duration::from_micros(us), at(100)));
    }

    /// At most 10 ms of queue, d1 = 0.1 ms, so dm − d1 = 9.9 ms. At 1 ms: da − d1 = 0.9 ms,
    /// 900 × 1242 / 38 = 29415, 9900 × 1280 / (9900 + 29415) = 322 of 128: 2.5 segments. At 10 ms:
    /// 9900 × 1242 / 38 = 323573, 12672000 / 333473 = 38: 0.3. Just above d1: 12672000 / 9932.
    #[test]
    fn the_increase_is_a_hyperbola_of_the_delay() {
        assert_eq!(increase(101, 10_000), 1275);
        assert_eq!(increase(1_000, 10_000), 322);
        assert_eq!(increase(10_000, 10_000), ALPHA_MIN);
    }

    /// Of at most 10 ms: up to 1 ms 8/64, from 8 ms on 32/64; at 4.5 ms, half-way,
    /// (8 × 8000 − 32 × 1000 + 24 × 4500) / 7000 = 20.
    #[test]
    fn the_decrease_is_a_line_between_an_eighth_and_a_half() {
        for (average, expected) in [(0, 8), (1_000, 8), (4_500, 20), (8_000, 32), (10_000, 32)] {
            assert_eq!(decrease(average, 10_000), expected, "{average} us");
        }
        // Never a queue: an eighth.
        assert_eq!(decrease(0, 0), BETA_MIN);
    }

    /// Ten segments a round trip, as far as Linux's whole steps let it: a segment is due when ten
    /// times the acknowledged count exceeds the window, 2 acknowledgements at 20 segments and 3 at
    /// 21 to 26, 2 + 6 × 3 = 20 in all. The remainders are dropped.
    #[test]
    fn without_a_queue_it_grows_fast() {
        let mut illinois = illinois(20);
        for _ in 0..20 {
            illinois.on_ack(at(100), &ack(Duration::from_micros(40_000), at(99)));
        }
        assert_eq!(illinois.window.bytes, 27 * MSS);
    }

    /// Average of 41 and 48 ms: 4.5 ms of queue, which takes 20/64 of 20 segments = 6.25 on a loss.
    #[test]
    fn a_loss_takes_what_the_average_delay_says() {
        let mut illinois = illinois(20);
        illinois.on_ack(at(100), &ack(Duration::from_micros(41_000), at(99)));
        round(&mut illinois, 48_000);
        let before = illinois.window.bytes;
        assert_eq!((before, illinois.beta), (20 * MSS, 20));
        illinois.on_congestion(at(101), &LOSS);
        assert_eq!(illinois.window.bytes, 13_750);
    }

    /// 1 ms of queue: alpha 322. Then four calm rounds keep it, the fifth is at most.
    #[test]
    fn five_calm_rounds_before_it_grows_fastest_again() {
        let mut illinois = illinois(20);
        round(&mut illinois, 41_000);
        assert_eq!(illinois.alpha, 322);
        let alphas: Vec<u64> = (0..6)
            .map(|_| {
                round(&mut illinois, 40_050);
                illinois.alpha
            })
            .collect();
        assert_eq!(alphas, [322, 322, 322, 322, ALPHA_MAX, ALPHA_MAX]);
    }

    /// Fourteen segments: Reno's, at any delay. A timeout cuts by the last choice, once, and then
    /// forgets it.
    #[test]
    fn small_windows_and_timeouts_are_renos() {
        let mut small = illinois(14);
        round(&mut small, 40_000);
        assert_eq!((small.alpha, small.beta), (ALPHA_BASE, BETA_MAX));
        let mut timed_out = illinois(16);
        round(&mut timed_out, 40_000);
        assert_eq!((timed_out.alpha, timed_out.beta), (ALPHA_MAX, BETA_MIN));
        timed_out.on_timeout(at(400), 5 * MSS);
        timed_out.on_timeout(at(800), MSS);
        assert_eq!(
            (timed_out.window.bytes, timed_out.window.threshold),
            (MSS, 14 * MSS)
        );
        assert_eq!((timed_out.alpha, timed_out.beta), (ALPHA_BASE, BETA_MAX));
    }

    fn path(packets: u64) -> Path {
        let rate = Rate::from_bits(20_000_000);
        Path::new(rate, Duration::from_millis(40), packets * MSS, MSS)
    }

    /// Carried from 5 to 25 s, as a share of the 50 MB of 20 Mbit/s. `disturbed`: every second a
    /// loss that congestion did not cause.
    fn carried(control: &mut dyn Control, packets: u64, disturbed: bool) -> f64 {
        let mut path = path(packets);
        path.run(control, at(5_000));
        let before = path.delivered;
        for second in 6..=25 {
            path.run(control, at(1_000 * second));
            if disturbed {
                control.on_congestion(path.now, &LOSS);
            }
        }
        (path.delivered - before) as f64 / 50e6
    }

    fn beside_reno(packets: u64, disturbed: bool) -> (f64, f64) {
        let mut illinois = Illinois::new(&[], &setup()).unwrap();
        let mut reno = Reno::new(&[], &setup()).unwrap();
        (
            carried(&mut illinois, packets, disturbed),
            carried(&mut reno, packets, disturbed),
        )
    }

    /// A fifth of a product of 101 segments: both halve at 121; Reno needs 40 round trips to fill
    /// the path again, Illinois some ten.
    #[test]
    fn a_shallow_buffer_costs_it_less_than_reno() {
        let (illinois, reno) = beside_reno(20, false);
        assert!(
            illinois > 0.92 && illinois > reno + 0.05,
            "{illinois} {reno}"
        );
    }

    /// Losses without a queue take an eighth and are made up for in few round trips; Reno, halved
    /// every 25 round trips, stays at about 25 to 50 segments of the 101.
    #[test]
    fn losses_without_a_queue_cost_it_little() {
        let (illinois, reno) = beside_reno(300, true);
        assert!(illinois > 0.99 && reno < 0.5, "{illinois} {reno}");
    }

    /// The time in ms until `done`, looked at every millisecond.
    fn until(path: &mut Path, illinois: &mut Illinois, done: impl Fn(&Illinois) -> bool) -> u64 {
        for ms in 1.. {
            path.run(illinois, path.now + Duration::from_millis(1));
            if done(illinois) {
                return ms;
            }
            assert!(ms < 60_000, "not within a minute: {illinois:?}");
        }
        unreachable!()
    }

    /// 120 segments fit into the buffer, so the window swings between 221 and 110, and the path
    /// never idles. The curve is concave: alpha falls from 10 / (1 + 0.12 × 32.7) = 2.0 at 115
    /// segments to 0.67 at 152 (0.43 of the greatest delay) and 0.36 at 200 (0.83), so that 37
    /// segments take about 35 round trips of 54 ms at first and 37 / 0.42 = 88 of 72 ms later.
    #[test]
    fn a_deep_buffer_fills_ever_more_slowly() {
        let mut illinois = Illinois::new(&[], &setup()).unwrap();
        let mut path = path(120);
        until(&mut path, &mut illinois, |i| {
            i.window.bytes >= 200 * MSS && !i.in_slow_start()
        });
        until(&mut path, &mut illinois, |i| i.window.bytes < 115 * MSS);
        let before = (path.now, path.delivered);
        until(&mut path, &mut illinois, |i| i.window.bytes >= 115 * MSS);
        let early = until(&mut path, &mut illinois, |i| i.window.bytes >= 152 * MSS);
        until(&mut path, &mut illinois, |i| i.window.bytes >= 163 * MSS);
        let late = until(&mut path, &mut illinois, |i| i.window.bytes >= 200 * MSS);
        assert!(late > 2 * early, "{early} ms, then {late} ms");
        until(&mut path, &mut illinois, |i| i.window.bytes < 115 * MSS);
        let full = path.rate.bytes_in(path.now.since(before.0));
        assert!(path.delivered - before.1 + 2 * MSS >= full);
    }
}
