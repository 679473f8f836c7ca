//! `newest`: last in, first out.
//!
//! A packet that has just come is worth more to a call than one that is late already. Not for: anything that
//! needs its packets in order.

use analects::qdisc::{Backlog, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use analects::units::param::Settings;
use analects::units::{Instant, Refusal};
use std::collections::VecDeque;

analects::units::params! {
    /// Parameters of `newest`.
    pub struct NewestParams {
        /// Packets that may wait; the oldest makes room.
        limit: u32 = "1000", range "1".."1000000", source "as pfifo";
    }
}

impl NewestParams {
    /// A link's `buffer` is the default of the limit.
    fn at(env: &Env) -> Self {
        let mut params = NewestParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params
    }
}

/// `newest` for the registry.
pub fn newest<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "newest",
        summary: "last in, first out",
        about: "The newest packet leaves first; the oldest one makes room.",
        source: "this program",
        params: NewestParams::SPECS,
        children: &[],
        build: |parts| {
            let mut params = NewestParams::at(parts.env);
            params.apply(parts.settings)?;
            Ok(Box::new(Newest {
                params,
                packets: VecDeque::new(),
                backlog: Backlog::default(),
            }))
        },
    }
}

/// The discipline. It never looks into a packet's payload `P`.
struct Newest<P> {
    params: NewestParams,
    /// The newest is the last.
    packets: VecDeque<Packet<P>>,
    backlog: Backlog,
}

impl<P> Newest<P> {
    /// Drops the oldest packets until no more than the limit wait.
    fn make_room(&mut self, now: Instant, reason: DropReason, observer: &mut dyn Observer<P>) {
        while self.backlog.packets > self.params.limit {
            let Some(oldest) = self.packets.pop_front() else {
                return;
            };
            self.backlog.remove(oldest.len);
            observer.dropped(now, oldest, reason);
        }
    }
}

impl<P: Send> Qdisc<P> for Newest<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        packet.arrived = now;
        self.backlog.add(packet.len);
        self.packets.push_back(packet);
        self.make_room(now, DropReason::Overlimit, observer);
    }

    fn dequeue(&mut self, _: Instant, _: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let packet = self.packets.pop_back()?;
        self.backlog.remove(packet.len);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        self.params.apply(settings)?;
        self.make_room(now, DropReason::Change, observer);
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analects::qdisc::{Ignore, Registry};

    fn packet(payload: u32) -> Packet<u32> {
        Packet {
            len: 1500,
            payload,
            ..Packet::default()
        }
    }

    #[test]
    fn the_newest_leaves_first_and_the_oldest_makes_room() {
        let mut registry = Registry::<u32>::builtin();
        registry.add(newest());
        let choice = "newest,limit=2".parse().unwrap();
        let mut queue = registry.build(&choice, &Env::default()).unwrap();
        for number in 1..=3 {
            queue.enqueue(Instant::ZERO, packet(number), &mut Ignore);
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut Ignore))
            .map(|packet| packet.payload)
            .collect();
        assert_eq!(order, [3, 2]);
        assert!(queue.backlog().is_empty());
    }
}
