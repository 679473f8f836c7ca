//! The packets of one path that are under way.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// Packets that are neither acknowledged nor lost after this long are forgotten.
const FORGOTTEN: Duration = Duration::from_secs(10);

/// A packet that left.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathPacket {
    pub(super) number: u64,
    pub(super) sent: Instant,
    pub(super) bytes: u64,
}

/// A path of the load.
#[derive(Debug, Default)]
pub(super) struct LoadPath {
    pub(super) packets: VecDeque<PathPacket>,
    pub(super) in_flight: u64,
    pub(super) srtt: Duration,
    /// The newest packet of the acknowledgement that is being read.
    pub(super) newest: Option<PathPacket>,
}

impl LoadPath {
    /// Forgets those that left too long ago.
    pub(super) fn forget(&mut self, now: Instant) {
        let old = |p: &PathPacket| now.since(p.sent) > FORGOTTEN;
        while self.packets.front().is_some_and(old) {
            self.in_flight -= self.packets.pop_front().map_or(0, |p| p.bytes);
        }
    }

    /// Takes the packet out of those in flight; the one sent at `sent` if that is known.
    pub(super) fn take(&mut self, number: u64, sent: Option<Instant>) -> Option<PathPacket> {
        let from = sent.map_or(0, |sent| self.packets.partition_point(|p| p.sent < sent));
        let at = from
            + self
                .packets
                .range(from..)
                .position(|p| p.number == number)?;
        let packet = self.packets.remove(at)?;
        self.in_flight -= packet.bytes;
        Some(packet)
    }
}
