//! Whether packets of one subflow stay in order, as every queue keeps them.
//!
//! Verdicts rest on this: a packet that waits longer than its predecessor waits behind others. Where
//! packets of one subflow overtake each other, delays have another cause than a queue: links that
//! are used in turn, or someone who delays packets, or acknowledgements, at will.

use cca::tonopah::Subflow;
use units::Instant;

/// So many of them, and this share, are more than chance.
const LEAST: u64 = 5;
pub(crate) const SHARE: f64 = 0.005;

/// The order in which packets were acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub struct AckOrder {
    /// When the newest packet left that an acknowledgement has named, for each subflow.
    newest: [Option<Instant>; 2],
    acknowledged: u64,
    late: u64,
}

impl AckOrder {
    /// A packet that left at `sent` is acknowledged.
    pub fn acknowledged(&mut self, subflow: Subflow, sent: Instant) {
        self.acknowledged += 1;
        self.late += u64::from(self.newest[subflow as usize].is_some_and(|newest| sent < newest));
    }

    /// An acknowledgement is read; its newest packet left at `sent`.
    pub fn read(&mut self, subflow: Subflow, sent: Instant) {
        let newest = &mut self.newest[subflow as usize];
        *newest = (*newest).max(Some(sent));
    }

    /// Packets that were taken for lost have arrived after all.
    pub fn returned(&mut self) {
        self.late += 1;
    }

    /// The share of packets that arrived after later ones of the same subflow, 0 to 1: the least, as of
    /// packets that were taken for lost not all are known.
    pub fn late(&self) -> f64 {
        self.late as f64 / self.acknowledged.max(self.late).max(1) as f64
    }

    /// Whether the order was kept, but for chance.
    pub fn is_kept(&self) -> bool {
        self.late < LEAST || self.late() < SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn packets_of_one_subflow_are_compared() {
        let mut order = AckOrder::default();
        for ms in 0..100 {
            order.acknowledged(Subflow::A, at(1000 + ms));
            order.read(Subflow::A, at(1000 + ms));
            // The other one has a longer way, and two to an acknowledgement.
            order.acknowledged(Subflow::B, at(900 + ms));
            order.acknowledged(Subflow::B, at(890 + ms));
            order.read(Subflow::B, at(900 + ms));
        }
        assert_eq!(order.late(), 99.0 / 300.0, "half of B");
        assert!(!order.is_kept());
    }

    #[test]
    fn few_are_chance() {
        let mut order = AckOrder::default();
        assert_eq!((order.late(), order.is_kept()), (0.0, true));
        order.returned();
        assert!(order.is_kept());
        (0..10_000).for_each(|_| order.acknowledged(Subflow::A, at(1)));
        (0..40).for_each(|_| order.returned());
        assert!(order.is_kept(), "0.41 %");
        (0..20).for_each(|_| order.returned());
        assert!(!order.is_kept(), "0.61 %");
    }
}
