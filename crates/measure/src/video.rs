//! What is measured of one call: delay of frames, stalls, low-FPS events, freezes.
//!
//! The definitions are the design's, the same for every engine.

use crate::result::FrameDelay;
use core::ops::RangeInclusive;
use units::{Duration, Instant};

/// A call's frames, in the order of sending.
#[derive(Debug, Default)]
pub struct Video {
    frames: Vec<Frame>,
    shown: Vec<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    number: u64,
    sent: Instant,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Pending,
    Arrived(Instant),
    Lost(Instant),
}

impl Frame {
    /// Its delay in a run that ended at `end`, where that is known: one that is under way and not
    /// late yet says nothing of it.
    fn delay(&self, end: Instant, threshold: Duration) -> Option<Duration> {
        match self.fate {
            Fate::Arrived(at) | Fate::Lost(at) => Some(at.since(self.sent)),
            Fate::Pending => Some(end.since(self.sent)).filter(|delay| *delay > threshold),
        }
    }
}

/// A call's results over its measured frames.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Frames handed over.
    pub frames: u64,
    /// Late ones.
    pub late: u64,
    /// Lost ones.
    pub lost: u64,
    /// Windows of one second with fewer than ten frames shown.
    pub low_fps: u64,
    /// Freezes by WebRTC's rule.
    pub freezes: u64,
    /// Each late frame's turn: from when to when.
    pub stalls: Vec<(Instant, Instant)>,
    /// Delays of frames, ascending, in ms; a lost one counts until it was skipped.
    pub delays: Vec<f64>,
}

/// Fewer frames than this shown in a second are a low-FPS event.
const LOW_FPS: usize = 10;
/// Gaps over which WebRTC takes the mean for its freeze rule.
const FREEZE_WINDOW: usize = 30;

impl Video {
    /// A frame was handed over.
    pub fn sent(&mut self, now: Instant, number: u64) {
        self.frames.push(Frame {
            number,
            sent: now,
            fate: Fate::Pending,
        });
    }

    /// A frame's last packet arrived.
    pub fn arrived(&mut self, now: Instant, number: u64) {
        self.settle(number, Fate::Arrived(now));
    }

    /// A frame was skipped. One that arrived, but could not be shown, is lost all the same.
    pub fn lost(&mut self, now: Instant, number: u64) {
        self.settle(number, Fate::Lost(now));
    }

    /// A frame was shown.
    pub fn shown(&mut self, now: Instant) {
        self.shown.push(now);
    }

    fn settle(&mut self, number: u64, fate: Fate) {
        if let Ok(index) = self
            .frames
            .binary_search_by_key(&number, |frame| frame.number)
        {
            self.frames[index].fate = fate;
        }
    }

    /// Results over frames handed over from `from` on, in a run that ended at `end`.
    pub fn measure(&self, from: Instant, end: Instant, threshold: Duration) -> Measured {
        let mut measured = Measured {
            low_fps: self.low_fps_events(from, end),
            freezes: self.freezes(from),
            ..Measured::default()
        };
        for (index, frame) in self.frames.iter().enumerate() {
            if frame.sent < from {
                continue;
            }
            let delay = frame.delay(end, threshold);
            measured.frames += 1;
            measured.delays.extend(delay.map(Duration::as_millis_f64));
            if let Fate::Lost(_) = frame.fate {
                measured.lost += 1;
            }
            if delay.is_some_and(|delay| delay > threshold) {
                measured.late += 1;
                let turn_ends = self.frames.get(index + 1).map_or(end, |next| next.sent);
                measured.stalls.push((frame.sent, turn_ends));
            }
        }
        measured.delays.sort_by(f64::total_cmp);
        measured
    }

    /// The largest delay of the frames handed over in `window`, in a run that ended at `end`.
    pub fn worst_of(
        &self,
        window: &RangeInclusive<Instant>,
        end: Instant,
        threshold: Duration,
    ) -> Option<Duration> {
        let first = self.frames.partition_point(|f| f.sent < *window.start());
        let of = self.frames[first..].iter();
        of.take_while(|frame| frame.sent <= *window.end())
            .filter_map(|frame| frame.delay(end, threshold))
            .max()
    }

    /// Time handed over in seconds, and delay in ms of those that arrived, of all frames.
    pub fn delays(&self) -> impl Iterator<Item = (f64, Option<f64>)> {
        self.frames.iter().map(|frame| {
            let delay = match frame.fate {
                Fate::Arrived(at) => Some(at.since(frame.sent).as_millis_f64()),
                Fate::Pending | Fate::Lost(_) => None,
            };
            (frame.sent.as_secs_f64(), delay)
        })
    }

    fn low_fps_events(&self, from: Instant, end: Instant) -> u64 {
        let Some(first) = self.frames.iter().find(|frame| frame.sent >= from) else {
            return 0;
        };
        let second = Duration::from_secs(1);
        let mut events = 0;
        let mut window = first.sent;
        while window + second <= end {
            let before = |limit| self.shown.partition_point(|&at| at < limit);
            if before(window + second) - before(window) < LOW_FPS {
                events += 1;
            }
            window += second;
        }
        events
    }

