//! Both ends over a virtual link: a FIFO of fixed rate towards the receiver, and a way back that
//! only takes time.

use super::*;
use crate::{Transmit, Wire};
use cca::{Ack, Congestion, Control, Probe};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use units::{Duration, Ecn, Instant};

mod audio;
mod controls;
mod fec;
mod marks;
mod repair;
mod streams;

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn frame(stream: u8, id: u64, bytes: u32, key: bool) -> EncodedFrame {
    EncodedFrame {
        stream,
        id,
        bytes,
        key,
        layer: 0,
        back: 0,
    }
}

/// A part of video whose frames have `count` parts each, of which only the first is a key frame.
pub(super) fn part(rtp: u64, count: u32) -> Fragment {
    let frame = rtp / u64::from(count);
    Fragment {
        stream: 0,
        rtp,
        frame,
        index: (rtp % u64::from(count)) as u32,
        count,
        key: frame == 0,
        layer: 0,
        back: 0,
        timestamp: 0,
    }
}

/// The events that a control received.
#[derive(Debug, Default)]
struct Told {
    arrivals: Vec<cca::Arrival>,
    acks: Vec<Ack>,
    congestions: Vec<(Instant, Congestion)>,
    timeouts: Vec<Instant>,
}

/// A control with a fixed rate that records its events.
struct Fixed {
    rate: Rate,
    window: u64,
    wants: cca::Feedback,
    ecn: cca::EcnMode,
    probe: Option<Probe>,
    told: Arc<Mutex<Told>>,
}

impl Fixed {
    fn new(rate: Rate, wants: cca::Feedback) -> (Self, Arc<Mutex<Told>>) {
        let told = Arc::default();
        let control = Fixed {
            rate,
            window: u64::MAX,
            wants,
            ecn: cca::EcnMode::Classic,
            probe: None,
            told: Arc::clone(&told),
        };
        (control, told)
    }
}

impl Control for Fixed {
    fn on_ack(&mut self, _now: Instant, ack: &Ack) {
        self.told.lock().unwrap().acks.push(ack.clone());
    }
    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        let mut told = self.told.lock().unwrap();
        told.congestions.push((now, *congestion));
    }
    fn on_timeout(&mut self, now: Instant, _in_flight: u64) {
        self.told.lock().unwrap().timeouts.push(now);
    }
    fn on_arrivals(&mut self, _now: Instant, arrivals: &[cca::Arrival]) {
        self.told.lock().unwrap().arrivals.extend(arrivals);
    }
    fn window(&self) -> u64 {
        self.window
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.rate)
    }
    fn media_rate(&self, _srtt: Duration) -> Rate {
        self.rate
    }
    fn take_probe(&mut self, _now: Instant) -> Option<Probe> {
        self.probe.take()
    }
    fn feedback(&self) -> cca::Feedback {
        self.wants
    }
    fn ecn(&self) -> cca::EcnMode {
        self.ecn
    }
}

/// An encoder without chance: every frame has its share of the media rate.
struct Encoder {
    interval: Duration,
    next: Instant,
    until: Instant,
    bounds: (Rate, Rate),
}

/// Whether a packet is to be lost.
type Drops = dyn FnMut(Instant, &MediaPacket) -> bool;

/// Both ends and the link.
struct Bed {
    now: Instant,
    sender: MediaSender,
    receiver: MediaReceiver,
    rate: Rate,
    one_way: Duration,
    limit: usize,
    queue: VecDeque<Transmit>,
    /// When the packet at the head of `queue` has left.
    link_due: Instant,
    forward: VecDeque<(Instant, Transmit)>,
    back: VecDeque<(Instant, Transmit)>,
    /// Whether a packet is to be lost before the link.
    drop: Box<Drops>,
    /// Whether a packet that finds so many in the queue is marked, if it may be.
    mark: Box<dyn FnMut(Instant, usize) -> bool>,
    /// Whether feedback is to be lost.
    drop_feedback: Box<dyn FnMut(Instant) -> bool>,
    encoder: Option<Encoder>,
    /// Layer of each frame from a key frame on, and how far back that is on which it depends; in turn.
    layers: &'static [(u8, u8)],
    after_key: usize,
    /// When each frame was handed over.
    pushed: Vec<Instant>,
    events: Vec<MediaEvent>,
    key_requests: Vec<Instant>,
    /// When each packet left the sender.
    sent: Vec<(Instant, MediaPacket)>,
    skipped: u32,
}

/// 1258 bytes, a full packet, take 1 ms.
const FULL_PER_MS: Rate = Rate::from_bits(10_064_000);

