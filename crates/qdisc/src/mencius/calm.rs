//! Which flows are *established*: they have kept their own queue short for a while.
//!
//! A call does; a download fills whatever buffer it gets. What a flow waits because others came is
//! not its own doing: while its host is held, nobody is judged.

use units::{Duration, Instant};

/// For how long a flow has to keep its queue short.
const PROBATION: Duration = Duration::from_secs(1);
/// For how long it may be above the low mark now and then.
const BURST: Duration = Duration::from_millis(200);
/// A flow that is silent for longer begins again.
const GAP: Duration = Duration::from_millis(250);
/// After a drop by the AQM it is not calm for so long.
const AFTER_DROP: Duration = Duration::from_secs(2);

/// What is known of a flow's behaviour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calm {
    /// Calm since then; in the future after a drop.
    since: Instant,
    /// Above the low mark since then.
    above: Option<Instant>,
    last: Instant,
}

impl Calm {
    pub(super) fn new(now: Instant) -> Self {
        Calm {
            since: now,
            above: None,
            last: now,
        }
    }

    /// A packet of the flow came.
    pub(super) fn arrived(&mut self, now: Instant) {
        if now.since(self.last) > GAP {
            self.since = self.since.max(now);
            self.above = None;
        }
        self.last = now;
    }

    /// A packet of the flow left after it had waited for `wait`.
    pub(super) fn left(&mut self, now: Instant, wait: Duration, low: Duration, high: Duration) {
        if wait <= low {
            self.above = None;
            return;
        }
        let above = *self.above.get_or_insert(now);
        if wait > high || now.since(above) > BURST {
            self.since = self.since.max(now);
        }
    }

    /// The AQM dropped or marked something of the flow.
    pub(super) fn dropped(&mut self, now: Instant) {
        self.since = now + AFTER_DROP.saturating_sub(PROBATION);
    }

    pub(super) fn established(&self, now: Instant) -> bool {
        now.since(self.since) >= PROBATION
    }
}
