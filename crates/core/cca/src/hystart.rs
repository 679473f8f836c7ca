//! HyStart: leaving slow start before the buffer overflows.
//!
//! Principles: a round trip that grows, or acknowledgements that keep coming for half a round
//! trip, mean that the pipe is full; slow start need not wait for a loss to find out.
//!
//! Two variants: Linux `tcp_cubic.c` (Ha and Rhee, 2011: ack trains and delay), and HyStart++
//! (RFC 9406: delay only, and a second look at a quarter of the pace before slow start ends).

use crate::Ack;
use core::fmt;
use units::param::Value;
use units::{Duration, Instant, ParseError};

/// Which variant, as users set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum HystartKind {
    /// As Linux `tcp_cubic.c`.
    Linux,
    /// As RFC 9406.
    PlusPlus,
    /// Slow start ends with a loss.
    None,
}

impl fmt::Display for HystartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HystartKind::Linux => "linux",
            HystartKind::PlusPlus => "plusplus",
            HystartKind::None => "none",
        })
    }
}

impl Value for HystartKind {
    const KIND: &'static str = "linux, plusplus or none";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "linux" => Ok(HystartKind::Linux),
            "plusplus" => Ok(HystartKind::PlusPlus),
            "none" => Ok(HystartKind::None),
            _ => Err(ParseError::new(text, "linux, plusplus or none")),
        }
    }
}

/// HyStart's advice on an acknowledgement in slow start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Grow by this many of the acknowledged bytes.
    Grow(u64),
    /// Leave slow start at the present window.
    Leave,
}

/// The state of the connection that HyStart needs in addition to the acknowledgement.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionView {
    /// The window, bytes.
    pub window: u64,
    /// Largest payload of a packet, bytes.
    pub mss: u64,
    /// Smallest round trip that the control has accepted.
    pub delay_min: Duration,
    /// Whether the transport paces.
    pub paced: bool,
}

/// The state of the variant in use.
#[derive(Debug, Clone)]
pub enum Hystart {
    /// As Linux.
    Linux(LinuxHystart),
    /// As RFC 9406.
    PlusPlus(PlusPlus),
    /// None.
    None,
}

impl Hystart {
    /// A connection that starts.
    pub fn new(kind: HystartKind) -> Self {
        match kind {
            HystartKind::Linux => Hystart::Linux(LinuxHystart::default()),
            HystartKind::PlusPlus => Hystart::PlusPlus(PlusPlus::default()),
            HystartKind::None => Hystart::None,
        }
    }

    /// Starts over, after a timeout.
    pub fn reset(&mut self) {
        match self {
            Hystart::Linux(linux) => *linux = LinuxHystart::default(),
            Hystart::PlusPlus(plus) => *plus = PlusPlus::default(),
            Hystart::None => {}
        }
    }

    /// An acknowledgement in slow start. `delay` is its round trip, if it is usable.
    pub fn on_ack(
        &mut self,
        now: Instant,
        ack: &Ack,
        delay: Option<Duration>,
        view: &ConnectionView,
    ) -> Advice {
        match self {
            Hystart::Linux(linux) => linux.on_ack(now, ack, delay, view),
            Hystart::PlusPlus(plus) => plus.on_ack(ack, delay, view),
            Hystart::None => Advice::Grow(ack.bytes),
        }
    }
}

/// Round trips sampled in a round before its minimum counts, in both variants
/// (`HYSTART_MIN_SAMPLES`; RFC 9406 `N_RTT_SAMPLE`).
const MIN_SAMPLES: u32 = 8;
/// How far the round trip must grow, at least and at most (`HYSTART_DELAY_MIN`, `_MAX`; RFC 9406
/// `MIN_RTT_THRESH`, `MAX_RTT_THRESH`).
const DELAY_RISE: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));
/// No advice below this window (Linux `hystart_low_window`), segments.
const LOW_WINDOW: u64 = 16;
/// Acknowledgements this close form a train (Linux `hystart_ack_delta_us`).
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// The time that segmentation offload may add to a train (Linux `hystart_ack_delay`, which caps at
/// this and is at the cap below 2 Gbit/s).
const TRAIN_CUSHION: Duration = Duration::from_millis(1);

/// By how much the round trip must exceed `base`: an eighth of it, within limits.
fn rise(base: Duration) -> Duration {
    (base / 8).clamp(DELAY_RISE.0, DELAY_RISE.1)
}

/// Linux's HyStart.
#[derive(Debug, Clone, Default)]
pub struct LinuxHystart {
    /// Slow start has been left once: no more advice until a timeout.
    found: bool,
    round: Option<Instant>,
    last_ack: Instant,
    round_min: Option<Duration>,
    samples: u32,
}

