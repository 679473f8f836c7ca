//! Values that were zero in every run: they have no interval, but a claim that such a value is
//! small is not open for that.

use super::range::Range;
use measure::estimate::Estimate;

/// "Never" means in at most so many percent of all runs.
const NEVER: f64 = 10.0;

/// Whether `estimate`, zero in every run, is zero with enough confidence to lie in `range`, and the
/// complement of that confidence. None if it is no such estimate.
pub(super) fn judge(range: Range, estimate: &Estimate) -> Option<(bool, f64)> {
    let most = estimate.most_often()?;
    let p = libm::pow(1.0 - NEVER / 100.0, estimate.units as f64);
    range.contains(0.0).then_some((most <= NEVER, p))
}

/// Runs that are needed for that.
pub(super) fn needed(level: f64) -> u64 {
    libm::ceil(libm::log(1.0 - level) / libm::log(1.0 - NEVER / 100.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zero_in(units: usize) -> Estimate {
        Estimate {
            units,
            ..Estimate::exact(0.0)
        }
    }

    /// 0.9 to the 28th is 0.052, to the 29th 0.047.
    #[test]
    fn twenty_nine_runs_without_any_are_never() {
        let small: Range = "at most 0.1".to_owned().try_into().unwrap();
        let judged = |units| judge(small, &zero_in(units)).map(|(held, _)| held);
        assert_eq!([1, 28, 29].map(judged), [None, Some(false), Some(true)]);
        assert_eq!(needed(0.95), 29);
        let large: Range = "at least 0.1".to_owned().try_into().unwrap();
        assert_eq!(judge(large, &zero_in(100)), None);
    }
}
