//! `cake`: Common Applications Kept Enhanced.
//!
//! Principles (T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE", 2018; Linux
//! `net/sched/sch_cake.c`, version 6.18, whose decisions are followed here unless noted otherwise):
//!
//! - a shaper (`qdisc::shaper`): a rate without bursts, so that the queue is here and not in a modem behind;
//! - `diffserv`: priority tins by band or code point, each with a threshold above which it has no priority;
//! - `ways`, `tin`: hosts share a tin, and flows share their host's part, in queues that hardly
//!   ever hold two flows; flows that send little go first;
//! - `cobalt`: CoDel for flows that answer, BLUE for those that do not. ECN is always on;
//! - `overflow`: if the buffer is full, the longest queue gives its oldest packet.
//!
//! Not here: `autorate-ingress`, the filter of acknowledgements, `wash`, `nat`, `fwmark` and
//! filters, and the splitting of GSO packets, which do not exist here. Lengths are those of IP
//! packets: the kernel counts 14 bytes of Ethernet header in addition if `overhead` is not set.
//! `memlimit` counts packets' bytes, the kernel those of its buffers, about half as much again. If
//! a change of `diffserv` or `flowmode` gives packets another queue, they go there in the order of
//! their arrival and all flows begin anew; the kernel leaves them where they are, or drops them.

mod cobalt;
mod diffserv;
mod overflow;
mod params;
#[cfg(test)]
mod tests;
mod tin;
mod ways;

pub use params::{CakeParams, Diffserv, FlowMode, MemLimit};

use crate::pool::Pool;
use crate::shaper::{Framing, Pace, Shaper};
use crate::{Backlog, Discipline, DropReason, Env, Observer, Order, Packet, Qdisc};
use cobalt::{Aim, PacketCase};
use overflow::Longest;
use tin::Tin;
use units::param::Settings;
use units::random::Stream;
use units::{Bytes, Instant, Refusal};
use ways::PLACES;

/// `cake` for the registry.
pub fn cake<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "cake",
        summary: "shaper, priority tins, fairness between hosts and their flows, CoDel and BLUE",
        about: "Hosts share the link, and the flows of a host share what the host gets. Flows that \
            send little go first. Each flow has a queue of its own whose delay CoDel and BLUE \
            control, by marks where packets allow it. Code points put packets into tins of \
            different priority. With `bandwidth`, packets leave at that rate.\n\nNot for rates \
            that change, unless the queue builds up here: CAKE needs the rate as a parameter, or \
            has to be at the bottleneck.",
        source: "Høiland-Jørgensen, Täht and Morton 2018; Linux net/sched/sch_cake.c",
        params: CakeParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Cake::new(parts.settings, parts.env)?)),
    }
}

/// Common Applications Kept Enhanced.
#[derive(Debug)]
pub struct Cake<P> {
    params: CakeParams,
    framing: Framing,
    /// Bytes that may wait.
    limit: u64,
    pool: Pool<P>,
    tins: Vec<Tin>,
    /// The state of the turns among tins.
    current: usize,
    shaper: Shaper,
    longest: Longest,
    backlog: Backlog,
    random: Stream,
}

/// Outcome of asking a queue for a packet.
enum Taken<P> {
    Sent(Packet<P>),
    /// The queue was empty.
    Nothing,
    /// One was dropped, and counts like one that was sent.
    Charged,
}

