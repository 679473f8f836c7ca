//! One direction of a link: a queue, a wire, and the packets on it.

use crate::frame::{Frame, Header};
use crate::segments::Cut;
use crate::spare::Spare;
use crate::tap::{Fate, Gone, QueueState, SharedTap, TapDirection};
use crate::wire::{self, LinkWire};
use link::Link;
use qdisc::{Class, DropReason, Observer, Packet};
use serde::Serialize;
use units::{Duration, Ecn, FlowId, Instant};

/// So long do segments wait for more that travel with them. Of a constant rate, packets that are still to be cut are as
/// long.
const TOGETHER: Duration = Duration::from_millis(1);

/// Counters of a direction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WayCounts {
    /// Packets that arrived; one that is still to be cut into segments is one, unless it is cut here.
    pub packets: u64,
    /// Their bytes on the wire, with the headers of all segments.
    pub bytes: u64,
    /// Packets that the discipline dropped.
    pub drops: u64,
    /// Packets that it marked.
    pub marks: u64,
    /// Packets that the wire lost.
    pub lost: u64,
    /// Packets that could not be read, and did not pass.
    pub refused: u64,
    /// Bytes that left the queue.
    pub sent_bytes: u64,
    /// The time that packets that left had waited in the queue, in nanoseconds, all together.
    pub sojourn_ns: u64,
    /// The longest time.
    pub longest_ns: u64,
    /// Packets that left the queue.
    pub sent: u64,
}

/// One direction. It is given the time, and processes the time that has passed in steps, each at
/// its own moment: a late call delays arrivals and not the actions of the link.
pub struct LinkWay {
    wire: LinkWire<Frame>,
    /// Packets that are still to be cut are cut here.
    cuts: bool,
    watch: WayWatch,
}

/// The counters, buffers that are free again, and who else looks on.
#[derive(Default)]
struct WayWatch {
    counts: WayCounts,
    spare: Spare,
    tap: Option<(TapDirection, SharedTap)>,
}

impl WayWatch {
    /// The packet leaves.
    fn tell(&self, left: Instant, packet: &Packet<Frame>, fate: Fate) {
        if let Some((direction, tap)) = &self.tap {
            tap.borrow_mut().gone(&Gone {
                direction: *direction,
                flow: packet.hash,
                came: packet.arrived,
                left,
                bytes: packet.len,
                frame: &packet.payload,
                fate,
            });
        }
    }
}

impl Observer<Frame> for WayWatch {
    fn dropped(&mut self, now: Instant, packet: Packet<Frame>, reason: DropReason) {
        self.counts.drops += 1;
        self.tell(now, &packet, Fate::Dropped(reason));
        self.spare.put(packet.payload);
    }

    fn marked(&mut self, _now: Instant, _packet: &Packet<Frame>) {
        self.counts.marks += 1;
    }

    fn moved(&mut self, _now: Instant, flow: FlowId, _from: Option<Class>, to: Class) {
        if let Some((direction, tap)) = &self.tap {
            tap.borrow_mut().moved(*direction, flow.0, to);
        }
    }
}

impl wire::WireWatch<Frame> for WayWatch {
    fn left(
        &mut self,
        now: Instant,
        mut packet: Packet<Frame>,
        arrives: Option<Instant>,
    ) -> Option<Frame> {
        let counts = &mut self.counts;
        let waited: Duration = now.since(packet.arrived);
        counts.sent += 1;
        counts.sent_bytes += u64::from(packet.len);
        counts.sojourn_ns += waited.as_nanos();
        counts.longest_ns = counts.longest_ns.max(waited.as_nanos());
        let marked = packet.ecn == Ecn::Ce && packet.payload.mark();
        let fate = match arrives {
            None => Fate::Lost,
            Some(_) if marked => Fate::Marked,
            Some(_) => Fate::Sent,
        };
        self.tell(now, &packet, fate);
        if arrives.is_some() {
            return Some(packet.payload);
        }
        self.counts.lost += 1;
        self.spare.put(packet.payload);
        None
    }
}

impl LinkWay {
    /// An idle one.
    pub fn new(link: Link<Frame>) -> Self {
        LinkWay {
            wire: LinkWire::new(link),
            cuts: false,
            watch: WayWatch::default(),
        }
    }

    /// The same, if a link may be slow at any time: packets that are still to be cut into segments are cut before they are
    /// queued, and segments that arrive within a millisecond are due together.
    #[must_use]
    pub fn cutting(self, cuts: bool) -> Self {
        LinkWay { cuts, ..self }
    }

