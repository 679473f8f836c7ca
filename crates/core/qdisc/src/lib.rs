//! Queue disciplines as pure state machines.
//!
//! Every call takes `now`; nothing in here reads a clock, does I/O, or allocates per packet once
//! its buffers have grown to their high-water mark. The fate of packets is reported to the
//! [`Observer`] that the caller passes.
//!
//! A discipline is one file: principles, parameters, code, tests. It is known to the rest of the
//! project by one line in [`registry`]. One that contains others gets them built, and keeps them in
//! [`Children`].
//!
//! Not for: a link's rate, delay and device (`link`); putting a discipline on a real device
//! (`netcfg`).

#![deny(missing_docs)]

pub mod ages;
mod builtin;
pub mod cake;
pub mod cbq;
pub mod children;
pub mod codel;
pub mod confucius;
pub mod drr;
pub mod dualpi2;
mod exact_flows;
pub mod fifo;
pub mod floq;
pub mod flow_table;
pub mod fq;
pub mod fq_codel;
pub mod fq_fifo;
pub mod fq_pie;
pub mod hhf;
mod inv_sqrt;
pub mod labelled;
pub mod las;
mod list;
pub mod mencius;
pub mod pacer;
mod packet;
mod periodic;
pub mod pias;
pub mod pie;
pub mod policer;
pub mod pool;
pub mod prio;
pub mod red;
pub mod registry;
mod remembered;
pub mod shaper;
#[cfg(test)]
mod testing;
pub mod thresholds;
pub mod tins;
pub mod two_level;

pub use children::{ChildStats, Children};
pub use packet::{Backlog, Hosts, Label, Packet};
pub use registry::{Discipline, Env, Home, Limit, Parts, Registry};
pub use units::choice::{Choice, Slot};
pub use units::{Ecn, FlowId};

use units::param::Settings;
use units::{Instant, Refusal};

/// A queue discipline holding packets with payloads of type `P`.
///
/// Packets of one flow leave in the order in which they came, unless [`order`](Qdisc::order)
/// differs. A packet that is handed in comes out exactly once: through [`dequeue`](Qdisc::dequeue)
/// or through [`Observer::dropped`].
pub trait Qdisc<P>: Send {
    /// Takes a packet that arrives `now`. Drops, of this packet or of others, are reported to
    /// `observer`.
    fn enqueue(&mut self, now: Instant, packet: Packet<P>, observer: &mut dyn Observer<P>);

    /// The next packet to send `now`, if any may be sent.
    fn dequeue(&mut self, now: Instant, observer: &mut dyn Observer<P>) -> Option<Packet<P>>;

    /// When to call [`dequeue`](Qdisc::dequeue) again after it returned nothing although packets
    /// wait. A work-conserving discipline never delays packets and keeps the default.
    fn next_wake(&self, _now: Instant) -> Option<Instant> {
        None
    }

    /// The packets queued.
    fn backlog(&self) -> Backlog;

    /// Changes parameters while packets wait. Packets are dropped only if a new limit leaves no
    /// room for them. A composite changes its own parameters only: its children keep theirs, and a
    /// setting of a child is refused as unknown.
    ///
    /// # Errors
    /// If a setting is refused; parameters are then unchanged.
    fn change(
        &mut self,
        now: Instant,
        settings: &Settings,
        observer: &mut dyn Observer<P>,
    ) -> Result<(), Refusal>;

    /// Current parameters, as a user would write them.
    fn params(&self) -> Vec<(&'static str, String)>;

    /// Names of the classes that [`Observer::moved`] reports; empty if there are none.
    fn classes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Counters of the disciplines that this one contains; empty if it contains none.
    fn children(&self) -> Vec<ChildStats> {
        Vec::new()
    }

    /// Number of bands into which it puts packets by [`Packet::band`]; 0 if it does not use that.
    fn bands(&self) -> usize {
        0
    }

    /// The guarantee about the order of a flow's packets.
    fn order(&self) -> Order {
        Order::Flow
    }
}

/// The order in which packets of one flow leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The order of arrival.
    Flow,
    /// The order of arrival, among those with the same [`Label`]: the label decides about the
    /// queue, and a sender that labels some of a flow's packets only asks for them to overtake.
    FlowAndLabel,
    /// The order of arrival, among those with the same [`Label`] and [`Ecn`] field: these decide
    /// about the queue.
    FlowLabelAndEcn,
    /// The order of arrival, among those with the same code point, for the same reason.
    FlowAndDscp,
    /// None: a flow that changes its band overtakes its packets in the one that it left.
    None,
}

/// One of a discipline's classes: an index into [`Qdisc::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u8);

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// No room: the arriving packet was refused.
    Tail,
    /// No room: a packet of another flow, or an older one, was dropped instead.
    Overlimit,
    /// An AQM's decision, to signal a standing queue to the sender.
    Congestion,
    /// A change of parameters left no room.
    Change,
    /// More than a policer lets pass.
    Rate,
}

impl DropReason {
    /// The name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Tail => "tail",
            DropReason::Overlimit => "overlimit",
            DropReason::Congestion => "congestion",
            DropReason::Change => "change",
            DropReason::Rate => "rate",
        }
    }
}

/// Receives the events of a discipline. The defaults ignore them.
pub trait Observer<P> {
    /// A packet was dropped; it is handed back, so that its owner can free the payload.
    fn dropped(&mut self, _now: Instant, _packet: Packet<P>, _reason: DropReason) {}

    /// A packet was marked with Congestion Experienced; it is about to leave, or to be queued.
    fn marked(&mut self, _now: Instant, _packet: &Packet<P>) {}

    /// A flow was put into a class: for the first time, or out of another one.
    fn moved(&mut self, _now: Instant, _flow: FlowId, _from: Option<Class>, _to: Class) {}
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl<P> Observer<P> for Ignore {}
