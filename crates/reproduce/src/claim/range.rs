//! A range that a value has to lie in.

use measure::estimate::Estimate;
use serde::Deserialize;
use units::Refusal;

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl TryFrom<String> for Range {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        let refused = || {
            Refusal::new(format!("{text:?} is no range"))
                .with_help("write \"at most 5\", \"at least 5\" or \"3 to 5\"")
        };
        let number = |text: &str| {
            let number: f64 = text.trim().parse().map_err(|_| refused())?;
            number.is_finite().then_some(number).ok_or_else(refused)
        };
        let (low, high) = if let Some(most) = text.strip_prefix("at most ") {
            (f64::NEG_INFINITY, number(most)?)
        } else if let Some(least) = text.strip_prefix("at least ") {
            (number(least)?, f64::INFINITY)
        } else {
            let (low, high) = text.split_once(" to ").ok_or_else(refused)?;
            (number(low)?, number(high)?)
        };
        Ok(Range { low, high })
    }
}

impl Range {
    pub(super) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether the true value is in the range according to an estimate.
    pub(super) fn judge(&self, estimate: &Estimate) -> Option<bool> {
        let (low, high) = estimate.ci95?;
        if low >= self.low && high <= self.high {
            Some(true)
        } else if high < self.low || low > self.high {
            Some(false)
        } else {
            None
        }
    }

    /// The end of the range that is nearest to `value`.
    pub(super) fn border(&self, value: f64) -> f64 {
        let [low, high] = [self.low, self.high].map(|end| (end - value).abs());
        if low < high { self.low } else { self.high }
    }
}
