//! `yeah`: fast while the queue is short, Reno while it is not, and a queue emptied before it is
//! lost.
//!
//! Principles: Vegas' smallest round trip of each round gives the number of packets that wait. Up
//! to `alpha` of them, and a queueing delay of up to a `phy`-th of the path's, the window grows
//! quickly (Scalable TCP); beyond either as Reno's. Beyond `alpha` it is also cut by the queued
//! part, unless that would fall behind the Reno sender that it may be competing with, whose window
//! it imagines. A loss takes only the queued part, if the sender was alone. Not for: calls (80
//! packets wait on purpose); short paths: where a `phy`-th of the round trip holds fewer than
//! `alpha` packets it is in Reno's mode most of the time, takes itself for a competitor, and fills
//! the buffer as Reno does.
//!
//! Baldi, Castellani and others, PFLDnet 2007 ("the paper"); Linux `tcp_yeah.c`, with the round
//! trips of `tcp_vegas.c`. Windows are not rounded to whole segments.

use crate::reno::avoid;
use crate::vegas::{RoundTrips, scale};
use crate::window::{MIN_SEGMENTS, Window};
use crate::{Ack, Congestion, Control, ControlEntry, Setup};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `yeah`.
    pub struct YeahParams {
        /// Packets that may wait before the queue is emptied.
        alpha: u64 = "80", range "1".."100000", source "Linux net/ipv4/tcp_yeah.c: TCP_YEAH_ALPHA";
        /// Emptying the queue takes its packets, divided by this, off the window.
        gamma: u64 = "1", range "1".."1000", source "Linux net/ipv4/tcp_yeah.c: TCP_YEAH_GAMMA";
        /// Smallest reduction of the window on a loss: the window shifted right by this, an eighth.
        delta: u32 = "3", range "1".."30", source "Linux net/ipv4/tcp_yeah.c: TCP_YEAH_DELTA";
        /// Largest reduction of the window to empty the queue: the window shifted right by this,
        /// half.
        epsilon: u32 = "1", range "1".."30", source "Linux net/ipv4/tcp_yeah.c: TCP_YEAH_EPSILON";
        /// The window grows quickly while the queueing delay is at most the smallest round trip,
        /// divided by this.
        phy: u64 = "8", range "1".."1000", source "Linux net/ipv4/tcp_yeah.c: TCP_YEAH_PHY";
        /// Number of consecutive rounds in Reno's mode that show competition; a loss then halves
        /// the window.
        rho: u64 = "16", range "1".."100000", source "Linux net/ipv4/tcp_yeah.c: TCP_YEAH_RHO";
        /// More quick rounds than this since the last loss show that there is no competition.
        zeta: u64 = "50", range "1".."100000", source "Linux net/ipv4/tcp_yeah.c: TCP_YEAH_ZETA";
    }
}

/// `yeah` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "yeah",
    summary: "quick growth up to 80 packets in the queue, which it then empties",
    about: "While few packets wait, the window grows by a hundredth of a packet for each \
        acknowledged one; then it grows as Reno's, until 80 packets wait and are taken off the \
        window. A loss takes only the waiting packets off the window, unless a Reno sender seems \
        to compete.\n\nNot for calls: 80 packets wait on purpose.",
    source: "Baldi et al., YeAH-TCP, PFLDnet 2007; Linux net/ipv4/tcp_yeah.c",
    params: YeahParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Yeah::new(parts.settings, parts.setup)?)),
};

/// Acknowledged packets for which a quick window grows by one (Linux `TCP_SCALABLE_AI_CNT`).
const SCALABLE_SEGMENTS: u64 = 100;

/// YeAH's state. Sizes in bytes, unless they are called segments.
#[derive(Debug, Clone)]
pub struct Yeah {
    params: YeahParams,
    window: Window,
    rtts: RoundTrips,
    /// Segments that waited in the last round.
    queue: u64,
    /// Rounds in a row in Reno's mode; zero in the quick one.
    slow_rounds: u64,
    /// Quick rounds since the last loss.
    quick_rounds: u64,
    /// The window, in segments, that a competing Reno sender would have (`reno_count`).
    rival: u64,
}

