//! `pacer`: web traffic that has passed the bottleneck is held to a rate below the bottleneck's.
//!
//! Principles: A. Schlomer, A. A. Philip, J. Sherry, Z. Meng, "User-Controllable Congestion Mitigation
//! for Low-Latency Applications" (SIGCOMM 2024 posters). On the receiving computer all web traffic is
//! one group, however many flows and servers it has. What exceeds a rate waits, and what would wait
//! longer than a round trip is dropped, so that its senders slow down before they fill a router's
//! queue that nobody at home can change.
//!
//! Beyond the poster: flows that behave like calls are let through (`calls.rs`); the rate can follow
//! an estimate of the bottleneck (`estimate.rs`), and sustained traffic then gets more of it by
//! Confucius' schedule; and any discipline can be the queue.
//!
//! It is the caller's responsibility to hand in the packets that are to be paced, by their ports.
//! Not for: a bottleneck of one's own. A discipline there needs no rate and loses nothing.

mod calls;
mod estimate;
mod params;

pub use params::{PacerParams, Pacing};

use crate::children::{ChildStats, Children};
use crate::fifo::{FifoQdisc, PfifoParams};
use crate::shaper::{Pace, Shaper};
use crate::{
    Backlog, Class, Discipline, DropReason, Env, FlowId, Limit, Observer, Order, Packet, Parts,
    Qdisc, Slot,
};
use calls::{CallFlows, PacketRoute};
use estimate::CapacityEstimate;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

/// `pacer` for the registry.
pub fn pacer<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "pacer",
        summary: "web traffic behind a bottleneck, held to a rate so that a call survives",
        about: "For the receiving computer, behind a router that cannot be changed. All web traffic is \
            one group: it passes at the rate, waits in one queue if more of it comes, and is dropped if \
            it would wait for longer than `queue`. Its senders then slow down before the router's queue \
            is full. A flow that has kept below half of its fair share for a second, as a call does, \
            passes at once.\n\nWith rate = adaptive, the bottleneck's capacity is estimated. `reserve` of it \
            stays free, at most a fifth, and of the rest traffic gets what Confucius would give to flows that \
            begin beside a call: half at first, then 2/3, 4/5, and at most 8/9, in steps of `doubling`.\n\nIts child is the discipline \
            of the queue, for example `pacer(fq_codel),rate=20mbit`. What would wait too long is dropped \
            in any case.\n\nNot for the sending side of a bottleneck, where a discipline needs no rate.",
        source: "A. Schlomer et al., SIGCOMM 2024 posters; Confucius, section 4.2",
        params: PacerParams::SPECS,
        children: &[Slot {
            name: "POLICY",
            default: "bfifo",
            help: "Discipline of the traffic that waits.",
        }],
        build: |parts| Ok(Box::new(Pacer::new(parts)?)),
    }
}

/// Places of the children.
const PACED: usize = 0;
const PASSED: usize = 1;

/// A silence of web traffic after which it is new again: Confucius' `idle`.
const IDLE: Duration = Duration::from_secs(1);
/// The weight of sustained traffic beside the rest stops here.
const MOST_DOUBLINGS: u64 = 3;
/// At most one part in so many of the capacity is reserved: decision 0074.
const MOST_RESERVED: u64 = 5;
/// What passes as a call lowers the estimate to no less than so many calls: one whose packets come evenly looks
/// like a bottleneck of its own rate, and at three times that it still is a call.
const CALLS: u64 = 3;
/// A packet that is longer than the queue passes when nothing waits, so the policy has room for it.
const LONGEST: u64 = 65_535;
/// Room for the policy of an adaptive pacer: 50 ms at 1 Gbit/s.
const ADAPTIVE_LIMIT: Limit = Limit::Bytes(6_250_000);

/// A pacer and its queues.
pub struct Pacer<P> {
    params: PacerParams,
    queues: Children<P>,
    shaper: Shaper,
    /// The present rate; none before there is an estimate.
    rate: Option<Rate>,
    calls: CallFlows,
    estimate: CapacityEstimate,
    /// When the present web traffic began, and the last of it came.
    began: Instant,
    last: Instant,
}

impl<P: Send + 'static> Pacer<P> {
    /// An empty one.
    ///
    /// # Errors
    /// If a setting is refused, here or by the policy.
    pub fn new(parts: &Parts<'_, P>) -> Result<Self, Refusal> {
        let params = PacerParams::parse(parts.settings)?;
        let env = Env {
            rate: match params.rate {
                Pacing::Fixed(rate) => Some(rate),
                Pacing::Adaptive => None,
            },
            limit: Some(match params.rate {
                Pacing::Fixed(rate) => Limit::Bytes(rate.bytes_in(params.queue).max(LONGEST)),
                Pacing::Adaptive => ADAPTIVE_LIMIT,
            }),
            ..parts.env.clone()
        };
        // Calls wait for the device only.
        let passed = FifoQdisc::new(PfifoParams::default(), &[])?;
        let mut pacer = Pacer {
            queues: Children::new([
                ("paced", parts.child_in(0, &env)?),
                ("passed", Box::new(passed) as Box<dyn Qdisc<P>>),
            ])?,
            shaper: Shaper::default(),
            rate: None,
            calls: CallFlows::new(params.flows),
            estimate: CapacityEstimate::default(),
            began: Instant::ZERO,
            last: Instant::ZERO,
            params,
        };
        pacer.set_rate(Instant::ZERO);
        Ok(pacer)
    }
}

