//! One end of a call.

use crate::failure::{Error, Failure};
use crate::frames::{self, Shown};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time;
use str0m::bwe::BweKind;
use str0m::media::{Frequency, KeyframeRequestKind, MediaData, MediaTime, Mid};
use str0m::net::{Protocol, Receive};
use str0m::{Event, Input, Output, Rtc};
use transport::endpoint::Session;
use transport::media;
use units::{Duration, Instant, Rate};

/// Of a packet of 1200 bytes of a frame, so many in a hundred are headers: RTP, its extensions, SRTP, UDP, IP.
const HEADERS: u64 = 5;

/// The stack's clock beside ours.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    zero: time::Instant,
    ours: Instant,
}

impl Clock {
    /// A clock that is read `now`.
    #[expect(
        clippy::disallowed_methods,
        reason = "any moment: only differences count"
    )]
    pub fn starting(now: Instant) -> Self {
        Clock {
            zero: time::Instant::now(),
            ours: now,
        }
    }

    /// The same moment on the stack's clock.
    pub fn at(self, now: Instant) -> time::Instant {
        self.zero + time::Duration::from_nanos(now.since(self.ours).as_nanos())
    }

    fn ours(self, at: time::Instant) -> Instant {
        let since = at.saturating_duration_since(self.zero).as_nanos();
        self.ours + Duration::from_nanos(u64::try_from(since).unwrap_or(u64::MAX / 2))
    }
}

/// The streams of a call.
#[derive(Debug, Clone, Copy)]
pub struct Media {
    pub video: Mid,
    pub audio: Mid,
}

/// One end.
pub struct Peer {
    rtc: Rtc,
    /// Its own address, and its peer's.
    ends: (SocketAddr, SocketAddr),
    media: Media,
    clock: Clock,
    connected: bool,
    estimate: Rate,
    keyframe_requested: bool,
    due: Instant,
    out: VecDeque<Vec<u8>>,
    shown: Shown,
    failure: Failure,
    failed: bool,
}

impl Peer {
    /// An end that has not sent anything.
    pub fn new(
        rtc: Rtc,
        ends: (SocketAddr, SocketAddr),
        media: Media,
        clock: Clock,
        estimate: Rate,
        failure: Failure,
    ) -> Self {
        Peer {
            rtc,
            ends,
            media,
            clock,
            connected: false,
            estimate,
            keyframe_requested: false,
            due: clock.ours,
            out: VecDeque::new(),
            shown: Shown::default(),
            failure,
            failed: false,
        }
    }

    /// Notes a failure: then nothing more is done.
    fn tried<T>(&mut self, outcome: Result<T, impl Into<Error>>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.failure.set(error.into());
                self.failed = true;
                self.due = Instant::NEVER;
                None
            }
        }
    }

    fn input(&mut self, now: Instant, input: Input<'_>) {
        if self.failed {
            return;
        }
        let done = self.rtc.handle_input(input);
        if self.tried(done).is_some() {
            self.settle(now);
        }
    }

    /// Takes what the stack has to say, until it waits.
    fn settle(&mut self, now: Instant) {
        loop {
            let output = self.rtc.poll_output();
            match self.tried(output) {
                None => return,
                Some(Output::Timeout(at)) => {
                    self.due = self.clock.ours(at).max(now);
                    return;
                }
                Some(Output::Transmit(packet)) => self.out.push_back(packet.contents.to_vec()),
                Some(Output::Event(event)) => self.told(now, event),
            }
        }
    }

    fn told(&mut self, now: Instant, event: Event) {
        match event {
            Event::Connected => {
                self.connected = true;
                // Frames from before went nowhere.
                self.keyframe_requested = true;
            }
            Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) => {
                self.estimate = Rate::from_bits(estimate.as_u64());
            }
            Event::KeyframeRequest(_) => self.keyframe_requested = true,
            Event::MediaData(data) => self.came(now, &data),
            _ => {}
        }
    }

    fn came(&mut self, now: Instant, data: &MediaData) {
        let Some(frame) = frames::read(&data.data) else {
            return;
        };
        if data.mid == self.media.audio {
            self.shown.heard(now, frame.0);
        } else if self.shown.came(now, frame, data.contiguous)
            && let Some(mut writer) = self.rtc.writer(self.media.video)
        {
            let asked = writer.request_keyframe(None, KeyframeRequestKind::Pli);
            self.tried(asked);
        }
    }

    /// Gives a frame to the stack; before it is connected it goes nowhere.
    fn write(&mut self, now: Instant, of: Mid, time: MediaTime, contents: Vec<u8>) {
        if !self.connected || self.failed {
            return;
        }
        let at = self.clock.at(now);
        let Some(writer) = self.rtc.writer(of) else {
            return;
        };
        let Some(kind) = writer
            .payload_params()
            .next()
            .map(str0m::format::PayloadParams::pt)
        else {
            return;
        };
        let written = writer.write(kind, at, time, contents);
        if self.tried(written).is_some() {
            self.settle(now);
        }
    }

    fn since(&self, now: Instant) -> u64 {
        now.since(self.clock.ours).as_nanos()
    }
}

/// A moment on the media's clock.
fn media_time(nanos: u64, rate: Frequency) -> MediaTime {
    let ticks = u128::from(nanos) * u128::from(rate.get()) / 1_000_000_000;
    MediaTime::new(u64::try_from(ticks).unwrap_or(u64::MAX), rate)
}

impl Session for Peer {
    fn handle(&mut self, now: Instant, contents: &[u8]) {
        let (own, peer) = self.ends;
        // What is no packet of the stack's is not from its peer.
        if let Ok(packet) = Receive::new(Protocol::Udp, peer, own, contents) {
            let at = self.clock.at(now);
            self.input(now, Input::Receive(at, packet));
        }
    }

    fn transmit(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    fn next_timer(&self) -> Instant {
        self.due
    }

    fn on_timer(&mut self, now: Instant) {
        self.input(now, Input::Timeout(self.clock.at(now)));
    }

    fn event(&mut self) -> Option<media::MediaEvent> {
        self.shown.event()
    }

    fn media_rate(&self) -> Rate {
        let bits = self.estimate.as_bits();
        Rate::from_bits(bits - bits / 100 * HEADERS)
    }

    fn take_keyframe_request(&mut self) -> bool {
        core::mem::take(&mut self.keyframe_requested)
    }

    fn push_frame(&mut self, now: Instant, frame: media::EncodedFrame) {
        let time = media_time(self.since(now), Frequency::NINETY_KHZ);
        let contents = frames::contents(frame.id, frame.bytes, frame.key);
        self.write(now, self.media.video, time, contents);
    }

    fn push_audio(&mut self, now: Instant, id: u64, bytes: u32) {
        let time = media_time(self.since(now), Frequency::FORTY_EIGHT_KHZ);
        self.write(
            now,
            self.media.audio,
            time,
            frames::contents(id, bytes, true),
        );
    }
}
