//! Congestion signals to a sender whose packets wait for too long: marks or drops, as [`MarkSchedule`]
//! decides.

use super::{FlowStore, Listed, MarkSchedule};
use crate::pool::Fifo;
use crate::shaper::{Framing, Shaper};
use crate::{DropReason, Ecn, Observer, Packet};
use units::{Duration, Instant};

/// A flow's last packet is never dropped, nor a remainder below a full Ethernet packet, bytes.
const LAST: u64 = 1514;
/// Most packets dropped for one that leaves, and most signals forgotten.
const MOST: u32 = 32;

/// The queue of a flow.
pub(super) struct OfFlow<'a, P> {
    pub(super) store: &'a mut FlowStore<P>,
    pub(super) queue: &'a mut Fifo,
    pub(super) listed: &'a mut Listed,
}

impl<P> OfFlow<'_, P> {
    pub(super) fn pop(&mut self) -> Option<Packet<P>> {
        self.store.pop(self.queue, self.listed)
    }
}

/// How a flow is signalled.
pub(super) struct Telling<'a> {
    /// Above which waits.
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// Packets that have waited longer are dropped even if they could be marked: their sender ignores
    /// marks (RFC 3168, section 7).
    pub(super) marked_below: Duration,
    /// Above which waits L4S packets are marked, each of them (RFC 9331).
    pub(super) step: Duration,
    /// Where drops count too.
    pub(super) charged: Option<(&'a mut Shaper, Framing)>,
}

impl Telling<'_> {
    /// The next packet to send, and whether it is marked or others were dropped for it.
    #[inline]
    pub(super) fn next<P>(
        &mut self,
        now: Instant,
        signals: &mut MarkSchedule,
        queue: &mut OfFlow<'_, P>,
        observer: &mut dyn Observer<P>,
    ) -> (Option<Packet<P>>, bool) {
        for dropped in 0..MOST {
            let Some(mut packet) = queue.pop() else {
                return (None, dropped > 0);
            };
            let waited = now.since(packet.arrived);
            let stands = queue.queue.backlog().bytes > LAST;
            let late = waited > self.target && stands;
            let may_mark = waited <= self.marked_below;
            let stepped = stands && may_mark && packet.ecn == Ecn::Ect1 && waited > self.step;
            if stepped && packet.mark() {
                observer.marked(now, &packet);
            }
            if !signals.judge(now, self.interval, late, MOST) {
                return (Some(packet), dropped > 0);
            }
            if may_mark && packet.mark() {
                signals.marked(now);
                if !stepped {
                    observer.marked(now, &packet);
                }
                return (Some(packet), true);
            }
            if let Some((shaper, framing)) = &mut self.charged {
                shaper.charge(framing.length(packet.len), true);
            }
            observer.dropped(now, packet, DropReason::Congestion);
        }
        (queue.pop(), true)
    }
}
