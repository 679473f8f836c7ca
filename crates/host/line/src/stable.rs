//! When a course of averages is stable, as draft-ietf-ippm-responsiveness has it ("Measuring Responsiveness").

/// Intervals that an average is of, and averages that are compared (MAD).
pub const DISTANCE: usize = 4;
/// The part of the last average that the standard deviation stays below (SDT).
const TOLERANCE: f64 = 0.05;

/// Values of intervals, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Averages {
    values: Vec<f64>,
    averages: Vec<f64>,
}

impl Averages {
    /// Adds the value of the interval that has ended.
    pub fn push(&mut self, value: f64) {
        self.values.push(value);
        let last = &self.values[self.values.len().saturating_sub(DISTANCE)..];
        self.averages.push(mean(last));
    }

    /// Intervals so far.
    pub fn intervals(&self) -> usize {
        self.values.len()
    }

    /// Whether the last averages deviate little. Never before there are enough of them.
    pub fn stable(&self) -> bool {
        let Some(start) = self.averages.len().checked_sub(DISTANCE) else {
            return false;
        };
        let last = &self.averages[start..];
        let mean = mean(last);
        let off = |value: &f64| (value - mean) * (value - mean);
        let square = last.iter().map(off).sum::<f64>();
        let deviation = (square / last.len() as f64).sqrt();
        deviation <= TOLERANCE * last[DISTANCE - 1]
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Averages {
        let mut averages = Averages::default();
        values.iter().for_each(|&value| averages.push(value));
        averages
    }

    #[test]
    fn four_averages_that_are_alike_are_stable() {
        assert!(!of(&[10.0; 3]).stable());
        assert!(of(&[10.0; 4]).stable());
        assert!(!of(&[1.0, 4.0, 9.0, 10.0]).stable());
        assert!(of(&[1.0, 4.0, 9.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0]).stable());
        // A rate that swings about its mean is stable on average, as the draft wants it.
        assert!(of(&[8.0, 12.0, 8.0, 12.0, 8.0, 12.0, 8.0, 12.0]).stable());
    }
}
