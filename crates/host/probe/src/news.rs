//! News of a probe while it runs, and at its end.

use crate::Problem;
use crate::report::Report;

/// The news of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// The state so far.
    Seen(Report),
    /// The final state; the probe is over.
    Done(Report),
    /// It did not come to an end.
    Failed(Problem),
}
