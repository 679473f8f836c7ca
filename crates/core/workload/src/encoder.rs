//! The parameters of a call, and the encoder of its video.
//!
//! The encoder makes frames at a fixed beat, of a size that follows a rate. Principles: a delta
//! frame has its share of the rate, with chance from frame to frame; a key frame has several
//! shares, and the following frames give back the bytes beyond its own, as a real encoder's rate
//! control does. The first frame is a key frame, and so is the next one after the receiver asked
//! for one.
//!
//! The statistical model of RFC 8593, with log-normal instead of Laplacian chance, so
//! that no frame is negative, and without its delayed reaction: the encoders of calls follow a new
//! rate from the next frame on.

use crate::audio::Audio;
use crate::temporal::{LayerPlace, Scalability};
use crate::{Carrier, Conditions, Frame};
use units::random::Stream;
use units::{Duration, Instant, Rate, Refusal};

units::params! {
    /// Parameters of a call's encoder.
    pub struct CallParams {
        /// Frames per second.
        fps: u32 = "30", range "1".."240", source "RFC 8698, FPS";
        /// The rate that the congestion control starts from.
        start_rate: Rate = "300kbit", range "1kbit".."10gbit", source "libwebrtc kDefaultBitrateBps";
        /// Least rate of the encoder.
        min_rate: Rate = "150kbit", range "1kbit".."10gbit", source "RFC 8698, RMIN";
        /// Greatest rate of the encoder.
        max_rate: Rate = "4mbit", range "1kbit".."10gbit", source "preset webrtc";
        /// Standard deviation of the logarithm of a frame's size.
        variation: f64 = "0.2", range "0".."2", source "RFC 8593: Laplacian of scale 0.15, whose deviation is 0.21";
        /// Size of a key frame as a multiple of a delta frame's.
        key_factor: f64 = "4", range "1".."50", source "decision 0020";
        /// Time in which the encoder gives back the bytes that frames took beyond their share.
        repay: Duration = "500ms", range "1ms".."1min", source "libwebrtc FrameDropper kLeakyBucketSizeSeconds";
        /// Temporal layers, as browsers' `scalabilityMode` names them: in L1T2 and L1T3 there are frames that
        /// can be lost without harm to others.
        scalability: Scalability = "L1T1", source "W3C Scalable Video Coding Extension for WebRTC; decision 0027";
        /// Share of the encoder's rate that its frames use.
        share: f64 = "1", range "0.01".."1", source "none";
        /// Frames go over one TCP connection instead of a media session, and the encoder's rate
        /// follows how busy the connection is.
        tcp: bool = "no", source "decision 0023";
        /// The same over one QUIC connection, whose control may have two subflows.
        quic: bool = "no", source "this project; decision 0018";
        /// Audio with the video: off, or its rate, 6kbit to 510kbit. Each frame of 20 ms has its
        /// own packet.
        audio: Audio = "off", source "decision 0022";
    }
}

impl CallParams {
    /// The connection that replaces the media session, if one does.
    pub(crate) fn connection(&self) -> Option<Carrier> {
        match (self.tcp, self.quic) {
            (true, _) => Some(Carrier::Tcp),
            (_, true) => Some(Carrier::Quic),
            _ => None,
        }
    }

    /// Checks that the least rate is not above the greatest, that a call has one carrier, and that one over
    /// a connection has no audio.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.tcp && self.quic {
            let message = "a call has one connection, of TCP or of QUIC";
            return Err(Refusal::new(message).with_help("leave out tcp or quic"));
        }
        if let Some(carrier) = self.connection().filter(|_| self.audio.0.is_some()) {
            let message = format!("audio needs a media session, and {carrier} replaces it");
            return Err(Refusal::new(message).with_help(format!("leave out audio or {carrier}")));
        }
        if let Some(carrier) = self
            .connection()
            .filter(|_| self.scalability != Scalability::L1T1)
        {
            let message =
                format!("over {carrier} no frame is left out, so that layers are of no use");
            return Err(
                Refusal::new(message).with_help(format!("leave out scalability or {carrier}"))
            );
        }
        if self.min_rate <= self.max_rate {
            return Ok(());
        }
        let (min, max) = (self.min_rate, self.max_rate);
        let message = format!("min_rate {min} is above max_rate {max}");
        Err(Refusal::new(message).with_help("lower min_rate or raise max_rate"))
    }
}

/// A frame never shrinks below this share of its ordinary size to give back, so that pictures
/// still move.
const LEAST_SHARE: f64 = 0.25;
/// Seconds of the rate that an encoder may owe; more is forgotten (libvpx `rc_buf_sz`).
const MOST_OWED: f64 = 1.0;

