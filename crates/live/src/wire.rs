//! A queue and the wire behind it, in a time of their own: what a direction of real packets has, whatever
//! stands for a packet.

use link::{Capacity, Link};
use qdisc::{Observer, Packet, Qdisc};
use std::collections::VecDeque;
use units::param::Settings;
use units::{Instant, Rate, Refusal};

/// Is told of the packets.
pub(crate) trait Watch<P>: Observer<P> {
    /// A packet leaves the queue `now`, and is at the other end later, unless the wire loses it; returns
    /// what the wire carries.
    fn left(&mut self, now: Instant, packet: Packet<P>, arrives: Option<Instant>) -> Option<P>;
}

/// It is given the time, and processes the time that has passed in steps, each at its own moment: a late
/// call delays arrivals and not the actions of the link.
pub(crate) struct Wire<P> {
    link: Link<P>,
    /// When the device has sent each of the packets that it holds.
    sending: VecDeque<Instant>,
    wake: Instant,
    /// Packets on the wire, by arrival: the wire keeps their order.
    flying: VecDeque<(Instant, P)>,
}

impl<P> Wire<P> {
    /// An idle one.
    pub(crate) fn new(link: Link<P>) -> Self {
        Wire {
            link,
            sending: VecDeque::new(),
            wake: Instant::NEVER,
            flying: VecDeque::new(),
        }
    }

    /// A packet arrives, `now`, no earlier than the former events.
    pub(crate) fn take(&mut self, now: Instant, packet: Packet<P>, watch: &mut impl Watch<P>) {
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

    /// A packet that has arrived by `now`, and when.
    pub(crate) fn arrived(
        &mut self,
        now: Instant,
        watch: &mut impl Watch<P>,
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

    /// Changes the discipline's parameters `now`; packets that wait keep their places.
    ///
    /// # Errors
    /// If a setting is refused; nothing is changed then.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        watch: &mut impl Watch<P>,
    ) -> Result<(), Refusal> {
        self.catch_up(now, watch);
        self.link.change(now, settings, watch)?;
        // It may hold packets back no longer, or longer than was asked for.
        self.wake = Instant::NEVER;
        self.start(now, watch);
        Ok(())
    }

    /// The wire has another rate from the next packet on.
    pub(crate) fn set_rate(&mut self, now: Instant, rate: Rate, watch: &mut impl Watch<P>) {
        self.catch_up(now, watch);
        self.link.set_capacity(Capacity::Constant(rate));
    }

    fn next_step(&self) -> Instant {
        let sent = self.sending.front().copied().unwrap_or(Instant::NEVER);
        sent.min(self.wake)
    }

    fn catch_up(&mut self, now: Instant, watch: &mut impl Watch<P>) {
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
    fn start(&mut self, now: Instant, watch: &mut impl Watch<P>) {
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
