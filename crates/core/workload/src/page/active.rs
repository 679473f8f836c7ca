//! Counting ACTIVE flows: those that receive bytes within the same 10 ms (Confucius, section 2.3).

use std::collections::BTreeSet;
use units::{Duration, Instant};

/// The width of a window (Confucius, figure 3).
pub const WINDOW: Duration = Duration::from_millis(10);

/// Counts how many flows receive bytes within the same 10 ms, windows aligned to the start of time.
/// Must be called for every arrival at the home side, in order of time.
#[derive(Debug, Clone, Default)]
pub struct ActiveFlows {
    window: u64,
    flows: BTreeSet<u32>,
    peak: usize,
}

impl ActiveFlows {
    /// Bytes of `flow` arrived. An arrival that is reported late counts in the current window.
    pub fn arrived(&mut self, now: Instant, flow: u32) {
        let window = now.as_nanos() / WINDOW.as_nanos();
        if window > self.window {
            self.flows.clear();
            self.window = window;
        }
        self.flows.insert(flow);
        self.peak = self.peak.max(self.flows.len());
    }

    /// The most flows in any window so far.
    pub fn peak(&self) -> usize {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_count_once_a_window() {
        let mut active = ActiveFlows::default();
        // 0 to 10 ms: flows 1, 2; 10 to 20 ms: 2, 3, 4.
        for (ms, flow) in [(0, 1), (5, 2), (9, 1), (10, 3), (12, 2), (19, 4), (25, 1)] {
            active.arrived(Instant::ZERO + Duration::from_millis(ms), flow);
        }
        assert_eq!(active.peak(), 3);
    }
}
