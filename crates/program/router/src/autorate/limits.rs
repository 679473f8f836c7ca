//! Between which rates a line is followed.

use autorate::Way;
use command::Refused;
use netcfg::{Limits, ShapedRate};

/// The word for a rate that finds itself, between all that can be shaped.
pub const AUTO: &str = "auto";

const HELP: &str =
    "write the least and the greatest rate, such as 5mbit..100mbit; either may be left out";

/// Those that the option of `way` names; without it, what can be shaped.
///
/// # Errors
/// If they are none.
pub fn limits(way: Way, text: Option<&str>) -> Result<Limits, Refused> {
    let Some(text) = text.filter(|text| *text != AUTO) else {
        return Ok(Limits::default());
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
        let rate = text.parse::<ShapedRate>();
        rate.map_err(|error| refused(error.to_string()))
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

/// The limits, if the option names a rate that finds itself; none if it names one that stays.
///
/// # Errors
/// If they are none.
pub fn asked(way: Way, text: Option<&str>) -> Result<Option<Limits>, Refused> {
    let finds_itself = |text: &&str| *text == AUTO || text.contains("..");
    let text = text.filter(finds_itself);
    text.map(|text| limits(way, Some(text))).transpose()
}

/// The rate to begin with: what was measured, between the limits, or the least that was named.
///
/// # Errors
/// If neither says one.
pub fn first(
    way: Way,
    limits: Limits,
    measured: Option<ShapedRate>,
) -> Result<ShapedRate, Refused> {
    match measured {
        Some(rate) => Ok(rate.clamp(limits.least, limits.most)),
        None if limits.least > ShapedRate::SLOWEST => Ok(limits.least),
        None => {
            let message = format!("--{way}: nothing says which rate the line carries at first");
            let least = "name the least that it always has, such as";
            let help = if cfg!(feature = "measure") {
                format!(
                    "{least} --{way} 5mbit.., or --from FILE, which `analects measure SERVER -o FILE` writes"
                )
            } else {
                format!("{least} --{way} 5mbit..")
            };
            Err(Refused::new(&message, &help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down(text: &str) -> Result<Limits, String> {
        limits(Way::Down, Some(text)).map_err(|refused| refused.to_string())
    }

    fn rate(bits: u64) -> ShapedRate {
        bits.try_into().unwrap()
    }

    #[test]
    fn either_may_be_left_out() {
        let both = down("5mbit..100mbit").unwrap();
        assert_eq!(
            (both.least, both.most),
            (rate(5_000_000), rate(100_000_000))
        );
        assert_eq!(down("5mbit..").unwrap().most, ShapedRate::FASTEST);
        assert_eq!(down("..100mbit").unwrap().least, ShapedRate::SLOWEST);
        assert_eq!(down("auto").unwrap(), Limits::default());
        assert_eq!(limits(Way::Up, None).unwrap(), Limits::default());
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
            match down(text) {
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
    fn a_rate_that_stays_is_not_asked_to_find_itself() {
        let up = |text: &str| asked(Way::Up, Some(text));
        assert_eq!(up("9mbit").unwrap(), None);
        assert_eq!(up("auto").unwrap(), Some(Limits::default()));
        assert_eq!(up("5mbit..").unwrap().unwrap().least, rate(5_000_000));
        assert!(up("5mbit..4mbit").is_err() && up("..").is_err());
        assert_eq!(asked(Way::Up, None).unwrap(), None);
    }

    /// It is never above what was measured or said.
    #[test]
    fn the_first_rate_is_safe() {
        let of = |text: &str, measured: Option<u64>| {
            first(Way::Up, down(text).unwrap(), measured.map(rate))
        };
        assert_eq!(of("auto", Some(9_000_000)).unwrap(), rate(9_000_000));
        assert_eq!(of("2mbit..50mbit", None).unwrap(), rate(2_000_000));
        assert_eq!(
            of("2mbit..50mbit", Some(9_000_000)).unwrap(),
            rate(9_000_000)
        );
        assert_eq!(
            of("2mbit..5mbit", Some(9_000_000)).unwrap(),
            rate(5_000_000)
        );
        for text in ["auto", "..50mbit"] {
            let refused = of(text, None).unwrap_err().to_string();
            assert!(refused.starts_with("--up: nothing says"), "{refused}");
        }
    }
}
