//! The end of a session that shows frames.

use super::feedback::Reports;
use super::frames::Frames;
use super::nack::{Arrived, Missing};
use super::{Content, Feedback, MediaParams};
use crate::{Transmit, Wire};
use std::collections::VecDeque;
use units::{Duration, Ecn, Instant};

/// libwebrtc `kDefaultRtt`, until the sender has told its own.
const DEFAULT_RTT: Duration = Duration::from_millis(100);

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The last missing packet arrived.
    FrameComplete {
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// The frame and all that it depends on are complete.
    FrameShown {
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// A newer key frame is shown instead; the frame itself may have been complete.
    FrameLost {
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
    /// A frame of audio arrived. What becomes of it then is the player's affair.
    AudioArrived {
        /// The frame.
        id: u64,
        /// When.
        at: Instant,
    },
}

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
pub struct Receiver {
    params: MediaParams,
    reports: Reports,
    missing: Missing,
    frames: Frames,
    events: VecDeque<Event>,
    /// Parts to acknowledge, where the sender repeats by itself.
    parts: VecDeque<u64>,
    rtt: Duration,
    /// Only a key frame helps, and it has to be this one or a newer one.
    key_wanted: Option<u64>,
    /// When to ask for one (again).
    key_due: Instant,
    stats: ReceiverStats,
}

impl Receiver {
    /// A receiver that reports what the sender's control wants
    /// ([`cca::Control::feedback`]).
    pub fn new(params: &MediaParams, wanted: cca::Feedback) -> Self {
        let retries = if params.nack && params.repeat_frames == 0 {
            params.nack_retries
        } else {
            0
        };
        Receiver {
            reports: Reports::new(wanted, params),
            missing: Missing::new(retries),
            frames: Frames::new(params.repeat_frames),
            parts: VecDeque::new(),
            events: VecDeque::new(),
            rtt: DEFAULT_RTT,
            key_wanted: None,
            key_due: Instant::NEVER,
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
        let part = match &packet.content {
            Content::Video(part) => part,
            &Content::Audio(id) => {
                self.events.push_back(Event::AudioArrived { id, at: now });
                return;
            }
            Content::Padding => return,
        };
        let asks = self.params.repeat_frames == 0;
        if !asks {
            self.parts.push_back(part.rtp);
        }
        match self.missing.arrived(now, part.rtp) {
            Arrived::Old => return,
            Arrived::Hopeless if asks => self.want_key(now),
            Arrived::New | Arrived::Hopeless => {}
        }
        if part.key && self.key_wanted.is_some_and(|first| part.frame >= first) {
            self.key_wanted = None;
            self.key_due = now + self.params.wait_frame;
        }
        if let Some(end) = self.frames.part(now, part, &mut self.events) {
            self.missing.forget_before(end);
            if self.key_wanted.is_none() && asks {
                self.key_due = now + self.params.wait_frame;
            }
        }
        if self.key_wanted.is_none() && asks {
            self.watch(now);
        }
    }

    /// Keeps the limit on the time without a shown frame while something waits.
    fn watch(&mut self, now: Instant) {
        if !self.frames.blocked() {
            self.key_due = Instant::NEVER;
        } else if self.key_due == Instant::NEVER {
            self.key_due = now + self.params.wait_frame;
        }
    }

    fn want_key(&mut self, now: Instant) {
        if self.key_wanted.is_none() {
            self.key_wanted = Some(self.frames.next());
            self.key_due = now;
        }
    }

    /// The next packet of feedback to send `now`, if any.
    pub fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        let feedback = self
            .reports
            .take(now)
            .or_else(|| self.parts.pop_front().map(Feedback::Part))
            .or_else(|| self.nack(now))
            .or_else(|| self.key_request(now))?;
        Some(Transmit {
            len: feedback.wire_len(),
            ecn: Ecn::NotCapable,
            packet: Wire::Feedback(feedback),
        })
    }

    fn nack(&mut self, now: Instant) -> Option<Feedback> {
        let (asked, gave_up) = self.missing.ask(now, self.rtt);
        if gave_up {
            self.want_key(now);
        }
        self.stats.nacked += asked.len() as u64;
        (!asked.is_empty()).then(|| Feedback::Nack(asked.into()))
    }

    fn key_request(&mut self, now: Instant) -> Option<Feedback> {
        if self.key_wanted.is_none() || now < self.key_due {
            return None;
        }
        self.key_due = now + self.params.wait_key;
        self.stats.key_requests += 1;
        Some(Feedback::KeyFrame)
    }

    /// When [`on_timer`](Self::on_timer) wants to be called; [`Instant::NEVER`] if not at all.
    pub fn next_timer(&self) -> Instant {
        self.reports
            .next_timer()
            .min(self.missing.next_timer())
            .min(self.key_due)
    }

    /// Time has passed. Afterwards feedback may be ready to be sent.
    pub fn on_timer(&mut self, now: Instant) {
        self.reports.on_timer(now);
        self.missing.on_timer(now);
        if now >= self.key_due {
            self.want_key(now);
        }
    }

    /// What happened since the last call, in order.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Counters, for results and tests.
    pub fn stats(&self) -> ReceiverStats {
        self.stats
    }
}
