//! How long a player makes audio wait: NetEq's rule (libwebrtc `PacketArrivalHistory`, `DelayManager`,
//! `UnderrunOptimizer`, `Histogram`).
//!
//! A frame's delay counts from that of the fastest within two seconds. The largest of each half a
//! second goes into a histogram that forgets, and the target is its 95th percentile. Frames that came
//! with later ones, as if reordered, may make it longer ([`Reordered`]); paths do not reorder.
//!
//! NetEq's time is one of ticks of 10 ms. Receivers without a jitter buffer of video have no ticks
//! here, and the two seconds count by arrivals: results keep that (decision 0026).

use super::histogram::{BUCKET, Histogram, bucket};
use super::reordered::Reordered;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// `kPacketHistorySizeMs`.
const HISTORY: Duration = Duration::from_secs(2);
/// `resample_interval_ms`.
const INTERVAL: Duration = Duration::from_millis(500);
/// `quantile`, `forget_factor`.
const QUANTILE: f64 = 0.95;
const FORGET: f64 = 0.983;
/// `kStartDelayMs`: the target before there is a sample.
const START: Duration = Duration::from_millis(80);
/// `TickTimer::kDefaultMsPerTick`.
const TICK: Duration = Duration::from_millis(10);

/// The delays of arrivals.
#[derive(Debug)]
pub struct Delays {
    /// Time is one of ticks.
    ticks: bool,
    /// The frames of the last two seconds.
    recent: VecDeque<TimedFrame>,
    histogram: Histogram,
    reordered: Reordered,
    /// When the half second that is being looked at began, and the largest delay in it.
    began: Instant,
    largest: Duration,
}

#[derive(Debug, Clone, Copy)]
struct TimedFrame {
    /// When it arrived, or with ticks, was sent.
    at: Instant,
    delay: Duration,
    /// The delay as NetEq has it, up to a tick that all have.
    told: Duration,
}

impl Delays {
    /// No frame has arrived. With `ticks`, time is NetEq's.
    pub fn new(ticks: bool) -> Self {
        Delays {
            ticks,
            recent: VecDeque::new(),
            histogram: Histogram::new(FORGET),
            reordered: Reordered::default(),
            began: Instant::ZERO,
            largest: Duration::ZERO,
        }
    }

    /// A frame arrived `now` that was on its way for `delay`.
    pub fn arrived(&mut self, now: Instant, delay: Duration) {
        let frame = self.frame(now, delay);
        let now = if self.ticks { tick(now) } else { now };
        // NetEq has no delay before there are two.
        if self.recent.len() <= usize::from(self.ticks) && self.histogram.is_empty() {
            self.began = now;
        }
        self.remember(frame);
        if now.since(self.began) > INTERVAL {
            self.sample();
            (self.began, self.largest) = (now, Duration::ZERO);
        }
        self.largest = self.largest.max(self.relative(frame));
        self.reordered.in_order();
    }

    /// A frame that was on its way for `delay` came `now` with a later one.
    pub fn restored(&mut self, now: Instant, delay: Duration) {
        let frame = self.frame(now, delay);
        self.remember(frame);
        self.reordered.late(self.relative(frame));
    }

    fn remember(&mut self, frame: TimedFrame) {
        self.recent.push_back(frame);
        while let Some(oldest) = self.recent.front()
            && frame.at.since(oldest.at) > HISTORY
        {
            self.recent.pop_front();
        }
    }

    /// By how much a frame was slower than the fastest.
    fn relative(&self, frame: TimedFrame) -> Duration {
        let told = self.recent.iter().map(|frame| frame.told);
        frame.told.saturating_sub(told.min().unwrap_or_default())
    }

    fn frame(&self, now: Instant, delay: Duration) -> TimedFrame {
        if !self.ticks {
            let (at, told) = (now, delay);
            return TimedFrame { at, delay, told };
        }
        let early = now.since(tick(now));
        TimedFrame {
            at: Instant::ZERO + now.since(Instant::ZERO).saturating_sub(delay),
            delay,
            told: (delay + TICK).saturating_sub(early),
        }
    }

    fn sample(&mut self) {
        if let Some(place) = bucket(self.largest) {
            self.histogram.add(place);
        }
    }

    /// The delay of the fastest frame.
    pub fn least(&self) -> Duration {
        let delays = self.recent.iter().map(|frame| frame.delay);
        delays.min().unwrap_or_default()
    }

    /// By how much the slowest was slower.
    pub fn spread(&self) -> Duration {
        let delays = self.recent.iter().map(|frame| frame.delay);
        delays
            .max()
            .unwrap_or_default()
            .saturating_sub(self.least())
    }

    /// How much later than the fastest frame would be there a frame should be played.
    pub fn target(&self) -> Duration {
        let usual = self.usual();
        usual.max(self.reordered.target(usual))
    }

    /// The target if no frame came with a later one.
    fn usual(&self) -> Duration {
        if self.histogram.is_empty() {
            return START;
        }
        let mut above = 1.0;
        let reaches = |share: &f64| {
            above -= share;
            above <= 1.0 - QUANTILE + 1e-9
        };
        let shares = self.histogram.shares();
        let place = shares.iter().position(reaches);
        BUCKET * (place.unwrap_or(shares.len() - 1) as u64 + 1)
    }
}

/// The tick that `now` is in.
fn tick(now: Instant) -> Instant {
    let tick = TICK.as_nanos();
    Instant::from_nanos(now.as_nanos() / tick * tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A frame each 20 ms from `from` to `until`, all with the same delay.
    fn feed(delays: &mut Delays, from: u64, until: u64, delay: u64) {
        for at in (from..until).step_by(20) {
            delays.arrived(Instant::ZERO + ms(at), ms(delay));
        }
    }

    #[test]
    fn the_fastest_is_forgotten_after_two_seconds() {
        let mut delays = Delays::new(false);
        feed(&mut delays, 0, 1_000, 30);
        feed(&mut delays, 1_000, 2_000, 75);
        assert_eq!((delays.least(), delays.spread()), (ms(30), ms(45)));
        feed(&mut delays, 2_000, 3_020, 75);
        assert_eq!((delays.least(), delays.spread()), (ms(75), ms(0)));
    }

    #[test]
    fn the_target_is_the_quantile_of_the_peaks() {
        let mut delays = Delays::new(false);
        assert_eq!(delays.target(), ms(80));
        // Ten seconds without variation are a sample each 520 ms: the first bucket has them all.
        feed(&mut delays, 0, 10_000, 30);
        assert_eq!(delays.target(), ms(20));
        // Peaks of 110 ms, in the bucket from 100 to 120. The 20th sample has a weight of 2/20, more
        // than the twentieth that a quantile of 95 % leaves aside.
        assert_eq!(delays.histogram.samples(), 19);
        feed(&mut delays, 10_000, 10_520, 140);
        assert_eq!(delays.histogram.samples(), 20, "the peak is not over");
        feed(&mut delays, 10_520, 11_000, 30);
        assert_eq!((delays.histogram.samples(), delays.target()), (21, ms(120)));
    }

    #[test]
    fn a_rare_peak_decides_nothing() {
        let mut delays = Delays::new(false);
        // After 200 samples one weighs 1.7 %.
        feed(&mut delays, 0, 110_000, 30);
        delays.arrived(Instant::ZERO + ms(110_010), ms(500));
        feed(&mut delays, 110_020, 112_000, 30);
        assert_eq!(delays.target(), ms(20));
    }
}