/// The encoder of one direction of a call.
#[derive(Debug, Clone)]
pub struct Encoder {
    params: CallParams,
    chance: Stream,
    start: Instant,
    /// Turns that have come, skipped ones included.
    turns: u64,
    frames: u64,
    /// Frames since the last key frame.
    after_key: u64,
    skipped: u64,
    key_due: bool,
    /// Bytes beyond the share so far; negative if the frames were short of it.
    owed: f64,
}

impl Encoder {
    /// An encoder whose first frame's turn is at `start`. If the least rate is above the greatest,
    /// the least rate holds.
    pub fn new(params: &CallParams, start: Instant, chance: Stream) -> Self {
        Encoder {
            params: params.clone(),
            chance,
            start,
            turns: 0,
            frames: 0,
            after_key: 0,
            skipped: 0,
            key_due: true,
            owed: 0.0,
        }
    }

    /// When the next frame's turn is. The beat does not drift: turn `n` is `n / fps` seconds after
    /// the start, rounded down to the nanosecond.
    pub fn next_frame_at(&self) -> Instant {
        self.start + Duration::from_secs(1).scale(self.turns, u64::from(self.params.fps))
    }

    /// Time has passed: the frame whose turn it is, unless it is skipped or its turn has not
    /// come. Turns that were missed altogether count as skipped.
    pub fn on_timer(&mut self, now: Instant, conditions: &Conditions) -> Option<Frame> {
        self.key_due |= conditions.keyframe_requested;
        if now < self.next_frame_at() {
            return None;
        }
        self.turns += 1;
        while self.next_frame_at() <= now {
            self.turns += 1;
            self.skipped += 1;
        }
        if conditions.congested {
            self.skipped += 1;
            return None;
        }
        let rate = conditions.rate.min(self.params.max_rate);
        let rate = rate.max(self.params.min_rate);
        let key = core::mem::take(&mut self.key_due);
        let id = self.frames;
        self.frames += 1;
        self.after_key = if key { 0 } else { self.after_key + 1 };
        let place = self.params.scalability.place(self.after_key);
        let bytes = self.size(rate, key, &place);
        Some(Frame {
            stream: 0,
            id,
            bytes,
            key,
            layer: place.layer,
            back: place.back,
        })
    }

    /// The frames are another encoder's from now on: the next is a key frame, and there is no debt.
    pub fn replace(&mut self) {
        self.key_due = true;
        self.owed = 0.0;
    }

    /// How long the next frame is; the chance has mean one.
    fn size(&mut self, rate: Rate, key: bool, place: &LayerPlace) -> u32 {
        let sigma = self.params.variation;
        let fps = f64::from(self.params.fps);
        let usual = self.params.share * rate.as_bits() as f64 / 8.0 / fps;
        // A key frame's factor is that of a usual frame.
        let share = if key { usual } else { usual * place.size };
        let repaid = self.owed / (self.params.repay.as_secs_f64() * fps).max(1.0);
        let meant = if key {
            share * self.params.key_factor
        } else {
            (share - repaid).max(share * LEAST_SHARE)
        };
        let chance = self
            .chance
            .log_normal(libm::exp(-sigma * sigma / 2.0), sigma);
        let bytes = (meant * chance + 0.5).max(1.0) as u32;
        let most = MOST_OWED * share * fps;
        self.owed = (self.owed + f64::from(bytes) - share).clamp(-share, most);
        bytes
    }

