//! Findings of a control, for its users.

use serde::{Deserialize, Serialize};

/// The outcome of a verdict on fair queuing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NoticeKind {
    /// No verdict: too little was sent, or no packets waited.
    Unknown,
    /// Fair queuing.
    Fair,
    /// One queue for both subflows.
    Shared,
}

/// A finding of a control about its path, or an action for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// The verdict on fair queuing changed.
    Verdict(NoticeKind),
    /// The window was reduced because of fair queuing.
    Reduced,
    /// The window was reduced because of a loss or a mark.
    Congested,
}

impl Notice {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Notice::Verdict(NoticeKind::Unknown) => "unknown",
            Notice::Verdict(NoticeKind::Fair) => "fair",
            Notice::Verdict(NoticeKind::Shared) => "shared",
            Notice::Reduced => "reduced",
            Notice::Congested => "congested",
        }
    }
}