impl Bed {
    fn new(params: &MediaParams, control: Box<dyn Control>) -> Self {
        let receiver = MediaReceiver::new(params, control.feedback());
        Bed {
            now: Instant::ZERO,
            sender: MediaSender::new(params, control),
            receiver,
            rate: FULL_PER_MS,
            one_way: Duration::from_millis(20),
            limit: 100,
            queue: VecDeque::new(),
            link_due: Instant::NEVER,
            forward: VecDeque::new(),
            back: VecDeque::new(),
            drop: Box::new(|_, _| false),
            mark: Box::new(|_, _| false),
            drop_feedback: Box::new(|_| false),
            encoder: None,
            layers: &[(0, 0)],
            after_key: 0,
            pushed: Vec::new(),
            events: Vec::new(),
            key_requests: Vec::new(),
            sent: Vec::new(),
            skipped: 0,
        }
    }

    /// Frames 30 times a second until `until`.
    fn call(&mut self, until: Instant) {
        self.encoder = Some(Encoder {
            interval: Duration::from_nanos(33_333_333),
            next: self.now,
            until,
            bounds: (Rate::from_bits(150_000), Rate::from_bits(100_000_000)),
        });
    }

    fn push(&mut self, bytes: u32, key: bool) {
        let id = self.pushed.len() as u64;
        self.pushed.push(self.now);
        self.after_key = if key { 0 } else { self.after_key + 1 };
        let (layer, back) = self.layers[self.after_key % self.layers.len()];
        let frame = EncodedFrame {
            layer,
            back,
            ..frame(0, id, bytes, key)
        };
        assert!(self.sender.push_frame(self.now, frame));
    }

    fn encode(&mut self) {
        let congested = self.sender.congested(self.now);
        let rate = self.sender.media_rate();
        let Some(encoder) = &mut self.encoder else {
            return;
        };
        if self.now < encoder.next || self.now >= encoder.until {
            return;
        }
        encoder.next += encoder.interval;
        if congested {
            self.skipped += 1;
            return;
        }
        let rate = rate.clamp(encoder.bounds.0, encoder.bounds.1);
        let bytes = rate.bytes_in(encoder.interval) as u32;
        let asked = self.sender.take_keyframe_request(0);
        if asked {
            self.key_requests.push(self.now);
        }
        self.push(bytes, asked || self.pushed.is_empty());
    }

    /// Lets both ends send the packets that may be sent now.
    fn settle(&mut self) {
        self.encode();
        while let Some(mut transmit) = self.sender.transmit(self.now) {
            let Wire::Media(packet) = transmit.packet else {
                panic!("a sender sends media")
            };
            assert_eq!(packet.len, transmit.len);
            self.sent.push((self.now, packet));
            if (self.mark)(self.now, self.queue.len()) && transmit.ecn != Ecn::NotCapable {
                transmit.ecn = Ecn::Ce;
            }
            if (self.drop)(self.now, &packet) || self.queue.len() >= self.limit {
                continue;
            }
            if self.queue.is_empty() {
                self.link_due = self.now + self.rate.time_for(u64::from(transmit.len));
            }
            self.queue.push_back(transmit);
        }
        while let Some(transmit) = self.receiver.transmit(self.now) {
            if !(self.drop_feedback)(self.now) {
                self.back.push_back((self.now + self.one_way, transmit));
            }
        }
        while let Some(event) = self.receiver.event() {
            self.events.push(event);
        }
    }

    fn next(&self) -> Instant {
        let arrival =
            |way: &VecDeque<(Instant, Transmit)>| way.front().map_or(Instant::NEVER, |&(at, _)| at);
        let encoder = self.encoder.as_ref().filter(|e| e.next < e.until);
        [
            self.link_due,
            arrival(&self.forward),
            arrival(&self.back),
            self.sender.next_timer(),
            self.receiver.next_timer(),
            encoder.map_or(Instant::NEVER, |encoder| encoder.next),
        ]
        .into_iter()
        .min()
        .unwrap_or(Instant::NEVER)
    }

    /// Runs until `end`.
    fn run(&mut self, end: Instant) {
        let mut standing = 0;
        loop {
            self.settle();
            let next = self.next();
            if next > end {
                self.now = end;
                return;
            }
            standing = if next > self.now { 0 } else { standing + 1 };
            assert!(standing < 100, "time stands still at {}", self.now);
            self.now = self.now.max(next);
            self.deliver();
        }
    }

