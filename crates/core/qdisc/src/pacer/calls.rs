//! Which flows behave like calls.
//!
//! As in Confucius, a flow is known by how much of the queue it would fill if the link were shared
//! fairly, not by its ports. Each flow has a queue in thought that is served at half of its fair share
//! of the rate. A call keeps it short; a download, which takes the share that it can get, does not.
//! Flows that have not been seen for a second are no calls, and neither are those that pause.

use crate::FlowId;
use units::{Duration, Instant, Rate};

/// For how long a flow has to keep its queue short, as under `mencius`.
const PROBATION: Duration = Duration::from_secs(1);
/// A silence of this length ends it, as under `mencius`: audio comes every 20 ms, pictures every 33.
const GAP: Duration = Duration::from_millis(250);
/// A short queue, as under `mencius`.
const LOW: Duration = Duration::from_millis(20);
/// For how long it may be longer: a key frame causes that.
const BURST: Duration = Duration::from_millis(200);
/// The longest that a call's may ever be: Confucius' scale of occupancy.
const HIGH: Duration = Duration::from_millis(100);
/// For how long a flow is no call that passed as one and then filled its queue.
const PENALTY: Duration = Duration::from_secs(30);
/// Active flows are counted for so long.
const EPOCH: Duration = Duration::from_millis(100);

/// The state of the flows in one slot.
#[derive(Debug, Clone, Copy, Default)]
struct SlotFlows {
    /// Its queue has been short since then; in the future after it filled what it passed.
    since: Instant,
    /// Its first packet came then, or the one after its last pause.
    began: Instant,
    /// Not above `LOW` then.
    below: Instant,
    last: Instant,
    /// Bytes in its queue in thought, at the time `last`.
    bytes: u64,
    /// The last epoch in which it counted.
    epoch: u64,
    call: bool,
    /// Its packets that wait to be paced: until they have left, none passes them.
    waiting: u32,
    /// The flow of the packet before, and whether that passed.
    last_verdict: Option<(FlowId, bool)>,
}

/// All flows.
#[derive(Debug)]
pub(super) struct CallFlows {
    flows: Vec<SlotFlows>,
    epoch: u64,
    /// Flows that were no calls: in this epoch so far, and in the one before.
    counted: [u32; 2],
}

/// Where a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PacketRoute {
    /// It passes.
    pub(super) passes: bool,
    /// Whether the packet before did, if it was of the same flow.
    pub(super) before: Option<bool>,
}

impl CallFlows {
    /// No flow is known; there are this many slots.
    pub(super) fn new(slots: u32) -> Self {
        CallFlows {
            flows: vec![SlotFlows::default(); slots.max(1) as usize],
            epoch: 0,
            counted: [0; 2],
        }
    }

    /// The number of slots.
    pub(super) fn slots(&self) -> usize {
        self.flows.len()
    }

    /// Judges a packet of `len` bytes that arrives `now`, of traffic that is paced at `rate`, if it is. No
    /// flow that began after `known` is a call: the rate may be one that was.
    pub(super) fn judge(
        &mut self,
        now: Instant,
        (id, hash): (FlowId, u32),
        len: u32,
        rate: Option<Rate>,
        known: Instant,
    ) -> PacketRoute {
        let slot = self.slot(hash);
        self.count(now, slot);
        let others = self.counted[0].max(self.counted[1]).max(1);
        let flow = &mut self.flows[slot];
        // What passes as a call is not slowed when a page begins, so it is not judged by its share then.
        let parts = if flow.call { 2 } else { 2 * u64::from(others) };
        flow.arrived(now, len, rate.map(|rate| rate.scale(1, parts)), known);
        let passes = flow.call && flow.waiting == 0;
        let last = flow.last_verdict.replace((id, passes));
        let before = last.and_then(|(last, passed)| (last == id).then_some(passed));
        PacketRoute { passes, before }
    }

    /// A packet waits to be paced.
    pub(super) fn waits(&mut self, hash: u32) {
        let slot = self.slot(hash);
        self.flows[slot].waiting += 1;
    }

    /// One of them left, or was dropped.
    pub(super) fn left(&mut self, hash: u32) {
        let slot = self.slot(hash);
        self.flows[slot].waiting -= 1;
    }

    fn slot(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.flows.len() as u64) >> 32) as usize
    }

    /// Counts the active flows that are no calls.
    fn count(&mut self, now: Instant, slot: usize) {
        // Never 0, which is the epoch of flows that were never seen.
        let epoch = now.as_nanos() / EPOCH.as_nanos() + 1;
        if epoch != self.epoch {
            let before = if epoch == self.epoch + 1 {
                self.counted[0]
            } else {
                0
            };
            self.counted = [0, before];
            self.epoch = epoch;
        }
        let flow = &mut self.flows[slot];
        if flow.epoch != epoch && !flow.call {
            self.counted[0] += 1;
        }
        flow.epoch = epoch;
    }
}

