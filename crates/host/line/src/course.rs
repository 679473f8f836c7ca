//! What passed by when, and the rate that follows.

/// The length of a step of a course, in ms.
const STEP_MS: f64 = 100.0;
/// Steps whose mean is compared with others', to say whether the rate varies: a second.
const SECOND: usize = 10;

/// Bytes that passed, by time since the load began.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Moment in ms, and bytes until then; both never fall.
    marks: Vec<(f64, u64)>,
}

impl Course {
    /// Notes that `bytes` have passed in all by `at_ms`. What lies before the last note, or the start, is left out.
    pub fn push(&mut self, at_ms: f64, bytes: u64) {
        if at_ms > self.end() && bytes >= self.bytes() {
            self.marks.push((at_ms, bytes));
        }
    }

    /// The last moment, in ms.
    pub fn end(&self) -> f64 {
        self.marks.last().map_or(0.0, |mark| mark.0)
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.marks.last().map_or(0, |mark| mark.1)
    }

    /// Bytes by `at_ms`, on a straight line between notes.
    pub(crate) fn by(&self, at_ms: f64) -> f64 {
        let next = self.marks.partition_point(|mark| mark.0 < at_ms);
        let after = self.marks.get(next);
        let before = next.checked_sub(1).map_or((0.0, 0), |n| self.marks[n]);
        match after {
            None => before.1 as f64,
            Some(after) => {
                let part = (at_ms - before.0) / (after.0 - before.0);
                before.1 as f64 + part.clamp(0.0, 1.0) * (after.1 - before.1) as f64
            }
        }
    }

    /// Bits a second between two moments, in ms; none where no time lies between.
    pub fn rate(&self, [from, to]: [f64; 2]) -> Option<f64> {
        (to > from).then(|| (self.by(to) - self.by(from)) * 8e3 / (to - from))
    }

    /// The most bytes that passed at once above `rate`, in bits a second: what a bucket held that fills at this rate.
    pub fn burst(&self, rate: f64) -> u64 {
        let above = |mark: &(f64, u64)| mark.1 as f64 - rate * mark.0 / 8e3;
        let mut least = 0.0_f64;
        let bursts = self.marks.iter().map(|mark| {
            least = least.min(above(mark));
            above(mark) - least
        });
        bursts.fold(0.0, f64::max) as u64
    }

    /// The rate of each step of 100 ms, in Mbit/s.
    pub fn steps(&self) -> Vec<f64> {
        let count = (self.end() / STEP_MS) as usize;
        (0..count)
            .map(|n| {
                let from = n as f64 * STEP_MS;
                (self.by(from + STEP_MS) - self.by(from)) * 8e-3 / STEP_MS
            })
            .collect()
    }
}

/// Whether a rate varies: the slowest tenth of all seconds of `steps` carries less than three quarters of the mean.
/// None where there are fewer than four seconds.
pub fn varies(steps: &[f64]) -> Option<bool> {
    let seconds = seconds(steps);
    if seconds.len() < 4 {
        return None;
    }
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    Some(seconds[seconds.len() / 10] < 0.75 * mean)
}

/// The rate of the slowest second of `steps`; none where there is none.
pub fn slowest(steps: &[f64]) -> Option<f64> {
    seconds(steps).first().copied()
}

/// The rate of each second, the slowest first.
fn seconds(steps: &[f64]) -> Vec<f64> {
    let of = |second: &[f64]| second.iter().sum::<f64>() / SECOND as f64;
    let mut seconds: Vec<f64> = steps.chunks_exact(SECOND).map(of).collect();
    seconds.sort_by(f64::total_cmp);
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(bytes_a_step: u64, steps: u64) -> Course {
        let mut course = Course::default();
        (0..=steps).for_each(|n| course.push(n as f64 * 100.0, n * bytes_a_step));
        course
    }

    #[test]
    fn a_steady_rate_is_what_it_is() {
        let course = steady(25_000, 50);
        let rate = course.rate([1000.0, 5000.0]).unwrap();
        assert!((rate - 2e6).abs() < 1.0, "{rate}");
        assert_eq!(course.steps().len(), 50);
        let even = |step: &f64| (step - 2.0).abs() < 1e-9;
        assert!(course.steps().iter().all(even), "{:?}", course.steps());
        assert_eq!(varies(&course.steps()), Some(false));
        assert_eq!(course.rate([1000.0, 1000.0]), None);
    }

    #[test]
    fn a_burst_is_what_passes_above_a_rate_at_once() {
        let mut course = Course::default();
        // A second of nothing, 60 kB at once, and 10 kB in each step of 100 ms.
        course.push(1000.0, 1);
        (0..10)
            .for_each(|n| course.push(1010.0 + f64::from(n) * 100.0, 60_001 + n as u64 * 10_000));
        let burst = course.burst(800e3);
        assert!((59_000..=60_000).contains(&burst), "{burst}");
        assert_eq!(steady(10_000, 20).burst(1e6), 0);
    }

    #[test]
    fn a_rate_that_falls_for_seconds_varies() {
        let mut steps = vec![20.0; 60];
        steps.extend([5.0; 20]);
        assert_eq!(varies(&steps), Some(true));
        assert_eq!((slowest(&steps), slowest(&[5.0])), (Some(5.0), None));
        assert_eq!(varies(&[20.0; 39]), None);
    }

    #[test]
    fn time_that_goes_back_is_left_out() {
        let mut course = steady(10, 3);
        course.push(200.0, 90);
        course.push(500.0, 20);
        assert_eq!((course.end(), course.bytes()), (300.0, 30));
    }
}
