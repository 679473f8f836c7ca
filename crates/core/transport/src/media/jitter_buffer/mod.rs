//! The jitter buffer of a stream of video: when frames are shown, as in libwebrtc
//! (`VideoStreamBufferController`, `FrameBuffer`, `FrameDecodeTiming`).
//!
//! Frames wait, in order, until their turn by the sender's clock and the current delay ([`Timing`]);
//! the delay follows an estimate of their jitter ([`Estimator`]). Then they go through the decoder, one
//! after the other. The first frame does not wait. A frame that is late is shown late, since those
//! after it depend on it, unless a key frame waits.
//!
//! Not for: which frames can be decoded (`frames`); the picture on a screen, up to 10 ms later; waiting
//! for sound, which makes a browser's delay longer (see decision 0026).

mod estimator;
mod kalman;
mod sender_clock;
mod timing;

use super::MediaEvent;
use core::fmt;
use estimator::Estimator;
use std::collections::VecDeque;
use timing::{DECODE, Timing};
use units::param::Value;
use units::{Duration, Instant, ParseError};

/// How late a frame can be before it gives way to a key frame, in ms (`kMaxAllowedFrameDelay`).
const MOST_LATE: f64 = 5.0;
/// A frame waits no longer, in ms (`kMaxWaitForFrame`).
const MOST_WAIT: f64 = 3_000.0;
/// With more between a frame and its turn, or with a longer delay, everything begins anew, in ms
/// (`kMaxVideoDelay`).
const MOST_DELAY: f64 = 10_000.0;
/// The round trip is looked at this often (`CallStats::kUpdateInterval`), and the largest of so many
/// counts (`RttFilter`, `kMaxDriftJumpCount`).
const ROUND_TRIP_EVERY: Duration = Duration::from_secs(1);
const ROUND_TRIPS: usize = 5;

/// When a receiver shows the frames that it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Playout {
    /// As soon as it can.
    Immediate,
    /// When their turn is, by libwebrtc's jitter buffer.
    WebRtc,
}

impl fmt::Display for Playout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Playout::Immediate => "immediate",
            Playout::WebRtc => "webrtc",
        })
    }
}

impl Value for Playout {
    const KIND: &'static str = "immediate or webrtc";
    fn parse(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "immediate" => Ok(Playout::Immediate),
            "webrtc" => Ok(Playout::WebRtc),
            _ => Err(ParseError::new(text, Self::KIND)),
        }
    }
}

/// A frame that is complete.
#[derive(Debug, Clone, Copy, Default)]
pub struct Whole {
    /// Its number.
    pub id: u64,
    /// The sender's time (RTP's, 90 kHz).
    pub timestamp: u32,
    /// How long it is, without headers.
    pub bytes: u32,
    /// When its first and its last packet arrived.
    pub first: Instant,
    /// The last one.
    pub last: Instant,
    /// It depends on no other.
    pub key: bool,
    /// One of its packets was asked for.
    pub repaired: bool,
}

/// The buffer.
#[derive(Debug, Default)]
pub struct JitterBuffer {
    stream: u8,
    /// Frames in order, each of which can be decoded after those before it.
    waiting: VecDeque<Whole>,
    /// When the first of them leaves, and when it should be on the screen, in ms.
    turn: Option<(Instant, f64)>,
    /// What the decoder has, and when it will be done.
    decoding: Option<(BufferedFrame, Instant)>,
    /// A frame has left.
    started: bool,
    timing: Timing,
    estimator: Estimator,
    /// The frame before, if it was not repaired: when it was complete, in ms, and its ticks.
    before: Option<(f64, i64)>,
    /// The ticks of the newest frame.
    ticks: Option<(u32, i64)>,
    round_trips: VecDeque<Duration>,
    round_trip_due: Instant,
}

/// A frame that left the buffer, and how long it had been there.
#[derive(Debug, Clone, Copy)]
struct BufferedFrame {
    id: u64,
    held: Duration,
}

/// In ms.
fn ms(at: Instant) -> f64 {
    at.as_nanos() as f64 / 1e6
}

fn instant(ms: f64) -> Instant {
    Instant::from_nanos((ms * 1e6).round() as u64)
}

/// libwebrtc has the arrivals of frames in whole ms.
fn whole_ms(at: Instant) -> f64 {
    ms(at).round()
}

impl JitterBuffer {
    /// For frames of `stream`.
    pub fn new(stream: u8) -> Self {
        JitterBuffer {
            stream,
            ..JitterBuffer::default()
        }
    }

    /// The ticks of a time stamp, which begins anew after 13 hours.
    fn ticks(&mut self, timestamp: u32) -> i64 {
        let ticks = self.ticks.map_or(i64::from(timestamp), |(last, ticks)| {
            ticks + i64::from(timestamp.wrapping_sub(last).cast_signed())
        });
        self.ticks = Some((timestamp, ticks));
        ticks
    }