    fn deliver(&mut self) {
        let now = self.now;
        if self.link_due <= now
            && let Some(transmit) = self.queue.pop_front()
        {
            self.forward.push_back((now + self.one_way, transmit));
            self.link_due = self.queue.front().map_or(Instant::NEVER, |next| {
                now + self.rate.time_for(u64::from(next.len))
            });
        }
        while self.forward.front().is_some_and(|&(at, _)| at <= now)
            && let Some((_, transmit)) = self.forward.pop_front()
        {
            self.receiver.handle(now, transmit.ecn, &transmit.packet);
        }
        while self.back.front().is_some_and(|&(at, _)| at <= now)
            && let Some((_, transmit)) = self.back.pop_front()
        {
            self.sender.handle(now, transmit.ecn, &transmit.packet);
        }
        self.sender.on_timer(now);
        self.receiver.on_timer(now);
    }

    fn completed(&self) -> Vec<(u64, Instant)> {
        let complete = |event: &MediaEvent| match *event {
            MediaEvent::FrameComplete { id, at, .. } => Some((id, at)),
            _ => None,
        };
        self.events.iter().filter_map(complete).collect()
    }

    fn shown(&self) -> Vec<u64> {
        let shown = |event: &MediaEvent| match *event {
            MediaEvent::FrameShown { id, .. } => Some(id),
            _ => None,
        };
        self.events.iter().filter_map(shown).collect()
    }

    fn lost(&self) -> Vec<u64> {
        let lost = |event: &MediaEvent| match *event {
            MediaEvent::FrameLost { id, .. } => Some(id),
            _ => None,
        };
        self.events.iter().filter_map(lost).collect()
    }

    /// Frame delays in milliseconds, sorted, of frames handed over from `from` on.
    fn delays(&self, from: Instant) -> Vec<u64> {
        let mut delays: Vec<_> = self
            .completed()
            .into_iter()
            .map(|(id, at)| (self.pushed[id as usize], at))
            .filter(|&(pushed, _)| pushed >= from)
            .map(|(pushed, at)| at.since(pushed).as_millis())
            .collect();
        delays.sort_unstable();
        delays
    }
}

#[test]
fn pacing_times_and_the_delay_of_a_frame() {
    // Half the link's rate: a full packet every 2 ms.
    let (control, told) = Fixed::new(FULL_PER_MS.scale(1, 2), cca::Feedback::Acks);
    let mut bed = Bed::new(&MediaParams::default(), Box::new(control));
    bed.push(3_600, true);
    bed.run(ms(100));
    let left: Vec<_> = bed
        .sent
        .iter()
        .map(|&(at, packet)| (at, packet.len))
        .collect();
    assert_eq!(left, [(ms(0), 1_258), (ms(2), 1_258), (ms(4), 1_258)]);
    // The third: sent at 4, on the link until 5, there at 25.
    assert_eq!(bed.completed(), [(0, ms(25))]);
    assert_eq!(bed.shown(), [0]);
    let told = told.lock().unwrap();
    let bytes: Vec<_> = told.acks.iter().map(|ack| ack.bytes).collect();
    assert_eq!(bytes, [1_258; 3], "an acknowledgement for each packet");
    // 1 ms on the link and 20 each way.
    assert_eq!(told.acks[2].rtt, Some(Duration::from_millis(41)));
    // Delivered at 41, 43, 45: 3774 B since the first left at 0.
    let rate = told.acks[2].rate.unwrap();
    assert_eq!(
        (rate.delivered, rate.interval),
        (3_774, Duration::from_millis(45))
    );
    assert_eq!(bed.sender.in_flight(), 0);
}

#[test]
fn a_window_holds_packets_back() {
    let (mut control, told) = Fixed::new(FULL_PER_MS.scale(100, 1), cca::Feedback::Acks);
    control.window = 2 * 1_258;
    let mut bed = Bed::new(&MediaParams::default(), Box::new(control));
    bed.push(6_000, true);
    bed.run(ms(200));
    let left: Vec<_> = bed
        .sent
        .iter()
        .map(|&(at, _)| at.since(ms(0)).as_millis())
        .collect();
    // Two at once (10 µs apart); on the link until 1 and 2; acknowledged at 41 and 42.
    assert_eq!(left, [0, 0, 41, 42, 82]);
    let told = told.lock().unwrap();
    let limited: Vec<_> = told.acks.iter().map(|ack| ack.window_limited).collect();
    assert_eq!(limited, [true; 5]);
    // The fifth left when no packets waited behind it any more; none came after it.
    assert_eq!(told.acks[4].in_flight, 0);
}

