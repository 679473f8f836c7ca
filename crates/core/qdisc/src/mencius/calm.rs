//! Which flows are *established*: they have kept their own queue short for a while.
//!
//! A call does; a download fills whatever it gets. A wait caused by a hold, or by newcomers, says
//! nothing about the flow itself, so no flow is judged meanwhile (the caller's responsibility).

use units::{Duration, Instant};

/// For how long a flow has to keep its queue short.
const PROBATION: Duration = Duration::from_secs(1);
/// For how long its queue may stand, or be above the low mark, now and then: a key frame causes
/// that.
const BURST: Duration = Duration::from_millis(200);
/// For how long it may wait above the mark when it is not the reason.
const PATIENCE: Duration = Duration::from_secs(3);
/// A flow that is silent for longer begins again.
pub(super) const GAP: Duration = Duration::from_millis(250);
/// After a drop or a mark by the AQM it is not established for so long.
const AFTER_DROP: Duration = Duration::from_secs(5);

/// Why a packet of an established flow waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
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
    pub(super) low: Duration,
    /// ... and the longest at any time.
    pub(super) high: Duration,
    pub(super) cause: Cause,
}

/// The state of a flow's behaviour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calm {
    /// Calm since then; in the future after a drop.
    since: Instant,
    /// Not above the mark then, and since then always.
    below: Instant,
    last: Instant,
}

impl Calm {
    /// A flow that begins `now`.
    pub(super) fn new(now: Instant) -> Self {
        Calm {
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
            Cause::Flow => (wait.low, BURST),
            Cause::Others => (wait.high, PATIENCE),
            Cause::Link => (wait.low, PATIENCE),
        };
        if wait.waited <= mark {
            self.below = now;
        }
        let stands = now.since(self.below) > patience;
        if stands || wait.cause == Cause::Flow && wait.waited > wait.high {
            self.start_again(now);
        }
    }

    /// The AQM dropped or marked a packet of the flow.
    pub(super) fn dropped(&mut self, now: Instant) {
        self.since = now + AFTER_DROP.saturating_sub(PROBATION);
    }

    /// Whether the flow is established.
    pub(super) fn established(&self, now: Instant) -> bool {
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

    const LOW: Duration = Duration::from_millis(20);
    const HIGH: Duration = Duration::from_millis(80);

    /// A packet every 20 ms from `from` to `to`, each waiting for `wait` ms.
    fn packets(calm: &mut Calm, (from, to): (u64, u64), wait: u64, cause: Cause) {
        for at in (from..to).step_by(20) {
            calm.arrived(ms(at));
            let wait = Wait {
                waited: Duration::from_millis(wait),
                low: LOW,
                high: HIGH,
                cause,
            };
            calm.left(ms(at), wait);
        }
    }

    #[test]
    fn a_short_queue_for_a_second() {
        let mut calm = Calm::new(ms(0));
        packets(&mut calm, (0, 990), 15, Cause::Flow);
        assert!(!calm.established(ms(999)));
        assert!(calm.established(ms(1000)));
    }

    #[test]
    fn bursts_are_forgiven_and_standing_queues_are_not() {
        let mut calm = Calm::new(ms(0));
        packets(&mut calm, (0, 1200), 15, Cause::Flow);
        packets(&mut calm, (1200, 1400), 60, Cause::Flow);
        packets(&mut calm, (1400, 1500), 15, Cause::Flow);
        assert!(calm.established(ms(1500)));
        packets(&mut calm, (1500, 1740), 60, Cause::Flow);
        assert!(!calm.established(ms(1740)));
        packets(&mut calm, (1740, 3000), 15, Cause::Flow);
        assert!(calm.established(ms(3000)));
        packets(&mut calm, (3000, 3020), 81, Cause::Flow);
        assert!(!calm.established(ms(3020)), "above the high mark once");
    }

    #[test]
    fn where_others_are_the_reason_only_the_high_mark_counts_and_for_long() {
        let mut calm = Calm::new(ms(0));
        packets(&mut calm, (0, 1200), 15, Cause::Flow);
        packets(&mut calm, (1200, 20_000), 80, Cause::Others);
        assert!(calm.established(ms(20_000)));
        packets(&mut calm, (20_000, 22_980), 200, Cause::Others);
        assert!(calm.established(ms(22_980)));
        packets(&mut calm, (22_980, 23_020), 200, Cause::Others);
        assert!(!calm.established(ms(23_020)), "it does not give way");
    }

    /// 3 s above the low mark, however far.
    #[test]
    fn a_link_that_became_slower_is_no_fault_of_the_flow() {
        let mut calm = Calm::new(ms(0));
        packets(&mut calm, (0, 1200), 15, Cause::Flow);
        packets(&mut calm, (1200, 4180), 200, Cause::Link);
        assert!(calm.established(ms(4180)));
        packets(&mut calm, (4180, 4220), 21, Cause::Link);
        assert!(!calm.established(ms(4220)));
    }

    #[test]
    fn silence_and_drops_begin_it_again() {
        let mut calm = Calm::new(ms(0));
        packets(&mut calm, (0, 2000), 15, Cause::Flow);
        calm.arrived(ms(2300));
        assert!(!calm.established(ms(2300)));
        packets(&mut calm, (2300, 4000), 15, Cause::Flow);
        assert!(calm.established(ms(4000)));
        calm.dropped(ms(4000));
        packets(&mut calm, (4000, 9100), 15, Cause::Flow);
        assert!(!calm.established(ms(8999)));
        assert!(calm.established(ms(9000)));
    }
}
