//! The receiver's state of one stream of video: the missing parts, the frames that can be shown,
//! and whether only a key frame helps.

use super::fec::FecDecoder;
use super::frames::{Came, Frames};
use super::nack::{Arrived, Missing};
use super::{FecPacket, Fragment, MediaEvent, MediaParams};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// A stream of video at the receiver.
#[derive(Debug)]
pub struct Incoming {
    missing: Missing,
    frames: Frames,
    /// What forward error correction can restore, if the session has it.
    fec: Option<FecDecoder>,
    /// Only a key frame helps, and it has to be this one or a newer one.
    key_wanted: Option<u64>,
    /// When to ask for one (again).
    key_due: Instant,
}

impl Incoming {
    /// No part of `stream` has arrived.
    pub fn new(stream: u8, params: &MediaParams) -> Self {
        let retries = if params.nack && params.repeat_frames == 0 {
            params.nack_retries
        } else {
            0
        };
        Incoming {
            missing: Missing::new(retries),
            frames: Frames::new(stream, params),
            fec: params.fec.then(FecDecoder::default),
            key_wanted: None,
            key_due: Instant::NEVER,
        }
    }

    /// Handles the arrival of a part of `bytes`, headers apart; the resulting events are appended to
    /// `events`.
    pub fn part(
        &mut self,
        now: Instant,
        part: &Fragment,
        bytes: u32,
        params: &MediaParams,
        events: &mut VecDeque<MediaEvent>,
    ) {
        self.here(now, part, bytes, params, events);
        if let Some(fec) = &mut self.fec {
            fec.part(part, bytes);
            self.restore(now, params, events);
        }
    }

    /// Handles the arrival of a packet of forward error correction.
    pub fn fec(
        &mut self,
        now: Instant,
        packet: &FecPacket,
        params: &MediaParams,
        events: &mut VecDeque<MediaEvent>,
    ) {
        if let Some(fec) = &mut self.fec {
            fec.packet(packet);
            self.restore(now, params, events);
        }
    }

    fn restore(&mut self, now: Instant, params: &MediaParams, events: &mut VecDeque<MediaEvent>) {
        while let Some((part, bytes)) = self.fec.as_mut().and_then(FecDecoder::restore) {
            let (stream, id) = (part.stream, part.frame);
            events.push_back(MediaEvent::PartRestored {
                stream,
                id,
                at: now,
            });
            self.here(now, &part, bytes, params, events);
        }
    }

    /// A part is here.
    fn here(
        &mut self,
        now: Instant,
        part: &Fragment,
        bytes: u32,
        params: &MediaParams,
        events: &mut VecDeque<MediaEvent>,
    ) {
        let asks = params.repeat_frames == 0;
        let arrived = self.missing.arrived(now, part.rtp);
        match arrived {
            Arrived::Old => return,
            Arrived::Hopeless if asks => self.want_key(now),
            Arrived::New | Arrived::Repaired | Arrived::Hopeless => {}
        }
        let came = Came {
            at: now,
            bytes,
            repaired: arrived == Arrived::Repaired,
        };
        if part.key && self.key_wanted.is_some_and(|first| part.frame >= first) {
            self.key_wanted = None;
            self.key_due = now + params.wait_frame;
        }
        if let Some(end) = self.frames.part(&came, part, events) {
            self.missing.forget_before(end);
            if self.key_wanted.is_none() && asks {
                self.key_due = now + params.wait_frame;
            }
        }
        if self.key_wanted.is_none() && asks {
            self.watch(now, params.wait_frame);
        }
    }

    /// Keeps the limit on the time without a shown frame while frames wait.
    fn watch(&mut self, now: Instant, limit: Duration) {
        if !self.frames.blocked() {
            self.key_due = Instant::NEVER;
        } else if self.key_due == Instant::NEVER {
            self.key_due = now + limit;
        }
    }

    fn want_key(&mut self, now: Instant) {
        if self.key_wanted.is_none() {
            self.key_wanted = Some(self.frames.next());
            self.key_due = now;
        }
    }

    /// Which packets to ask for `now`, by RTP sequence number.
    pub fn ask(&mut self, now: Instant, rtt: Duration) -> Vec<u64> {
        let (asked, gave_up) = self.missing.ask(now, rtt);
        if gave_up {
            self.want_key(now);
        }
        asked
    }

    /// Whether to ask for a key frame `now`; the next time is later by as much as is waited for one.
    pub fn key_request(&mut self, now: Instant, params: &MediaParams) -> bool {
        let due = self.key_wanted.is_some() && now >= self.key_due;
        if due {
            self.key_due = now + params.wait_key;
        }
        due
    }

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    pub fn next_timer(&self) -> Instant {
        let repair = self.missing.next_timer().min(self.key_due);
        repair.min(self.frames.next_timer())
    }

    /// The round trip is `rtt`, as far as the sender knows.
    pub fn round_trip(&mut self, now: Instant, rtt: Duration) {
        self.frames.round_trip(now, rtt);
    }

    /// Time has passed; the resulting events are appended to `events`.
    pub fn on_timer(&mut self, now: Instant, events: &mut VecDeque<MediaEvent>) {
        self.missing.on_timer(now);
        self.frames.on_timer(now, events);
        if now >= self.key_due {
            self.want_key(now);
        }
    }
}
