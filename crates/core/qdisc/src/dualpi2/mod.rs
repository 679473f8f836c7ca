//! `dualpi2`: a low-latency queue for scalable senders, coupled to a classic one.
//!
//! Principles: senders that answer to frequent marks (L4S: ECT(1), RFC 9331) need no queue, and
//! should not wait in that of those who do. Two queues share the link; one controller holds the
//! delay, and its probability is applied to the classic queue squared, to the other one multiplied,
//! so that a flow of either kind gets the same rate (RFC 9332). The low-latency queue goes first
//! except for a share, and marks everything that waited above a step. Not for: real-time traffic
//! that is not scalable. It waits among the classic flows, or, let in by a label, is dropped where
//! others are marked.
//!
//! Follows Linux's `net/sched/sch_dualpi2.c` decision by decision, after RFC 9332, appendix A. Not
//! implemented: `split_gso`, since packets are not aggregated, and filters other than `labels`. The
//! criterion for low-latency packets cannot change while packets wait, since it would let a flow
//! overtake itself.

mod params;
mod pi2;
#[cfg(test)]
mod tests;

pub use params::{DualPi2Params, MemoryLimit, StepThreshold};

use crate::flow_table::OVERHEAD;
use crate::periodic::Periodic;
use crate::pie::PieVerdict;
use crate::{Backlog, Discipline, DropReason, Ecn, Env, Label, Observer, Order, Packet, Qdisc};
use pi2::{Pi2, Pi2Config, Which};
use std::collections::VecDeque;
use units::param::Settings;
use units::random::Stream;
use units::{Instant, Refusal};

/// A full-sized packet on Ethernet, header included (`psched_mtu`), bytes.
const MTU: u64 = 1514;
/// The shares of both queues, in percent (`MAX_WC`).
const WHOLE: i64 = 100;

/// `dualpi2` for the registry.
pub fn dualpi2<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "dualpi2",
        summary: "a low-latency queue for L4S senders, coupled to a classic one",
        about: "Packets of senders that answer to frequent marks (ECT(1) or CE) have their own \
            queue, which goes first, up to a share of the link, and marks early. One controller \
            marks them and drops or marks the others so that flows of both kinds get the same \
            rate.\n\nNot for real-time traffic that does not answer to marks: it waits in the \
            classic queue.",
        source: "RFC 9332; Linux net/sched/sch_dualpi2.c",
        params: DualPi2Params::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(DualPi2::new(parts.settings, parts.env)?)),
    }
}

/// Two queues under one controller.
#[derive(Debug)]
pub struct DualPi2<P> {
    params: DualPi2Params,
    config: Pi2Config,
    state: Pi2,
    timer: Periodic,
    random: Stream,
    classic: VecDeque<Packet<P>>,
    low_latency: VecDeque<LowLatency<P>>,
    /// Of both.
    backlog: Backlog,
    /// Bytes times percent that the low-latency queue is ahead of its share; the classic one goes
    /// first while above zero.
    credit: i64,
}

#[derive(Debug)]
struct LowLatency<P> {
    packet: Packet<P>,
    /// The step threshold applies to it.
    step: bool,
}

/// A packet on its way out.
struct DequeuedPacket<P> {
    packet: Packet<P>,
    which: Which,
    step: bool,
    /// The credit added when it departs.
    credit: i64,
}

impl DualPi2Params {
    fn config(&self) -> Pi2Config {
        let gains = (self.alpha, self.beta);
        Pi2Config::new(
            self.target,
            gains,
            self.coupling_factor,
            self.drop_on_overload,
        )
    }

    /// Memory in bytes (`get_memory_limit`).
    fn memory(&self) -> u64 {
        let auto = 2 * MTU * u64::from(self.limit);
        self.memlimit.0.map_or(auto, units::Bytes::get)
    }

    fn fits(&self, backlog: Backlog) -> bool {
        let memory = backlog.bytes + OVERHEAD * u64::from(backlog.packets);
        backlog.packets <= self.limit && memory <= self.memory()
    }

    /// The credit to start with: the queue with the larger share goes first.
    fn initial_credit(&self) -> i64 {
        MTU as i64 * (2 * i64::from(self.classic_protection) - WHOLE)
    }

    fn which<P>(&self, packet: &Packet<P>) -> Which {
        let identified = match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.any_ect,
            Ecn::NotCapable => false,
        };
        if identified || (self.labels && packet.label == Label::RealTime) {
            Which::LowLatency
        } else {
            Which::Classic
        }
    }
}

