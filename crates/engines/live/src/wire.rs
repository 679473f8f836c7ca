//! A queue and the wire behind it, in a time of their own: what a direction of real packets has, whatever
//! stands for a packet.

use link::{Capacity, Link};
use qdisc::{Observer, Packet, Qdisc};
use std::collections::VecDeque;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

/// Bytes of a full packet.
const FULL: u64 = 1500;

/// Is told of the packets.
pub(crate) trait WireWatch<P>: Observer<P> {
    /// A packet leaves the queue `now`, and is at the other end later, unless the wire loses it; returns what is
    /// to be [`LinkWire::arrived`] then: nothing if this carries it itself.
    fn left(&mut self, now: Instant, packet: Packet<P>, arrives: Option<Instant>) -> Option<P>;
}

/// It is given the time, and processes the time that has passed in steps, each at its own moment: a late
/// call delays arrivals and not the actions of the link.
pub(crate) struct LinkWire<P> {
    link: Link<P>,
    /// When the device has sent each of the packets that it holds.
    sending: VecDeque<Instant>,
    wake: Instant,
    /// Packets on the wire, by arrival: the wire keeps their order.
    flying: VecDeque<(Instant, P)>,
}

impl<P> LinkWire<P> {
    /// An idle one.
    pub(crate) fn new(link: Link<P>) -> Self {
        LinkWire {
            link,
            sending: VecDeque::new(),
            wake: Instant::NEVER,
            flying: VecDeque::new(),
        }
    }

    /// A packet arrives, `now`, no earlier than the former events.
    pub(crate) fn take(&mut self, now: Instant, packet: Packet<P>, watch: &mut impl WireWatch<P>) {
        self.catch_up(now, watch);
        let packet = Packet {
            arrived: now,
            ..packet
        };
        self.link.enqueue(now, packet, watch);
        self.start(now, watch);
    }

    /// The next due time.
    pub(crate) fn due(&self) -> Instant {
        let arrives = self.flying.front().map_or(Instant::NEVER, |(at, _)| *at);
        self.next_step().min(arrives)
    }

    /// When the first packet arrives, or, if others follow closely, the last of those that do so within `most`.
    pub(crate) fn due_within(&self, most: Duration) -> Instant {
        let Some(((first, _), (last, _))) = self.flying.front().zip(self.flying.back()) else {
            return self.due();
        };
        let until = *first + most;
        if *last > until {
            let there = self.flying.partition_point(|(at, _)| *at <= until);
            return self.flying[there - 1].0;
        }
        // What still waits may be under way by then, if the wire is fast enough.
        let follows = self.sending.back().is_some_and(|sent| {
            let next = self.link.capacity().finish(*sent, FULL);
            next + last.since(*sent) <= until
        });
        if follows && !self.link.queue().backlog().is_empty() {
            until
        } else {
            *last
        }
    }

    /// A packet that has arrived by `now`, and when.
    pub(crate) fn arrived(
        &mut self,
        now: Instant,
        watch: &mut impl WireWatch<P>,
    ) -> Option<(P, Instant)> {
        self.catch_up(now, watch);
        let (at, _) = self.flying.front()?;
        if *at > now {
            return None;
        }
        self.flying.pop_front().map(|(at, packet)| (packet, at))
    }

    /// The discipline.
    pub(crate) fn queue(&self) -> &dyn Qdisc<P> {
        self.link.queue()
    }

    /// The queue and the wire, at the end.
    pub(crate) fn into_link(self) -> Link<P> {
        self.link
    }

