//! The ages of flows: the bytes that each has sent, and the level that it has come to by that.
//!
//! A flow's later packets never belong to a level that is served before that of its earlier ones:
//! levels only sink, and while packets of a flow wait it neither starts anew nor rises because limits
//! were changed.

use crate::Packet;
use crate::remembered::Remembered;
use units::Instant;

pub use crate::remembered::Memory;

/// The ages of all flows.
#[derive(Debug, Default)]
pub struct Ages(Remembered<Age>);

/// The age of a flow.
#[derive(Debug, Clone, Copy, Default)]
struct Age {
    /// Bytes that arrived since it started anew.
    bytes: u64,
    /// Packets that wait.
    waiting: u32,
    /// Level of its last packet.
    last: Option<u8>,
}

/// The level of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its level; 0 is that of new flows.
    pub level: u8,
    /// The level of the flow's packet before it, if there was one.
    pub before: Option<u8>,
    /// The place of its flow.
    flow: usize,
}

impl Ages {
    /// Counts an arriving packet and returns its level; its own bytes count. `level` maps bytes sent
    /// to a level. A flow that is not remembered, or no longer, starts anew.
    pub fn count<P>(
        &mut self,
        now: Instant,
        packet: &Packet<P>,
        memory: Memory,
        level: impl Fn(u64) -> u8,
    ) -> Placed {
        let flow = self.0.arrival(now, packet.hash, memory);
        let age = &mut self.0[flow];
        age.bytes = age.bytes.saturating_add(u64::from(packet.len));
        let earned = level(age.bytes);
        let before = age.last;
        let level = match before {
            Some(last) if age.waiting > 0 => earned.max(last),
            _ => earned,
        };
        age.last = Some(level);
        Placed {
            level,
            before,
            flow,
        }
    }

    /// The packet that was counted last waits.
    pub fn entered(&mut self, placed: Placed) {
        self.0[placed.flow].waiting += 1;
        self.0.waits(placed.flow);
    }

    /// A packet with this hash that waited does so no longer.
    pub fn left(&mut self, now: Instant, hash: u32) {
        let Some(flow) = self.0.place(hash) else {
            return;
        };
        self.0[flow].waiting -= 1;
        if self.0[flow].waiting == 0 {
            self.0.silent(now, flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;
    use crate::testing::packet;
    use std::cell::Cell;
    use units::Duration;
    use units::random::Stream;

    /// The same of Linux's conntrack: `kernel/test/ages-in-guest.sh`.
    #[test]
    fn a_hundred_thousand_flows_have_the_bytes_that_they_sent() {
        const FLOWS: u64 = 100_000;
        let memory = Memory {
            flows: 262_144,
            idle: Duration::from_secs(120),
        };
        let mut ages = Ages::default();
        let mut sent = vec![0; FLOWS as usize];
        let mut drawn = Stream::new(1, "packets");
        for number in 0..3 * FLOWS {
            let flow = match number {
                0..FLOWS => number,
                _ => drawn.below(FLOWS),
            };
            let packet = Packet {
                hash: (flow as u32).wrapping_mul(0x9E37_79B1),
                ..packet(0, 29 + drawn.below(1400) as u32, Ecn::NotCapable)
            };
            sent[flow as usize] += u64::from(packet.len);
            let age = Cell::new(0);
            let level = |bytes| {
                age.set(bytes);
                0
            };
            ages.count(Instant::from_nanos(number * 10_000), &packet, memory, level);
            assert_eq!(age.get(), sent[flow as usize], "flow {flow}");
        }
    }
}
