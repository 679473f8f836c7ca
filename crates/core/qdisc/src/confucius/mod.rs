//! `confucius`: new flows are given their share gradually, old ones are kept among their like.
//!
//! Z. Meng et al., "Confucius: Achieving Consistent Low Latency with Practical Queue Management
//! for Real-Time Communications".
//!
//! Principles:
//! - A control needs time to slow down. When a page opens twelve connections during a call, the
//!   call's share goes down by half, and then by half again every `doubling`, not to 1/13 at once
//!   (section 4, `weights.rs`).
//! - In the long run every flow has its fair share.
//! - End hosts do not declare their kind of traffic. Flows that fill the buffer and flows that keep
//!   it short are told apart by their behaviour, and kept in separate classes (section 5,
//!   `examine.rs`).
//! - A flow's packets never overtake one another, also when the flow is moved (`store.rs`).
//!
//! Not for: core routers with thousands of flows; senders that fill the buffer and nevertheless
//! expect a short delay.
//!
//! The same decisions, to the packet, are made by C in a kernel, `kernel/confucius/confucius.h`: only integers
//! in here.

mod dwrr;
mod examine;
mod heap;
#[cfg(test)]
mod model;
mod occupancy;
pub mod params;
mod room;
mod store;
#[cfg(test)]
mod tests;
mod weights;

use crate::exact_flows::{ExactFlows, Found};
use crate::{Backlog, Class, Discipline, DropReason, Env, Observer, Packet, Qdisc};
use dwrr::Dwrr;
use examine::{ClassMove, Rules};
use occupancy::{ClassOccupancy, FlowWindow, of_buffer, of_delay};
use params::{ConfuciusParams, MAX_TARGETS, Occupancy};
use store::{ClassStore, Popped};
use units::param::Settings;
use units::{Duration, Instant, Refusal};
use weights::{NewFlows, STEPS, UNIT, WeightFate};

/// Q_new and the classes of old flows.
const MAX_CLASSES: usize = MAX_TARGETS + 1;

/// Q_new, the class of new flows; the others are 1 to 7, by increasing target.
const NEW: usize = 0;

/// Bound on the work done for one packet: number of flows that are forgotten, reach a step, and are
/// classified. The rest is done with the next packets.
const BATCH: u32 = 8;

/// At most so many packets of flows that have moved are skipped.
const SKIPS: u32 = 64;

/// `confucius` for the registry.
pub fn confucius<P: Send + 'static>() -> Discipline<P> {
    Discipline {
        name: "confucius",
        summary: "new flows gain weight gradually; old ones are classed by how they fill the buffer",
        about: "A new flow starts with little weight, which doubles every 250 ms until it has its \
            fair share, so that a call on the same link can slow down in time. Old flows are put \
            into classes by how much of the buffer they occupy, so that a call does not wait \
            behind a download. No packet needs a label. Nothing is dropped before the buffer is \
            full, and nothing is marked unless `ecn` is on.\n\nNot for core routers, and no help \
            for a sender that fills the buffer itself.",
        source: "Confucius paper, sections 3 to 6; decision 0010",
        params: ConfuciusParams::SPECS,
        children: &[],
        build: |parts| Ok(Box::new(Confucius::new(parts.settings, parts.env)?)),
    }
}

/// The discipline.
#[derive(Debug)]
pub struct Confucius<P> {
    params: ConfuciusParams,
    store: ClassStore<P>,
    table: ExactFlows,
    new_flows: NewFlows,
    windows: Vec<FlowWindow>,
    occupancy: [ClassOccupancy; MAX_CLASSES],
    /// Active flows of each class.
    members: [u64; MAX_CLASSES],
    weights: [u64; MAX_CLASSES],
    /// No flow falls idle before this.
    idle_due: Instant,
    /// Members or ages have changed since the weights were computed.
    stale: bool,
    /// New flows of this step and later ones are being classified.
    ripe: usize,
    scheduler: Dwrr,
}

impl<P> Confucius<P> {
    /// A discipline with `settings` in the place that `env` describes.
    ///
    /// # Errors
    /// If a setting is refused.
    pub fn new(settings: &Settings, env: &Env) -> Result<Self, Refusal> {
        let mut params = ConfuciusParams::default();
        if let Some(limit) = env.limit {
            params.limit = limit.packets();
        }
        params.apply(settings)?;
        let table = ExactFlows::new(params.flows as usize);
        let flows = table.len();
        Ok(Confucius {
            params,
            store: ClassStore::new(flows),
            table,
            new_flows: NewFlows::new(flows),
            windows: vec![FlowWindow::default(); flows],
            occupancy: Default::default(),
            members: [0; MAX_CLASSES],
            weights: [0; MAX_CLASSES],
            idle_due: Instant::ZERO,
            stale: false,
            ripe: STEPS - 1,
            scheduler: Dwrr::default(),
        })
    }

    /// Packets that were treated as another flow's because the flow table had no room.
    pub fn shared(&self) -> u64 {
        self.table.shared()
    }

    fn rules(&self) -> Rules {
        Rules {
            targets: self.params.targets,
            alpha: self.params.alpha,
            occupancy: self.params.occupancy,
        }
    }

