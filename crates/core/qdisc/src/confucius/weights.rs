//! New flows by age, and their weight: the paper's equation (1), in units of 1/128 (section 6).
//!
//! A new flow of age t weighs min(|F_ext| / |Q_new| · 2^(λt), 1), the exponent in whole steps of
//! `doubling` = 1/λ, less `head_start` steps (decision 0011; 0 in the paper). New flows stand in one list for each step. Older flows are never in a lower
//! step, so each list is in the order of the flows' start and a step costs O(1).

use crate::list::{List, NIL, Nodes};
use units::{Duration, Instant};

/// The weight of an existing flow.
pub(super) const UNIT: u64 = 128;

/// One more than the highest step. At 2^17 every weight is 1: there are at most 2^16 flows.
pub(super) const STEPS: usize = 18;

/// The fate of a new flow when its next step is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WeightFate {
    /// It takes the step.
    Older,
    /// It begins again.
    Again,
    /// It is no more.
    Over,
}

/// The flows of Q_new.
#[derive(Debug)]
pub(super) struct NewFlows {
    lists: [List; STEPS],
    counts: [u64; STEPS],
    nodes: Nodes,
    step: Vec<u8>,
    started: Vec<Instant>,
    /// No flow reaches its next step before this.
    next_due: Instant,
}

impl NewFlows {
    /// None of `flows` flows is new.
    pub(super) fn new(flows: usize) -> Self {
        NewFlows {
            lists: [List::default(); STEPS],
            counts: [0; STEPS],
            nodes: Nodes::with_len(flows),
            step: vec![0; flows],
            started: vec![Instant::ZERO; flows],
            next_due: Instant::NEVER,
        }
    }

    /// |Q_new|.
    pub(super) fn len(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// `flow` begins `now`.
    pub(super) fn add(&mut self, now: Instant, flow: usize, doubling: Duration) {
        self.started[flow] = now;
        self.enter(flow, 0);
        self.next_due = self.next_due.min(now + doubling);
    }

    /// `flow` is new no longer.
    pub(super) fn remove(&mut self, flow: usize) {
        let step = usize::from(self.step[flow]);
        self.counts[step] -= 1;
        self.nodes.remove(&mut self.lists[step], flow as u32);
    }

    fn enter(&mut self, flow: usize, step: usize) {
        self.step[flow] = step as u8;
        self.counts[step] += 1;
        self.nodes.push_back(&mut self.lists[step], flow as u32);
    }

    /// Whether a flow may have reached its next step.
    pub(super) fn due(&self, now: Instant) -> bool {
        now >= self.next_due
    }

    /// Takes every flow to the step of its age, or as `fate` says, but no more than `most` of them;
    /// the rest stays due. Returns whether anything changed.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        doubling: Duration,
        most: u32,
        mut fate: impl FnMut(usize) -> WeightFate,
    ) -> bool {
        let mut left = most;
        // From low to high: a flow that slept through several steps takes them all, and arrives
        // behind those that began before it.
        for step in 0..STEPS - 1 {
            while let Some(flow) = self.first_of(step) {
                if left == 0 || now < self.due_at(flow, step, doubling) {
                    break;
                }
                left -= 1;
                self.remove(flow);
                match fate(flow) {
                    WeightFate::Older => self.enter(flow, step + 1),
                    WeightFate::Again => {
                        self.started[flow] = now;
                        self.enter(flow, 0);
                    }
                    WeightFate::Over => {}
                }
            }
        }
        self.reckon(doubling);
        left < most
    }

    /// Finds out anew when the next step is due, also after `doubling` has changed.
    pub(super) fn reckon(&mut self, doubling: Duration) {
        let dues = (0..STEPS - 1)
            .filter_map(|step| Some(self.due_at(self.first_of(step)?, step, doubling)));
        self.next_due = dues.min().unwrap_or(Instant::NEVER);
    }

    fn due_at(&self, flow: usize, step: usize, doubling: Duration) -> Instant {
        self.started[flow] + doubling * (step as u64 + 1)
    }

    fn first_of(&self, step: usize) -> Option<usize> {
        let head = self.lists[step].head();
        (head != NIL).then_some(head as usize)
    }

    /// The step from which on new flows weigh 1 next to `existing` ones, so that they age out
    /// (section 4.2). At least 1: a flow shows for one `doubling` how it uses the buffer, even
    /// where equation (1) would give it its full weight at once.
    pub(super) fn ripe_step(&self, existing: u64, head_start: u32) -> usize {
        let new = self.len() << head_start;
        (1..STEPS - 1)
            .find(|&step| existing == 0 || existing << step >= new)
            .unwrap_or(STEPS - 1)
    }

    /// The oldest new flow that has reached `step`.
    pub(super) fn oldest_from(&self, step: usize) -> Option<usize> {
        (step..STEPS).rev().find_map(|step| self.first_of(step))
    }

