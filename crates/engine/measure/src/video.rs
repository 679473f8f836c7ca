//! Measurements of one call: delay of frames, stalls, low-FPS events, freezes.
//!
//! The definitions are the design's, the same for every engine. A frame is kept until its fate is
//! known and the next one's turn has come; then it is counted and forgotten, so that a call of any
//! length keeps the frames that are under way.

use crate::freezes::Freezes;
use crate::result::{FrameDelay, PlayoutResult};
use crate::waits::Waits;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// A call's frames.
#[derive(Debug)]
pub struct Video {
    /// The start of the measured time.
    from: Instant,
    /// A frame later than this is late.
    threshold: Duration,
    /// Its receiver has a jitter buffer.
    buffered: bool,
    /// Frames whose fate or whose turn's end is open, in the order of sending.
    open: VecDeque<MeasuredFrame>,
    shown: ShownStats,
    frames: u64,
    late: u64,
    lost: u64,
    stall: Duration,
    delays: Waits,
}

#[derive(Debug, Clone, Copy)]
struct MeasuredFrame {
    number: u64,
    sent: Instant,
    arrived: Option<Instant>,
    fate: Option<VideoFate>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum VideoFate {
    Shown,
    Lost(Instant),
}

/// A frame's turn: its outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Its number.
    pub frame: u64,
    /// When it was handed over.
    pub sent: Instant,
    /// Its delay, if known; a lost one counts until it was skipped.
    pub delay: Option<Duration>,
    /// How long the picture stood still for it: until the next frame's turn, if it was late.
    pub stall: Duration,
    /// When it arrived, unless it was lost.
    pub arrived: Option<Instant>,
}

/// Fewer frames than this shown in a second are a low-FPS event.
const LOW_FPS: u64 = 10;
const SECOND: Duration = Duration::from_secs(1);

impl Video {
    /// A call; frames handed over from `from` on are measured, and those later than `threshold` are
    /// late. Its receiver shows frames at once, or by a jitter buffer.
    pub fn new(from: Instant, threshold: Duration, buffered: bool) -> Self {
        Video {
            from,
            threshold,
            buffered,
            open: VecDeque::new(),
            shown: ShownStats::new(buffered),
            frames: 0,
            late: 0,
            lost: 0,
            stall: Duration::ZERO,
            delays: Waits::default(),
        }
    }

    /// A frame was handed over.
    pub fn sent(&mut self, now: Instant, number: u64) {
        if now >= self.from {
            self.shown.begin(now);
        }
        self.open.push_back(MeasuredFrame {
            number,
            sent: now,
            arrived: None,
            fate: None,
        });
    }

    /// A frame's last packet arrived.
    pub fn arrived(&mut self, now: Instant, number: u64) {
        if let Some(frame) = self.frame(number) {
            frame.arrived = Some(now);
        }
    }

    /// A frame was skipped. One that arrived, but could not be shown, is lost all the same.
    pub fn lost(&mut self, now: Instant, number: u64) {
        if let Some(frame) = self.frame(number) {
            frame.fate = Some(VideoFate::Lost(now));
        }
    }

    /// A frame was shown that a jitter buffer had for as long as `held`.
    pub fn shown(&mut self, now: Instant, number: u64, held: Duration) {
        if let Some(frame) = self.frame(number) {
            frame.fate = Some(VideoFate::Shown);
        }
        self.shown.shown(now, self.from, held);
    }

    fn frame(&mut self, number: u64) -> Option<&mut MeasuredFrame> {
        let place = self
            .open
            .binary_search_by_key(&number, |frame| frame.number);
        self.open.get_mut(place.ok()?)
    }

    /// When the first frame was handed over whose turn is still open.
    pub fn oldest(&self) -> Option<Instant> {
        self.open.front().map(|frame| frame.sent)
    }

    /// The next turn that is over, in the order of sending.
    pub fn turn(&mut self) -> Option<Turn> {
        let frame = *self.open.front()?;
        frame.fate?;
        let ends = self.open.get(1)?.sent;
        self.open.pop_front();
        Some(self.count(frame, ends, ends))
    }

