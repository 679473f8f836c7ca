//! Deficit round robin: whose turn it is to send.
//!
//! Principles: a flow may send while its deficit is positive; the bytes it sends are subtracted,
//! and a flow that has used up its deficit gets another quantum and goes to the end of the round
//! (M. Shreedhar and G. Varghese 1996, in the form of RFC 8290, section 4.2: the last packet may
//! overdraw). Flows that just became active are on a list of their own that goes first, so that a
//! flow that never builds a queue hardly waits.
//!
//! Here are only the turns: packets, queues and quanta are the caller's. A flow is an index.
//!
//! ```
//! use qdisc::drr::Drr;
//!
//! let (weights, mut waiting) = ([1000, 500], [3, 3]);
//! let mut drr = Drr::new(2);
//! drr.join(0, weights[0]);
//! drr.join(1, weights[1]);
//! let mut sent = String::new();
//! while let Some(flow) = drr.next(|flow| weights[flow as usize]) {
//!     if waiting[flow as usize] == 0 {
//!         drr.leave();
//!         continue;
//!     }
//!     waiting[flow as usize] -= 1;
//!     drr.charge(flow, 500);
//!     sent += &flow.to_string();
//! }
//! assert_eq!(sent, "001011");
//! ```

const NIL: u32 = u32::MAX;
/// In place of a successor: the flow is on no list.
const IDLE: u32 = u32::MAX - 1;

/// The turns of a fixed number of flows.
#[derive(Debug, Clone)]
pub struct Drr {
    flows: Vec<DrrFlow>,
    new: DrrList,
    old: DrrList,
}

#[derive(Debug, Clone, Copy)]
struct DrrFlow {
    /// Bytes that it may still send in this round; negative if its last packet overdrew.
    deficit: i32,
    next: u32,
}

#[derive(Debug, Clone, Copy)]
struct DrrList {
    head: u32,
    tail: u32,
}

const EMPTY: DrrList = DrrList {
    head: NIL,
    tail: NIL,
};

impl Drr {
    /// Turns for the flows `0..flows`, all idle.
    pub fn new(flows: u32) -> Self {
        let idle = DrrFlow {
            deficit: 0,
            next: IDLE,
        };
        Drr {
            flows: vec![idle; flows as usize],
            new: EMPTY,
            old: EMPTY,
        }
    }

    /// An idle flow gets packets, and goes before the flows that have been sending. No effect if it
    /// is not idle. `quantum` is its first deficit, in bytes.
    pub fn join_new(&mut self, flow: u32, quantum: u32) {
        if self.is_idle(flow) {
            self.flows[flow as usize].deficit = saturate(quantum);
            self.new.push(&mut self.flows, flow);
        }
    }

    /// An idle flow gets packets, and goes to the end of the round: plain round robin. No effect if
    /// it is not idle. `quantum` is its first deficit, in bytes.
    pub fn join(&mut self, flow: u32, quantum: u32) {
        if self.is_idle(flow) {
            self.flows[flow as usize].deficit = saturate(quantum);
            self.old.push(&mut self.flows, flow);
        }
    }

    /// Whether the flow is in no round.
    pub fn is_idle(&self, flow: u32) -> bool {
        self.flows[flow as usize].next == IDLE
    }

    /// The flow whose turn it is, if any is not idle. It keeps its turn until it is
    /// [charged](Drr::charge) all of its deficit, or [leaves](Drr::leave). `quantum` is the number
    /// of bytes that a flow gets when its deficit is used up; zero counts as one.
    pub fn next(&mut self, quantum: impl Fn(u32) -> u32) -> Option<u32> {
        loop {
            let head = self.first().head;
            let flow = self.flows.get_mut(head as usize)?;
            if flow.deficit > 0 {
                return Some(head);
            }
            flow.deficit = flow.deficit.saturating_add(saturate(quantum(head).max(1)));
            self.rotate();
        }
    }

