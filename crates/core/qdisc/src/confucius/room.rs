//! Drops to make room.

use super::{Confucius, SKIPS};
use crate::{DropReason, Observer};
use units::Instant;

/// At most so many packets give way to an arriving one.
const VICTIMS: u32 = 8;

impl<P> Confucius<P> {
    /// Whether a packet of `len` bytes in `class` finds room, after others have made some.
    ///
    /// The class with the most bytes for its weight gives way: the arriving packet itself if it is
    /// in that class, otherwise that class's oldest packet. So a call in another class never pays
    /// for a download. No packet gives way to one that would find no room alone, and no more than
    /// [`VICTIMS`] give way to one packet.
    pub(super) fn make_room(
        &mut self,
        now: Instant,
        class: usize,
        len: u32,
        observer: &mut dyn Observer<P>,
    ) -> bool {
        if u64::from(len) > self.params.memory_limit.get() {
            return false;
        }
        let mut skips = SKIPS;
        for _ in 0..VICTIMS {
            if self.fits(1, len) {
                return true;
            }
            let victim = self.longest(class, len);
            if victim == class {
                return false;
            }
            if !self.drop_from(now, victim, &mut skips, DropReason::Overlimit, observer) {
                return false;
            }
        }
        self.fits(1, len)
    }

    /// Drops the oldest packet of `class`; false if more than `skips` would have to be skipped.
    pub(super) fn drop_from(
        &mut self,
        now: Instant,
        class: usize,
        skips: &mut u32,
        reason: DropReason,
        observer: &mut dyn Observer<P>,
    ) -> bool {
        let front = self.store.front(class, skips);
        let popped = front.and_then(|front| self.store.pop(class, front));
        let found = popped.is_some();
        if let Some(popped) = popped {
            observer.dropped(now, popped.packet, reason);
        }
        found
    }

    pub(super) fn fits(&self, packets: u32, bytes: u32) -> bool {
        let backlog = self.store.backlog();
        backlog.packets + packets <= self.params.limit
            && backlog.bytes + u64::from(bytes) <= self.params.memory_limit.get()
    }

    /// The class with the most bytes for its weight, `extra` bytes in `class` included. Of equals
    /// it is `class`, then the lowest.
    pub(super) fn longest(&self, class: usize, extra: u32) -> usize {
        let bytes = |other: usize| {
            let extra = if other == class { u64::from(extra) } else { 0 };
            self.store.class_backlog(other).bytes + extra
        };
        // A class without flows weighs 0, and has no bytes either.
        let weight = |other: usize| self.weights[other].max(1);
        let mut longest = class;
        for other in self.store.backlogged().from(0) {
            if bytes(other) * weight(longest) > bytes(longest) * weight(other) {
                longest = other;
            }
        }
        longest
    }
}
