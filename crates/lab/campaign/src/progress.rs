//! Reports of the progress of runs.

use crate::Job;
use measure::RunResult;

/// A receiver of progress reports.
pub trait Progress: Sync {
    /// One more job is done.
    fn done(&self);
    /// The result of a job is there: made, or kept from before. Of jobs that are the same only one is told.
    fn finished(&self, _job: &Job, _result: &RunResult) {}
    /// There are so many jobs, and so many of them are still to be made.
    fn planned(&self, _all: usize, _missing: usize) {}
    /// This process made the job with this key, and its result is kept.
    fn made(&self, _key: &str) {}
    /// A remark.
    fn remark(&self, _text: &str) {}
}