impl LinuxHystart {
    fn on_ack(
        &mut self,
        now: Instant,
        ack: &Ack,
        delay: Option<Duration>,
        view: &ConnectionView,
    ) -> Advice {
        let Some(delay) = delay.filter(|_| !self.found) else {
            return Advice::Grow(ack.bytes);
        };
        let round = match self.round {
            Some(round) if !ack.round_start => round,
            _ => {
                self.round = Some(now);
                self.last_ack = now;
                self.round_min = None;
                self.samples = 0;
                now
            }
        };
        if view.window < LOW_WINDOW * view.mss {
            return Advice::Grow(ack.bytes);
        }
        let train = self.long_train(now, round, view);
        if train || self.delay_rose(delay, view.delay_min) {
            self.found = true;
            return Advice::Leave;
        }
        Advice::Grow(ack.bytes)
    }

    /// Closely spaced acknowledgements have been coming for half a round trip: as many packets
    /// are in flight as the pipe holds. Pacing alone spreads them over half a round trip, so that
    /// a paced sender waits for a whole one.
    fn long_train(&mut self, now: Instant, round: Instant, view: &ConnectionView) -> bool {
        if now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        let threshold = view.delay_min + TRAIN_CUSHION;
        now.since(round) > threshold / if view.paced { 1 } else { 2 }
    }

    /// The least of at least nine round trips of this round is well above the least ever.
    fn delay_rose(&mut self, delay: Duration, delay_min: Duration) -> bool {
        let round_min = self.round_min.map_or(delay, |min| min.min(delay));
        self.round_min = Some(round_min);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        round_min > delay_min + rise(delay_min)
    }
}

/// Conservative slow start grows by a quarter (RFC 9406 `CSS_GROWTH_DIVISOR`).
const CSS_DIVISOR: u64 = 4;
/// Rounds of conservative slow start before slow start ends (RFC 9406 `CSS_ROUNDS`).
const CSS_ROUNDS: u32 = 5;
/// Most segments that one acknowledgement of an unpaced sender grows the window by (RFC 9406 `L`).
const UNPACED_LIMIT: u64 = 8;

/// HyStart++.
#[derive(Debug, Clone, Default)]
pub struct PlusPlus {
    last_round_min: Option<Duration>,
    round_min: Option<Duration>,
    samples: u32,
    css: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Debug, Clone)]
struct Conservative {
    /// The round trip that led here; one below it shows that it was jitter.
    baseline: Duration,
    /// Rounds so far, including the last one.
    rounds: u32,
}

impl PlusPlus {
    fn on_ack(&mut self, ack: &Ack, delay: Option<Duration>, view: &ConnectionView) -> Advice {
        if ack.round_start && self.next_round() {
            return Advice::Leave;
        }
        if let Some(delay) = delay {
            self.round_min = Some(self.round_min.map_or(delay, |min| min.min(delay)));
            self.samples += 1;
        }
        if self.samples >= MIN_SAMPLES {
            self.judge();
        }
        let limit = if view.paced {
            u64::MAX
        } else {
            UNPACED_LIMIT * view.mss
        };
        let grown = ack.bytes.min(limit);
        Advice::Grow(match self.css {
            Some(_) => grown / CSS_DIVISOR,
            None => grown,
        })
    }

    /// A round ends; whether slow start does with it.
    fn next_round(&mut self) -> bool {
        self.last_round_min = self.round_min.take();
        self.samples = 0;
        match &mut self.css {
            Some(css) => {
                css.rounds += 1;
                css.rounds > CSS_ROUNDS
            }
            None => false,
        }
    }

