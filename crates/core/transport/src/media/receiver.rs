//! The end of a session that shows frames.

use super::event::MediaEvent;
use super::feedback::Reports;
use super::heard::Heard;
use super::incoming::Incoming;
use super::{AudioFrames, Content, Feedback, Fragment, MediaPacket, MediaParams};
use crate::{Transmit, Wire};
use std::collections::VecDeque;
use units::{Duration, Ecn, Instant};

/// libwebrtc `kDefaultRtt`, until the sender has reported its own.
const DEFAULT_RTT: Duration = Duration::from_millis(100);

/// What a receiver counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Packets that arrived, padding and repeated ones included.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// Packets asked for again, each time counted.
    pub nacked: u64,
    /// Requests for a key frame.
    pub key_requests: u64,
}

/// The receiver of a media session.
#[derive(Debug)]
pub struct MediaReceiver {
    params: MediaParams,
    reports: Reports,
    /// The streams of video, by number, as far as packets arrived.
    streams: Vec<Incoming>,
    /// The newest frames of audio.
    heard: Heard,
    events: VecDeque<MediaEvent>,
    /// Parts to acknowledge, if the sender repeats by itself: their streams and numbers.
    parts: VecDeque<(u8, u64)>,
    rtt: Duration,
    stats: ReceiverStats,
}

impl MediaReceiver {
    /// A receiver whose reports are of the kind that the sender's control needs
    /// ([`cca::Control::feedback`]).
    pub fn new(params: &MediaParams, wanted: cca::Feedback) -> Self {
        MediaReceiver {
            reports: Reports::new(wanted, params),
            streams: Vec::new(),
            parts: VecDeque::new(),
            heard: Heard::default(),
            events: VecDeque::new(),
            rtt: DEFAULT_RTT,
            stats: ReceiverStats::default(),
            params: params.clone(),
        }
    }

    /// A packet arrived with `ecn` in its IP header. Anything but media is ignored.
    pub fn handle(&mut self, now: Instant, ecn: Ecn, packet: &Wire) {
        let Wire::Media(packet) = packet else {
            return;
        };
        self.stats.packets += 1;
        self.stats.bytes += u64::from(packet.len);
        self.reports.arrived(now, ecn, packet);
        if packet.rtt > Duration::ZERO {
            self.rtt = packet.rtt;
        }
        match &packet.content {
            Content::Video(part) => self.see(now, packet, part),
            Content::Audio(frames) => self.hear(now, frames),
            Content::Fec(fec) => {
                let at = self.place(fec.stream);
                let (params, events) = (&self.params, &mut self.events);
                self.streams[at].fec(now, fec, params, events);
            }
            Content::Padding => {}
        }
    }

    /// The place of a stream, of which a packet has arrived.
    fn place(&mut self, stream: u8) -> usize {
        let place = usize::from(stream);
        while self.streams.len() <= place {
            let number = self.streams.len() as u8;
            self.streams.push(Incoming::new(number, &self.params));
        }
        place
    }

    /// A part of a frame of video arrived.
    fn see(&mut self, now: Instant, packet: &MediaPacket, part: &Fragment) {
        if self.params.repeat_frames > 0 {
            self.parts.push_back((part.stream, part.rtp));
        }
        let place = self.place(part.stream);
        let (params, stream) = (&self.params, &mut self.streams[place]);
        if packet.rtt > Duration::ZERO {
            stream.round_trip(now, packet.rtt);
        }
        let bytes = packet.len.saturating_sub(params.overhead);
        stream.part(now, part, bytes, params, &mut self.events);
    }

    /// A packet of audio arrived.
    fn hear(&mut self, now: Instant, frames: &AudioFrames) {
        let (events, id, at) = (&mut self.events, frames.id, now);
        events.push_back(MediaEvent::AudioArrived { id, at });
        self.heard.arrived(frames, |id| {
            events.push_back(MediaEvent::AudioRestored { id, at });
        });
    }

    /// The next packet of feedback to send `now`, if any.
    pub fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        let part = |(stream, rtp)| Feedback::Part { stream, rtp };
        let feedback = self
            .reports
            .take(now)
            .or_else(|| self.parts.pop_front().map(part))
            .or_else(|| self.nack(now))
            .or_else(|| self.key_request(now))?;
        Some(Transmit {
            len: feedback.wire_len(),
            ecn: Ecn::NotCapable,
            packet: Wire::Feedback(feedback),
        })
    }

    fn nack(&mut self, now: Instant) -> Option<Feedback> {
        let rtt = self.rtt;
        let ask = |(stream, incoming): (u8, &mut Incoming)| {
            let missing = incoming.ask(now, rtt);
            (!missing.is_empty()).then_some((stream, missing))
        };
        let (stream, missing) = (0..=u8::MAX).zip(&mut self.streams).find_map(ask)?;
        self.stats.nacked += missing.len() as u64;
        let missing = missing.into();
        Some(Feedback::Nack { stream, missing })
    }

    fn key_request(&mut self, now: Instant) -> Option<Feedback> {
        let params = &self.params;
        let mut streams = self.streams.iter_mut();
        let stream = streams.position(|incoming| incoming.key_request(now, params))?;
        self.stats.key_requests += 1;
        Some(Feedback::KeyFrame(stream as u8))
    }

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    pub fn next_timer(&self) -> Instant {
        let streams = self.streams.iter().map(Incoming::next_timer);
        streams.fold(self.reports.next_timer(), Instant::min)
    }

    /// Time has passed. Afterwards feedback may be ready to be sent.
    pub fn on_timer(&mut self, now: Instant) {
        self.reports.on_timer(now);
        for stream in &mut self.streams {
            stream.on_timer(now, &mut self.events);
        }
    }

    /// The next event since the last call, in order.
    pub fn event(&mut self) -> Option<MediaEvent> {
        self.events.pop_front()
    }

    /// Counters, for results and tests.
    pub fn stats(&self) -> ReceiverStats {
        self.stats
    }
}
