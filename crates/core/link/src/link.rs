//! A queue and the wire behind it.
//!
//! The machine is called when a packet arrives and when the device has sent one; it returns which
//! packet leaves the discipline, when its last bit is on the wire, and when it is at the other end.
//! It keeps no packets except those in the discipline: one that left is the caller's.

use crate::{Capacity, Chance};
use qdisc::{Observer, Packet, Qdisc};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

/// The parts of a link other than its discipline.
#[derive(Debug, Clone)]
pub struct Line {
    /// The capacity of the wire.
    pub capacity: Capacity,
    /// Bytes that the wire adds to every packet.
    pub overhead: u32,
    /// Packets that the device takes from the discipline behind the one that it sends, as a driver's
    /// ring does.
    pub device: u32,
    /// How long a packet is under way behind the device.
    pub delay: Duration,
    /// Random effects on packets on the wire.
    pub chance: Option<Chance>,
}

impl Line {
    /// A wire without overhead, ring, delay or chance.
    pub fn new(capacity: Capacity) -> Self {
        Line {
            capacity,
            overhead: 0,
            device: 0,
            delay: Duration::ZERO,
            chance: None,
        }
    }
}

/// A packet that left the discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet.
    pub packet: Packet<P>,
    /// When the device has sent it: [`Link::sent`] must be called then.
    pub sent: Instant,
    /// When its last bit is at the other end; never if the wire loses it.
    pub arrives: Option<Instant>,
}

/// A queue and the wire behind it.
pub struct Link<P> {
    queue: Box<dyn Qdisc<P>>,
    line: Line,
    /// Packets in the device, the one on the wire included.
    held: u32,
    /// When the device has sent them.
    free: Instant,
    /// When the discipline is to be asked again, if a caller was given that time.
    wake: Instant,
}

impl<P> Link<P> {
    /// An idle link.
    pub fn new(queue: Box<dyn Qdisc<P>>, line: Line) -> Self {
        Link {
            queue,
            line,
            held: 0,
            free: Instant::ZERO,
            wake: Instant::NEVER,
        }
    }

    /// The discipline.
    pub fn queue(&self) -> &dyn Qdisc<P> {
        &*self.queue
    }

    /// Changes the discipline's parameters, with what waits. Afterwards [`next`](Self::next) may have a packet
    /// to send.
    ///
    /// # Errors
    /// If a setting is refused; nothing is changed then.
    pub fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        self.queue.change(now, settings, observer)?;
        self.wake = Instant::NEVER;
        Ok(())
    }

    /// The capacity of the wire.
    pub fn capacity(&self) -> &Capacity {
        &self.line.capacity
    }

    /// The wire has another capacity, from the next packet on.
    pub fn set_capacity(&mut self, capacity: Capacity) {
        self.line.capacity = capacity;
    }

    /// A packet arrives. Afterwards [`next`](Self::next) may have one to send.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.queue.enqueue(now, packet, observer);
    }

    /// The device has sent a packet. Afterwards [`next`](Self::next) may have one to send.
    #[inline]
    pub fn sent(&mut self) {
        self.held = self.held.saturating_sub(1);
    }

    /// The moment that [`wake_at`](Self::wake_at) named has come.
    pub fn woken(&mut self, now: Instant) {
        if now >= self.wake {
            self.wake = Instant::NEVER;
        }
    }

    /// Whether the device takes another packet.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.held <= self.line.device
    }

    /// The next packet that the device takes `now`, if it takes one and there is one.
    #[inline]
    pub fn next(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Departure<P>> {
        if !self.has_room() {
            return None;
        }
        let packet = self.queue.dequeue(now, observer)?;
        let sent = self.take(now, packet.len);
        let there = sent + self.line.delay;
        let arrives = match &mut self.line.chance {
            Some(chance) => chance.arrives(there),
            None => Some(there),
        };
        Some(Departure {
            packet,
            sent,
            arrives,
        })
    }

    /// When to call [`next`](Self::next) again without another event: a discipline holds packets
    /// back. Called after `next` had none; a moment that was returned before is not returned again.
    pub fn wake_at(&mut self, now: Instant) -> Option<Instant> {
        if !self.has_room() {
            return None;
        }
        let at = self.queue.next_wake(now).filter(|&at| at < self.wake)?;
        self.wake = at;
        Some(at)
    }

    /// The device takes a packet of `len`; returns when it has been sent.
    #[inline]
    fn take(&mut self, now: Instant, len: u32) -> Instant {
        let start = now.max(self.free);
        let bytes = u64::from(len) + u64::from(self.line.overhead);
        self.held += 1;
        self.free = self.line.capacity.finish(start, bytes);
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qdisc::{Choice, Env, Ignore, Registry};

    fn link(device: u32, loss: f64) -> Link<u32> {
        let registry = Registry::builtin();
        let queue = registry
            .build(&Choice::plain("pfifo"), &Env::default())
            .unwrap();
        let capacity = Capacity::Constant("12mbit".parse().unwrap());
        Link::new(
            queue,
            Line {
                device,
                delay: Duration::from_millis(5),
                chance: Some(Chance::new(loss, 1.0, Duration::ZERO, 1, "link")),
                ..Line::new(capacity)
            },
        )
    }

    fn packet(number: u32) -> Packet<u32> {
        Packet {
            len: 1500,
            payload: number,
            ..Packet::default()
        }
    }

    /// When each of four packets of 1500 B that come at once to 12 Mbit/s leaves the discipline, and
    /// when it is at the other end, in ms.
    fn times(device: u32) -> (Vec<u64>, Vec<u64>) {
        let mut link = link(device, 0.0);
        for number in 0..4 {
            link.enqueue(Instant::ZERO, packet(number), &mut Ignore);
        }
        let ms = |at: Instant| at.as_nanos() / 1_000_000;
        let (mut left, mut arrived, mut sent) = (Vec::new(), Vec::new(), Vec::new());
        let mut now = Instant::ZERO;
        loop {
            while let Some(departure) = link.next(now, &mut Ignore) {
                left.push(ms(now));
                arrived.push(ms(departure.arrives.unwrap()));
                sent.push(departure.sent);
            }
            if sent.is_empty() {
                return (left, arrived);
            }
            now = sent.remove(0);
            link.sent();
        }
    }

    #[test]
    fn a_device_takes_packets_early_and_sends_them_at_the_same_time() {
        // 1500 B at 12 Mbit/s take 1 ms; then they are under way for 5 ms.
        let arrived = vec![6, 7, 8, 9];
        assert_eq!(times(0), (vec![0, 1, 2, 3], arrived.clone()));
        assert_eq!(times(1), (vec![0, 0, 1, 2], arrived.clone()));
        assert_eq!(times(9), (vec![0, 0, 0, 0], arrived));
    }

    #[test]
    fn the_wire_loses_its_share_and_no_time() {
        let mut link = link(u32::MAX - 1, 0.1);
        let mut lost = 0;
        for number in 0..10_000 {
            let now = Instant::from_nanos(u64::from(number) * 1_000_000);
            link.enqueue(now, packet(number), &mut Ignore);
            let departure = link.next(now, &mut Ignore).unwrap();
            assert_eq!(departure.sent, now + Duration::from_millis(1));
            lost += u32::from(departure.arrives.is_none());
            link.sent();
        }
        assert!((910..1090).contains(&lost), "{lost}");
    }
}