    /// Turns without a frame so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoder(params: CallParams) -> Encoder {
        Encoder::new(&params, Instant::ZERO, Stream::new(1, "encoder"))
    }

    fn plain() -> CallParams {
        CallParams {
            variation: 0.0,
            ..unlimited()
        }
    }

    fn unlimited() -> CallParams {
        CallParams {
            max_rate: Rate::from_bits(100_000_000),
            ..CallParams::default()
        }
    }

    fn at(mbit: u64) -> Conditions {
        Conditions {
            rate: Rate::from_bits(mbit * 1_000_000),
            keyframe_requested: false,
            congested: false,
        }
    }

    /// The frame of the next turn.
    fn turn(encoder: &mut Encoder, conditions: &Conditions) -> Option<Frame> {
        let now = encoder.next_frame_at();
        encoder.on_timer(now, conditions)
    }

    #[test]
    fn the_beat_does_not_drift() {
        let mut encoder = encoder(plain());
        let early = encoder.on_timer(Instant::ZERO, &at(1)).unwrap();
        assert_eq!((early.id, early.key), (0, true));
        assert_eq!(encoder.next_frame_at(), Instant::from_nanos(33_333_333));
        assert_eq!(
            encoder.on_timer(Instant::from_nanos(33_333_332), &at(1)),
            None
        );
        for _ in 1..30 {
            turn(&mut encoder, &at(1)).unwrap();
        }
        assert_eq!(encoder.next_frame_at(), Instant::from_nanos(1_000_000_000));
        // Turns 30 to 32 were at 1 s, 1.033 s, 1.067 s.
        let late = Instant::from_nanos(1_070_000_000);
        assert_eq!(encoder.on_timer(late, &at(1)).unwrap().id, 30);
        assert_eq!(encoder.skipped(), 2);
        assert_eq!(encoder.next_frame_at(), Instant::from_nanos(1_100_000_000));
    }

    #[test]
    fn a_key_frame_is_repaid() {
        let mut encoder = encoder(plain());
        let sizes: Vec<_> = (0..90)
            .filter_map(|_| turn(&mut encoder, &at(6)))
            .map(|frame| frame.bytes)
            .collect();
        // 6 Mbit/s / 30 are 25 kB. The key frame has 100 kB and owes 75 kB; the next gives back
        // a fifteenth of that, 5 kB, and the one after it a fifteenth of 70 kB.
        assert_eq!(sizes[..3], [100_000, 20_000, 20_333]);
        // In 3 s the encoder makes the right number of bytes, within 1%.
        let all: u32 = sizes.iter().sum();
        assert!((2_227_500..=2_272_500).contains(&all), "{all}");
    }

    #[test]
    fn the_rate_stays_within_bounds() {
        let mut encoder = encoder(CallParams {
            min_rate: Rate::from_bits(2_400_000),
            max_rate: Rate::from_bits(4_800_000),
            key_factor: 1.0,
            ..plain()
        });
        let mut size = |mbit| turn(&mut encoder, &at(mbit)).unwrap().bytes;
        assert_eq!((size(0), size(3), size(90)), (10_000, 12_500, 20_000));
        let crossed = CallParams {
            min_rate: Rate::from_bits(200_000_000),
            ..unlimited()
        };
        let error = crossed.check().unwrap_err().to_string();
        assert!(error.starts_with("min_rate 200mbit is above max_rate 100mbit"));
    }

    #[test]
    fn chance_has_the_mean_and_the_spread_it_should() {
        let mut encoder = encoder(unlimited());
        let sizes: Vec<f64> = (0..6_000)
            .filter_map(|_| turn(&mut encoder, &at(6)))
            .map(|frame| f64::from(frame.bytes))
            .collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        assert!((mean / 25_000.0 - 1.0).abs() < 0.01, "{mean}");
        let square = sizes[1..]
            .iter()
            .map(|size| (size / mean - 1.0) * (size / mean - 1.0));
        let spread = (square.sum::<f64>() / sizes.len() as f64).sqrt();
        assert!((0.18..0.24).contains(&spread), "{spread}");
    }

    #[test]
    fn layers_begin_anew_with_a_key_frame_and_keep_the_rate() {
        let mut encoder = encoder(CallParams {
            scalability: Scalability::L1T3,
            ..plain()
        });
        let mut frames = Vec::new();
        for number in 0..602 {
            let asked = Conditions {
                keyframe_requested: number == 2,
                ..at(6)
            };
            frames.push(turn(&mut encoder, &asked).unwrap());
        }
        let places: Vec<_> = frames
            .iter()
            .map(|frame| (frame.layer, frame.back))
            .collect();
        assert_eq!(places[..5], [(0, 4), (2, 1), (0, 4), (2, 1), (1, 2)]);
        // Later 6 Mbit/s at 30 frames a second, in fours of 40, 20, 20 and 20 %: 25 kB on average.
        let four = [0, 1, 2, 3].map(|place| frames[598 + place].bytes);
        assert_eq!(four, [40_000, 20_000, 20_000, 20_000]);
    }

    #[test]
    fn a_skipped_turn_has_no_number_and_forgets_no_request() {
        let mut encoder = encoder(plain());
        turn(&mut encoder, &at(6));
        let blocked = Conditions {
            keyframe_requested: true,
            congested: true,
            ..at(6)
        };
        assert_eq!(turn(&mut encoder, &blocked), None);
        let frame = turn(&mut encoder, &at(6)).unwrap();
        assert_eq!((frame.id, frame.key, encoder.skipped()), (1, true, 1));
        assert!(!turn(&mut encoder, &at(6)).unwrap().key);
    }
}
