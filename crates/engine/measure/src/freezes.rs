//! Freezes: gaps between shown frames that are long beside the usual one (WebRTC's `freezeCount` and
//! `totalFreezesDuration`).

use std::collections::VecDeque;
use units::{Duration, Instant};

/// Gaps that the usual one is the mean of.
const WINDOW: usize = 30;
/// libwebrtc tells no freeze before there are so many gaps (`kMinFrameSamplesToDetectFreeze`).
const FIRST: usize = 5;
/// A freeze is this much longer than the usual gap.
const LONGER: Duration = Duration::from_millis(150);

/// The gaps of a call. A freeze is one of at least max(3δ, δ + 150 ms), δ the mean of the last thirty.
///
/// W3C's text does not say whether the gap itself is among these. Without a jitter buffer it is not. With
/// one it is, there are at least five, and all is in whole ms, as in libwebrtc (`VideoQualityObserver`).
#[derive(Debug)]
pub struct Freezes {
    /// A jitter buffer has them shown.
    buffered: bool,
    last: Option<Instant>,
    /// The latest gaps, and their sum.
    gaps: VecDeque<Duration>,
    sum: Duration,
    count: u64,
    time: Duration,
}

impl Freezes {
    /// Of a receiver that shows frames at once, or by a jitter buffer.
    pub fn new(buffered: bool) -> Self {
        Freezes {
            buffered,
            last: None,
            gaps: VecDeque::new(),
            sum: Duration::ZERO,
            count: 0,
            time: Duration::ZERO,
        }
    }

    /// How many there were in the measured time.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How long they were together.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// A frame is shown `now`, in the `measured` time or not.
    pub fn shown(&mut self, now: Instant, measured: bool) {
        let now = if self.buffered { whole_ms(now) } else { now };
        let Some(last) = self.last.replace(now) else {
            return;
        };
        let gap = now.since(last);
        let before = self.usual();
        self.add(gap);
        let usual = if self.buffered {
            let with = self.usual().filter(|_| self.gaps.len() >= FIRST);
            with.map(floor_ms)
        } else {
            before
        };
        if measured && usual.is_some_and(|usual| is_freeze(gap, usual)) {
            self.count += 1;
            self.time += gap;
        }
    }

    fn usual(&self) -> Option<Duration> {
        let count = self.gaps.len() as u64;
        (count > 0).then(|| self.sum / count)
    }

    fn add(&mut self, gap: Duration) {
        self.gaps.push_back(gap);
        self.sum += gap;
        if self.gaps.len() > WINDOW {
            let oldest = self.gaps.pop_front().unwrap_or_default();
            self.sum = self.sum.saturating_sub(oldest);
        }
    }
}

fn is_freeze(gap: Duration, usual: Duration) -> bool {
    gap >= (usual * 3).max(usual + LONGER)
}

fn whole_ms(at: Instant) -> Instant {
    const MS: u64 = 1_000_000;
    Instant::from_nanos(at.as_nanos().saturating_add(MS / 2) / MS * MS)
}

fn floor_ms(time: Duration) -> Duration {
    Duration::from_millis(time.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Freezes, and their sum in ms, of frames with these gaps in ms.
    fn freezes(buffered: bool, gaps: &[u64]) -> (u64, u64) {
        let mut freezes = Freezes::new(buffered);
        let mut now = Instant::ZERO;
        freezes.shown(now, true);
        for gap in gaps {
            now += Duration::from_millis(*gap);
            freezes.shown(now, true);
        }
        (freezes.count(), freezes.time().as_millis())
    }

    #[test]
    fn at_the_limit() {
        // Thirty gaps of 33 ms; without a buffer the limit is 183 ms.
        let gap = |last| [[33; 30].as_slice(), &[last]].concat();
        assert_eq!(freezes(false, &gap(182)), (0, 0));
        assert_eq!(freezes(false, &gap(183)), (1, 183));
        // With one the mean of 29 × 33 and 187 is 38.1, with 188 the same: 188 is the limit.
        assert_eq!(freezes(true, &gap(187)), (0, 0));
        assert_eq!(freezes(true, &gap(188)), (1, 188));
    }

    #[test]
    fn the_first_gaps_say_nothing_in_libwebrtc() {
        assert_eq!(freezes(false, &[33, 400]), (1, 400));
        assert_eq!(freezes(true, &[33, 33, 33, 400]), (0, 0));
        // The mean of 4 × 33 and 900 is 206, and three times that 618.
        assert_eq!(freezes(true, &[33, 33, 33, 33, 900]), (1, 900));
        assert_eq!(freezes(true, &[33, 33, 33, 33, 300]), (1, 300));
    }
}