    /// Changes the discipline's parameters `now`; packets that wait keep their places.
    ///
    /// # Errors
    /// If a setting is refused; nothing is changed then.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        watch: &mut impl WireWatch<P>,
    ) -> Result<(), Refusal> {
        self.catch_up(now, watch);
        self.link.change(now, settings, watch)?;
        // It may hold packets back no longer, or longer than was asked for.
        self.wake = Instant::NEVER;
        self.start(now, watch);
        Ok(())
    }

    /// The wire has another rate from the next packet on.
    pub(crate) fn set_rate(&mut self, now: Instant, rate: Rate, watch: &mut impl WireWatch<P>) {
        self.catch_up(now, watch);
        self.link.set_capacity(Capacity::Constant(rate));
    }

    fn next_step(&self) -> Instant {
        let sent = self.sending.front().copied().unwrap_or(Instant::NEVER);
        sent.min(self.wake)
    }

    /// Processes the time until `now`.
    pub(crate) fn catch_up(&mut self, now: Instant, watch: &mut impl WireWatch<P>) {
        loop {
            let at = self.next_step();
            if at > now {
                return;
            }
            if self.sending.front() == Some(&at) {
                self.sending.pop_front();
                self.link.sent();
            } else {
                self.wake = Instant::NEVER;
                self.link.woken(at);
            }
            self.start(at, watch);
        }
    }

    /// Puts packets onto the wire as long as the device takes some.
    fn start(&mut self, now: Instant, watch: &mut impl WireWatch<P>) {
        while let Some(departure) = self.link.next(now, watch) {
            self.sending.push_back(departure.sent);
            let carried = watch.left(now, departure.packet, departure.arrives);
            self.flying.extend(departure.arrives.zip(carried));
        }
        if let Some(at) = self.link.wake_at(now) {
            self.wake = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::Line;
    use proptest::prelude::*;
    use qdisc::{DropReason, Env, Registry};

    /// The numbers of packets that were dropped.
    #[derive(Default)]
    struct Dropped(Vec<u32>);

    impl Observer<u32> for Dropped {
        fn dropped(&mut self, _now: Instant, packet: Packet<u32>, _reason: DropReason) {
            self.0.push(packet.payload);
        }
    }

    impl WireWatch<u32> for Dropped {
        fn left(&mut self, _: Instant, packet: Packet<u32>, _: Option<Instant>) -> Option<u32> {
            Some(packet.payload)
        }
    }

    fn wire(discipline: &str) -> LinkWire<u32> {
        let choice = discipline.parse().unwrap();
        let queue = Registry::builtin().build(&choice, &Env::default()).unwrap();
        LinkWire::new(Link::new(queue, Line::new(Capacity::Constant(MBIT))))
    }

    const MBIT: Rate = Rate::from_bits(1_000_000);

    #[derive(Debug, Clone)]
    enum Step {
        Take(u32),
        Look,
        Rate(u64),
        Limit(u32),
    }

    fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
        let step = prop_oneof![
            8 => (1u32..65_000).prop_map(Step::Take),
            4 => Just(Step::Look),
            1 => (8_000u64..2_000_000_000).prop_map(Step::Rate),
            1 => (200u32..400).prop_map(Step::Limit),
        ];
        // Late by up to a second, or at the very time.
        let pause = prop_oneof![Just(0), 0..1_000_000u64, 0..1_000_000_000u64];
        proptest::collection::vec((pause, step), 1..200)
    }

    proptest! {
        /// Whatever changes meanwhile, each packet of a flow comes out once, in order, and the wire never
        /// stands still while some wait.
        #[test]
        fn a_change_loses_and_reorders_nothing(steps in steps(), place in 0usize..3) {
            let discipline = ["pfifo,limit=300", "fq_codel,limit=300,target=1s,interval=60s", "cake,bandwidth=20mbit"];
            let (mut wire, mut dropped) = (wire(discipline[place]), Dropped::default());
            let (mut now, mut number, mut out) = (Instant::ZERO, 0, Vec::new());
            for (pause, step) in steps {
                now += Duration::from_nanos(pause);
                match step {
                    Step::Take(len) => {
                        let packet = Packet { len, payload: number, ..Packet::default() };
                        wire.take(now, packet, &mut dropped);
                        number += 1;
                    }
                    Step::Look => while let Some((payload, at)) = wire.arrived(now, &mut dropped) {
                        prop_assert!(at <= now);
                        out.push(payload);
                    },
                    Step::Rate(bits) => wire.set_rate(now, Rate::from_bits(bits), &mut dropped),
                    Step::Limit(limit) => {
                        let settings = [("limit".to_owned(), limit.to_string())];
                        // cake has none.
                        prop_assert_eq!(wire.change(now, &settings, &mut dropped).is_ok(), place < 2);
                    }
                }
            }
            for _ in 0..10_000 {
                if wire.due() == Instant::NEVER {
                    break;
                }
                now = now.max(wire.due());
                while let Some((payload, _)) = wire.arrived(now, &mut dropped) {
                    out.push(payload);
                }
            }
            prop_assert_eq!(wire.queue().backlog().packets, 0);
            prop_assert!(out.is_sorted());
            prop_assert_eq!(out.len() + dropped.0.len(), number as usize);
            prop_assert!(place == 2 || dropped.0.is_empty(), "{:?}", dropped.0);
        }
    }

    #[test]
    fn a_rate_applies_from_the_next_packet_on() {
        let (mut wire, mut dropped) = (wire("pfifo"), Dropped::default());
        for payload in 0..3 {
            let packet = Packet {
                len: 1250,
                payload,
                ..Packet::default()
            };
            wire.take(Instant::ZERO, packet, &mut dropped);
        }
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        wire.set_rate(ms(5), Rate::from_bits(10_000_000), &mut dropped);
        let times = [0; 3].map(|_| wire.arrived(ms(100), &mut dropped).unwrap().1);
        assert_eq!(times, [ms(10), ms(11), ms(12)]);
    }
}