#[test]
fn feedback_of_arrivals_in_time_and_complete() {
    let (control, told) = Fixed::new(FULL_PER_MS, cca::Feedback::Arrivals);
    let mut bed = Bed::new(&MediaParams::default(), Box::new(control));
    bed.drop = Box::new(|_, packet| packet.sequence == 5);
    bed.push(12_000, true);
    bed.run(ms(90));
    // First arrival at 21; a report at 71 reaches the sender at 91.
    assert!(told.lock().unwrap().arrivals.is_empty());
    bed.run(ms(91));
    let told = told.lock().unwrap();
    assert_eq!(told.arrivals.len(), 11, "ten packets and a repair");
    for (sequence, arrival) in told.arrivals.iter().enumerate().take(10) {
        let at = 21 + sequence as u64;
        let received = (sequence != 5).then_some(ms(at));
        assert_eq!(
            (arrival.sequence, arrival.received),
            (sequence as u64, received)
        );
        assert_eq!(arrival.sent, ms(sequence as u64));
    }
    // Packet 6 shows the gap at 27; the repair leaves at 47 and arrives at 68.
    assert_eq!(told.arrivals[10].received, Some(ms(68)));
    assert_eq!(bed.completed(), [(0, ms(68))]);
    // Sent at 47, waited from 68 to 71: 91 − 47 − 3.
    assert_eq!(bed.sender.srtt(), Duration::from_millis(41));
    assert_eq!(bed.sender.stats().lost, 1);
}

#[test]
fn probes_are_filled_with_padding() {
    let (mut control, told) = Fixed::new(Rate::from_bits(1_000_000), cca::Feedback::Arrivals);
    control.probe = Some(Probe {
        id: 3,
        rate: FULL_PER_MS,
        span: Duration::from_millis(5),
        packets: 5,
    });
    let mut bed = Bed::new(&MediaParams::default(), Box::new(control));
    bed.run(ms(10));
    assert!(bed.sent.is_empty(), "no media, no probe");
    bed.push(2_400, true);
    bed.run(ms(200));
    let left: Vec<_> = bed
        .sent
        .iter()
        .map(|&(at, packet)| (at, packet.content != Content::Padding))
        .collect();
    let expected = [
        (10, true),
        (11, true),
        (12, false),
        (13, false),
        (14, false),
    ];
    assert_eq!(left, expected.map(|(at, media)| (ms(at), media)));
    assert!(
        told.lock()
            .unwrap()
            .arrivals
            .iter()
            .all(|a| a.probe.is_some_and(|probe| probe.id == 3))
    );
    assert_eq!(bed.sender.stats().padding, 3 * 1_258);
}

#[test]
fn a_long_queue_slows_the_encoder_then_stops_it_and_is_drained_in_time() {
    let rate = Rate::from_bits(1_006_400);
    let (control, _) = Fixed::new(rate, cca::Feedback::Arrivals);
    let slow = MediaParams::parse(&[("drain".into(), "500ms".into())]).unwrap();
    let mut bed = Bed::new(&slow, Box::new(control));
    // Without headers 1200/1258 of the rate.
    assert_eq!(bed.sender.media_rate().as_bits(), 960_000);
    // 35 full packets take 350 ms.
    bed.push(35 * 1_200, true);
    assert!(!bed.sender.congested(ms(0)));
    assert_eq!(bed.sender.queue_delay(ms(0)), Duration::from_millis(350));
    // 44 030 B within 500 ms are 704 480 bit/s; the rest is 301 920.
    assert_eq!(bed.sender.media_rate().as_bits(), 288_000);
    bed.push(1, false);
    assert!(bed.sender.congested(ms(0)));
    // 400 packets would take 4 s: all have to leave in 2.
    bed.push(400 * 1_200, false);
    bed.run(ms(2_100));
    let (last, _) = bed.sent.last().unwrap();
    assert!(*last <= ms(2_000) && bed.sent.len() == 436, "{last}");
}

#[test]
fn marks_are_echoed() {
    let (control, told) = Fixed::new(FULL_PER_MS, cca::Feedback::Acks);
    let params = MediaParams {
        ecn: true,
        ..MediaParams::default()
    };
    let mut bed = Bed::new(&params, Box::new(control));
    bed.push(3_600, true);
    let media = [0, 1, 2].map(|at| bed.sender.transmit(ms(at)).unwrap());
    let marks = [(0, Ecn::Ect0), (1, Ecn::Ce), (2, Ecn::Ce)];
    for (media, (at, ecn)) in media.into_iter().zip(marks) {
        assert_eq!(media.ecn, Ecn::Ect0);
        bed.receiver.handle(ms(at + 10), ecn, &media.packet);
        let feedback = bed.receiver.transmit(ms(at + 10)).unwrap();
        bed.sender
            .handle(ms(at + 20), Ecn::NotCapable, &feedback.packet);
    }
    let told = told.lock().unwrap();
    let marked: Vec<_> = told.acks.iter().map(|ack| ack.marked).collect();
    assert_eq!(marked, [0, 1_258, 1_258]);
    // All three left before the first mark was known: one round trip, one signal.
    assert_eq!(told.congestions.len(), 1);
    assert_eq!(told.congestions[0].1.signal, cca::Signal::Mark);
}