    /// The unit of occupancy: 100 %.
    fn unit(&self) -> (Occupancy, u64) {
        let ConfuciusParams {
            occupancy,
            limit,
            scale,
            ..
        } = self.params;
        match occupancy {
            Occupancy::Buffer => (occupancy, u64::from(limit)),
            Occupancy::Delay => (occupancy, scale.as_nanos()),
        }
    }

    /// Forgets all measurements.
    fn measure_anew(&mut self, now: Instant) {
        self.occupancy = Default::default();
        self.windows.fill(FlowWindow::new(now));
    }

    /// |F_ext|: active flows that have been classified.
    fn existing(&self) -> u64 {
        self.members[NEW + 1..].iter().sum()
    }

    /// Forgets flows that have been idle for long enough.
    #[inline]
    fn expire(&mut self, now: Instant) {
        if now >= self.idle_due {
            self.expire_idle(now);
        }
    }

    #[cold]
    fn expire_idle(&mut self, now: Instant) {
        for _ in 0..BATCH {
            let Some(flow) = self.table.idle(now, self.params.idle) else {
                break;
            };
            if !self.store.flow_backlog(flow).is_empty() {
                // The link stands still: a flow with packets queued is active.
                self.table.touch(now, flow);
                continue;
            }
            let class = self.store.class_of(flow);
            self.leave(now, flow, class);
            self.table.forget(flow);
        }
        self.idle_due = self.table.idle_since(now) + self.params.idle;
    }

    /// The flow of an arriving packet; a flow that was not known begins as new.
    fn flow_of(
        &mut self,
        now: Instant,
        packet: &Packet<P>,
        observer: &mut dyn Observer<P>,
    ) -> usize {
        let waits = |flow| !self.store.flow_backlog(flow).is_empty();
        let found = self.table.find(now, packet.hash, packet.flow, waits);
        match found {
            Found::Known(flow) | Found::Shared(flow) => flow,
            Found::Fresh(flow) | Found::FirstShared(flow) => {
                self.windows[flow] = FlowWindow::new(now);
                self.store.move_flow(flow, NEW);
                self.new_flows.add(now, flow, self.params.doubling);
                self.members[NEW] += 1;
                self.stale = true;
                observer.moved(now, packet.flow, None, Class(NEW as u8));
                flow
            }
        }
    }

    /// Takes `flow` out of the counts of `class`.
    fn leave(&mut self, now: Instant, flow: usize, class: usize) {
        self.members[class] -= 1;
        if self.members[class] == 0 {
            self.scheduler.forgive(class);
        }
        self.occupancy[class].uncount(&mut self.windows[flow], now);
        if class == NEW {
            self.new_flows.remove(flow);
        }
        self.stale = true;
    }

    /// Moves `flow` with its packets into a class of old flows.
    fn reclassify(&mut self, now: Instant, flow: usize, to: usize, observer: &mut dyn Observer<P>) {
        let from = self.store.class_of(flow);
        self.leave(now, flow, from);
        self.store.move_flow(flow, to);
        self.members[to] += 1;
        let from = Some(Class(from as u8));
        observer.moved(now, self.table.id(flow), from, Class(to as u8));
    }

    /// Brings ages and weights up to date. Flows whose weight has reached 1 are classified.
    #[inline]
    fn reweigh(&mut self, now: Instant, observer: &mut dyn Observer<P>) {
        if self.new_flows.due(now) {
            self.age(now);
        }
        if self.stale {
            self.reweigh_all(now, observer);
        }
    }

    /// New flows reach their next steps, and guests begin again. One that was idle for a whole
    /// doubling is forgotten: it is over, or like a new one when it comes back. Otherwise the
    /// look-ups of a page's names, older than the page, would bring their weight into Q_new, and
    /// then count as existing flows.
    #[cold]
    fn age(&mut self, now: Instant) {
        let doubling = self.params.doubling;
        let Self {
            store,
            table,
            members,
            scheduler,
            ..
        } = self;
        self.stale |= self.new_flows.advance(now, doubling, BATCH, |flow| {
            if !store.flow_backlog(flow).is_empty() || table.silence(now, flow) < doubling {
                return if table.are_guests(flow) {
                    WeightFate::Again
                } else {
                    WeightFate::Older
                };
            }
            members[NEW] -= 1;
            if members[NEW] == 0 {
                scheduler.forgive(NEW);
            }
            table.forget(flow);
            WeightFate::Over
        });
    }

    #[cold]
    fn reweigh_all(&mut self, now: Instant, observer: &mut dyn Observer<P>) {
        self.stale = self.ripen(now, observer);
        self.weights = self.members.map(|members| UNIT * members);
        let head_start = self.params.head_start;
        self.weights[NEW] = self.new_flows.weight(self.existing(), head_start);
    }