    /// Takes `bytes` that `flow` sent off its deficit.
    pub fn charge(&mut self, flow: u32, bytes: u32) {
        let flow = &mut self.flows[flow as usize];
        flow.deficit = flow.deficit.saturating_sub_unsigned(bytes);
    }

    /// The flow that [`next`](Drr::next) returned has no packets. A new flow has to wait for a
    /// round of the others before it is idle, so that it cannot come back as new at once and starve
    /// them (RFC 8290, section 4.2).
    pub fn leave(&mut self) {
        if self.new.head != NIL && self.old.head != NIL {
            self.rotate();
        } else {
            self.take_first();
        }
    }

    /// As [`leave`](Drr::leave), but a new flow passes through the round even if that is empty, so
    /// that it goes behind those that are new with it, as in Linux's `sch_fq.c`.
    pub fn leave_by_the_round(&mut self) {
        if self.new.head != NIL {
            self.rotate();
        } else {
            self.take_first();
        }
    }

    /// The flow that [`next`](Drr::next) named may not send for now, and is idle at once.
    pub fn withdraw(&mut self) {
        self.take_first();
    }

    /// The remaining credit of `flow` in this round is lost, and its overdraft is forgiven.
    pub fn settle(&mut self, flow: u32) {
        self.flows[flow as usize].deficit = 0;
    }

    /// Bytes that `flow` may still send in this round; negative if its last packet overdrew.
    pub fn deficit(&self, flow: u32) -> i32 {
        self.flows[flow as usize].deficit
    }

    /// The list whose head has its turn.
    fn first(&mut self) -> &mut DrrList {
        if self.new.head == NIL {
            &mut self.old
        } else {
            &mut self.new
        }
    }

    /// Moves the flow whose turn it is to the end of the round.
    fn rotate(&mut self) {
        if let Some(flow) = self.take_first() {
            self.old.push(&mut self.flows, flow);
        }
    }

    /// Takes the flow whose turn it is off its list.
    fn take_first(&mut self) -> Option<u32> {
        let head = self.first().head;
        let flow = self.flows.get_mut(head as usize)?;
        let next = flow.next;
        flow.next = IDLE;
        self.first().head = next;
        Some(head)
    }
}

impl DrrList {
    fn push(&mut self, flows: &mut [DrrFlow], flow: u32) {
        flows[flow as usize].next = NIL;
        if self.head == NIL {
            self.head = flow;
        } else {
            flows[self.tail as usize].next = flow;
        }
        self.tail = flow;
    }
}

