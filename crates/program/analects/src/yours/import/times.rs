//! When the samples of a statistic were taken.

/// The times of the first and the last sample are written in whole milliseconds, in seconds.
const ROUNDED: f64 = 0.0015;

/// A page that says no more than that its samples are farther apart, in seconds, is wrong.
const FARTHEST: f64 = 600.0;

/// When samples were taken, in seconds since 1970.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Times {
    /// Of each sample, in the order of time.
    pub of: Vec<f64>,
    /// Whether each is known; otherwise they stand evenly between the first and the last.
    pub known: bool,
}

/// The times of `count` samples of a statistic, by the times of its first and last one, and by those at which
/// its report was taken.
///
/// Where the report was taken more often than the statistic has samples, it lacked the statistic then, and
/// nothing says when that was. No times if there is no such statistic, or if they would be ten minutes apart.
pub fn of(count: usize, (start, end): (f64, f64), clock: &[f64]) -> Times {
    let is_of_it = |time: &&f64| (start - ROUNDED..=end + ROUNDED).contains(*time);
    let of: Vec<f64> = clock.iter().filter(is_of_it).copied().collect();
    if of.len() == count && of.is_sorted() {
        return Times { of, known: true };
    }
    let step = (end - start).max(0.0) / count.saturating_sub(1).max(1) as f64;
    if step > FARTHEST {
        return Times::default();
    }
    Times {
        of: (0..count)
            .map(|place| start + step * place as f64)
            .collect(),
        known: count < 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: [f64; 5] = [10.0004, 11.0004, 12.0, 40.0, 41.0];

    #[test]
    fn samples_stand_at_the_times_of_their_report() {
        let all = of(5, (10.0, 41.0), &CLOCK);
        assert_eq!((&*all.of, all.known), (&CLOCK[..], true));
        // A statistic that began later, and one that ended sooner.
        assert_eq!(of(3, (12.0, 41.0), &CLOCK).of, [12.0, 40.0, 41.0]);
        assert_eq!(of(2, (10.0, 11.0), &CLOCK).of, [10.0004, 11.0004]);
    }

    #[test]
    fn without_such_times_they_stand_evenly_and_that_is_known() {
        for clock in [&CLOCK[..], &[], &[41.0, 10.0, 20.0], &[f64::NAN; 3]] {
            let even = of(3, (10.0, 41.0), clock);
            assert_eq!((&*even.of, even.known), (&[10.0, 25.5, 41.0][..], false));
        }
        assert_eq!(of(2, (30.0, 10.0), &[]).of, [30.0, 30.0]);
        assert!(of(3, (10.0, 4e9), &[]).of.is_empty());
        assert!(of(0, (1.0, 2.0), &[]).of.is_empty());
    }
}
