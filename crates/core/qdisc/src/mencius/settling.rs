//! Which flows are *settled*: they have kept their own queue short for a while.
//!
//! A call does; a download fills whatever it gets. A wait caused by a hold, or by newcomers, says
//! nothing about the flow itself, so no flow is judged meanwhile (the caller's responsibility).

use units::{Duration, Instant};

/// For how long a flow has to keep its queue short.
const PROBATION: Duration = Duration::from_secs(1);
/// For how long its queue may stand, or be above the minimum, now and then: a key frame causes
/// that.
const BURST: Duration = Duration::from_millis(200);
/// For how long it may wait above the mark when it is not the reason.
const PATIENCE: Duration = Duration::from_secs(3);
/// A flow that is silent for longer begins again.
pub(super) const GAP: Duration = Duration::from_millis(250);
/// After a drop or a mark by the AQM it is not settled for so long.
const AFTER_DROP: Duration = Duration::from_secs(5);

/// Why a packet of a settled flow waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitCause {
    /// Its flow sends too much.
    Flow,
    /// Others are held back.
    Others,
    /// The link became slower: packets of no other flow wait.
    Link,
}

/// A packet's wait, and the thresholds for a long one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) waited: Duration,
    /// The longest wait that a flow may cause itself now and then, ...
    pub(super) min_wait: Duration,
    /// ... and the longest at any time.
    pub(super) max_wait: Duration,
    pub(super) cause: WaitCause,
}

/// The state of a flow's behaviour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settling {
    /// Settling since then; in the future after a drop.
    since: Instant,
    /// Not above the mark then, and since then always.
    below: Instant,
    last: Instant,
}

impl Settling {
    /// A flow that begins `now`.
    pub(super) fn new(now: Instant) -> Self {
        Settling {
            since: now,
            below: now,
            last: now,
        }
    }

    /// A packet of the flow came. Returns the time since the one before.
    pub(super) fn arrived(&mut self, now: Instant) -> Duration {
        let pause = now.since(self.last);
        if pause > GAP {
            self.start_again(now);
            self.below = now;
        }
        self.last = now;
        pause
    }

    /// A packet of the flow left.
    pub(super) fn left(&mut self, now: Instant, wait: Wait) {
        let (mark, patience) = match wait.cause {
            WaitCause::Flow => (wait.min_wait, BURST),
            WaitCause::Others => (wait.max_wait, PATIENCE),
            WaitCause::Link => (wait.min_wait, PATIENCE),
        };
        if wait.waited <= mark {
            self.below = now;
        }
        let stands = now.since(self.below) > patience;
        if stands || wait.cause == WaitCause::Flow && wait.waited > wait.max_wait {
            self.start_again(now);
        }
    }

    /// The AQM dropped or marked a packet of the flow.
    pub(super) fn dropped(&mut self, now: Instant) {
        self.since = now + AFTER_DROP.saturating_sub(PROBATION);
    }

    /// Whether the flow is settled.
    pub(super) fn is_settled(&self, now: Instant) -> bool {
        now.since(self.since) >= PROBATION
    }

    /// Whether no packet of the flow came lately.
    pub(super) fn is_silent(&self, now: Instant) -> bool {
        now.since(self.last) > GAP
    }

    fn start_again(&mut self, now: Instant) {
        self.since = self.since.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    const MIN_WAIT: Duration = Duration::from_millis(20);
    const MAX_WAIT: Duration = Duration::from_millis(80);

    /// A packet every 20 ms from `from` to `to`, each waiting for `wait` ms.
    fn packets(settling: &mut Settling, (from, to): (u64, u64), wait: u64, cause: WaitCause) {
        for at in (from..to).step_by(20) {
            settling.arrived(ms(at));
            let wait = Wait {
                waited: Duration::from_millis(wait),
                min_wait: MIN_WAIT,
                max_wait: MAX_WAIT,
                cause,
            };
            settling.left(ms(at), wait);
        }
    }

    #[test]
    fn a_short_queue_for_a_second() {
        let mut settling = Settling::new(ms(0));
        packets(&mut settling, (0, 990), 15, WaitCause::Flow);
        assert!(!settling.is_settled(ms(999)));
        assert!(settling.is_settled(ms(1000)));
    }

    #[test]
    fn bursts_are_forgiven_and_standing_queues_are_not() {
        let mut settling = Settling::new(ms(0));
        packets(&mut settling, (0, 1200), 15, WaitCause::Flow);
        packets(&mut settling, (1200, 1400), 60, WaitCause::Flow);
        packets(&mut settling, (1400, 1500), 15, WaitCause::Flow);
        assert!(settling.is_settled(ms(1500)));
        packets(&mut settling, (1500, 1740), 60, WaitCause::Flow);
        assert!(!settling.is_settled(ms(1740)));
        packets(&mut settling, (1740, 3000), 15, WaitCause::Flow);
        assert!(settling.is_settled(ms(3000)));
        packets(&mut settling, (3000, 3020), 81, WaitCause::Flow);
        assert!(!settling.is_settled(ms(3020)), "above the maximum once");
    }

    #[test]
    fn where_others_are_the_reason_only_the_maximum_counts_and_for_long() {
        let mut settling = Settling::new(ms(0));
        packets(&mut settling, (0, 1200), 15, WaitCause::Flow);
        packets(&mut settling, (1200, 20_000), 80, WaitCause::Others);
        assert!(settling.is_settled(ms(20_000)));
        packets(&mut settling, (20_000, 22_980), 200, WaitCause::Others);
        assert!(settling.is_settled(ms(22_980)));
        packets(&mut settling, (22_980, 23_020), 200, WaitCause::Others);
        assert!(!settling.is_settled(ms(23_020)), "it does not give way");
    }

    /// 3 s above the minimum, however far.
    #[test]
    fn a_link_that_became_slower_is_no_fault_of_the_flow() {
        let mut settling = Settling::new(ms(0));
        packets(&mut settling, (0, 1200), 15, WaitCause::Flow);
        packets(&mut settling, (1200, 4180), 200, WaitCause::Link);
        assert!(settling.is_settled(ms(4180)));
        packets(&mut settling, (4180, 4220), 21, WaitCause::Link);
        assert!(!settling.is_settled(ms(4220)));
    }

    #[test]
    fn silence_and_drops_begin_it_again() {
        let mut settling = Settling::new(ms(0));
        packets(&mut settling, (0, 2000), 15, WaitCause::Flow);
        settling.arrived(ms(2300));
        assert!(!settling.is_settled(ms(2300)));
        packets(&mut settling, (2300, 4000), 15, WaitCause::Flow);
        assert!(settling.is_settled(ms(4000)));
        settling.dropped(ms(4000));
        packets(&mut settling, (4000, 9100), 15, WaitCause::Flow);
        assert!(!settling.is_settled(ms(8999)));
        assert!(settling.is_settled(ms(9000)));
    }
}
