//! Congestion signals to a sender whose packets wait for too long: marks or drops, as [`Signals`]
//! decides.

use super::{Listed, Signals, Store};
use crate::pool::Fifo;
use crate::shaper::{Framing, Shaper};
use crate::{DropReason, Observer, Packet};
use units::{Duration, Instant};

/// A flow's last packet is never dropped, nor a remainder below a full Ethernet packet, bytes.
const LAST: u64 = 1514;
/// Most packets dropped for one that leaves, and most signals forgotten.
const MOST: u32 = 32;

/// The queue of a flow.
pub(super) struct OfFlow<'a, P> {
    pub(super) store: &'a mut Store<P>,
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
    /// Where drops count too.
    pub(super) charged: Option<(&'a mut Shaper, Framing)>,
}

impl Telling<'_> {
    /// The next packet to send, and whether it is marked or others were dropped for it.
    #[inline]
    pub(super) fn next<P>(
        &mut self,
        now: Instant,
        signals: &mut Signals,
        queue: &mut OfFlow<'_, P>,
        observer: &mut dyn Observer<P>,
    ) -> (Option<Packet<P>>, bool) {
        for dropped in 0..MOST {
            let Some(mut packet) = queue.pop() else {
                return (None, dropped > 0);
            };
            let waited = now.since(packet.arrived);
            let late = waited > self.target && queue.queue.backlog().bytes > LAST;
            if !signals.judge(now, self.interval, late, MOST) {
                return (Some(packet), dropped > 0);
            }
            if waited <= self.marked_below && packet.mark() {
                signals.marked(now);
                observer.marked(now, &packet);
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
