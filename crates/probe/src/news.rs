//! News of a probe while it runs, and at its end.

use crate::Problem;
use crate::report::Report;

/// The news of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// So it looks now.
    Seen(Report),
    /// So it was; the probe is over.
    Done(Report),
    /// It did not come to an end.
    Failed(Problem),
}
