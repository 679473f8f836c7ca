//! Both ends of a call over a link in simulated time. The stack draws its own keys and identifiers, so that no run
//! is like another, and figures have room.

use rtc::{Failure, Rates, pair};
use std::collections::BTreeMap;
use transport::endpoint::{EndEvent, Endpoint, Session};
use transport::media::{self, EncodedFrame};
use transport::{Transmit, Wire};
use units::{Duration, Ecn, Instant, Rate};

/// One way.
const WAY: Duration = Duration::from_millis(20);
/// The most that waits in front of the link.
const QUEUE: Duration = Duration::from_millis(200);

/// A call over a link that loses what would wait for too long, and each packet whose number `lost` says.
struct Bed<'a> {
    ends: [Endpoint; 2],
    now: Instant,
    rate: Rate,
    free: Instant,
    packets: u64,
    lost: &'a dyn Fn(u64) -> bool,
    /// By time and number: for which end, and what.
    flying: BTreeMap<(Instant, u64), (usize, Wire)>,
    frames: u64,
    shown: Vec<u64>,
    gone: Vec<u64>,
    heard: u64,
}

fn session(end: &mut Endpoint) -> &mut dyn Session {
    match end {
        Endpoint::Session(session) => &mut **session,
        _ => panic!("it is no session"),
    }
}

impl<'a> Bed<'a> {
    fn new(rate: Rate, most: Rate, failure: &Failure, lost: &'a dyn Fn(u64) -> bool) -> Self {
        let start = Rate::from_bits(300_000);
        Bed {
            ends: pair(Instant::ZERO, Rates { start, most }, failure).unwrap(),
            now: Instant::ZERO,
            rate,
            free: Instant::ZERO,
            packets: 0,
            lost,
            flying: BTreeMap::new(),
            frames: 0,
            shown: Vec::new(),
            gone: Vec::new(),
            heard: 0,
        }
    }

    fn sent(&mut self, from: usize, transmit: Transmit) {
        self.packets += 1;
        let mut leaves = self.now;
        if from == 0 {
            if (self.lost)(self.packets) || self.free.since(self.now) > QUEUE {
                return;
            }
            leaves = leaves.max(self.free) + self.rate.time_for(u64::from(transmit.len));
            self.free = leaves;
        }
        let key = (leaves + WAY, self.packets);
        self.flying.insert(key, (1 - from, transmit.packet));
    }

    fn settle(&mut self) {
        for end in 0..2 {
            while let Some(transmit) = self.ends[end].transmit(self.now) {
                self.sent(end, transmit);
            }
            while let Some(event) = self.ends[end].event() {
                match event {
                    EndEvent::Media(media::MediaEvent::FrameShown { id, .. }) => {
                        self.shown.push(id)
                    }
                    EndEvent::Media(media::MediaEvent::FrameLost { id, .. }) => self.gone.push(id),
                    EndEvent::Media(media::MediaEvent::AudioArrived { .. }) => self.heard += 1,
                    _ => {}
                }
            }
        }
    }

    /// A frame of video each 33 ms, and one of audio each 20.
    fn run(&mut self, until: u64) {
        let until = Instant::from_nanos(until * 1_000_000_000);
        let (mut video, mut audio) = (self.now, self.now);
        loop {
            self.settle();
            let arrival = self
                .flying
                .keys()
                .next()
                .map_or(Instant::NEVER, |key| key.0);
            let timers = self.ends.iter().map(Endpoint::next_timer).min().unwrap();
            self.now = self.now.max(arrival.min(timers).min(video).min(audio));
            if self.now >= until {
                return;
            }
            if self.now >= video {
                video += Duration::from_millis(33);
                let sender = session(&mut self.ends[0]);
                let bits = sender.media_rate().as_bits().min(2_000_000);
                let frame = EncodedFrame {
                    stream: 0,
                    id: self.frames,
                    bytes: (bits * 33 / 8000) as u32,
                    key: sender.take_keyframe_request(),
                    layer: 0,
                    back: 0,
                };
                sender.push_frame(self.now, frame);
                self.frames += 1;
            }
            if self.now >= audio {
                audio += Duration::from_millis(20);
                session(&mut self.ends[0]).push_audio(self.now, self.frames, 80);
            }
            for end in &mut self.ends {
                if end.next_timer() <= self.now {
                    end.on_timer(self.now);
                }
            }
            while let Some(first) = self.flying.first_entry()
                && first.key().0 <= self.now
            {
                let (end, wire) = first.remove();
                self.ends[end].handle(self.now, Ecn::NotCapable, &wire);
            }
        }
    }
}

fn mbit(rate: f64) -> Rate {
    Rate::from_bits((rate * 1e6) as u64)
}

#[test]
fn a_call_comes_about_and_grows() {
    let failure = Failure::default();
    let mut bed = Bed::new(mbit(10.0), mbit(2.0), &failure, &|_| false);
    bed.run(20);
    assert_eq!(failure.get(), None);
    let rate = session(&mut bed.ends[0]).media_rate().as_bits();
    assert!(rate > 1_500_000, "{rate} of 2 Mbit/s");
    // All but those from before it was connected, and the last that are under way.
    let (first, last) = (bed.shown[0], bed.shown[bed.shown.len() - 1]);
    assert!(
        first < 30 && last + 5 > bed.frames,
        "{first} to {last} of {}",
        bed.frames
    );
    assert_eq!(bed.shown.len() as u64, last - first + 1);
    assert!(bed.heard > 900, "{} of 1000 frames of audio", bed.heard);
}

#[test]
fn what_is_lost_is_sent_again_or_left_out_until_a_key_frame() {
    let failure = Failure::default();
    let lost = |packet: u64| packet > 1000 && packet.is_multiple_of(50);
    let mut bed = Bed::new(mbit(10.0), mbit(2.0), &failure, &lost);
    bed.run(30);
    assert_eq!(failure.get(), None);
    let told = bed.shown.len() + bed.gone.len();
    assert!(
        bed.shown.len() as u64 * 10 > bed.frames * 9,
        "{} of {}",
        bed.shown.len(),
        bed.frames
    );
    assert_eq!(told as u64, bed.shown[bed.shown.len() - 1] + 1, "each once");
}

#[test]
fn it_slows_down_to_its_link() {
    let failure = Failure::default();
    let mut bed = Bed::new(mbit(0.8), mbit(2.0), &failure, &|_| false);
    bed.run(15);
    let mut rates = Vec::new();
    for second in 16..40 {
        bed.run(second);
        rates.push(session(&mut bed.ends[0]).media_rate().as_bits());
    }
    let mean = rates.iter().sum::<u64>() / rates.len() as u64;
    assert!((300_000..1_100_000).contains(&mean), "{mean} of 0.8 Mbit/s");
    assert_eq!(failure.get(), None);
}

#[test]
fn what_is_no_packet_is_passed_over() {
    let failure = Failure::default();
    let mut bed = Bed::new(mbit(10.0), mbit(2.0), &failure, &|_| false);
    bed.run(3);
    for length in [0, 1, 11, 12, 100, 1500] {
        for byte in [0, 2, 20, 22, 63, 64, 128, 200, 255] {
            let wire = Wire::Session(vec![byte; length].into());
            for end in &mut bed.ends {
                end.handle(bed.now, Ecn::NotCapable, &wire);
            }
        }
    }
    let before = bed.shown.len();
    bed.run(6);
    assert_eq!(failure.get(), None);
    assert!(bed.shown.len() > before + 60, "the call goes on");
}
