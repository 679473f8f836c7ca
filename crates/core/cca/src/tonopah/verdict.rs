//! Verdicts, and their reasons in words.

use crate::notice::NoticeKind;
use core::fmt;
use units::Instant;

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The verdict.
    pub kind: NoticeKind,
    /// How far it is from another one: 0 to 1.
    pub confidence: f64,
    /// The last observation.
    pub evidence: Evidence,
    /// When evidence last agreed with it.
    pub at: Instant,
}

impl Verdict {
    pub(super) const fn none(at: Instant) -> Self {
        Verdict {
            kind: NoticeKind::Unknown,
            confidence: 0.0,
            evidence: Evidence::None,
            at,
        }
    }
}

/// An observation. In words with [`Display`](fmt::Display).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Evidence {
    /// Nothing was seen yet.
    None,
    /// Shares of the dominant subflow, 0 to 1.
    Shares {
        /// Of the bytes sent.
        sent: f64,
        /// Of the rate of delivery.
        delivered: f64,
    },
    /// Delays of neighbours, ms.
    Delays {
        /// By how much packets of the dominant subflow waited longer, whichever of the two that was.
        difference_ms: f64,
        /// The longer of the two queues.
        queue_ms: f64,
    },
    /// Of packets sent one run after the other, the second run overtook the first, in both orders.
    Train,
    /// Long runs arrived one after the other, in both orders, although they waited for each other.
    Order,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::None => f.write_str("nothing was seen"),
            Evidence::Shares { sent, delivered } => write!(
                f,
                "of the bytes sent {:.0} % were one subflow's, of the rate of delivery {:.0} %",
                100.0 * sent,
                100.0 * delivered
            ),
            Evidence::Delays {
                difference_ms,
                queue_ms,
            } if difference_ms.abs() < 0.05 => write!(
                f,
                "packets of both subflows waited equally long, with {queue_ms:.1} ms in the queue"
            ),
            Evidence::Delays { difference_ms, .. } => write!(
                f,
                "packets of one subflow waited {:.1} ms {}, and the other's when roles were swapped",
                difference_ms.abs(),
                if *difference_ms > 0.0 {
                    "longer"
                } else {
                    "less"
                }
            ),
            Evidence::Train => f.write_str(
                "packets of the second of two runs overtook the first, whichever subflow was first",
            ),
            Evidence::Order => f.write_str(
                "two runs of packets waited on the path and arrived one after the other, whichever subflow was first",
            ),
        }
    }
}