impl Yeah {
    /// A sender that has not sent yet.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Refusal> {
        Ok(Yeah {
            params: YeahParams::parse(settings)?,
            window: Window::new(setup),
            rtts: RoundTrips::default(),
            queue: 0,
            slow_rounds: 0,
            quick_rounds: 0,
            rival: MIN_SEGMENTS,
        })
    }

    fn grow(&mut self, ack: &Ack) {
        let mut acked = ack.bytes;
        if self.in_slow_start() {
            acked = self.window.slow_start(acked);
        }
        if acked == 0 {
            return;
        }
        let per_segment = match self.slow_rounds {
            0 => self.window.bytes.min(SCALABLE_SEGMENTS * self.window.mss),
            _ => self.window.bytes,
        };
        avoid(
            &mut self.window.bytes,
            &mut self.window.credit,
            acked,
            per_segment,
            self.window.mss,
        );
    }

    /// The once-a-round decision on the round's smallest round trip.
    fn judge(&mut self, base: Duration, rtt: Duration) {
        let delay = rtt.saturating_sub(base);
        self.queue = scale(self.window.bytes, delay, rtt) / self.window.mss;
        let long = self.queue > self.params.alpha;
        if !long && delay <= base / self.params.phy {
            self.slow_rounds = 0;
            self.quick_rounds += 1;
            if self.quick_rounds > self.params.zeta {
                (self.quick_rounds, self.rival) = (0, MIN_SEGMENTS);
            }
            return;
        }
        if long && self.window.bytes > self.rival * self.window.mss {
            self.empty_queue();
        }
        self.rival = match self.rival {
            ..=MIN_SEGMENTS => (self.window.bytes / self.window.mss / 2).max(MIN_SEGMENTS),
            rival => rival + 1,
        };
        self.slow_rounds += 1;
    }

    /// Precautionary decongestion (the paper, 2.2).
    fn empty_queue(&mut self) {
        let waiting = self.queue / self.params.gamma * self.window.mss;
        let most = self.window.bytes >> self.params.epsilon;
        self.window.bytes =
            (self.window.bytes - waiting.min(most)).max(self.rival * self.window.mss);
        self.window.threshold = self.window.bytes;
    }

    /// A loss takes the queued part, between an eighth and half of the window; half if there is
    /// competition.
    fn cut(&mut self) {
        let half = (self.window.bytes / 2).max(MIN_SEGMENTS * self.window.mss);
        let taken = if self.slow_rounds < self.params.rho {
            let least = self.window.bytes >> self.params.delta;
            (self.queue * self.window.mss).min(half).max(least)
        } else {
            half
        };
        self.quick_rounds = 0;
        self.rival = (self.rival / 2).max(MIN_SEGMENTS);
        self.window.cut(self.window.bytes.saturating_sub(taken));
    }
}