    /// The round trip is `rtt`, as far as the sender knows.
    pub fn round_trip(&mut self, now: Instant, rtt: Duration) {
        if now < self.round_trip_due {
            return;
        }
        self.round_trip_due = now + ROUND_TRIP_EVERY;
        if self.round_trips.len() == ROUND_TRIPS {
            self.round_trips.pop_front();
        }
        self.round_trips.push_back(rtt);
    }

    /// A frame is complete. Those before it may not be.
    pub fn complete(&mut self, frame: &Whole) {
        let ticks = self.ticks(frame.timestamp);
        if !frame.repaired {
            self.timing.complete(whole_ms(frame.last), ticks);
        }
    }

    /// The next frame in order can be decoded after those before it.
    pub fn push(&mut self, now: Instant, frame: Whole, events: &mut VecDeque<MediaEvent>) {
        self.waiting.push_back(frame);
        self.on_timer(now, events);
    }

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    pub fn next_timer(&self) -> Instant {
        let decoded = self.decoding.map(|(_, done)| done);
        let turn = self.turn.map(|(at, _)| at);
        decoded.or(turn).unwrap_or(Instant::NEVER)
    }

    /// Time has passed: frames whose turn has come leave, and are shown once they are decoded.
    pub fn on_timer(&mut self, now: Instant, events: &mut VecDeque<MediaEvent>) {
        loop {
            if let Some((BufferedFrame { id, held }, at)) = self.decoding {
                if now < at {
                    return;
                }
                self.decoding = None;
                let stream = self.stream;
                let shown = MediaEvent::FrameShown {
                    stream,
                    id,
                    at,
                    held,
                };
                events.push_back(shown);
            }
            let turn = self.turn.or_else(|| self.plan(now, events));
            self.turn = turn.filter(|(at, _)| now < *at);
            match (turn, self.turn) {
                (Some((_, due)), None) => self.leave(now, due),
                _ => return,
            }
        }
    }

    /// When the first frame leaves, and is due on the screen.
    fn plan(&mut self, now: Instant, events: &mut VecDeque<MediaEvent>) -> Option<(Instant, f64)> {
        let at = ms(now);
        loop {
            let timestamp = self.waiting.front()?.timestamp;
            let ticks = self.ticks_of(timestamp);
            let due = self.timing.due(at, ticks);
            if !self.started {
                return Some((now, due));
            }
            let wait = Timing::wait(at, due);
            let key = self.waiting.iter().skip(1).position(|frame| frame.key);
            if let Some(before) = key.filter(|_| wait <= -MOST_LATE) {
                self.give_way(now, before + 1, events);
                continue;
            }
            return Some((instant(at + wait.clamp(0.0, MOST_WAIT)), due));
        }
    }

    /// Ticks of a frame that is complete.
    fn ticks_of(&self, timestamp: u32) -> i64 {
        self.ticks.map_or(0, |(last, ticks)| {
            ticks + i64::from(timestamp.wrapping_sub(last).cast_signed())
        })
    }

    /// The first `count` frames give way to a key frame.
    fn give_way(&mut self, at: Instant, count: usize, events: &mut VecDeque<MediaEvent>) {
        let stream = self.stream;
        let lost = |Whole { id, .. }| MediaEvent::FrameLost { stream, id, at };
        events.extend(self.waiting.drain(..count).map(lost));
    }

    /// The first frame leaves, which was due at `due`.
    fn leave(&mut self, now: Instant, due: f64) {
        let Some(frame) = self.waiting.pop_front() else {
            return;
        };
        self.started = true;
        let (at, mut due) = (ms(now), due);
        let ticks = self.ticks_of(frame.timestamp);
        if (due - at).abs() > MOST_DELAY || self.timing.target() > MOST_DELAY {
            self.estimator = Estimator::default();
            self.timing = Timing::default();
            due = at;
        }
        if frame.repaired {
            self.estimator.repaired(now);
        } else {
            if let Some(later) = self.later(whole_ms(frame.last), ticks) {
                self.estimator.frame(now, later, frame.bytes);
            }
            let rtt = self.round_trips.iter().max().copied().unwrap_or_default();
            self.timing.follow(self.estimator.wait(now, rtt));
            self.timing.left(at, due);
        }
        let shown = BufferedFrame {
            id: frame.id,
            held: now.since(frame.first),
        };
        self.decoding = Some((shown, instant(at + DECODE)));
    }