impl SlotFlows {
    /// A packet of it comes; its queue is served at `share`, which was so at the time `known`, or nothing
    /// limits it.
    fn arrived(&mut self, now: Instant, len: u32, share: Option<Rate>, known: Instant) {
        let pause = now.since(self.last);
        self.last = now;
        if pause > GAP {
            self.bytes = 0;
            self.began = now;
            self.below = now;
            self.restart(now);
        }
        let wait = match share {
            None => {
                self.bytes = 0;
                Duration::ZERO
            }
            Some(share) => {
                let bytes = self.bytes.saturating_sub(share.bytes_in(pause)) + u64::from(len);
                // A longer queue would take longer to forget than it says anything.
                self.bytes = bytes.min(share.bytes_in(HIGH * 2) + u64::from(len));
                share.time_for(self.bytes.saturating_sub(u64::from(len)))
            }
        };
        if wait <= LOW {
            self.below = now;
        }
        if wait > HIGH || now.since(self.below) > BURST {
            self.restart(now);
        }
        self.call = now.since(self.since) >= PROBATION && known >= self.began;
    }

    /// Its time as a well-behaved flow begins again.
    fn restart(&mut self, now: Instant) {
        let filled = self.call && self.below != now;
        let from = if filled { now + PENALTY } else { now };
        self.since = self.since.max(from);
        self.call = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    const RATE: Rate = Rate::from_bits(20_000_000);

    /// Sends packets of 1200 B of each flow at its rate in Mbit/s from `from` to `to` (ms); the share of
    /// each that passed.
    fn send(calls: &mut CallFlows, flows: &[(u32, u64)], (from, to): (u64, u64)) -> Vec<f64> {
        let every = |mbit: u64| 1200 * 8 / mbit;
        let mut due: Vec<u64> = flows.iter().map(|_| from * 1000).collect();
        let mut counts = vec![(0u32, 0u32); flows.len()];
        loop {
            let (next, &at) = (0..).zip(&due).min_by_key(|(_, at)| **at).unwrap();
            if at >= to * 1000 {
                return counts
                    .iter()
                    .map(|(all, passed)| f64::from(*passed) / f64::from(*all))
                    .collect();
            }
            let (hash, mbit) = flows[next];
            let verdict = calls.judge(us(at), (FlowId(hash), hash), 1200, Some(RATE), us(at));
            counts[next].0 += 1;
            counts[next].1 += u32::from(verdict.passes);
            due[next] += every(mbit);
        }
    }

    const A: u32 = 0;
    const B: u32 = 1 << 31;
    const C: u32 = 3 << 30;

    #[test]
    fn a_call_passes_after_a_second() {
        let mut calls = CallFlows::new(16);
        assert_eq!(send(&mut calls, &[(A, 2)], (0, 999)), [0.0]);
        assert_eq!(send(&mut calls, &[(A, 2)], (1000, 9000)), [1.0]);
    }

    #[test]
    fn downloads_at_their_fair_share_do_not() {
        let mut calls = CallFlows::new(16);
        assert_eq!(send(&mut calls, &[(A, 20)], (0, 9000)), [0.0]);
        let mut calls = CallFlows::new(16);
        let shares = send(&mut calls, &[(A, 8), (B, 6), (C, 6)], (0, 9000));
        assert_eq!(shares, [0.0; 3]);
    }

    #[test]
    fn a_call_beside_downloads_passes_before_and_during_them() {
        let mut calls = CallFlows::new(16);
        let shares = send(&mut calls, &[(A, 2), (B, 9), (C, 9)], (0, 9000));
        assert!(shares[0] > 0.85 && shares[1..] == [0.0; 2], "{shares:?}");
        // A page of so many flows that it would have less than its share.
        let page: Vec<_> = (1..12u32).map(|flow| (flow << 28, 1)).collect();
        let flows = [&[(A, 4)], &page[..]].concat();
        send(&mut calls, &[(A, 4)], (9000, 12_000));
        assert_eq!(send(&mut calls, &flows, (12_000, 12_900))[0], 1.0);
    }

    #[test]
    fn what_passed_and_then_fills_the_link_is_paced_for_half_a_minute() {
        let mut calls = CallFlows::new(16);
        send(&mut calls, &[(A, 2)], (0, 2000));
        let while_it_grows = send(&mut calls, &[(A, 15)], (2000, 3000))[0];
        assert!(while_it_grows < 0.3, "{while_it_grows}");
        assert_eq!(send(&mut calls, &[(A, 2)], (3000, 32_000)), [0.0]);
        assert!(send(&mut calls, &[(A, 2)], (32_000, 40_000))[0] > 0.7);
    }

    #[test]
    fn silence_begins_it_again() {
        let mut calls = CallFlows::new(16);
        send(&mut calls, &[(A, 2)], (0, 2000));
        assert_eq!(send(&mut calls, &[(A, 2)], (2300, 3299)), [0.0]);
        assert_eq!(send(&mut calls, &[(A, 2)], (3301, 4000)), [1.0]);
    }

    /// A packet that waits would be overtaken.
    #[test]
    fn none_passes_before_those_that_wait() {
        let mut calls = CallFlows::new(16);
        send(&mut calls, &[(A, 2)], (0, 999));
        calls.waits(A);
        assert_eq!(send(&mut calls, &[(A, 2)], (1000, 1200)), [0.0]);
        calls.left(A);
        assert_eq!(send(&mut calls, &[(A, 2)], (1200, 1400)), [1.0]);
    }
}