    /// Gaps of at least max(3δ, δ + 150 ms), δ the mean of the last thirty gaps (WebRTC's
    /// `freezeCount`).
    fn freezes(&self, from: Instant) -> u64 {
        let gaps: Vec<(Instant, Duration)> = self
            .shown
            .windows(2)
            .map(|pair| (pair[1], pair[1].since(pair[0])))
            .collect();
        let mut freezes = 0;
        let mut sum = Duration::ZERO;
        for (index, &(at, gap)) in gaps.iter().enumerate() {
            let count = index.min(FREEZE_WINDOW) as u64;
            if count > 0 {
                let mean = sum / count;
                let limit = (mean * 3).max(mean + Duration::from_millis(150));
                if gap >= limit && at >= from {
                    freezes += 1;
                }
            }
            sum += gap;
            if index >= FREEZE_WINDOW {
                sum = sum.saturating_sub(gaps[index - FREEZE_WINDOW].1);
            }
        }
        freezes
    }
}

impl Measured {
    /// Time for which frames were late, in seconds.
    pub fn stall_s(&self) -> f64 {
        let span = |(from, to): &(Instant, Instant)| to.since(*from);
        total(self.stalls.iter().map(span))
    }

    /// The part of the stall whose frames were handed over from `from` until `to`.
    pub fn stall_within_s(&self, from: Instant, to: Instant) -> f64 {
        let within = self
            .stalls
            .iter()
            .filter(|(start, _)| (from..=to).contains(start));
        total(within.map(|(start, end)| end.since(*start)))
    }

    /// Quantiles of the delay.
    pub fn frame_delay(&self) -> FrameDelay {
        FrameDelay {
            p50: quantile(&self.delays, 0.50),
            p95: quantile(&self.delays, 0.95),
            p99: quantile(&self.delays, 0.99),
            max: self.delays.last().copied(),
        }
    }
}

/// The sum of spans, in seconds.
fn total(spans: impl Iterator<Item = Duration>) -> f64 {
    spans
        .fold(Duration::ZERO, |sum, span| sum + span)
        .as_secs_f64()
}

/// The smallest value that at least the share `q` of the ascending `values` does not exceed.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STALL: Duration = Duration::from_millis(190);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Frames every 100 ms; `delays[i]` in ms, or `None` for lost 300 ms after it was sent.
    fn video(delays: &[Option<u64>]) -> Video {
        let mut video = Video::default();
        for (i, delay) in (0..).zip(delays) {
            video.sent(at(100 * i), i);
            match delay {
                Some(delay) => {
                    video.arrived(at(100 * i + delay), i);
                    video.shown(at(100 * i + delay));
                }
                None => video.lost(at(100 * i + 300), i),
            }
        }
        video
    }

    #[test]
    fn late_frames_cover_the_time_until_the_next_ones_turn() {
        let video = video(&[Some(50), Some(191), Some(190), None, Some(50)]);
        let measured = video.measure(at(0), at(1000), STALL);
        assert_eq!((measured.frames, measured.late, measured.lost), (5, 2, 1));
        assert!((measured.stall_s() - 0.2).abs() < 1e-9);
        assert!((measured.stall_within_s(at(100), at(200)) - 0.1).abs() < 1e-9);
        assert_eq!(measured.frame_delay().p50, Some(190.0));
        assert_eq!(
            measured.frame_delay().max,
            Some(300.0),
            "until it was skipped"
        );
    }

    #[test]
    fn the_worst_frame_of_a_window() {
        let mut video = video(&[Some(500), Some(50), Some(70), None, Some(900)]);
        video.sent(at(500), 5);
        let worst = |from, to, end| video.worst_of(&(at(from)..=at(to)), at(end), STALL);
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(worst(100, 200, 2000), ms(70), "frames 1 and 2");
        assert_eq!(worst(100, 300, 2000), ms(300), "until it was skipped");
        assert_eq!(worst(450, 600, 800), ms(300), "it never comes");
        assert_eq!(worst(450, 600, 690), None, "not late yet");
        assert_eq!(worst(110, 190, 2000), None, "no frame's turn");
        assert_eq!(worst(0, 1000, 2000), ms(1500));
    }

    #[test]
    fn a_frame_that_never_comes_is_late_until_the_end() {
        let mut video = Video::default();
        video.sent(at(0), 0);
        let measured = video.measure(at(0), at(150), STALL);
        assert_eq!(measured.late, 0, "not yet");
        let measured = video.measure(at(0), at(400), STALL);
        assert!(
            (measured.stall_s() - 0.4).abs() < 1e-9,
            "no other turn comes"
        );
    }

    #[test]
    fn low_fps_and_freezes() {
        // 40 frames a second for one second, then a gap of 400 ms, then one frame.
        let mut video = Video::default();
        for i in 0..40 {
            video.sent(at(25 * i), i);
            video.shown(at(25 * i));
        }
        video.shown(at(975 + 400));
        // Mean gap 25 ms: a freeze begins at 175 ms. The second second shows one frame.
        assert_eq!(video.freezes(at(0)), 1);
        assert_eq!(video.low_fps_events(at(0), at(2000)), 1);
    }
}
