//! The least wait of the last 60 ms.

/// How long values count, in s: a radio that delivers every 20 ms has delivered three times.
pub const WINDOW: f64 = 0.060;
const PARTS: usize = 6;

/// The least value of each of the last parts of a window.
#[derive(Debug, Clone, Copy)]
pub struct Recent {
    least: [f64; PARTS],
    /// The newest part's number, counted from the start.
    newest: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Recent {
            least: [f64::INFINITY; PARTS],
            newest: 0,
        }
    }
}

impl Recent {
    fn advance(&mut self, now: f64) {
        let newest = (now.max(0.0) * (PARTS as f64 / WINDOW)) as u64;
        let passed = newest.saturating_sub(self.newest).min(PARTS as u64);
        for number in 0..passed {
            self.least[((newest - number) % PARTS as u64) as usize] = f64::INFINITY;
        }
        self.newest = self.newest.max(newest);
    }

    /// A value came.
    pub fn add(&mut self, now: f64, value: f64) {
        self.advance(now);
        let part = &mut self.least[(self.newest % PARTS as u64) as usize];
        *part = part.min(value);
    }

    /// The least value, if one came.
    pub fn least(&mut self, now: f64) -> Option<f64> {
        self.advance(now);
        let least = self.least.iter().copied().fold(f64::INFINITY, f64::min);
        least.is_finite().then_some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_values_are_forgotten() {
        let mut recent = Recent::default();
        recent.add(1.0, 3.0);
        recent.add(1.04, 5.0);
        assert_eq!(recent.least(1.045), Some(3.0));
        assert_eq!(recent.least(1.07), Some(5.0));
        assert_eq!(recent.least(1.2), None);
        assert_eq!(recent.least(4000.0), None);
    }
}