fn saturate(bytes: u32) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flows that send `len` bytes each of the next `n` times.
    fn turns(drr: &mut Drr, quantum: u32, len: u32, n: usize) -> Vec<u32> {
        let mut turns = Vec::new();
        for _ in 0..n {
            let flow = drr.next(|_| quantum).unwrap();
            drr.charge(flow, len);
            turns.push(flow);
        }
        turns
    }

    /// Quantum 1000, packets of 600: deficits go 1000, 400, -200 (two packets), then 800, 200, -400
    /// (two), then 600, 0 (one: zero is used up), then 1000 again: 5 packets in 3 rounds are 3000
    /// bytes, three quanta.
    #[test]
    fn overdrawn_bytes_are_paid_back() {
        let mut drr = Drr::new(2);
        drr.join(0, 1000);
        drr.join(1, 1000);
        assert_eq!(
            turns(&mut drr, 1000, 600, 12),
            [0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0]
        );
    }

    /// A packet of 3500 leaves a deficit of -2500: three more quanta make it positive, so that the
    /// other flow sends three packets before the next one.
    #[test]
    fn a_packet_larger_than_the_quantum_waits_several_rounds() {
        let mut drr = Drr::new(2);
        drr.join(0, 1000);
        drr.join(1, 1000);
        assert_eq!(turns(&mut drr, 1000, 3500, 1), [0]);
        assert_eq!(turns(&mut drr, 1000, 1000, 4), [1, 1, 1, 0]);
    }

    #[test]
    fn new_flows_go_first_and_then_queue_up_behind_the_old_ones() {
        let mut drr = Drr::new(3);
        drr.join(0, 1000);
        drr.join(1, 1000);
        drr.join_new(2, 1000);
        assert_eq!(
            turns(&mut drr, 1000, 1000, 7),
            [2, 0, 1, 2, 0, 1, 2],
            "once its first quantum is used up, a new flow is an old one"
        );
    }

    #[test]
    fn a_new_flow_that_runs_dry_passes_through_the_round_before_it_is_idle() {
        let mut drr = Drr::new(2);
        drr.join(0, 1000);
        drr.join_new(1, 1000);
        assert_eq!(drr.next(|_| 1000), Some(1));
        drr.leave();
        assert!(!drr.is_idle(1), "it waits at the end of the round");
        drr.join_new(1, 1000);
        assert_eq!(drr.next(|_| 1000), Some(0), "and cannot come back as new");
        drr.leave();
        assert!(drr.is_idle(0));
        assert_eq!(drr.next(|_| 1000), Some(1));
        drr.leave();
        assert!(drr.is_idle(1));
        assert_eq!(drr.next(|_| 1000), None);
    }

    /// Flow 0 runs dry next to flow 1, which is new too. By the round, it waits there and comes
    /// after flow 1 with what it had left; otherwise it is idle, and could come back as new.
    #[test]
    fn new_flows_that_run_dry_wait_for_others_that_are_new() {
        for by_the_round in [true, false] {
            let mut drr = Drr::new(2);
            drr.join_new(0, 1000);
            drr.join_new(1, 1000);
            assert_eq!(turns(&mut drr, 1000, 400, 1), [0]);
            if by_the_round {
                drr.leave_by_the_round();
            } else {
                drr.leave();
            }
            assert_eq!(drr.is_idle(0), !by_the_round);
            drr.join_new(0, 5000);
            let left = if by_the_round { 600 } else { 5000 };
            assert_eq!(drr.deficit(0), left);
            assert_eq!(turns(&mut drr, 1000, 1000, 2), [1, 0]);
        }
    }

    #[test]
    fn a_flow_that_withdraws_is_idle_even_if_it_was_new() {
        let mut drr = Drr::new(2);
        drr.join(0, 1000);
        drr.join_new(1, 1000);
        assert_eq!(drr.next(|_| 1000), Some(1));
        drr.withdraw();
        assert!(drr.is_idle(1));
        assert_eq!(turns(&mut drr, 1000, 1000, 2), [0, 0]);
    }

    /// Flow 0 sends 400 of 1000, or overdraws by 2000; either way the next round gives it 1000.
    #[test]
    fn a_flow_that_settles_starts_the_next_round_with_a_quantum() {
        for bytes in [400, 3000] {
            let mut drr = Drr::new(2);
            drr.join(0, 1000);
            drr.join(1, 1000);
            assert_eq!(turns(&mut drr, 1000, bytes, 1), [0]);
            drr.settle(0);
            assert_eq!(turns(&mut drr, 1000, 1000, 1), [1]);
            assert_eq!(drr.next(|_| 1000), Some(0));
            assert_eq!(drr.deficit(0), 1000);
        }
    }

    /// Quanta of 3000 and 1000: a round is three packets of 1000 against one.
    #[test]
    fn quanta_are_weights() {
        let mut drr = Drr::new(2);
        drr.join(0, 3000);
        drr.join(1, 1000);
        let mut sent = [0, 0];
        for _ in 0..400 {
            let flow = drr.next(|flow| [3000, 1000][flow as usize]).unwrap();
            drr.charge(flow, 1000);
            sent[flow as usize] += 1;
        }
        assert_eq!(sent, [300, 100]);
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let mut drr = Drr::new(1);
        drr.join(0, u32::MAX);
        drr.charge(0, u32::MAX);
        drr.charge(0, u32::MAX);
        assert_eq!(drr.next(|_| u32::MAX), Some(0));
    }
}
