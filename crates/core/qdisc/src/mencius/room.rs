//! Drops for lack of room: the oldest packet of the longest flow of the most backlogged host.

use super::Mencius;
use crate::{Backlog, DropReason, Observer};
use units::Instant;

/// At most so many packets give way to an arriving one.
const VICTIMS: u32 = 8;
/// Bytes added to each packet's length when sizes are compared.
const EACH: u64 = 256;

/// How much waits, so that many small packets are much too.
pub(super) fn size(backlog: Backlog) -> u64 {
    backlog.bytes + EACH * u64::from(backlog.packets)
}

impl<P> Mencius<P> {
    /// Whether a packet of `len` bytes finds room, after others have made some. No packet gives way
    /// to one that would find no room alone.
    pub(super) fn make_room(
        &mut self,
        now: Instant,
        len: u32,
        observer: &mut dyn Observer<P>,
    ) -> bool {
        if u64::from(len) > self.params.memory_limit.get() {
            return false;
        }
        for _ in 0..VICTIMS {
            if self.fits_one_more(len) {
                return true;
            }
            if !self.drop_largest(now, DropReason::Overlimit, observer) {
                return false;
            }
        }
        self.fits_one_more(len)
    }

    fn fits_one_more(&self, len: u32) -> bool {
        self.store.backlog().packets < self.params.limit && self.fits(len)
    }

    /// Whether there is room for the backlog and `len` bytes more.
    pub(super) fn fits(&self, len: u32) -> bool {
        let backlog = self.store.backlog();
        backlog.packets <= self.params.limit
            && backlog.bytes + u64::from(len) <= self.params.memory_limit.get()
    }

    /// Drops a packet to make room; returns false if there is none.
    pub(super) fn drop_largest(
        &mut self,
        now: Instant,
        reason: DropReason,
        observer: &mut dyn Observer<P>,
    ) -> bool {
        let largest = |host: usize| self.hosts[host].by_size.largest();
        let Some(flow) = self.by_size.largest().and_then(largest) else {
            return false;
        };
        let state = &mut self.flows[flow];
        let before = state.queue.backlog();
        let list = &mut self.hosts[state.host].listed;
        let Some(packet) = self.store.pop(&mut state.queue, list) else {
            return false;
        };
        state.calm.dropped(now);
        observer.dropped(now, packet, reason);
        self.resize(flow, before);
        self.judge(now, flow);
        self.leave_if_empty(flow);
        true
    }
}