impl Control for Yeah {
    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        if in_flight == bytes {
            self.rtts.start_anew(now);
        }
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtts.sample(rtt);
        }
        if ack.in_recovery || !ack.window_limited {
            return;
        }
        self.grow(ack);
        if self.rtts.round_ends(ack) {
            if let Some((base, rtt)) = self.rtts.believed() {
                self.judge(base, rtt);
            }
            self.rtts.start_round(now);
        }
    }

    fn on_congestion(&mut self, _now: Instant, _congestion: &Congestion) {
        self.cut();
        self.window.recover();
    }

    fn on_recovered(&mut self, now: Instant) {
        self.window.recovered();
        // Samples from the repair are not valid for the window after it.
        self.rtts.start_round(now);
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {
        if self.window.timed_out() {
            self.cut();
        }
        self.window.restart();
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
    use crate::testing::{LOSS, MSS, ack, at, setup};
    use crate::testpath::Path;
    use units::Rate;

    /// In congestion avoidance with `window` segments on a path of 40 ms.
    fn yeah(window: u64) -> Yeah {
        let mut yeah = Yeah::new(&[], &setup()).unwrap();
        yeah.window.bytes = window * MSS;
        yeah.window.threshold = yeah.window.bytes;
        yeah.rtts.sample(Duration::from_millis(40));
        yeah.rtts.start_round(at(100));
        yeah
    }

    fn acknowledge(yeah: &mut Yeah, rtt: u64, newest_sent: Instant) {
        yeah.on_ack(at(100), &ack(Duration::from_millis(rtt), newest_sent));
    }

    /// Three samples of `rtt` ms end a round.
    fn round(yeah: &mut Yeah, rtt: u64) {
        acknowledge(yeah, rtt, at(99));
        acknowledge(yeah, rtt, at(99));
        acknowledge(yeah, rtt, at(100));
    }

    /// 300 acknowledgements: three segments at a hundred each, though the window is 200. In Reno's
    /// mode one, at 200. A small window of 50 gains one a round trip in either mode.
    #[test]
    fn grows_as_scalable_or_as_reno() {
        for (window, slow_rounds, acks, expected) in [
            (200, 0, 300, 203),
            (200, 1, 300, 201),
            (50, 0, 50, 51),
            (50, 1, 50, 51),
        ] {
            let mut yeah = yeah(window);
            yeah.slow_rounds = slow_rounds;
            for _ in 0..acks {
                acknowledge(&mut yeah, 40, at(99));
            }
            assert_eq!(yeah.window.bytes, expected * MSS);
        }
    }

    /// 250 acknowledgements saved in Reno's mode at 300 are one segment in the quick one.
    #[test]
    fn savings_of_reno_count_as_one_segment() {
        let mut yeah = yeah(300);
        yeah.window.credit = 250 * MSS;
        acknowledge(&mut yeah, 40, at(99));
        assert_eq!((yeah.window.bytes, yeah.window.credit), (301 * MSS, MSS));
    }

    /// 400 segments at 60 ms: 400 × 20 / 60 = 133 wait and go, 267 are left, and a rival would have
    /// 133. Next round: 267 × 20 / 60 = 89 > 80 go, 178; the rival has 134. At 64 ms 178 × 24 / 64
    /// = 66 wait: not too many, but 24 ms are more than an eighth of 40, so the rival gains and
    /// the window stays.
    #[test]
    fn a_long_queue_is_taken_off_the_window() {
        let mut yeah = yeah(400);
        round(&mut yeah, 60);
        assert_eq!(
            (yeah.window.bytes / MSS, yeah.queue, yeah.rival),
            (267, 133, 133)
        );
        round(&mut yeah, 60);
        assert_eq!(
            (yeah.window.bytes / MSS, yeah.queue, yeah.rival),
            (178, 89, 134)
        );
        round(&mut yeah, 64);
        assert_eq!(
            (yeah.window.bytes / MSS, yeah.queue, yeah.rival),
            (178, 66, 135)
        );
        assert_eq!((yeah.slow_rounds, yeah.in_slow_start()), (3, false));
    }

    /// 400 segments at 120 ms: 266 wait, but half at most goes. With a rival of 390 segments ten
    /// go, and with one of 400 none.
    #[test]
    fn emptying_stops_at_half_and_at_the_rivals_window() {
        for (rival, left) in [(2, 200), (390, 390), (400, 400)] {
            let mut yeah = yeah(400);
            yeah.rival = rival;
            round(&mut yeah, 120);
            assert_eq!(yeah.window.bytes, left * MSS);
        }
    }

    /// At 45 ms the queueing delay is an eighth of 40 ms: quick. After 51 such rounds the rival is
    /// forgotten. At 46 ms it is Reno's mode.
    #[test]
    fn short_queues_make_it_quick() {
        let mut yeah = yeah(100);
        yeah.rival = 70;
        for _ in 0..50 {
            yeah.judge(Duration::from_millis(40), Duration::from_millis(45));
        }
        assert_eq!((yeah.rival, yeah.slow_rounds), (70, 0));
        yeah.judge(Duration::from_millis(40), Duration::from_millis(45));
        assert_eq!((yeah.rival, yeah.quick_rounds), (2, 0));
        yeah.judge(Duration::from_millis(40), Duration::from_millis(46));
        assert_eq!((yeah.rival, yeah.slow_rounds), (50, 1));
    }

    /// Of 200 segments a loss takes the queue of 40; the eighth, 25, where fewer waited; half where
    /// more did, and after 16 rounds of Reno's mode.
    #[test]
    fn a_loss_takes_what_waited() {
        for (queue, slow_rounds, left) in
            [(40, 15, 160), (3, 0, 175), (150, 15, 100), (40, 16, 100)]
        {
            let mut yeah = yeah(200);
            (yeah.queue, yeah.slow_rounds, yeah.rival) = (queue, slow_rounds, 90);
            yeah.on_congestion(at(100), &LOSS);
            assert_eq!((yeah.window.bytes / MSS, yeah.rival), (left, 45));
        }
    }

    #[test]
    fn a_timeout_cuts_once() {
        let mut yeah = yeah(16);
        yeah.on_timeout(at(400), 5 * MSS);
        yeah.on_timeout(at(800), MSS);
        assert_eq!((yeah.window.bytes, yeah.window.threshold), (MSS, 14 * MSS));
    }

    /// From 5 s to 25 s at 20 Mbit/s and 40 ms, which hold 101 segments of 0.4 ms: segments lost,
    /// the longest queue in segments, and the share of the rate carried.
    fn runs(alpha: &str, buffer: u64) -> (u64, u64, f64) {
        let settings = [("alpha".to_owned(), alpha.to_owned())];
        let mut yeah = Yeah::new(&settings, &setup()).unwrap();
        let rate = Rate::from_bits(20_000_000);
        let mut path = Path::new(rate, Duration::from_millis(40), buffer * MSS, MSS);
        path.run(&mut yeah, at(5_000));
        let (delivered, lost) = (path.delivered, path.lost);
        path.peak_wait = Duration::ZERO;
        path.run(&mut yeah, at(25_000));
        (
            (path.lost - lost) / MSS,
            path.peak_wait.as_micros() / 400,
            (path.delivered - delivered) as f64 / 50e6,
        )
    }

    /// An eighth of 40 ms is 12 segments' time. An alpha of 10 comes before it: the queue is
    /// emptied each time it has passed 10, however much fits, nothing is lost and the path is full.
    #[test]
    fn the_queue_is_emptied_before_it_is_lost() {
        for buffer in [60, 300] {
            let (lost, queue, carried) = runs("10", buffer);
            assert_eq!(lost, 0);
            assert!((10..=16).contains(&queue), "{queue}");
            assert!(carried > 0.999, "{carried}");
        }
    }

    /// An alpha of 80 comes after it: there is always a rival, which this sender will not fall
    /// behind, and the queue grows past 80 as Reno's does.
    #[test]
    fn on_a_short_path_it_fills_a_deep_buffer() {
        let (_, queue, carried) = runs("80", 300);
        assert!(queue > 160, "{queue}");
        assert!(carried > 0.999, "{carried}");
    }

    /// 20 segments of buffer overflow with 19 waiting; a loss takes about as many: of 121 segments
    /// 101 or so are left, and the path stays full, where Reno's halving leaves it at 0.87.
    #[test]
    fn a_shallow_buffer_does_not_empty_the_path() {
        let (lost, _, carried) = runs("80", 20);
        assert!(lost > 0);
        assert!(carried > 0.99, "{carried}");
    }
}