    /// Classifies flows whose weight has reached 1, no more than [`BATCH`] of them, and returns
    /// whether there may be more. A flow that ages out raises the weights of the others, so that
    /// more may age out; it lowers none that was ripe with it.
    fn ripen(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> bool {
        for _ in 0..BATCH {
            let existing = self.existing();
            let ripe = self.new_flows.ripe_step(existing, self.params.head_start);
            self.ripe = self.ripe.min(ripe);
            let Some(flow) = self.new_flows.oldest_from(self.ripe) else {
                self.ripe = STEPS - 1;
                return false;
            };
            let class = self.rules().nearest(self.windows[flow].latest());
            self.reclassify(now, flow, class, observer);
        }
        true
    }

    /// Whether a packet of `class` that waited for `sojourn` is to be marked.
    fn too_long(&self, class: usize, sojourn: Duration) -> bool {
        sojourn > self.rules().target_delay(class, self.params.scale)
    }

    /// Ends the flow's interval if it is over, and moves the flow if it is among strangers.
    fn examine(&mut self, now: Instant, flow: usize, observer: &mut dyn Observer<P>) {
        let window = &mut self.windows[flow];
        let before = window.mean();
        if !window.close(now, self.params.interval) {
            return;
        }
        let class = self.store.class_of(flow);
        if class == NEW {
            return;
        }
        self.occupancy[class].count(window, before);
        let own = window.latest();
        let rules = self.rules();
        let total = self.occupancy[class].total();
        let verdict = match rules.by_share(class, own, total) {
            Some(verdict) => verdict,
            None => {
                let members = self.members[class];
                self.occupancy[class].judge(now, self.params.interval, class, members, &rules)
            }
        };
        let to = match verdict {
            ClassMove::Up => (class + 1).min(rules.classes()),
            ClassMove::Down => (class - 1).max(NEW + 1),
            ClassMove::Stay => class,
        };
        if to != class {
            self.reclassify(now, flow, to, observer);
        }
    }
}

impl<P: Send> Qdisc<P> for Confucius<P> {
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>) {
        self.expire(now);
        let flow = self.flow_of(now, &packet, observer);
        self.reweigh(now, observer);
        let class = self.store.class_of(flow);
        if self.store.backlogged().is_empty() {
            self.scheduler.forgive_all();
        }
        if self.make_room(now, class, packet.len, observer) {
            self.store.push(now, flow, packet);
        } else {
            observer.dropped(now, packet, DropReason::Tail);
        }
        if self.params.occupancy == Occupancy::Buffer {
            let own = self.store.flow_backlog(flow);
            self.windows[flow].sample(of_buffer(own, self.params.limit));
        }
        self.examine(now, flow, observer);
    }

    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>> {
        // A kernel asks after each packet whether there is another, and reads no clock if there is
        // none: flows age and expire at the next packet.
        if self.store.backlogged().is_empty() {
            return None;
        }
        self.expire(now);
        self.reweigh(now, observer);
        let quantum = self.params.quantum.get();
        let backlogged = self.store.backlogged();
        let mut class = self.scheduler.pick(backlogged, &self.weights, quantum)?;
        let mut skips = SKIPS;
        let mut front = self.store.front(class, &mut skips);
        if front.is_none() {
            self.scheduler.retry(class);
            class = self.store.eldest()?;
            front = self.store.front(class, &mut skips);
        }
        let in_class = self.store.class_backlog(class).bytes;
        let waiting = self.store.class_waiting(class);
        let Popped {
            mut packet,
            flow,
            native,
        } = self.store.pop(class, front?)?;
        self.scheduler.charge(class, packet.len);
        self.table.touch(now, flow);
        let sojourn = now.since(packet.arrived);
        if self.params.ecn && self.too_long(class, sojourn) && packet.mark() {
            observer.marked(now, &packet);
        }
        // The wait in another class is no indication for this one.
        if native && self.params.occupancy == Occupancy::Delay {
            let own = self.store.flow_backlog(flow).bytes + u64::from(packet.len);
            let occupancy = of_delay(sojourn, own, in_class, waiting, self.params.scale);
            self.windows[flow].sample(occupancy);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal> {
        let mut params = self.params.clone();
        params.apply(settings)?;
        if params.flows != self.params.flows {
            let why = "parameter flows cannot be changed while the discipline is in use";
            return Err(Refusal::new(why));
        }
        let unit = self.unit();
        self.params = params;
        if self.unit() != unit {
            self.measure_anew(now);
        }
        self.new_flows.reckon(self.params.doubling);
        let highest = self.rules().classes();
        for flow in self.table.active().collect::<Vec<_>>() {
            if self.store.class_of(flow) > highest {
                self.reclassify(now, flow, highest, observer);
            }
        }
        self.idle_due = now;
        self.expire(now);
        self.stale = true;
        self.reweigh(now, observer);
        let mut skips = u32::MAX;
        while !self.fits(0, 0) {
            let first = self.store.backlogged().from(0).next();
            let victim = first.map_or(NEW, |class| self.longest(class, 0));
            if !self.drop_from(now, victim, &mut skips, DropReason::Change, observer) {
                break;
            }
        }
        Ok(())
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.values()
    }

    fn classes(&self) -> Vec<String> {
        let old = (1..=self.rules().classes()).map(|class| class.to_string());
        core::iter::once("new".to_owned()).chain(old).collect()
    }
}
