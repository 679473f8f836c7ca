//! Measurements of a call's audio: what the player had to conceal, the delay from mouth to ear, and
//! the E-model's score of both (decision 0022).

mod delays;
mod e_model;
mod histogram;
mod player;
mod reordered;
#[cfg(test)]
mod witness;

use crate::result::AudioResult;
use player::Player;
use std::collections::{BTreeMap, VecDeque};
use units::{Duration, Instant};
use workload::audio::FRAME;
use workload::{Event, TrafficId};

/// Opus hands a frame over 26.5 ms after its first sample: the frame, and 6.5 ms to look ahead
/// (RFC 6716, 2).
const ENCODING: Duration = Duration::from_micros(26_500);
/// A frame that has not come for so long does not come.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// The audio of all calls, by their place among the traffic entries.
#[derive(Debug)]
pub struct Audios {
    /// The start of the measured time.
    from: Instant,
    /// By place, whether the receiver has libwebrtc's jitter buffer.
    buffered: Vec<bool>,
    of: BTreeMap<TrafficId, Audio>,
}

impl Audios {
    /// Nothing measured yet; audio played from `from` on is measured. `buffered` says by place whether the
    /// receiver has libwebrtc's jitter buffer.
    pub fn new(from: Instant, buffered: Vec<bool>) -> Self {
        Audios {
            from,
            buffered,
            of: BTreeMap::new(),
        }
    }

    /// Handles an event; events other than audio are ignored.
    pub fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::AudioSent { call, bytes, .. } => {
                let audio = self.of.entry(call).or_insert_with(|| {
                    let buffered = self.buffered.get(usize::from(call.0));
                    Audio::new(self.from, buffered.copied().unwrap_or_default())
                });
                audio.sent(now, bytes);
            }
            Event::AudioArrived { call, frame } => {
                let audio = self.of.get_mut(&call);
                audio
                    .into_iter()
                    .for_each(|audio| audio.arrived(now, frame));
            }
            Event::AudioRestored { call, frame } => {
                let audio = self.of.get_mut(&call);
                audio
                    .into_iter()
                    .for_each(|audio| audio.restored(now, frame));
            }
            _ => {}
        }
    }

    /// The run is over.
    pub fn finish(&mut self, end: Instant) {
        self.of.values_mut().for_each(|audio| audio.play(end));
    }

    /// The results of the call at `place`; none without audio.
    pub fn measured(&self, place: usize) -> Option<AudioResult> {
        let call = TrafficId(u16::try_from(place).ok()?);
        self.of.get(&call).map(Audio::measured)
    }
}

/// A call's audio. Holds the packets under way.
#[derive(Debug)]
struct Audio {
    /// The start of the measured time.
    from: Instant,
    /// When each frame was handed over that may still come, the first of them `first`.
    sent: VecDeque<Instant>,
    first: u64,
    /// Bytes of all frames handed over.
    bytes: u64,
    player: Player,
    frames: u64,
    concealed: u64,
    /// Of all frames played, from mouth to ear.
    delay: Duration,
}

impl Audio {
    /// Audio; the part played from `from` on is measured.
    fn new(from: Instant, buffered: bool) -> Self {
        Audio {
            from,
            sent: VecDeque::new(),
            first: 0,
            bytes: 0,
            player: Player::new(buffered),
            frames: 0,
            concealed: 0,
            delay: Duration::ZERO,
        }
    }

    /// The frame that is next was handed over.
    fn sent(&mut self, now: Instant, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.sent.push_back(now);
        while now.since(self.sent[0]) > FORGOTTEN {
            self.sent.pop_front();
            self.first += 1;
        }
    }

    /// A frame arrived.
    fn arrived(&mut self, now: Instant, number: u64) {
        self.play(now);
        if let Some(sent) = self.sent_at(number) {
            self.player.arrived(now, number, sent);
        }
    }

    /// A frame came with a later one.
    fn restored(&mut self, now: Instant, number: u64) {
        self.play(now);
        if let Some(sent) = self.sent_at(number) {
            self.player.restored(now, number, sent);
        }
    }

    /// When a frame was handed over that may still come.
    fn sent_at(&self, number: u64) -> Option<Instant> {
        let place = number.checked_sub(self.first)?;
        self.sent.get(place as usize).copied()
    }

    /// Plays all turns before `now`.
    fn play(&mut self, now: Instant) {
        while let Some(turn) = self.player.turn(now) {
            if turn.at < self.from {
                continue;
            }
            self.frames += 1;
            match turn.played {
                Some(sent) => self.delay += turn.at.since(sent) + ENCODING,
                None => self.concealed += 1,
            }
        }
    }

    /// The results, once every turn of the run is over.
    fn measured(&self) -> AudioResult {
        let handed_over = self.first + self.sent.len() as u64;
        let played = self.frames - self.concealed;
        let delay = (played > 0).then(|| self.delay.as_millis_f64() / played as f64);
        let rate = self.bytes as f64 * 8.0 / (handed_over as f64 * FRAME.as_secs_f64());
        let lost = 100.0 * self.concealed as f64 / self.frames.max(1) as f64;
        AudioResult {
            frames: self.frames,
            concealed: self.concealed,
            delay_ms: delay,
            mos: delay.map(|delay| e_model::mos(delay, rate, lost)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn only_the_measured_time_counts() {
        let mut audio = Audio::new(at(10_000), false);
        for number in 0..1_000 {
            let sent = 20 * number;
            audio.sent(at(sent), 80);
            // Every tenth is lost, until the measured time begins and once in it.
            if number % 10 != 0 || (500..990).contains(&number) {
                audio.arrived(at(sent + 30), number);
            }
        }
        audio.play(at(20_000));
        let measured = audio.measured();
        // 10 s of 20 ms, except for turns that are stretched or shortened.
        assert!((495..=505).contains(&measured.frames), "{measured:?}");
        assert_eq!(measured.concealed, 1, "{measured:?}");
        // 26.5 of the encoder, 30 under way, 20 to 40 at the player.
        let delay = measured.delay_ms.unwrap();
        assert!((76.5..=96.5).contains(&delay), "{measured:?}");
        let mos = measured.mos.unwrap();
        assert!((4.3..4.45).contains(&mos), "{measured:?}");
    }

    #[test]
    fn silence_has_no_score() {
        let mut audio = Audio::new(at(0), false);
        audio.sent(at(0), 80);
        audio.play(at(1_000));
        let measured = audio.measured();
        assert_eq!((measured.delay_ms, measured.mos), (None, None));
    }
}
