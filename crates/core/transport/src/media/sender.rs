//! The end of a session that sends frames.

mod reports;

use super::audio::AudioQueue;
use super::fec::FecSender;
use super::pacer::Pacer;
use super::queue::{EncodedFrame, PartQueue};
use super::repeats::Repeats;
use super::{Content, Feedback, MediaPacket, MediaParams};
use crate::flight::Flight;
use crate::recovery::RecoveryPeriod;
use crate::rtt::{Floor, Rtt};
use crate::{SenderState, Transmit, Wire};
use cca::{Arrival, Control, EcnMode, Probe};
use units::{Duration, Ecn, Instant, Rate};

/// libwebrtc `kDefaultRtt`, before the first sample.
const DEFAULT_RTT: Duration = Duration::from_millis(100);
/// Before the first sample (RFC 6298, 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// Packets that no report has mentioned for so long are forgotten (libwebrtc
/// `kSendTimeHistoryWindow`).
const REMEMBERED: Duration = Duration::from_secs(60);

/// What a sender counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Packets sent, of all kinds.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Padding sent by probes, bytes.
    pub padding: u64,
    /// Packets found lost (acknowledgements) or reported as missing (arrival times).
    pub lost: u64,
    /// Number of round trips with losses or marks reported to the control.
    pub congestions: u64,
    /// Times that acknowledgements stayed away.
    pub timeouts: u64,
    /// Bytes that arrived, as far as reported.
    pub delivered: u64,
}

/// One of the streams of video.
#[derive(Debug, Default)]
struct VideoStream {
    next_frame: u64,
    key_requested: bool,
    last_key: Option<Instant>,
    /// The repeats if repairs are not asked for.
    repeats: Option<Repeats>,
}

/// The sender of a media session, under a congestion control.
pub struct MediaSender {
    params: MediaParams,
    control: Box<dyn Control>,
    wants: cca::Feedback,
    mode: EcnMode,
    queue: PartQueue,
    /// Forward error correction, if the session has it.
    fec: Option<Box<FecSender>>,
    audio: AudioQueue,
    /// Audio's part of the control's rate.
    audio_rate: Rate,
    /// The rate of video that padding keeps up if there is less.
    filled: Rate,
    pacer: Pacer,
    /// By number, as far as frames arrived.
    streams: Vec<VideoStream>,
    /// Packets under way, with the probe that each belongs to.
    flight: Flight<Option<Probe>>,
    /// Bytes that arrived with Congestion Experienced, as far as acknowledged.
    marked: u64,
    recovery: RecoveryPeriod,
    /// The round trips in which marks were reported to a scalable control.
    marks: RecoveryPeriod,
    rtt: Rtt,
    arrivals: Vec<Arrival>,
    /// When acknowledgements have stayed away for too long.
    rto_due: Instant,
    stats: SenderStats,
}

impl MediaSender {
    /// A sender under `control`, which should have been built with [`MediaParams::setup`].
    pub fn new(params: &MediaParams, control: Box<dyn Control>) -> Self {
        MediaSender {
            params: params.clone(),
            wants: control.feedback(),
            mode: control.ecn(),
            control,
            queue: PartQueue::default(),
            fec: (params.fec).then(|| Box::new(FecSender::new(params.overhead))),
            audio: AudioQueue::new(params),
            audio_rate: Rate::default(),
            filled: Rate::default(),
            pacer: Pacer::default(),
            streams: Vec::new(),
            flight: Flight::default(),
            marked: 0,
            recovery: RecoveryPeriod::default(),
            marks: RecoveryPeriod::default(),
            rtt: Rtt::new(INITIAL_RTO, Floor::Sum(params.min_rto)),
            arrivals: Vec::new(),
            rto_due: Instant::NEVER,
            stats: SenderStats::default(),
        }
    }

    /// Takes a frame from an encoder. Returns false, and does not take it, if its number is not the
    /// next one of its stream.
    pub fn push_frame(&mut self, now: Instant, frame: EncodedFrame) -> bool {
        let next = self.stream(frame.stream).map_or(0, |s| s.next_frame);
        if frame.id != next {
            return false;
        }
        let place = usize::from(frame.stream);
        let most_behind = self.params.repeat_frames;
        while self.streams.len() <= place {
            self.streams.push(VideoStream {
                repeats: (most_behind > 0).then(|| Repeats::new(most_behind)),
                ..VideoStream::default()
            });
        }
        let stream = &mut self.streams[place];
        stream.next_frame += 1;
        if frame.key {
            stream.last_key = Some(now);
            stream.key_requested = false;
        }
        if let Some(fec) = &mut self.fec {
            fec.frame(now, &frame);
        }
        self.queue.push(now, &frame, &self.params);
        self.update(now);
        true
    }