impl<P> Cake<P> {
    /// An empty one, with `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = CakeParams::default();
        if let Some(limit) = env.limit {
            params.memlimit = MemLimit(Some(Bytes::new(limit.bytes().min(u32::MAX.into()))));
        }
        if let Some(home) = env.home {
            params.flowmode = home.into();
        }
        params.apply(settings)?;
        let mut cake = Cake {
            framing: Framing::new(params.overhead, params.mpu, params.atm),
            limit: 0,
            pool: Pool::new(),
            tins: Vec::new(),
            current: 0,
            shaper: Shaper::default(),
            longest: Longest::new(0),
            backlog: Backlog::default(),
            random: Stream::new(env.seed, "cake"),
            params,
        };
        cake.begin();
        Ok(cake)
    }

    /// Begins with empty tins.
    fn begin(&mut self) {
        let tins = self.params.diffserv.shares(0).len();
        self.tins = (0..tins).map(|_| Tin::new()).collect();
        self.longest = Longest::new(tins * PLACES);
        self.current = 0;
        self.configure();
    }

    /// Applies the parameters to all tins (`cake_reconfigure`).
    fn configure(&mut self) {
        let params = &self.params;
        let rate = params.bandwidth.bytes();
        for (tin, share) in self.tins.iter_mut().zip(params.diffserv.shares(rate)) {
            tin.pace = Pace::new(share.rate);
            tin.aim = Aim::new(params.target(), params.rtt, tin.pace);
            tin.set_quantum(share.rate);
            tin.share = share.quantum;
        }
        self.framing = Framing::new(params.overhead, params.mpu, params.atm);
        self.limit = params.limit();
        self.shaper.pace = Pace::new(rate);
    }

    /// Puts a packet that came at `arrived` into its queue.
    fn put(&mut self, now: Instant, arrived: Instant, packet: Packet<P>) {
        let diffserv = self.params.diffserv;
        let by_band = diffserv.of_band(packet.band);
        let number = by_band.unwrap_or_else(|| diffserv.tin(packet.dscp));
        let (mode, len) = (self.params.flowmode, packet.len);
        let tin = &mut self.tins[number];
        let flow = tin.place(hash(&packet, mode), packet.hosts, mode);
        if tin.backlog.is_empty() {
            tin.due = tin.due.max(now);
        }
        if self.backlog.is_empty() {
            self.shaper.wake_up(now);
        }
        self.pool.push(&mut tin.flow(flow).queue, arrived, packet);
        tin.backlog.add(len);
        self.backlog.add(len);
        let random = &mut self.random;
        tin.joined(flow, mode, || (random.bits() >> 48) as u16);
        let bytes = |queue| bytes(&self.tins, queue);
        self.longest.grown(number * PLACES + flow, bytes);
    }

    /// Takes the oldest packet of a queue.
    fn pull(&mut self, number: usize, flow: usize) -> Option<Packet<P>> {
        let tin = &mut self.tins[number];
        let packet = self.pool.pop(&mut tin.flow(flow).queue)?;
        tin.backlog.remove(packet.len);
        self.backlog.remove(packet.len);
        let bytes = |queue| bytes(&self.tins, queue);
        self.longest.shrunk(number * PLACES + flow, bytes);
        Some(packet)
    }

    /// Drops from the longest queues until the limit holds (`cake_drop`).
    fn shrink(&mut self, now: Instant, reason: DropReason, observer: &mut dyn Observer<P>) {
        while self.backlog.bytes > self.limit {
            let longest = self.longest.top(|queue| bytes(&self.tins, queue));
            let (number, flow) = (longest / PLACES, longest % PLACES);
            let Some(packet) = self.pull(number, flow) else {
                return;
            };
            let tin = &mut self.tins[number];
            let aim = tin.aim;
            tin.flow(flow).cobalt.overflowed(now, &aim);
            if self.params.ingress {
                let bytes = self.framing.length(packet.len);
                self.advance(now, number, bytes, true);
            }
            observer.dropped(now, packet, reason);
        }
    }

    /// Moves the deadlines on by `bytes` of a tin (`cake_advance_shaper`).
    fn advance(&mut self, now: Instant, number: usize, bytes: u32, dropped: bool) {
        if self.shaper.pace.is_unlimited() {
            return;
        }
        let tin = &mut self.tins[number];
        let time = tin.pace.time(bytes);
        tin.due = if tin.due < now {
            tin.due + time
        } else {
            tin.due.max(now + time)
        };
        self.shaper.charge(bytes, dropped);
    }

    /// Counts a packet against its flow, its tin and the shaper.
    fn charge(&mut self, now: Instant, flow: usize, len: u32, dropped: bool) {
        let bytes = self.framing.length(len);
        let tin = &mut self.tins[self.current];
        tin.charge(flow, bytes);
        if self.shaper.pace.is_unlimited() {
            tin.deficit -= i64::from(bytes);
        }
        self.advance(now, self.current, bytes, dropped);
    }

    /// The tin whose turn it is, if packets wait.
    fn choose_tin(&mut self, now: Instant) {
        if self.shaper.pace.is_unlimited() {
            self.next_tin_by_quantum();
        } else {
            self.current = self.first_tin_by_deadline(now);
        }
    }

    /// Tins take turns by their quanta.
    fn next_tin_by_quantum(&mut self) {
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.has_turns() {
                return;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.share;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// The last tin that is below its threshold, which is the one of highest priority; if there is
    /// none, the one that will be there first.
    fn first_tin_by_deadline(&self, now: Instant) -> usize {
        let turns = self.tins.iter().enumerate().rev();
        turns
            .filter(|(_, tin)| tin.has_turns())
            .min_by_key(|(_, tin)| tin.due.since(now))
            .map_or(self.current, |(number, _)| number)
    }

    /// Serves the current tin until a packet is to be sent or a queue was empty.
    fn serve(
        &mut self,
        now: Instant,
        decaying_first: &mut bool,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        loop {
            let tin = &mut self.tins[self.current];
            let flow = tin.next(*decaying_first)?;
            *decaying_first = false;
            let random = &mut self.random;
            let dither = || (random.bits() >> 48) as u16;
            if tin.turn_is_over(flow, self.params.flowmode, dither) {
                continue;
            }
            match self.take(now, flow, observer) {
                Taken::Sent(packet) => return Some(packet),
                Taken::Nothing => return None,
                Taken::Charged => {}
            }
        }
    }

    /// Takes packets of `flow` until Cobalt lets one through.
    fn take(&mut self, now: Instant, flow: usize, observer: &mut dyn Observer<P>) -> Taken<P> {
        let ingress = self.params.ingress;
        loop {
            let Some(mut packet) = self.pull(self.current, flow) else {
                self.tins[self.current].found_empty(flow, now);
                return Taken::Nothing;
            };
            let tin = &mut self.tins[self.current];
            let case = PacketCase {
                sojourn: now.since(packet.arrived),
                ecn: packet.ecn != crate::Ecn::NotCapable,
                bulk_flows: if ingress { tin.bulk_flows() } else { 0 },
            };
            let (aim, state) = (tin.aim, tin.flow(flow));
            let random = &mut self.random;
            let chance = || (random.bits() >> 32) as u32;
            let verdict = state.cobalt.judge(now, &aim, case, chance);
            if verdict.drop && !state.queue.is_empty() {
                if ingress {
                    self.charge(now, flow, packet.len, true);
                }
                observer.dropped(now, packet, DropReason::Congestion);
                if ingress {
                    return Taken::Charged;
                }
                continue;
            }
            if verdict.mark && packet.mark() {
                observer.marked(now, &packet);
            }
            self.charge(now, flow, packet.len, false);
            self.longest.sent();
            return Taken::Sent(packet);
        }
    }

    /// Gives every packet its queue anew.
    fn sort_again(&mut self, now: Instant) {
        let mut packets = Vec::new();
        for number in 0..self.tins.len() {
            for flow in 0..PLACES {
                while let Some(packet) = self.pull(number, flow) {
                    packets.push(packet);
                }
            }
        }
        // Those of one queue stay in their order.
        packets.sort_by_key(|packet| packet.arrived);
        self.begin();
        for packet in packets {
            self.put(now, packet.arrived, packet);
        }
    }
}

/// The hash by which a packet's queue is chosen.
fn hash<P>(packet: &Packet<P>, mode: FlowMode) -> u32 {
    if mode.flows() {
        return packet.hash;
    }
    let part = |counts, hash| if counts { hash } else { 0 };
    part(mode.source(), packet.hosts.source) ^ part(mode.destination(), packet.hosts.destination)
}

/// Bytes in a queue by its number over all tins.
fn bytes(tins: &[Tin], queue: usize) -> u64 {
    tins[queue / PLACES].bytes(queue % PLACES)
}

impl<P: Send> Qdisc<P> for Cake<P> {
    fn bands(&self) -> usize {
        self.tins.len()
    }

    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.put(now, now, packet);
        self.shrink(now, DropReason::Overlimit, observer);
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let mut decaying_first = true;
        while !self.backlog.is_empty() && self.shaper.holds(now).is_none() {
            self.choose_tin(now);
            if let Some(packet) = self.serve(now, &mut decaying_first, observer) {
                return Some(packet);
            }
        }
        None
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        self.shaper.holds(now).filter(|_| !self.backlog.is_empty())
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
        let before = (self.params.diffserv, self.params.flowmode);
        self.params.apply(settings)?;
        if (self.params.diffserv, self.params.flowmode) == before {
            self.configure();
        } else {
            self.sort_again(now);
        }
        self.shrink(now, DropReason::Change, observer);
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn order(&self) -> Order {
        Order::FlowAndDscp
    }
}
