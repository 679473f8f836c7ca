//! The audio of a call: a frame every 20 ms, always of the same length.
//!
//! The default behaviour of libwebrtc: Opus at a constant rate, which follows no estimate
//! (`WebRtcVoiceEngine` sets least and greatest to 32 kbit/s), a packet for each frame, no
//! discontinuous transmission. Not for: silence, in-band forward error correction, music. Copies in
//! later packets (RED) are the session's.

use crate::{AudioFrame, ConnId, Output};
use core::fmt;
use units::param::Value;
use units::{Duration, Instant, ParseError, Rate};

/// The time that a frame stands for (RFC 7587, `ptime`; libwebrtc `kDefaultFrameSizeMs`).
pub const FRAME: Duration = Duration::from_millis(20);

/// The range of rates of Opus (RFC 6716, 2.1.1).
const LEAST: Rate = Rate::from_bits(6_000);
const MOST: Rate = Rate::from_bits(510_000);

/// A call's audio: off, or the rate of its encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Audio(pub Option<Rate>);

impl fmt::Display for Audio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => rate.fmt(f),
            None => f.write_str("off"),
        }
    }
}

impl Value for Audio {
    const KIND: &'static str = "rate or off";
    fn parse(text: &str) -> Result<Self, ParseError> {
        if matches!(text.trim(), "off" | "no") {
            return Ok(Audio(None));
        }
        let rate = Rate::parse(text).ok();
        rate.filter(|rate| (LEAST..=MOST).contains(rate))
            .map(|rate| Audio(Some(rate)))
            .ok_or_else(|| ParseError::new(text, "off, or a rate from 6kbit to 510kbit"))
    }
}

/// Makes the frames of a call's audio.
#[derive(Debug, Clone)]
pub struct Microphone {
    bytes: u32,
    start: Instant,
    frames: u64,
}

impl Microphone {
    /// One whose first frame is due at `start`, at `rate`.
    pub fn new(rate: Rate, start: Instant) -> Self {
        Microphone {
            bytes: rate.bytes_in(FRAME) as u32,
            start,
            frames: 0,
        }
    }

    /// When the next frame is due.
    pub fn next_frame_at(&self) -> Instant {
        self.start + FRAME * self.frames
    }

    /// Time has passed: the next frame, if it is due.
    pub fn on_timer(&mut self, now: Instant) -> Option<AudioFrame> {
        (now >= self.next_frame_at()).then(|| {
            self.frames += 1;
            AudioFrame {
                id: self.frames - 1,
                bytes: self.bytes,
            }
        })
    }

    /// Hands the frame that is due to the session `conn`, and asks for the next turn with `token`.
    pub fn turn(&mut self, now: Instant, conn: ConnId, token: u64, out: &mut Vec<Output>) {
        let frame = self.on_timer(now);
        out.extend(frame.map(|frame| Output::Audio { conn, frame }));
        out.push(Output::Timer(self.next_frame_at(), token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_frames_a_second_of_the_same_length() {
        let mut microphone = Microphone::new(Rate::from_bits(32_000), Instant::ZERO);
        let mut frames = 0;
        while microphone.next_frame_at() < Instant::from_nanos(1_000_000_000) {
            let now = microphone.next_frame_at();
            let frame = microphone.on_timer(now).unwrap();
            // 32 kbit/s for 20 ms are 640 bit.
            assert_eq!((frame.id, frame.bytes), (frames, 80));
            assert_eq!(microphone.on_timer(now), None, "the next is not due");
            frames += 1;
        }
        assert_eq!(frames, 50);
    }

    #[test]
    fn off_or_a_rate_that_opus_has() {
        for text in ["off", "32kbit", "510kbit"] {
            assert_eq!(Audio::parse(text).unwrap().to_string(), text);
        }
        for text in ["0kbit", "1mbit", "loud"] {
            let error = Audio::parse(text).unwrap_err().to_string();
            assert!(
                error.contains("off, or a rate from 6kbit to 510kbit"),
                "{error}"
            );
        }
    }
}