    fn stream(&mut self, stream: u8) -> Option<&mut VideoStream> {
        self.streams.get_mut(usize::from(stream))
    }

    /// Takes a frame of audio, of `bytes`, which stands for `span` of sound. The video's share of
    /// the control's rate is the rest that such frames, with their copies of others, leave (libwebrtc's `BitrateAllocator`, with
    /// equal minimum and maximum for audio).
    pub fn push_audio(&mut self, id: u64, bytes: u32, span: Duration) {
        let len = self.audio.push(id, bytes) + self.params.overhead;
        self.audio_rate = Rate::from_bytes_over(u64::from(len), span);
    }

    /// From now on padding fills the rest that video leaves of `rate`, headers excluded, as far as
    /// the control allows; zero for no padding.
    pub fn fill(&mut self, now: Instant, rate: Rate) {
        self.filled = rate;
        self.update(now);
    }

    /// A packet arrived. Anything but feedback is ignored.
    pub fn handle(&mut self, now: Instant, _ecn: Ecn, packet: &Wire) {
        let Wire::Feedback(feedback) = packet else {
            return;
        };
        match feedback {
            Feedback::Acks(acks) if self.wants == cca::Feedback::Acks => self.on_acks(now, acks),
            Feedback::Arrivals(report) if self.wants == cca::Feedback::Arrivals => {
                self.on_arrivals(now, report);
            }
            Feedback::Acks(_) | Feedback::Arrivals(_) => {}
            Feedback::Nack { stream, missing } => {
                let rate = self.control.media_rate(self.round_trip());
                for &rtp in missing {
                    self.queue.ask(now, *stream, rtp, self.rtt.srtt, rate);
                }
            }
            Feedback::Part { stream, rtp } => {
                let stream = self.stream(*stream);
                if let Some(repeats) = stream.and_then(|stream| stream.repeats.as_mut()) {
                    repeats.acknowledged(now, *rtp);
                }
            }
            Feedback::KeyFrame(stream) => {
                let interval = self.params.key_interval;
                if let Some(stream) = self.stream(*stream) {
                    let due = |last| now.since(last) >= interval;
                    stream.key_requested |= stream.last_key.is_none_or(due);
                }
            }
        }
        if let Some(fec) = &mut self.fec {
            fec.counted(now, self.stats.packets, self.stats.lost);
        }
        self.update(now);
    }