    /// How much later, in ms, a frame came after the one before than it was made after that; none for one
    /// that was made before (`InterFrameDelayVariationCalculator`).
    fn later(&mut self, last: f64, ticks: i64) -> Option<f64> {
        let Some((last_before, ticks_before)) = self.before else {
            self.before = Some((last, ticks));
            return Some(0.0);
        };
        let made = ticks - ticks_before;
        if made <= 0 {
            return None;
        }
        self.before = Some((last, ticks));
        Some(last - last_before - made as f64 / 90.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// The frame `id` of 5000 bytes, of 33 ms each, that takes `delay` ms; `since` is when its first
    /// packet came before its last.
    fn frame(id: u64, delay: u64, key: bool) -> Whole {
        Whole {
            id,
            timestamp: (id as u32).wrapping_mul(33 * 90),
            bytes: 5_000,
            first: at(33 * id + delay - 5),
            last: at(33 * id + delay),
            key,
            repaired: false,
        }
    }

    /// What happens of these frames, in order of arrival, by when each can be decoded.
    fn play(frames: &[(u64, Whole)]) -> Vec<MediaEvent> {
        let mut buffer = JitterBuffer::new(0);
        let mut events = VecDeque::new();
        let pass =
            |buffer: &mut JitterBuffer, until: Instant, events: &mut VecDeque<MediaEvent>| {
                while buffer.next_timer() <= until && buffer.next_timer() < Instant::NEVER {
                    buffer.on_timer(buffer.next_timer(), events);
                }
            };
        for (now, frame) in frames {
            pass(&mut buffer, at(*now), &mut events);
            buffer.complete(frame);
            buffer.push(at(*now), *frame, &mut events);
        }
        pass(&mut buffer, at(1_000_000), &mut events);
        events.into()
    }

    /// Frames with these delays, the first a key frame.
    fn stream(delays: &[u64]) -> Vec<(u64, Whole)> {
        let mut now = 0;
        let frames = (0..).zip(delays);
        frames
            .map(|(id, delay)| {
                now = now.max(33 * id + delay);
                (now, frame(id, *delay, id == 0))
            })
            .collect()
    }

    /// When each frame was shown, in ms since it was made, and how long it was held.
    fn shown(events: &[MediaEvent]) -> Vec<(u64, f64, f64)> {
        let each = |event: &MediaEvent| match *event {
            MediaEvent::FrameShown { id, at, held, .. } => {
                Some((id, ms(at) - 33.0 * id as f64, held.as_millis_f64()))
            }
            _ => None,
        };
        events.iter().filter_map(each).collect()
    }

    #[test]
    fn an_even_stream_waits_for_a_steady_time() {
        let shown = shown(&play(&stream(&[30; 300])));
        assert_eq!(shown[0], (0, 31.0, 5.0), "the first is decoded at once");
        let (_, delay, held) = shown[299];
        // The target is 11 ms of jitter, 1 of the decoder and 10 of the screen. Frames leave 11 ms after
        // they came, and the screen has them 11 ms later.
        assert!((41.0..=43.0).contains(&delay), "{delay}");
        assert!((15.0..=17.0).contains(&held), "{held}");
    }

    #[test]
    fn jitter_is_taken_up_by_waiting() {
        let delays: Vec<u64> = (0..1_500).map(|frame| 30 + frame * 7 % 5 * 15).collect();
        let shown = shown(&play(&stream(&delays)));
        let delays: Vec<f64> = shown[1_000..].iter().map(|(_, delay, _)| *delay).collect();
        let least = delays.iter().copied().fold(f64::INFINITY, f64::min);
        let most = delays.iter().copied().fold(0.0, f64::max);
        assert!(most >= 91.0 && most - least < 30.0, "{least} to {most}");
    }

    #[test]
    fn what_waits_behind_a_late_frame_follows_at_the_decoders_pace() {
        let mut delays = [30; 120];
        delays[100] = 500;
        let shown = shown(&play(&stream(&delays)));
        assert_eq!(shown[100], (100, 501.0, 5.0));
        let (_, delay, _) = shown[101];
        assert_eq!(delay, 502.0 - 33.0);
    }

    #[test]
    fn late_frames_give_way_to_a_key_frame() {
        let mut frames = stream(&[30; 100]);
        // 100 to 103 can be decoded together with the key frame 104.
        for id in 100..105 {
            frames.push((33 * 104 + 400, frame(id, 30, id == 104)));
        }
        let events = play(&frames);
        let lost: Vec<u64> = events
            .iter()
            .filter_map(|event| match event {
                MediaEvent::FrameLost { id, .. } => Some(*id),
                _ => None,
            })
            .collect();
        // The first found nobody after it when it came.
        assert_eq!(lost, [101, 102, 103]);
        assert_eq!(shown(&events).last().unwrap().0, 104);
    }

    #[test]
    fn time_stamps_begin_anew() {
        let mut frames = stream(&[30; 600]);
        for (_, frame) in &mut frames {
            frame.timestamp = frame.timestamp.wrapping_sub(33 * 90 * 300);
        }
        let (_, delay, _) = shown(&play(&frames))[599];
        assert!((41.0..=43.0).contains(&delay), "{delay}");
    }
}
