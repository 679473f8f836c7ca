//! The version that a result, a report and a page carry.

/// The program's version and, in a build from the repository, the commit: `0.1.0 (7d7d2943e)`, with a
/// plus sign if files differed from that.
pub const VERSION: &str = env!("ANALECTS_VERSION");