    /// The same, and `tap` is told of each packet that leaves the queue.
    #[must_use]
    pub fn with_tap(mut self, direction: TapDirection, tap: SharedTap) -> Self {
        self.watch.tap = Some((direction, tap));
        self
    }

    /// A buffer to read into.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.watch.spare.take()
    }

    /// A packet arrives, `now`, no earlier than the former events.
    pub fn take(&mut self, now: Instant, frame: Frame, header: Option<Header>) {
        let Some(header) = header else {
            self.watch.counts.refused += 1;
            self.watch.spare.put(frame);
            return;
        };
        let cut = self.cuts.then(|| Cut::new(&frame)).flatten();
        let Some(mut cut) = cut else {
            return self.enter(now, frame, header);
        };
        while let Some(segment) = cut.next(&mut self.watch.spare) {
            let len = segment.wire_len().unwrap_or_default();
            self.enter(now, segment, Header { len, ..header });
        }
        self.watch.spare.put(frame);
    }

    fn enter(&mut self, now: Instant, frame: Frame, header: Header) {
        self.watch.counts.packets += 1;
        self.watch.counts.bytes += u64::from(header.len);
        self.wire.take(now, header.around(frame), &mut self.watch);
    }

    /// The next due time.
    pub fn due(&self) -> Instant {
        if self.cuts {
            self.wire.due_within(TOGETHER)
        } else {
            self.wire.due()
        }
    }

    /// A packet that has arrived by `now`, and when.
    pub fn arrived(&mut self, now: Instant) -> Option<(Frame, Instant)> {
        self.wire.arrived(now, &mut self.watch)
    }

    /// A packet has been handed on: its buffer is free.
    pub fn done(&mut self, frame: Frame) {
        self.watch.spare.put(frame);
    }

    /// The state of the queue.
    pub fn state(&self) -> QueueState {
        let queue = self.wire.queue();
        QueueState {
            backlog: queue.backlog(),
            classes: queue.classes(),
        }
    }

    /// The counters so far.
    pub fn counts(&self) -> &WayCounts {
        &self.watch.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tap::Tap;
    use core::cell::RefCell;
    use link::{Capacity, Line, Trace};
    use qdisc::{Choice, Env, Hosts, Limit, Registry};
    use std::rc::Rc;
    use std::sync::Arc;

    fn way(discipline: &str, limit: u32) -> LinkWay {
        let env = Env {
            limit: Some(Limit::Packets(limit)),
            ..Env::default()
        };
        let choice = discipline.parse().unwrap();
        let queue = Registry::builtin().build(&choice, &env).unwrap();
        let line = Line {
            delay: Duration::from_millis(5),
            ..Line::new(Capacity::Constant("12mbit".parse().unwrap()))
        };
        LinkWay::new(Link::new(queue, line))
    }

    fn header(hash: u32) -> Option<Header> {
        Some(Header {
            len: 1500,
            hash,
            hosts: Hosts::default(),
            ports: (0, 0),
            dscp: 0,
            ecn: Ecn::NotCapable,
        })
    }

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    /// 1500 bytes take a millisecond on 12 Mbit/s, then they fly for five.
    #[test]
    fn being_late_changes_nothing_but_what_is_late() {
        let mut way = way("pfifo", 3);
        for number in 0..4 {
            way.take(at(0), Frame::new(vec![number]), header(1));
        }
        assert_eq!(way.due(), at(1000));
        // Called late: all three are there, and a packet that arrives now is sent at once.
        way.take(at(10_000), Frame::new(vec![9]), header(1));
        let mut arrived = Vec::new();
        while let Some((frame, _)) = way.arrived(at(10_000)) {
            arrived.push(frame.bytes()[0]);
            way.done(frame);
        }
        assert_eq!(arrived, [0, 1, 2, 3][..4].to_vec());
        assert_eq!(way.arrived(at(15_999)), None);
        assert_eq!(
            way.arrived(at(16_000)),
            Some((Frame::new(vec![9]), at(16_000)))
        );
        let counts = way.counts();
        assert_eq!((counts.packets, counts.sent, counts.drops), (5, 5, 0));
        assert_eq!(counts.longest_ns, 3_000_000);
    }

    /// Over a trace of 12 Mbit/s for 5 ms, and of 1 Mbit/s from then on.
    fn over_a_trace() -> LinkWay {
        let trace = Trace::parse("0 12\n0.005 1\n1 1\n").unwrap();
        let queue = Registry::builtin().build(&Choice::plain("pfifo"), &Env::default());
        let line = Line {
            delay: Duration::from_millis(5),
            ..Line::new(Capacity::Trace(Arc::new(trace)))
        };
        LinkWay::new(Link::new(queue.unwrap(), line)).cutting(true)
    }

    #[test]
    fn segments_are_packets_of_their_own_to_the_queue() {
        let mut way = over_a_trace();
        let frame = crate::segments::tests::left(4, true);
        let len = frame.wire_len().unwrap();
        way.take(
            at(0),
            frame,
            header(1).map(|header| Header { len, ..header }),
        );
        let counts = way.counts();
        // Each has the headers.
        assert_eq!((counts.packets, counts.bytes), (10, 950 + 10 * 40));
    }

    /// 1500 bytes take a millisecond at first, and twelve later; a fifth of that 300 bytes do.
    #[test]
    fn what_arrives_within_a_millisecond_is_due_together_and_one_alone_at_once() {
        let mut way = over_a_trace();
        let small = |len| header(1).map(|header| Header { len, ..header });
        for _ in 0..8 {
            way.take(at(0), Frame::new(vec![1]), small(300));
        }
        // At 5200, 5400, ... 6600: a millisecond behind the first, and the rest when the last is there.
        let mut due = Vec::new();
        while way.due() != Instant::NEVER {
            let now = way.due();
            let arrived = core::iter::from_fn(|| way.arrived(now)).count();
            due.push((now, arrived));
        }
        assert_eq!(due, [(at(6200), 6), (at(6600), 2)]);
        // Full ones where it is slow: each alone.
        for _ in 0..2 {
            way.take(at(10_000), Frame::new(vec![1]), small(1500));
        }
        assert_eq!(way.due(), at(27_000));
        assert!(way.arrived(at(27_000)).is_some() && way.arrived(at(27_000)).is_none());
        assert_eq!(way.due(), at(39_000));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_what_is_no_packet_refused() {
        let mut way = way("pfifo", 3);
        for number in 0..10 {
            way.take(at(0), Frame::new(vec![number]), header(1));
        }
        way.take(at(0), Frame::new(Vec::new()), None);
        let counts = way.counts();
        assert_eq!((counts.drops, counts.refused, counts.packets), (6, 1, 10));
    }

    #[test]
    fn a_tap_is_told_of_each_packet() {
        #[derive(Default)]
        struct Seen(Vec<(u64, u64, u32, Fate)>);
        impl Tap for Seen {
            fn gone(&mut self, gone: &Gone<'_>) {
                assert_eq!(
                    (gone.direction, gone.frame.bytes().len()),
                    (TapDirection::Up, 60)
                );
                let [came, left] = [gone.came, gone.left].map(|at| at.as_nanos() / 1000);
                self.0.push((came, left, gone.bytes, gone.fate));
            }
        }
        let seen = Rc::new(RefCell::new(Seen::default()));
        let mut way = way("fq_codel,target=1us,interval=1ms,limit=7", 7)
            .with_tap(TapDirection::Up, seen.clone());
        // An IPv4 header that can be marked.
        let mut bytes = vec![0; 60];
        bytes[crate::VNET..crate::VNET + 2].copy_from_slice(&[0x45, 2]);
        for number in 0..8 {
            let ecn = [Ecn::Ect0, Ecn::NotCapable][number % 2];
            let header = header(1).map(|header| Header { ecn, ..header });
            way.take(at(0), Frame::new(bytes.clone()), header);
        }
        while way.due() != Instant::NEVER {
            let now = way.due();
            while way.arrived(now).is_some() {}
        }
        let seen = &seen.borrow().0;
        assert_eq!(seen.len(), 8);
        assert_eq!(seen[0], (0, 0, 1500, Fate::Sent));
        let of =
            |wanted: fn(&Fate) -> bool| seen.iter().filter(|seen| wanted(&seen.3)).count() as u64;
        let counts = way.counts();
        assert_eq!(of(|fate| matches!(fate, Fate::Dropped(_))), counts.drops);
        assert_eq!(of(|fate| *fate == Fate::Marked), counts.marks);
        assert!(counts.drops > 0 && counts.marks > 0, "{counts:?}");
        // Each packet takes a millisecond of the wire.
        let last = seen.iter().map(|seen| seen.1).max();
        assert_eq!(last, Some(1000 * (counts.sent - 1)));
    }

    /// A discipline that shapes holds packets back, and is asked again.
    #[test]
    fn a_discipline_that_waits_is_woken() {
        let mut way = way("cake,bandwidth=6mbit", 100);
        for number in 0..3 {
            way.take(at(0), Frame::new(vec![number]), header(1));
        }
        let mut count = 0;
        while way.due() != Instant::NEVER {
            let now = way.due();
            count += usize::from(way.arrived(now).is_some());
            assert!(now < at(20_000));
        }
        assert_eq!(count, 3);
    }
}
