//! A range that a value has to lie in.

use measure::estimate::Estimate;
use serde::Deserialize;
use std::fmt;
use units::Refusal;

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// Whether neither end belongs to it: a tie is not more, and not less.
    pub open: bool,
    /// Whether it is written as a number with a tolerance.
    pub around: bool,
}

impl TryFrom<String> for Range {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        let refused = || {
            Refusal::new(format!("{text:?} is no range"))
                .with_help("write \"at most 5\", \"less than 5\", \"at least 5\", \"more than 5\", \"3 to 5\" or \"4 ± 1\"")
        };
        let number = |text: &str| {
            let number: f64 = text.trim().parse().map_err(|_| refused())?;
            number.is_finite().then_some(number).ok_or_else(refused)
        };
        let least = f64::NEG_INFINITY;
        let most = f64::INFINITY;
        let after = |words: &str| text.strip_prefix(words).map(number).transpose();
        let around = text.contains(" ± ");
        let (low, high, open) = if let Some(end) = after("at most ")? {
            (least, end, false)
        } else if let Some(end) = after("less than ")? {
            (least, end, true)
        } else if let Some(end) = after("at least ")? {
            (end, most, false)
        } else if let Some(end) = after("more than ")? {
            (end, most, true)
        } else if let Some((middle, off)) = text.split_once(" ± ") {
            let (middle, off) = (number(middle)?, number(off)?);
            (middle - off, middle + off, false)
        } else {
            let (low, high) = text.split_once(" to ").ok_or_else(refused)?;
            (number(low)?, number(high)?, false)
        };
        if low > high {
            let help = "the lower end first, and a tolerance that is not negative";
            return Err(Refusal::new(format!("{text:?} has nothing in it")).with_help(help));
        }
        Ok(Range {
            low,
            high,
            open,
            around,
        })
    }
}

/// As it may be written, without a unit.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range {
            low,
            high,
            open,
            around,
        } = *self;
        let (at_least, at_most) = if open {
            ("more than", "less than")
        } else {
            ("at least", "at most")
        };
        if around {
            // Halves of decimals that were written.
            let tidy = |value: f64| (value * 1e6).round() / 1e6;
            let (middle, off) = (f64::midpoint(low, high), (high - low) / 2.0);
            write!(f, "{} ± {}", tidy(middle), tidy(off))
        } else if low == f64::NEG_INFINITY {
            write!(f, "{at_most} {high}")
        } else if high == f64::INFINITY {
            write!(f, "{at_least} {low}")
        } else {
            write!(f, "{low} to {high}")
        }
    }
}

impl Range {
    pub(super) fn contains(&self, value: f64) -> bool {
        if self.open {
            self.low < value && value < self.high
        } else {
            (self.low..=self.high).contains(&value)
        }
    }

    /// Whether the true value is in the range according to an estimate.
    pub(crate) fn judge(&self, estimate: &Estimate) -> Option<bool> {
        let (low, high) = estimate.ci95?;
        let outside = if self.open {
            high <= self.low || low >= self.high
        } else {
            high < self.low || low > self.high
        };
        if self.contains(low) && self.contains(high) {
            Some(true)
        } else {
            outside.then_some(false)
        }
    }

    /// The end of the range that is nearest to `value`.
    pub(super) fn border(&self, value: f64) -> f64 {
        let [low, high] = [self.low, self.high].map(|end| (end - value).abs());
        if low < high { self.low } else { self.high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(range: &str, (low, high): (f64, f64)) -> Option<bool> {
        let range: Range = range.to_owned().try_into().unwrap();
        let estimate = Estimate {
            ci95: Some((low, high)),
            ..Estimate::exact(f64::midpoint(low, high))
        };
        range.judge(&estimate)
    }

    #[test]
    fn a_tie_is_at_least_and_not_more() {
        let tie = (0.0, 0.0);
        for (range, held) in [
            ("at least 0", true),
            ("at most 0", true),
            ("0 to 1", true),
            ("more than 0", false),
            ("less than 0", false),
        ] {
            assert_eq!(judged(range, tie), Some(held), "{range}");
        }
        assert_eq!(judged("more than 0", (0.1, 2.0)), Some(true));
        assert_eq!(judged("less than 0", (-2.0, -0.1)), Some(true));
        assert_eq!(judged("more than 0", (0.0, 2.0)), None);
        assert_eq!(judged("less than 0", (-1.0, 2.0)), None);
        assert_eq!(judged("more than 0", (-2.0, 0.0)), Some(false));
    }

    #[test]
    fn a_range_around_a_number() {
        let range: Range = "85 ± 10".to_owned().try_into().unwrap();
        assert_eq!((range.low, range.high, range.open), (75.0, 95.0, false));
        assert!(range.around);
        let printed = ["at most -5", "more than 0", "3 to 5", "1.54 ± 0.15"];
        for text in printed {
            let range: Range = text.to_owned().try_into().unwrap();
            assert_eq!(range.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_range() {
        for text in [
            "",
            "5",
            "at most",
            "more than x",
            "less than inf",
            "1 to",
            "1 to nan",
        ] {
            assert!(Range::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