    /// The next of the turns that are open when the run ends.
    pub fn last_turn(&mut self, end: Instant) -> Option<Turn> {
        let frame = self.open.pop_front()?;
        let ends = self.open.front().map_or(end, |next| next.sent);
        Some(self.count(frame, ends, end))
    }

    /// Counts a frame whose turn ends at `ends`, as it is at `now`.
    fn count(&mut self, frame: MeasuredFrame, ends: Instant, now: Instant) -> Turn {
        let delay = match (frame.fate, frame.arrived) {
            (Some(VideoFate::Lost(at)), _) | (_, Some(at)) => Some(at.since(frame.sent)),
            // A frame under way that is not late yet has no known delay.
            _ => Some(now.since(frame.sent)).filter(|delay| *delay > self.threshold),
        };
        let lost = matches!(frame.fate, Some(VideoFate::Lost(_)));
        let late = delay.is_some_and(|delay| delay > self.threshold);
        let stall = if late {
            ends.since(frame.sent)
        } else {
            Duration::ZERO
        };
        if frame.sent >= self.from {
            self.frames += 1;
            self.late += u64::from(late);
            self.lost += u64::from(lost);
            self.stall += stall;
            if let Some(delay) = delay {
                self.delays.record(delay);
            }
        }
        Turn {
            frame: frame.number,
            sent: frame.sent,
            delay,
            stall,
            arrived: frame.arrived.filter(|_| !lost),
        }
    }

    /// The results, once every turn of a run that ended at `end` is over.
    pub fn measured(&self, end: Instant) -> Measured {
        let delays = self.delays.delay();
        Measured {
            frames: self.frames,
            late: self.late,
            lost: self.lost,
            low_fps: self.shown.low_fps(end),
            freezes: self.shown.freezes.count(),
            playout: self.buffered.then(|| self.shown.playout()),
            stall_s: self.stall.as_secs_f64(),
            delay: FrameDelay {
                p50: delays.p50,
                p95: delays.p95,
                p99: delays.p99,
                max: delays.max,
            },
        }
    }
}

/// A call's results over its measured frames.
#[derive(Debug, Clone, Default)]
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
    /// What a jitter buffer made of it, if its receiver has one.
    pub playout: Option<PlayoutResult>,
    /// Time for which frames were late, in seconds.
    pub stall_s: f64,
    /// Quantiles of the delay.
    pub delay: FrameDelay,
}

/// Statistics of the moments at which frames are shown.
#[derive(Debug)]
struct ShownStats {
    /// Start of the second that is being counted, once a measured frame was handed over.
    second: Option<Instant>,
    /// Frames shown in it.
    count: u64,
    low: u64,
    freezes: Freezes,
    /// Measured frames that were shown, and the sum of the time that a jitter buffer had them.
    frames: u64,
    held: Duration,
}

impl ShownStats {
    fn new(buffered: bool) -> Self {
        ShownStats {
            second: None,
            count: 0,
            low: 0,
            freezes: Freezes::new(buffered),
            frames: 0,
            held: Duration::ZERO,
        }
    }

    fn begin(&mut self, now: Instant) {
        if self.second.is_none() {
            self.second = Some(now);
            self.count = 0;
        }
    }

    fn shown(&mut self, now: Instant, from: Instant, held: Duration) {
        self.pass(now);
        self.count += 1;
        self.freezes.shown(now, now >= from);
        if now >= from {
            self.frames += 1;
            self.held += held;
        }
    }

    fn playout(&self) -> PlayoutResult {
        let held = self.held.as_millis_f64();
        PlayoutResult {
            freeze_s: self.freezes.time().as_secs_f64(),
            jitter_buffer_ms: (self.frames > 0).then(|| held / self.frames as f64),
        }
    }

    /// Closes the seconds that are over.
    fn pass(&mut self, now: Instant) {
        let Some(second) = &mut self.second else {
            return;
        };
        while *second + SECOND <= now {
            self.low += u64::from(self.count < LOW_FPS);
            self.count = 0;
            *second += SECOND;
        }
    }

