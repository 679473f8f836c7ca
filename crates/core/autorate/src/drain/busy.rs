//! The rate at which the line drains, while it has a queue.
//!
//! A packet that waited for longer than the packet before it is ahead was in the line's queue all that
//! time: the line was busy with it and nothing else. Bytes over such gaps are what the line carries.

use super::clocks::TICK;

/// Gaps that are kept.
const KEPT: usize = 64;
/// A gap is taken together with those after it of up to this in all, in s: what a radio delivers at once
/// belongs to the gap before it.
const QUANTUM: f64 = 0.001;
/// An estimate needs so much time and so many packets: stamps tick in ms.
const SPAN: f64 = 0.030;
const PACKETS: u32 = 5;
/// Older gaps say nothing of the present, in s.
const OLD: f64 = 0.25;
const FRESH: f64 = 0.1;

/// Gaps in which the line was busy, the newest last.
#[derive(Debug)]
pub struct Busy {
    gaps: [Gap; KEPT],
    newest: usize,
    /// When the last packet left the line.
    last: Option<f64>,
    /// Bytes of packets since then whose waits are not known.
    carried: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Gap {
    /// When we heard of it.
    at: f64,
    span: f64,
    /// What is in it beside the first packet's own gap.
    more: f64,
    bytes: f64,
    packets: u32,
}

impl Default for Busy {
    fn default() -> Self {
        let never = Gap {
            at: f64::NEG_INFINITY,
            ..Gap::default()
        };
        Busy {
            gaps: [never; KEPT],
            newest: 0,
            last: None,
            carried: 0,
        }
    }
}

impl Busy {
    /// A packet passed whose wait is not known.
    pub fn passed(&mut self, bytes: u32) {
        self.carried = self.carried.saturating_add(bytes);
    }

    /// A packet left the line at `left` after a wait of `wait`, as is known `now`; all in s. The gap
    /// before it and its bytes, if the line was busy in it.
    pub fn left(&mut self, now: f64, left: f64, wait: f64, bytes: u32) -> Option<(f64, f64)> {
        let bytes = f64::from(core::mem::take(&mut self.carried)) + f64::from(bytes);
        let last = self
            .last
            .replace(self.last.map_or(left, |last| last.max(left)));
        let span = (left - last?).max(0.0);
        if wait < TICK || wait < span + TICK / 2.0 {
            return None;
        }
        let newest = &mut self.gaps[self.newest];
        if newest.more + span < QUANTUM && now - newest.at < OLD {
            newest.at = now;
            newest.span += span;
            newest.more += span;
            newest.bytes += bytes;
            newest.packets += 1;
        } else {
            self.newest = (self.newest + 1) % KEPT;
            self.gaps[self.newest] = Gap {
                at: now,
                span,
                more: 0.0,
                bytes,
                packets: 1,
            };
        }
        Some((span, bytes))
    }

    /// What the line carries now, in bit/s, if it has a queue.
    pub fn capacity(&self, now: f64) -> Option<f64> {
        let (mut span, mut bytes, mut packets) = (0.0, 0.0, 0);
        for back in 0..KEPT {
            let gap = &self.gaps[(self.newest + KEPT - back) % KEPT];
            let limit = if back == 0 { FRESH } else { OLD };
            if now - gap.at > limit {
                break;
            }
            span += gap.span;
            bytes += gap.bytes;
            packets += gap.packets;
            if span >= SPAN && packets >= PACKETS {
                return Some(bytes * 8.0 / span);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_tells_the_rate_however_packets_were_sent() {
        let mut busy = Busy::default();
        // 1250 B a ms are 10 Mbit/s; every third packet has no stamps.
        for number in 0..200 {
            let at = f64::from(number) * 1e-3;
            match number % 3 {
                0 => busy.passed(1250),
                _ => _ = busy.left(at, at, 0.01, 1250),
            }
        }
        let capacity = busy.capacity(0.2).unwrap();
        assert!((capacity / 1e7 - 1.0).abs() < 0.06, "{capacity}");
        assert_eq!(busy.capacity(0.4), None);
    }

    #[test]
    fn without_a_queue_nothing_is_told() {
        let mut busy = Busy::default();
        for number in 0..200 {
            let at = f64::from(number) * 5e-3;
            assert_eq!(busy.left(at, at, 0.002, 1250), None);
        }
        assert_eq!(busy.capacity(1.0), None);
    }
}