impl<P> DualPi2<P> {
    /// Empty queues with the defaults for `env` and then `settings`.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = DualPi2Params::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        Ok(DualPi2 {
            config: params.config(),
            state: Pi2::default(),
            timer: Periodic::new(params.tupdate, params.tupdate),
            random: Stream::new(env.seed, "dualpi2"),
            classic: VecDeque::new(),
            low_latency: VecDeque::new(),
            backlog: Backlog::default(),
            credit: params.initial_credit(),
            params,
        })
    }

    fn catch_up(&mut self, now: Instant) {
        let fired = self.timer.fired(now);
        let classic = self.classic.front().map(|packet| packet.arrived);
        let low_latency = self.low_latency.front().map(|head| head.packet.arrived);
        let oldest = classic.into_iter().chain(low_latency).min();
        self.state
            .catch_up(&self.config, &self.timer, fired, oldest);
    }

    /// Drops or marks the packet by the controller's probability, but does nothing while less than
    /// two full packets wait (`must_drop`). Returns whether to drop it.
    fn control(
        &mut self,
        now: Instant,
        which: Which,
        packet: &mut Packet<P>,
        observer: &mut dyn Observer<P>,
    ) -> bool {
        if self.backlog.bytes < 2 * MTU {
            return false;
        }
        let capable = packet.ecn != Ecn::NotCapable;
        let verdict = self
            .state
            .decide(&self.config, which, capable, &mut self.random);
        if verdict == PieVerdict::Mark {
            mark(now, packet, observer);
        }
        verdict == PieVerdict::Drop
    }

    /// The next packet by weighted round robin (`dequeue_packet`).
    fn take(&mut self) -> Option<DequeuedPacket<P>> {
        let share = i64::from(self.params.classic_protection);
        let low_first = self.classic.is_empty() || self.credit <= 0;
        let head = if low_first {
            self.low_latency.pop_front()
        } else {
            None
        };
        let taken = if let Some(LowLatency { packet, step }) = head {
            let contended = i64::from(!self.classic.is_empty());
            DequeuedPacket {
                credit: contended * share * i64::from(packet.len),
                packet,
                which: Which::LowLatency,
                step,
            }
        } else {
            let packet = self.classic.pop_front()?;
            let contended = i64::from(!self.low_latency.is_empty());
            DequeuedPacket {
                credit: -contended * (WHOLE - share) * i64::from(packet.len),
                packet,
                which: Which::Classic,
                step: false,
            }
        };
        self.backlog.remove(taken.packet.len);
        Some(taken)
    }

    /// Whether a low-latency packet that leaves `now` is above the step threshold (`do_step_aqm`).
    fn above_step(&self, now: Instant, packet: &Packet<P>) -> bool {
        match self.params.step_thresh {
            StepThreshold::Delay(delay) => now.since(packet.arrived) > delay,
            StepThreshold::Packets(packets) => self.low_latency.len() > packets as usize,
        }
    }

    /// The oldest classic packet, or low-latency one if there are none.
    fn pop_any(&mut self) -> Option<Packet<P>> {
        let low_latency = &mut self.low_latency;
        let packet = self
            .classic
            .pop_front()
            .or_else(|| low_latency.pop_front().map(|head| head.packet))?;
        self.backlog.remove(packet.len);
        Some(packet)
    }
}

/// Marks a packet that can be marked; one that already is stays as it is.
fn mark<P>(now: Instant, packet: &mut Packet<P>, observer: &mut dyn Observer<P>) {
    if packet.ecn != Ecn::Ce && packet.mark() {
        observer.marked(now, packet);
    }
}

impl<P: Send> Qdisc<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.catch_up(now);
        let mut after = self.backlog;
        after.add(packet.len);
        if !self.params.fits(after) {
            observer.dropped(now, packet, DropReason::Tail);
            return;
        }
        let which = self.params.which(&packet);
        if self.params.drop_early && self.control(now, which, &mut packet, observer) {
            observer.dropped(now, packet, DropReason::Congestion);
            return;
        }
        packet.arrived = now;
        self.backlog = after;
        match which {
            Which::Classic => self.classic.push_back(packet),
            Which::LowLatency => {
                let step = self.low_latency.len() >= self.params.min_qlen_step as usize;
                self.low_latency.push_back(LowLatency { packet, step });
            }
        }
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        self.catch_up(now);
        while let Some(taken) = self.take() {
            let (mut packet, which) = (taken.packet, taken.which);
            if !self.params.drop_early && self.control(now, which, &mut packet, observer) {
                observer.dropped(now, packet, DropReason::Congestion);
                continue;
            }
            if taken.step && self.above_step(now, &packet) {
                if packet.ecn == Ecn::NotCapable {
                    observer.dropped(now, packet, DropReason::Congestion);
                    continue;
                }
                mark(now, &mut packet, observer);
            }
            self.credit += taken.credit;
            return Some(packet);
        }
        self.credit = self.params.initial_credit();
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// A smaller limit drops the oldest classic packets, as Linux does, and then low-latency ones.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        let classes = |params: &DualPi2Params| (params.any_ect, params.labels);
        if classes(&params) != classes(&self.params) && !self.backlog.is_empty() {
            return Err(Refusal::new(
                "parameters any_ect and labels cannot change while packets wait",
            ));
        }
        self.catch_up(now);
        self.timer.change(now, params.tupdate);
        self.state.restart_count();
        if params.classic_protection != self.params.classic_protection {
            self.credit = params.initial_credit();
        }
        self.config = params.config();
        self.params = params;
        while !self.params.fits(self.backlog) {
            let Some(packet) = self.pop_any() else {
                break;
            };
            observer.dropped(now, packet, DropReason::Change);
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn order(&self) -> Order {
        Order::FlowLabelAndEcn
    }
}
