//! Reports of the progress of runs.

/// A receiver of progress reports.
pub trait Progress: Sync {
    /// One more job is done.
    fn done(&self);
    /// There are so many jobs, and so many of them are still to be made.
    fn planned(&self, _all: usize, _missing: usize) {}
    /// This process made the job with this key, and its result is kept.
    fn made(&self, _key: &str) {}
    /// A remark.
    fn remark(&self, _text: &str) {}
}
