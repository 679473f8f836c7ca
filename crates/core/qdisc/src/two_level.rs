//! `2lps`: young flows before old ones, each with a discipline of their own.
//!
//! Principles: two-level processor sharing (2LPS) over any base. A. Marin, S. Rossi, C. Zen,
//! "Size-based scheduling for TCP flows", Computer Networks 183, 2020; here as G. Moschini,
//! "Integrating CoDel and Age-Based Scheduling" (thesis, Ca' Foscari, 2025, sections 3.2.3 and 4.4)
//! built it of Linux's `prio`, `nftables` and a qdisc in each of two bands. A flow that has sent at
//! most `threshold` bytes is young; while packets of young flows wait, none of an old one is sent.
//! More thresholds make more levels, which come closer to [`las`](crate::las) (section 3.2.3). Most
//! flows are short and end young; the few long ones pay for their gain. Not for: a call next to
//! pages. It is the longest job of all, and soon goes last.
//!
//! Interpretations:
//!
//! - Bytes are those of IP packets as they arrive, the packet's own included, dropped ones and
//!   retransmissions too: `ct bytes` as a rule of nftables sees it. That counts both directions
//!   of a connection; here only this one.
//! - conntrack forgets a connection some time after its end, or after idling: five days for TCP that
//!   is open, 120 s for TCP that has ended and for UDP. A discipline sees neither protocol nor end,
//!   so there is one time, `idle`.
//! - Each level has the room that the base has: a packet of one is not dropped for another's.
//! - CAKE's levels were tins of one CAKE there, which share the link: [`2lps_tins`](crate::tins).

use crate::ages::{Ages, Memory};
use crate::children::{ChildStats, Children};
use crate::thresholds::{MAX_THRESHOLDS, Thresholds};
use crate::{
    Backlog, Class, Discipline, DropReason, FlowId, Observer, Order, Packet, Parts, Qdisc, Slot,
};
use units::param::Settings;
use units::{Duration, Instant, Refusal};

units::params! {
    /// Parameters of `2lps`.
    pub struct TwoLevelParams {
        /// Number of sent bytes up to which a flow is young; up to seven increasing values, each
        /// for one more level. Their number is fixed once there is a queue.
        threshold: Thresholds = "6331208B", source "Moschini, listing 18: computed for load 0.88 on 1 Gbit/s and flows of 300 KiB to 1 GiB, Pareto with shape 1.2";
        /// Number of flows whose bytes are remembered, those with packets waiting apart; beyond it the one
        /// that has been silent longest is forgotten.
        flows: u32 = "262144", range "1".."1048576", source "Linux nf_conntrack_core.c: connections of a host with more than 4 GB; at 120 s, 2184 new flows a second";
        /// A flow with no packet waiting and none arriving for this long starts again as a new one.
        idle: Duration = "120s", range "1ms".."120h", source "Linux nf_conntrack: tcp_timeout_time_wait, udp_timeout_stream";
    }
}

/// The levels between the first and the last.
const MIDDLE: [&str; MAX_THRESHOLDS - 1] = ["2", "3", "4", "5", "6", "7"];

/// `2lps` for the registry.
pub fn two_level<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "2lps",
        summary: "flows that have sent little go before all others, each level under its own \
            discipline",
        about: "Two-level processor sharing over any base: a flow that has sent at most \
            `threshold` bytes is young, and while packets of young flows wait, no packet of an old \
            flow is sent. The base serves each level: `2lps(fq_codel,target=2ms),threshold=1MB`. \
            With several thresholds, `threshold=100kB/1MB`, each further threshold adds a \
            level.\n\nEach level is its own instance of the base, with its own buffer.\n\nNot for \
            calls that share a link with pages: a call is the longest job of all, and soon goes \
            last.",
        source: "A. Marin et al., Computer Networks 183, 2020; G. Moschini, thesis, Ca' Foscari, 2025",
        params: TwoLevelParams::SPECS,
        children: &[Slot {
            name: "BASE",
            default: "pfifo",
            help: "Discipline that serves each of the two levels.",
        }],
        build: |parts| Ok(Box::new(TwoLevel::new(parts)?)),
    }
}

/// The levels, and the ages of flows.
pub struct TwoLevel<P> {
    params: TwoLevelParams,
    ages: Ages,
    levels: Children<P>,
}

impl<P: Send + 'static> TwoLevel<P> {
    /// All levels empty.
    ///
    /// # Errors
    /// If a setting is refused, here or by the base.
    pub fn new(parts: &Parts<'_, P>) -> Result<Self, Refusal> {
        let params = TwoLevelParams::parse(parts.settings)?;
        Ok(TwoLevel {
            ages: Ages::default(),
            levels: Children::new(named(&params.threshold, parts)?)?,
            params,
        })
    }
}

impl<P: Send> Qdisc<P> for TwoLevel<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        let TwoLevelParams {
            threshold,
            flows,
            idle,
        } = self.params;
        let level = |bytes| threshold.level(bytes);
        let memory = Memory { flows, idle };
        let placed = self.ages.count(now, &packet, memory, level);
        let (before, level) = (placed.before.map(usize::from), usize::from(placed.level));
        self.levels
            .moved(now, packet.flow, (before, level), observer);
        self.ages.entered(placed);
        let ages = &mut self.ages;
        let observer = &mut Leaving { ages, observer };
        self.levels.enqueue(level, now, packet, observer);
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        let ages = &mut self.ages;
        let observer = &mut Leaving { ages, observer };
        // A base that shapes may hold packets back.
        let mut levels = 0..self.params.threshold.levels();
        let packet = levels.find_map(|level| self.levels.dequeue(level, now, observer))?;
        self.ages.left(now, packet.hash);
        Some(packet)
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        self.levels.next_wake(now)
    }

    fn backlog(&self) -> Backlog {
        self.levels.backlog()
    }

    fn change(
        &mut self,
        _now: Instant,
        settings: &Settings,
        _observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        if params.threshold.levels() != self.params.threshold.levels() {
            let message = "the number of thresholds cannot change once there is a queue";
            return Err(Refusal::new(message));
        }
        self.params = params;
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn classes(&self) -> Vec<String> {
        self.levels.classes()
    }

    fn children(&self) -> Vec<ChildStats> {
        self.levels.stats()
    }

    fn order(&self) -> Order {
        self.levels.get(0).order()
    }
}

/// A level's name, and its discipline.
type Named<P> = (&'static str, Box<dyn Qdisc<P>>);

/// A base for each level, from young to old.
fn named<P: Send + 'static>(
    thresholds: &Thresholds,
    parts: &Parts<'_, P>,
) -> Result<Vec<Named<P>>, Refusal> {
    let middle = MIDDLE.into_iter().take(thresholds.levels() - 2);
    let names = core::iter::once("young").chain(middle).chain(["old"]);
    names.map(|name| Ok((name, parts.child(0)?))).collect()
}

/// Accounts for packets that are dropped within, which no longer wait.
pub(crate) struct Leaving<'a, P> {
    pub(crate) ages: &'a mut Ages,
    pub(crate) observer: &'a mut dyn Observer<P>,
}

impl<P> Observer<P> for Leaving<'_, P> {
    fn dropped(&mut self, now: Instant, packet: Packet<P>, reason: DropReason) {
        self.ages.left(now, packet.hash);
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