    /// Compares this round's least round trip with the last one's (section 4.2).
    fn judge(&mut self) {
        let Some(min) = self.round_min else { return };
        match &self.css {
            Some(css) if min < css.baseline => self.css = None,
            Some(_) => {}
            None => {
                if let Some(last) = self.last_round_min
                    && min >= last + rise(last)
                {
                    self.css = Some(Conservative {
                        baseline: min,
                        rounds: 1,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    fn ack(round_start: bool) -> Ack {
        Ack {
            bytes: MSS,
            round_start,
            ..Ack::default()
        }
    }

    fn view(segments: u64, paced: bool) -> ConnectionView {
        ConnectionView {
            window: segments * MSS,
            mss: MSS,
            delay_min: Duration::from_millis(40),
            paced,
        }
    }

    fn ms(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    /// rise(40 ms) = 5 ms: the ninth sample of a round whose least is above 45 ms ends slow start.
    /// Acknowledgements are 3 ms apart, too far for a train.
    #[test]
    fn linux_leaves_on_the_ninth_sample_of_a_round_that_is_an_eighth_longer() {
        for (delay, leaves_at) in [(45, None), (46, Some(8))] {
            let mut hystart = Hystart::new(HystartKind::Linux);
            let left = (0..20).position(|i| {
                let now = at(100_000 + i * 3_000);
                hystart.on_ack(now, &ack(i == 0), ms(delay), &view(20, false)) == Advice::Leave
            });
            assert_eq!(left, leaves_at, "{delay} ms");
        }
    }

    /// rise: 16 ms / 8 = 2 ms is raised to 4 ms; 200 ms / 8 = 25 ms is cut to 16 ms.
    #[test]
    fn the_rise_is_limited_on_both_sides() {
        for (base, expected) in [(16, 4), (40, 5), (200, 16)] {
            assert_eq!(
                rise(Duration::from_millis(base)),
                Duration::from_millis(expected)
            );
        }
    }

    /// Unpaced: (40 + 1) / 2 = 20.5 ms; acknowledgements every 2 ms pass it at 22 ms, the twelfth.
    /// Paced: 41 ms, passed at 42 ms, the twenty-second. A gap of more than 2 ms breaks the train.
    #[test]
    fn linux_leaves_after_a_train_of_half_a_round_trip() {
        let left = |gap: u64, paced: bool, segments: u64| {
            let mut hystart = Hystart::new(HystartKind::Linux);
            (0..30).position(|i| {
                let now = at(100_000 + i * gap);
                let view = view(segments, paced);
                hystart.on_ack(now, &ack(i == 0), ms(40), &view) == Advice::Leave
            })
        };
        assert_eq!(left(2_000, false, 16), Some(11));
        assert_eq!(left(2_000, true, 16), Some(21));
        assert_eq!(left(2_001, false, 16), None);
        assert_eq!(left(2_000, false, 15), None, "below 16 segments");
    }

    /// One round of `delay`: how much it grew the window, or `None` if slow start ended.
    fn round(hystart: &mut Hystart, delay: u64) -> Option<u64> {
        (0..10).try_fold(0, |sum, i| {
            match hystart.on_ack(at(0), &ack(i == 0), ms(delay), &view(20, true)) {
                Advice::Grow(bytes) => Some(sum + bytes),
                Advice::Leave => None,
            }
        })
    }

    /// The last round's least is 40 ms, so 45 ms is a rise. Its eighth sample starts CSS: seven
    /// acknowledgements grow by 1000 and three by 250. That round and the next four make five, and
    /// the first acknowledgement of the one after ends slow start.
    #[test]
    fn plusplus_takes_five_rounds_of_quarter_growth() {
        let mut hystart = Hystart::new(HystartKind::PlusPlus);
        assert_eq!(round(&mut hystart, 40), Some(10_000));
        assert_eq!(round(&mut hystart, 44), Some(10_000));
        // 44 + 5.5 = 49.5 ms.
        assert_eq!(round(&mut hystart, 49), Some(10_000));
        assert_eq!(round(&mut hystart, 40), Some(10_000));
        assert_eq!(round(&mut hystart, 45), Some(7_750));
        for _ in 0..4 {
            assert_eq!(round(&mut hystart, 45), Some(2_500));
        }
        assert_eq!(round(&mut hystart, 45), None);
    }

    /// A round below the baseline of 45 ms was jitter: from its eighth sample on the window grows
    /// in full again, 7 × 250 + 3 × 1000.
    #[test]
    fn plusplus_resumes_slow_start_when_the_delay_falls_back() {
        let mut hystart = Hystart::new(HystartKind::PlusPlus);
        round(&mut hystart, 40);
        assert_eq!(round(&mut hystart, 45), Some(7_750));
        assert_eq!(round(&mut hystart, 44), Some(4_750));
        assert_eq!(round(&mut hystart, 44), Some(10_000));
    }

    #[test]
    fn plusplus_limits_an_unpaced_senders_growth_to_eight_segments() {
        let mut hystart = Hystart::new(HystartKind::PlusPlus);
        let stretch = Ack {
            bytes: 20 * MSS,
            ..Ack::default()
        };
        let mut grown = |paced| hystart.on_ack(at(0), &stretch, ms(40), &view(40, paced));
        assert_eq!(grown(false), Advice::Grow(8 * MSS));
        assert_eq!(grown(true), Advice::Grow(20 * MSS));
    }
}
