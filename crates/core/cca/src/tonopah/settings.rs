//! What a detector is told: its subflows, its rule, and its intervals.

use super::dealing::Deal;
use super::shares::Shares;
use units::Duration;

/// One of the two subflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subflow {
    /// The first: dominant in the first interval.
    A,
    /// The second.
    B,
}

impl Subflow {
    /// Both.
    pub const BOTH: [Subflow; 2] = [Subflow::A, Subflow::B];

    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Subflow::A => Subflow::B,
            Subflow::B => Subflow::A,
        }
    }
}

/// How a verdict is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// By the dominant subflow's share of the delivery rate (section II.A). Intervals last a round
    /// trip, within bounds.
    Shares(Shares),
    /// By the delays of packets that left next to each other, over two intervals in turn. Intervals
    /// last 30 timed acknowledgements, within bounds.
    Delays {
        /// Packets of each subflow in a train, 0 for no trains.
        train: u32,
    },
}

/// The settings of the detector.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The dominant subflow's share of the rate, above 0.5 and below 1. Packets dealt out in turns
    /// have 0.6.
    pub dominant: f64,
    /// How packets are dealt out.
    pub deal: Deal,
    /// The shortest interval.
    pub shortest: Duration,
    /// The longest.
    pub longest: Duration,
    /// How a verdict is found.
    pub rule: Rule,
    /// How long a verdict holds while no new one is possible.
    pub hold: Duration,
}

impl Settings {
    /// Those of the paper's section II.A.
    pub fn paper() -> Self {
        Settings {
            dominant: 0.6,
            deal: Deal::Paces,
            shortest: Duration::from_millis(50),
            longest: Duration::from_millis(100),
            rule: Rule::Shares(Shares {
                intervals: 4,
                fair_below: 0.55,
                sent_at_least: 0.575,
            }),
            hold: Duration::from_secs(1),
        }
    }

    /// The paper's with intervals of 50 ms (section III.D.1).
    pub fn fixed() -> Self {
        Settings {
            longest: Duration::from_millis(50),
            ..Settings::paper()
        }
    }
}

impl Default for Settings {
    /// Ours.
    fn default() -> Self {
        Settings {
            dominant: 0.6,
            deal: Deal::Turns,
            shortest: Duration::from_millis(50),
            longest: Duration::from_millis(400),
            rule: Rule::Delays { train: 12 },
            hold: Duration::from_secs(10),
        }
    }
}

impl Settings {
    /// Whether it goes by delays.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.rule, Rule::Delays { .. })
    }
}
