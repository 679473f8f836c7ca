//! The ages of flows: the bytes that each has sent, and the level that it has come to by that.
//!
//! Flows are hashed into a fixed table, and two that fall on one slot count as one. A flow's later
//! packets never belong to a level that is served before that of its earlier ones: levels only sink,
//! and while packets of a flow wait it neither starts anew nor rises because limits were changed.

use crate::FlowId;
use units::{Duration, Instant, Refusal};

/// The ages of all flows.
#[derive(Debug)]
pub struct Ages(Vec<Age>);

/// The age of the flows in one slot.
#[derive(Debug, Clone, Copy, Default)]
struct Age {
    /// Bytes that arrived since it started anew.
    bytes: u64,
    /// When its last packet arrived.
    seen: Instant,
    /// Packets that wait.
    waiting: u32,
    /// Level of its last packet, and whose that was.
    last: Option<(FlowId, u8)>,
}

/// The level of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its level; 0 is that of new flows.
    pub level: u8,
    /// The level of the flow's packet before it, if there was one.
    pub before: Option<u8>,
}

impl Ages {
    /// A table of so many slots, at least one.
    pub fn new(slots: u32) -> Self {
        Ages(vec![Age::default(); slots.max(1) as usize])
    }

    /// Checks a change of the number of slots, which cannot change.
    ///
    /// # Errors
    /// If `slots` differs from the current number.
    pub fn keep_slots(&self, slots: u32) -> Result<(), Refusal> {
        if slots as usize == self.0.len() {
            return Ok(());
        }
        Err(Refusal::new(
            "parameter flows cannot change once there is a queue",
        ))
    }

    /// The slot of a flow: its hash as a fraction of 2^32.
    fn age(&mut self, hash: u32) -> &mut Age {
        let slot = (u64::from(hash) * self.0.len() as u64) >> 32;
        &mut self.0[slot as usize]
    }

    /// Counts an arriving packet of `len` bytes of `flow` and returns its level; its own bytes
    /// count. `level` maps bytes sent to a level. A flow with no packets queued that has been
    /// silent for longer than `idle` starts anew.
    pub fn count(
        &mut self,
        now: Instant,
        (flow, hash): (FlowId, u32),
        len: u32,
        idle: Duration,
        level: impl Fn(u64) -> u8,
    ) -> Placed {
        let age = self.age(hash);
        if age.waiting == 0 && now.since(age.seen) > idle {
            age.bytes = 0;
        }
        age.seen = now;
        age.bytes = age.bytes.saturating_add(u64::from(len));
        let earned = level(age.bytes);
        let level = match age.last {
            Some((_, last)) if age.waiting > 0 => earned.max(last),
            _ => earned,
        };
        let before = age.last.filter(|(owner, _)| *owner == flow);
        age.last = Some((flow, level));
        Placed {
            level,
            before: before.map(|(_, level)| level),
        }
    }

    /// A packet waits.
    pub fn entered(&mut self, hash: u32) {
        self.age(hash).waiting += 1;
    }

    /// A packet that waited does so no longer.
    pub fn left(&mut self, hash: u32) {
        self.age(hash).waiting -= 1;
    }
}