impl<P: Send> Pacer<P> {
    /// The rate that the parameters and the estimate call for `now`.
    fn wanted(&self, now: Instant) -> Option<Rate> {
        let capacity = match self.params.rate {
            Pacing::Fixed(rate) => return Some(rate),
            Pacing::Adaptive => self.estimate.rate()?,
        };
        let age = now.since(self.began);
        if CapacityEstimate::probes(age) {
            return Some(capacity.scale(5, 4));
        }
        // Equation (1) of Confucius with one flow beside: the new ones weigh 1 together at first, and
        // the weight doubles.
        let reserve = self.params.reserve.min(capacity.scale(1, MOST_RESERVED));
        let free = Rate::from_bits(capacity.as_bits().saturating_sub(reserve.as_bits()));
        let doublings = age.as_nanos() / self.params.doubling.as_nanos().max(1);
        let weight = 1u64 << doublings.min(MOST_DOUBLINGS);
        Some(free.scale(weight, weight + 1))
    }

    /// The estimate takes notice of a packet; it falls no further than `floor`.
    fn sees(&mut self, now: Instant, len: u32, waiting: bool, floor: Option<Rate>) {
        if self.params.rate == Pacing::Adaptive {
            self.estimate.arrived(now, len, waiting, floor);
        }
    }

    /// Whether a packet that arrives passes, as one of a call.
    fn passes(&mut self, now: Instant, packet: &Packet<P>, observer: &mut dyn Observer<P>) -> bool {
        if !self.params.calls {
            return false;
        }
        let flow = (packet.flow, packet.hash);
        let known = match self.params.rate {
            Pacing::Fixed(_) => now,
            Pacing::Adaptive => self.estimate.known(),
        };
        let judged = self.calls.judge(now, flow, packet.len, self.rate, known);
        let PacketRoute { passes, before } = judged;
        let child = |passes: bool| if passes { PASSED } else { PACED };
        let moves = (before.map(child), child(passes));
        self.queues.moved(now, packet.flow, moves, observer);
        passes
    }

    fn set_rate(&mut self, now: Instant) {
        let wanted = self.wanted(now);
        if wanted != self.rate {
            self.rate = wanted;
            // At least one byte per second, as 0 would be no limit.
            let pace = wanted.map_or(Pace::default(), |rate| {
                Pace::new((rate.as_bits() / 8).max(1))
            });
            self.shaper.change(now, pace);
        }
    }

    /// Whether a packet of this length may wait.
    fn has_room(&self, len: u32) -> bool {
        let waiting = self.paced().bytes;
        let room = |rate: Rate| rate.bytes_in(self.params.queue);
        waiting == 0
            || self
                .rate
                .is_none_or(|rate| waiting + u64::from(len) <= room(rate))
    }

    fn paced(&self) -> Backlog {
        self.queues.get(PACED).backlog()
    }

    /// Web traffic arrives.
    fn pace(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let waiting = !self.paced().is_empty();
        if now.since(self.last) > IDLE {
            self.began = now;
        }
        self.last = now;
        self.sees(now, packet.len, waiting, None);
        self.set_rate(now);
        if !waiting {
            self.shaper.wake_up(now);
        }
        if !self.has_room(packet.len) {
            return observer.dropped(now, packet, DropReason::Tail);
        }
        self.calls.waits(packet.hash);
        let calls = &mut self.calls;
        let observer = &mut PacerLeaving { calls, observer };
        self.queues.enqueue(PACED, now, packet, observer);
    }
}

impl<P: Send> Qdisc<P> for Pacer<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.estimate.forget(now);
        if self.passes(now, &packet, observer) {
            let waiting = !self.paced().is_empty();
            let floor = self.params.reserve.scale(CALLS, 1);
            self.sees(now, packet.len, waiting, Some(floor));
            self.queues.enqueue(PASSED, now, packet, observer);
        } else {
            self.pace(now, packet, observer)
        }
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        if let Some(packet) = self.queues.dequeue(PASSED, now, observer) {
            return Some(packet);
        }
        self.set_rate(now);
        if self.shaper.holds(now).is_some() {
            return None;
        }
        let calls = &mut self.calls;
        let observer = &mut PacerLeaving { calls, observer };
        let packet = self.queues.dequeue(PACED, now, observer)?;
        self.calls.left(packet.hash);
        self.shaper.charge(packet.len, false);
        Some(packet)
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        let policy = self.queues.next_wake(now);
        let held = self.shaper.holds(now).filter(|_| !self.paced().is_empty());
        held.max(policy)
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        _observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        if params.flows as usize != self.calls.slots() {
            let message = "parameter flows cannot change once there is a queue";
            return Err(Refusal::new(message));
        }
        self.params = params;
        if settings.iter().any(|(key, _)| key == "rate") {
            // It may be another line.
            self.estimate = CapacityEstimate::default();
        }
        self.set_rate(now);
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn classes(&self) -> Vec<String> {
        self.queues.classes()
    }

    fn children(&self) -> Vec<ChildStats> {
        self.queues.stats()
    }

    fn order(&self) -> Order {
        self.queues.get(PACED).order()
    }
}

/// Accounts for packets that the policy drops, which no longer wait.
struct PacerLeaving<'a, P> {
    calls: &'a mut CallFlows,
    observer: &'a mut dyn Observer<P>,
}

impl<P> Observer<P> for PacerLeaving<'_, P> {
    fn dropped(&mut self, now: Instant, packet: Packet<P>, reason: DropReason) {
        self.calls.left(packet.hash);
        self.observer.dropped(now, packet, reason);
    }

    fn marked(&mut self, now: Instant, packet: &Packet<P>) {
        self.observer.marked(now, packet);
    }

    fn moved(&mut self, now: Instant, flow: FlowId, from: Option<Class>, to: Class) {
        self.observer.moved(now, flow, from, to);
    }
}

#[cfg(test)]
mod tests;