    /// The weight of Q_new next to `existing` classified flows, in 1/128: the sum over its flows,
    /// divided once, so that many flows of little weight do not vanish one by one. At least 1 if
    /// there is a flow.
    pub(super) fn weight(&self, existing: u64, head_start: u32) -> u64 {
        let new = self.len();
        if existing == 0 || new == 0 {
            return UNIT * new;
        }
        // Everything but the counts is times new · 2^head_start: no more than 2^52 in all.
        let one = (UNIT * new) << head_start;
        let sum: u64 = (0..STEPS)
            .map(|step| self.counts[step] * one.min((UNIT * existing) << step))
            .sum();
        ((sum / new) >> head_start).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLING: Duration = Duration::from_millis(250);
    const ALL: u32 = u32::MAX;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn beginning_at(starts: &[u64]) -> NewFlows {
        let mut flows = NewFlows::new(starts.len());
        for (flow, &ms) in starts.iter().enumerate() {
            flows.add(at(ms), flow, DOUBLING);
        }
        flows
    }

    #[test]
    fn twelve_new_flows_beside_one() {
        let mut flows = beginning_at(&[0; 12]);
        // 12 flows of min(1/12 · 2^k, 1): 1, 2, 4, 8, and then 12 instead of 16, times 128.
        for (step, weight) in [128, 256, 512, 1024, 1536].into_iter().enumerate() {
            flows.advance(at(250 * step as u64), DOUBLING, ALL, |_| WeightFate::Older);
            assert_eq!(flows.weight(1, 0), weight);
            assert!(
                !flows.advance(at(250 * step as u64 + 249), DOUBLING, ALL, |_| {
                    WeightFate::Older
                })
            );
        }
        assert_eq!(flows.ripe_step(1, 0), 4);
        assert_eq!(flows.oldest_from(4), Some(0));
    }

    #[test]
    fn flows_of_different_age() {
        let mut flows = beginning_at(&[0, 100, 200]);
        flows.advance(at(600), DOUBLING, ALL, |_| WeightFate::Older);
        // Ages 600, 500, 400: steps 2, 2, 1. Beside one flow min(2^k/3, 1) is 1, 1 and 2/3:
        // 128 + 128 + 85.3, and 341.3 rounds down.
        assert_eq!(flows.weight(1, 0), 341);
        assert_eq!(flows.ripe_step(1, 0), 2);
        assert_eq!(flows.oldest_from(2), Some(0));
        flows.remove(0);
        assert_eq!(flows.oldest_from(2), Some(1));
        flows.remove(1);
        // One is left next to three: it weighs 1 since it began, and is past its first step.
        assert_eq!(flows.ripe_step(3, 0), 1);
        assert_eq!(flows.oldest_from(1), Some(2));
    }

    #[test]
    fn a_lone_new_flow_stays_for_one_doubling() {
        let mut flows = beginning_at(&[0]);
        flows.advance(at(249), DOUBLING, ALL, |_| WeightFate::Older);
        assert_eq!((flows.ripe_step(5, 0), flows.weight(5, 0)), (1, 128));
        assert_eq!(flows.oldest_from(1), None);
        flows.advance(at(250), DOUBLING, ALL, |_| WeightFate::Older);
        assert_eq!(flows.oldest_from(1), Some(0));
    }

    #[test]
    fn many_new_flows_have_a_weight_together() {
        // 1000 flows of 128/1000 each would be 0 one by one.
        let mut flows = beginning_at(&[0; 1000]);
        assert_eq!(flows.weight(1, 0), 128);
        assert_eq!(flows.ripe_step(1, 0), 10);
        // Without other flows each weighs 1.
        assert_eq!(flows.weight(0, 0), 128_000);
        flows.advance(at(2500), DOUBLING, ALL, |_| WeightFate::Older);
        assert_eq!(flows.weight(1, 0), 128_000);
    }

    #[test]
    fn a_flow_that_slept_through_all_steps() {
        let mut flows = beginning_at(&[0, 10]);
        assert!(flows.advance(at(1_000_000), DOUBLING, ALL, |_| WeightFate::Older));
        assert_eq!(flows.oldest_from(STEPS - 1), Some(0));
        assert!(!flows.advance(at(2_000_000), DOUBLING, ALL, |_| WeightFate::Older));
    }

    #[test]
    fn a_head_start_of_two_doublings() {
        // 12 flows of min(1/12 · 2^(k − 2), 1) next to one: 1/4, 1/2, 1, 2, 4, 8, and then 12.
        let mut flows = beginning_at(&[0; 12]);
        for (step, weight) in [32, 64, 128, 256, 512, 1024, 1536].into_iter().enumerate() {
            flows.advance(at(250 * step as u64), DOUBLING, ALL, |_| WeightFate::Older);
            assert_eq!(flows.weight(1, 2), weight);
        }
        assert_eq!(flows.ripe_step(1, 2), 6);
        // A single one weighs min(5/4, 1) next to five and 1/4 next to one, and is ripe when it
        // weighs 1.
        let flows = beginning_at(&[0]);
        assert_eq!((flows.weight(5, 2), flows.ripe_step(5, 2)), (128, 1));
        assert_eq!((flows.weight(1, 2), flows.ripe_step(1, 2)), (32, 2));
    }
}
