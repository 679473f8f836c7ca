//! Between which rates a line is followed.

use autorate::Way;
use command::Refused;
use netcfg::ShapedRate;
use units::Rate;

/// A least and a greatest rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The least.
    pub least: ShapedRate,
    /// The greatest.
    pub most: ShapedRate,
}

const HELP: &str =
    "write the least and the greatest rate, such as 5mbit..100mbit; either may be left out";

impl Limits {
    /// Those that the option of `way` names; without it, what can be shaped.
    ///
    /// # Errors
    /// If they are none.
    pub fn of(way: Way, text: Option<&str>) -> Result<Self, Refused> {
        let Some(text) = text else {
            return Ok(Limits {
                least: ShapedRate::SLOWEST,
                most: ShapedRate::FASTEST,
            });
        };
        let refused = |what: String| Refused::new(&format!("--{way}: {what}"), HELP);
        let ends = text.split_once("..").filter(|ends| *ends != ("", ""));
        let Some((least, most)) = ends else {
            return Err(refused(format!("{text:?} is not MIN..MAX")));
        };
        let end = |text: &str, without: ShapedRate| -> Result<ShapedRate, Refused> {
            if text.trim().is_empty() {
                return Ok(without);
            }
            let rate: Rate = text.parse().map_err(|error| refused(format!("{error}")))?;
            rate.try_into().map_err(|error| refused(format!("{error}")))
        };
        let limits = Limits {
            least: end(least, ShapedRate::SLOWEST)?,
            most: end(most, ShapedRate::FASTEST)?,
        };
        if limits.least > limits.most {
            let Limits { least, most } = limits;
            return Err(refused(format!("{least} is more than {most}")));
        }
        Ok(limits)
    }

    /// The nearest rate between them, cut to three digits.
    pub fn hold(self, rate: Rate) -> ShapedRate {
        let bits = rate.as_bits();
        let unit = 10_u64.pow(bits.checked_ilog10().unwrap_or(0).saturating_sub(2));
        let cut = Rate::from_bits(bits - bits % unit);
        // A greater one than can be shaped is none.
        let fastest = ShapedRate::FASTEST.get();
        let cut = ShapedRate::try_from(cut.min(fastest)).unwrap_or(ShapedRate::SLOWEST);
        cut.clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(text: &str) -> Result<Limits, String> {
        Limits::of(Way::Down, Some(text)).map_err(|refused| refused.to_string())
    }

    fn rate(bits: u64) -> ShapedRate {
        bits.try_into().unwrap()
    }

    #[test]
    fn either_may_be_left_out() {
        let both = limits("5mbit..100mbit").unwrap();
        assert_eq!(
            (both.least, both.most),
            (rate(5_000_000), rate(100_000_000))
        );
        assert_eq!(limits("5mbit..").unwrap().most, ShapedRate::FASTEST);
        assert_eq!(limits("..100mbit").unwrap().least, ShapedRate::SLOWEST);
        assert_eq!(
            Limits::of(Way::Up, None).unwrap().least,
            ShapedRate::SLOWEST
        );
    }

    #[test]
    fn what_is_refused_names_the_option() {
        for (text, part) in [
            ("", "is not MIN..MAX"),
            ("..", "is not MIN..MAX"),
            ("5mbit", "\"5mbit\" is not MIN..MAX"),
            ("5mbit-9mbit", "is not MIN..MAX"),
            ("5mbit..9", "9"),
            ("9mbit..5mbit", "9mbit is more than 5mbit"),
            ("1bit..5mbit", "1bit is outside"),
            ("5mbit...9mbit", ".9mbit"),
        ] {
            match limits(text) {
                Err(error) => {
                    assert!(error.starts_with("--down: "), "{error}");
                    assert!(error.contains(part), "{text}: {error}");
                }
                // Rates may have a fraction.
                Ok(limits) => assert_eq!((text, limits.most), ("5mbit...9mbit", rate(900_000))),
            }
        }
    }

    #[test]
    fn a_rate_is_cut_and_held() {
        let hold = |bits| limits("1mbit..50mbit").unwrap().hold(Rate::from_bits(bits));
        assert_eq!(hold(12_345_678), rate(12_300_000));
        assert_eq!(hold(999_999), rate(1_000_000));
        assert_eq!(hold(50_499_999), rate(50_000_000));
        assert_eq!(hold(0), rate(1_000_000));
        assert_eq!(hold(u64::MAX), rate(50_000_000));
        let free = Limits::of(Way::Up, None).unwrap();
        assert_eq!(free.hold(Rate::from_bits(0)), ShapedRate::SLOWEST);
        assert_eq!(free.hold(Rate::from_bits(u64::MAX)), ShapedRate::FASTEST);
    }
}
