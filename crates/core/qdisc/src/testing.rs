//! Shared parts of the disciplines' tests: moments, settings, packets, and a witness of drops and
//! marks.
//!
//! Packets carry a number. If the flow matters, flows are letters: `A` is flow 0.

use crate::{Class, DropReason, Ecn, FlowId, Ignore, Label, Observer, Packet, Qdisc};
use units::{Duration, Instant};

/// A moment, in milliseconds.
pub fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A moment, in microseconds.
pub fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

/// Settings as a user writes them.
pub fn settings(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    settings.iter().map(owned).collect()
}

/// A packet of the only flow there is.
pub fn packet(number: u32, len: u32, ecn: Ecn) -> Packet<u32> {
    Packet {
        len,
        ecn,
        payload: number,
        ..Packet::default()
    }
}

/// A packet of one of the first 64 flows, whose hashes differ in their highest and lowest bits.
pub fn of_flow(flow: u32, len: u32, ecn: Ecn) -> Packet<u32> {
    Packet {
        flow: FlowId(flow),
        hash: flow << 22 | flow << 10 | flow,
        ..packet(0, len, ecn)
    }
}

/// A packet of the flow of this letter, which does not understand marks.
pub fn of_letter(flow: char, len: u32) -> Packet<u32> {
    of_flow(flow as u32 - 'A' as u32, len, Ecn::NotCapable)
}

/// The letter of a packet's flow.
pub fn letter<P>(packet: &Packet<P>) -> char {
    char::from(b'A' + packet.flow.0 as u8)
}

/// Packets of the flows of these letters arrive.
pub fn put(
    queue: &mut dyn Qdisc<u32>,
    now: Instant,
    flows: &str,
    len: u32,
    observer: &mut dyn Observer<u32>,
) {
    for flow in flows.chars() {
        queue.enqueue(now, of_letter(flow, len), observer);
    }
}

/// Numbered packets arrive, of a claim each: `R` is real-time, `B` bulk, anything else none.
pub fn put_labelled(
    queue: &mut dyn Qdisc<u32>,
    labels: &str,
    len: u32,
    observer: &mut dyn Observer<u32>,
) {
    for (number, label) in (0..).zip(labels.chars()) {
        let label = match label {
            'R' => Label::RealTime,
            'B' => Label::Bulk,
            _ => Label::None,
        };
        let packet = Packet {
            label,
            ..packet(number, len, Ecn::NotCapable)
        };
        queue.enqueue(Instant::ZERO, packet, observer);
    }
}

/// The next `n` packets that leave at once.
pub fn packets(queue: &mut dyn Qdisc<u32>, now: Instant, n: usize) -> Vec<Packet<u32>> {
    let next = || queue.dequeue(now, &mut Ignore);
    std::iter::from_fn(next).take(n).collect()
}

/// The flows of the next `n` packets that leave at once.
pub fn take(queue: &mut dyn Qdisc<u32>, now: Instant, n: usize) -> String {
    packets(queue, now, n).iter().map(letter).collect()
}

/// Records drops and marks, under the test's own keys of packets.
pub struct Log<K, P = u32> {
    key: fn(Instant, &Packet<P>) -> K,
    /// The packets dropped, and why.
    pub dropped: Vec<(K, DropReason)>,
    /// The packets marked.
    pub marked: Vec<K>,
    /// The moves of flows between classes.
    pub moved: Vec<(u32, Option<u8>, u8)>,
}

impl<K, P> Log<K, P> {
    /// A log that identifies packets by `key`.
    pub fn by(key: fn(Instant, &Packet<P>) -> K) -> Self {
        Log {
            key,
            dropped: Vec::new(),
            marked: Vec::new(),
            moved: Vec::new(),
        }
    }
}

/// A log of packets' numbers.
pub fn numbers() -> Log<u32> {
    Log::by(|_, packet| packet.payload)
}

/// A log of flows, and of milliseconds.
pub fn flows() -> Log<(u32, u64)> {
    Log::by(|now, packet| (packet.flow.0, now.as_nanos() / 1_000_000))
}

/// A log of milliseconds.
pub fn times() -> Log<u64> {
    Log::by(|now, _| now.as_nanos() / 1_000_000)
}

/// A log of flows' letters.
pub fn letters() -> Log<char> {
    Log::by(|_, packet| letter(packet))
}

impl<P> Log<char, P> {
    /// The packets dropped.
    pub fn who(&self) -> String {
        self.dropped.iter().map(|(letter, _)| *letter).collect()
    }
}

impl<K, P> Observer<P> for Log<K, P> {
    fn dropped(&mut self, now: Instant, packet: Packet<P>, reason: DropReason) {
        self.dropped.push(((self.key)(now, &packet), reason));
    }

    fn marked(&mut self, now: Instant, packet: &Packet<P>) {
        assert_eq!(packet.ecn, Ecn::Ce);
        self.marked.push((self.key)(now, packet));
    }

    fn moved(&mut self, _: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        let from = from.map(|class| class.0);
        self.moved.push((flow.0, from, to.0));
    }
}