    /// The next packet to send `now`, if any may be sent.
    pub fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.update(now);
        if let Some((frames, carried)) = self.audio.pop() {
            let len = carried + self.params.overhead;
            return Some(self.packet(now, len, Content::Audio(frames)));
        }
        if self.pacer.ready_at() > now {
            return None;
        }
        let len = match self.next_len() {
            Some(len) => len,
            None if self.pacer.probing() || self.pacer.pads_at() <= now => self.params.packet(),
            None => {
                if self.flight.in_flight() < self.control.window() {
                    self.flight.limited_by_app();
                }
                return None;
            }
        };
        if !self.fits(len) {
            self.pacer.blocked();
            return None;
        }
        let content = self.pop(now).unwrap_or_else(|| {
            self.stats.padding += u64::from(len);
            Content::Padding
        });
        Some(self.packet(now, len, content))
    }

    /// The length of the packet of FEC that leaves next: after repairs, before media.
    fn next_fec(&self) -> Option<u32> {
        let fec = self.fec.as_ref().filter(|_| !self.queue.repairs());
        fec.and_then(|fec| fec.next_len())
    }

    /// The length of the packet that leaves next, audio and padding apart.
    fn next_len(&self) -> Option<u32> {
        let part = || self.queue.peek().map(|part| part.len);
        self.next_fec().or_else(part)
    }

    /// What leaves now, audio and padding apart.
    fn pop(&mut self, now: Instant) -> Option<Content> {
        if self.next_fec().is_some() {
            let packet = self.fec.as_mut().and_then(|fec| fec.pop(now));
            return packet.map(Content::Fec);
        }
        let (part, again) = self.queue.pop(now, self.rtt.srtt)?;
        self.stats.retransmits += u64::from(again);
        let stream = self.stream(part.fragment.stream);
        if let Some(repeats) = stream.and_then(|stream| stream.repeats.as_mut()) {
            repeats.sent(now, &part.fragment);
        }
        let rtt = self.round_trip();
        if let Some(fec) = self.fec.as_mut().filter(|_| !again) {
            fec.sent(now, &part.fragment, part.len, rtt);
        }
        Some(Content::Video(part.fragment))
    }

    /// Makes a packet that leaves now.
    fn packet(&mut self, now: Instant, len: u32, content: Content) -> Transmit {
        let packet = MediaPacket {
            sequence: self.flight.next_number(),
            len,
            rtt: self.rtt.srtt,
            content,
        };
        self.account(now, len);
        Transmit {
            len,
            ecn: self.ecn_field(),
            packet: Wire::Media(packet),
        }
    }

    fn ecn_field(&self) -> Ecn {
        match self.mode {
            EcnMode::Scalable => Ecn::Ect1,
            EcnMode::Classic if self.params.ecn => Ecn::Ect0,
            EcnMode::Classic => Ecn::NotCapable,
        }
    }

    /// A packet leaves.
    fn account(&mut self, now: Instant, len: u32) {
        let was_idle = self.flight.in_flight() == 0;
        let probe = self.pacer.sent(now, len);
        self.flight.sent(now, len, probe);
        self.flight.forget_older(now, REMEMBERED);
        let in_flight = self.flight.in_flight();
        self.pacer.note_in_flight(in_flight);
        self.control.on_sent(now, u64::from(len), in_flight);
        self.stats.packets += 1;
        self.stats.bytes += u64::from(len);
        if was_idle {
            self.arm_rto(now);
        }
    }

    fn fits(&self, len: u32) -> bool {
        let in_flight = self.flight.in_flight();
        in_flight == 0 || in_flight + u64::from(len) <= self.control.window()
    }

    /// Brings the pacer up to date after any possible change of the rate.
    fn update(&mut self, now: Instant) {
        // Before there is media there is nothing to probe for.
        if !self.streams.is_empty() && !self.pacer.probing() {
            self.pacer.probe(self.control.take_probe(now));
        }
        self.pacer.set_rate(self.pacing_rate(now));
        self.pacer.follow(&*self.control, self.filled_rate());
    }

    /// The rate that padding keeps up for [`fill`](Self::fill): with headers and audio, and no more
    /// than the control allows.
    fn filled_rate(&self) -> Rate {
        if self.filled == Rate::default() {
            return self.filled;
        }
        let (payload, packet) = (self.params.payload, self.params.packet());
        let video = self.filled.scale(u64::from(packet), u64::from(payload));
        let all = Rate::from_bits(video.as_bits() + self.audio_rate.as_bits());
        all.min(self.control.media_rate(self.round_trip()))
    }

    /// The control's rate, or a higher one if the queue would wait for too long (libwebrtc's
    /// `drain_large_queues`).
    fn pacing_rate(&self, now: Instant) -> Rate {
        let rate = self.control_rate();
        if self.queue.bytes() == 0 {
            return rate;
        }
        let left = self
            .params
            .queue_limit
            .saturating_sub(self.queue.mean_wait(now))
            .max(Duration::from_millis(1));
        rate.max(Rate::from_bytes_over(self.queue.bytes(), left))
    }

    /// The control's pacing rate, or 1.2 windows a round trip, 2 in slow start.
    fn control_rate(&self) -> Rate {
        self.control.pacing_rate().unwrap_or_else(|| {
            if self.rtt.srtt == Duration::ZERO {
                return Rate::from_bits(u64::MAX);
            }
            let tenths = if self.control.in_slow_start() { 20 } else { 12 };
            self.window_rate().scale(tenths, 10)
        })
    }

    fn window_rate(&self) -> Rate {
        Rate::from_bytes_over(self.control.window(), self.round_trip())
    }

    fn round_trip(&self) -> Duration {
        if self.rtt.srtt == Duration::ZERO {
            DEFAULT_RTT
        } else {
            self.rtt.srtt
        }
    }

    /// The rate at which the encoder should produce: the control's, less audio, without headers and the
    /// share that FEC takes, and less the rate that empties the pacer's queue within [`MediaParams::drain`].
    pub fn media_rate(&self) -> Rate {
        let mut bits = self.control.media_rate(self.round_trip()).as_bits();
        bits = bits.saturating_sub(self.audio_rate.as_bits());
        if self.params.drain > Duration::ZERO {
            let queue = Rate::from_bytes_over(self.queue.bytes(), self.params.drain);
            bits = bits.saturating_sub(queue.as_bits());
        }
        let (payload, packet) = (self.params.payload, self.params.packet());
        let rate = Rate::from_bits(bits).scale(u64::from(payload), u64::from(packet));
        match &self.fec {
            Some(fec) => Rate::from_bits((rate.as_bits() as f64 * (1.0 - fec.cost())) as u64),
            None => rate,
        }
    }

    /// How long a frame handed over now would wait in the pacer at its rate; at least as long as
    /// the next to leave has waited already, which a full window may keep back.
    pub fn queue_delay(&self, now: Instant) -> Duration {
        let rate = self.pacing_rate(now);
        let ahead = match self.queue.bytes() {
            0 => Duration::ZERO,
            bytes => rate.time_for(bytes),
        };
        ahead.max(self.queue.oldest(now))
    }

    /// Whether the encoder should skip the frame whose turn it is, because the pacer's queue is
    /// longer than [`MediaParams::skip_queue`].
    pub fn congested(&self, now: Instant) -> bool {
        self.queue_delay(now) > self.params.skip_queue
    }

    /// Whether the receiver has asked for a key frame of `stream` since the last call.
    pub fn take_keyframe_request(&mut self, stream: u8) -> bool {
        let stream = self.stream(stream);
        stream.is_some_and(|stream| core::mem::take(&mut stream.key_requested))
    }

    /// When to call [`on_timer`](Self::on_timer); [`Instant::NEVER`] if not at all.
    pub fn next_timer(&self) -> Instant {
        let (len, ready) = match self.next_len() {
            Some(len) => (len, self.pacer.ready_at()),
            None if self.pacer.probing() => (self.params.packet(), self.pacer.ready_at()),
            None => (self.params.packet(), self.pacer.pads_at()),
        };
        let pacer = if self.fits(len) {
            ready
        } else {
            Instant::NEVER
        };
        let control = self.control.next_timer().unwrap_or(Instant::NEVER);
        let loss = match self.wants {
            cca::Feedback::Acks => self.flight.loss_at(),
            cca::Feedback::Arrivals => Instant::NEVER,
        };
        let repeats = self.streams.iter().filter_map(|s| s.repeats.as_ref());
        let repeats = repeats.map(Repeats::next_timer);
        let others = control.min(loss).min(self.rto_due);
        repeats.fold(pacer.min(others), Instant::min)
    }

    /// Time has passed. Afterwards packets may be ready to be sent.
    pub fn on_timer(&mut self, now: Instant) {
        if self.control.next_timer().is_some_and(|timer| timer <= now) {
            self.control.on_timer(now);
        }
        if self.flight.loss_at() <= now {
            self.find_losses(now);
        }
        if self.rto_due <= now {
            self.on_timeout(now);
        }
        for (number, stream) in (0..=u8::MAX).zip(&mut self.streams) {
            let due = stream.repeats.as_mut().map(|repeats| repeats.due(now));
            for rtp in due.into_iter().flatten() {
                self.queue.repeat(now, number, rtp);
            }
        }
        self.update(now);
    }

    /// The control, to look at.
    pub fn control(&self) -> &dyn Control {
        &*self.control
    }

    /// Bytes in flight, as far as known.
    pub fn in_flight(&self) -> u64 {
        self.flight.in_flight()
    }

    /// Smoothed round trip; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.rtt.srtt
    }

    /// What it is at.
    pub fn state(&self) -> SenderState {
        SenderState {
            in_flight: self.in_flight(),
            acked: self.flight.delivered(),
            ..SenderState::of(self.control(), self.srtt())
        }
    }

    /// Counters, for results and tests.
    pub fn stats(&self) -> SenderStats {
        SenderStats {
            delivered: self.flight.delivered(),
            ..self.stats
        }
    }
}