    /// Low-FPS events of a run that ended at `end`.
    fn low_fps(&self, end: Instant) -> u64 {
        let Some(mut second) = self.second else {
            return 0;
        };
        let (mut low, mut count) = (self.low, self.count);
        while second + SECOND <= end {
            low += u64::from(count < LOW_FPS);
            count = 0;
            second += SECOND;
        }
        low
    }
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
        let mut video = Video::new(at(0), STALL, false);
        for (i, delay) in (0..).zip(delays) {
            video.sent(at(100 * i), i);
            match delay {
                Some(delay) => {
                    video.arrived(at(100 * i + delay), i);
                    video.shown(at(100 * i + delay), i, Duration::ZERO);
                }
                None => video.lost(at(100 * i + 300), i),
            }
        }
        video
    }

    fn turns(video: &mut Video, end: u64) -> Vec<Turn> {
        let mut turns: Vec<Turn> = std::iter::from_fn(|| video.turn()).collect();
        turns.extend(std::iter::from_fn(|| video.last_turn(at(end))));
        turns
    }

    #[test]
    fn late_frames_cover_the_time_until_the_next_ones_turn() {
        let mut video = video(&[Some(50), Some(191), Some(190), None, Some(50)]);
        let turns = turns(&mut video, 1000);
        let stalls: Vec<f64> = turns
            .iter()
            .map(|turn| turn.stall.as_millis_f64())
            .collect();
        assert_eq!(stalls, [0.0, 100.0, 0.0, 100.0, 0.0]);
        let measured = video.measured(at(1000));
        assert_eq!((measured.frames, measured.late, measured.lost), (5, 2, 1));
        assert_eq!(measured.stall_s, 0.2);
        let (p50, max) = (measured.delay.p50.unwrap(), measured.delay.max);
        assert!((190.0..190.2).contains(&p50), "three digits: {p50}");
        assert_eq!(max, Some(300.0), "until it was skipped");
    }

    #[test]
    fn a_frame_is_kept_until_its_turn_is_over() {
        let mut video = Video::new(at(0), STALL, false);
        video.sent(at(0), 0);
        video.arrived(at(40), 0);
        assert_eq!(video.turn(), None, "it may still be lost");
        video.shown(at(50), 0, Duration::ZERO);
        assert_eq!(video.turn(), None, "its turn goes on");
        video.sent(at(100), 1);
        let turn = video.turn().unwrap();
        assert_eq!(turn.delay, Some(Duration::from_millis(40)));
        assert_eq!((video.oldest(), video.turn()), (Some(at(100)), None));
    }

    #[test]
    fn a_frame_that_never_comes_is_late_until_the_end() {
        for (end, late, stall) in [(150, 0, 0.0), (400, 1, 0.4)] {
            let mut video = Video::new(at(0), STALL, false);
            video.sent(at(0), 0);
            turns(&mut video, end);
            let measured = video.measured(at(end));
            assert_eq!((measured.late, measured.stall_s), (late, stall));
        }
    }

    #[test]
    fn low_fps_and_freezes() {
        // 40 frames a second for one second, then a gap of 400 ms, then one frame.
        let mut video = Video::new(at(0), STALL, false);
        for i in 0..40 {
            video.sent(at(25 * i), i);
            video.shown(at(25 * i), i, Duration::ZERO);
        }
        video.sent(at(1300), 40);
        video.shown(at(975 + 400), 40, Duration::ZERO);
        // Mean gap 25 ms: a freeze begins at 175 ms. The second second shows one frame.
        let measured = video.measured(at(2000));
        assert_eq!((measured.freezes, measured.low_fps), (1, 1));
        assert_eq!(
            video.measured(at(1900)).low_fps,
            0,
            "the second is not over"
        );
    }

    #[test]
    fn the_warm_up_is_not_measured() {
        let mut video = Video::new(at(1000), STALL, false);
        for (number, sent) in [(0, 0), (1, 900), (2, 1000)] {
            video.sent(at(sent), number);
            video.arrived(at(sent + 500), number);
            video.shown(at(sent + 500), number, Duration::ZERO);
        }
        let turns = turns(&mut video, 2000);
        assert_eq!(turns.len(), 3, "loads see all of them");
        let measured = video.measured(at(2000));
        assert_eq!((measured.frames, measured.late), (1, 1));
        assert_eq!(measured.low_fps, 1, "one frame from 1 s to 2 s");
    }
}
