//! Limits: `freezes <= 1`, `fps_p5 >= 20`, `rtt_p95 <= 250ms`.
//!
//! ```text
//! LIMIT  = FIGURE [ "_" WHICH ] ( "<=" | ">=" ) BOUND
//! WHICH  = "min" | "max" | "mean" | "p" PERCENT        of figures that have a value at each moment; the mean without it
//! BOUND  = NUMBER | TIME | SHARE | RATE                1 | 250ms | 2% | 500kbit
//! ```

use crate::figure::{CheckFigure, FIGURES, Unit};
use measure::Statistic;
use units::{Duration, Rate, Refusal};

/// What a figure of a call has to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// As it was written, with single spaces.
    pub text: String,
    /// `fps_p5`.
    pub name: String,
    /// The figure.
    pub figure: &'static CheckFigure,
    /// Which of its moments counts.
    pub which: Statistic,
    /// In the figure's unit.
    pub bound: f64,
}

impl Limit {
    /// Whether a value keeps it.
    pub fn is_kept(&self, value: f64) -> bool {
        if self.figure.more {
            value >= self.bound
        } else {
            value <= self.bound
        }
    }

    /// A value as people read it.
    pub fn shown(&self, value: f64) -> String {
        shown(self.figure.unit, value)
    }
}

impl core::str::FromStr for Limit {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let refused = |found: &str, help: &str| Err(Refusal::new(found).with_help(help));
        let sign = if text.contains("<=") { "<=" } else { ">=" };
        let Some((name, bound)) = text.split_once(sign) else {
            return refused(
                &format!("{text:?} has neither <= nor >="),
                "write a limit such as freezes <= 1",
            );
        };
        let (name, bound) = (name.trim(), bound.trim());
        let (figure, which) = named(name)?;
        let right = if figure.more { ">=" } else { "<=" };
        if sign != right {
            let word = if figure.more { "more" } else { "less" };
            return refused(
                &format!("{name} {sign}: {word} of it is better"),
                &format!("write {name} {right} {bound}"),
            );
        }
        Ok(Limit {
            text: format!("{name} {sign} {bound}"),
            name: name.to_owned(),
            figure,
            which,
            bound: number(figure.unit, bound)?,
        })
    }
}

/// The figure, and which of its moments.
fn named(name: &str) -> Result<(&'static CheckFigure, Statistic), Refusal> {
    let (figure, which) = match name.split_once('_') {
        Some((figure, which)) => (figure, Some(which)),
        None => (name, None),
    };
    let found = FIGURES.iter().find(|known| known.name == figure);
    let found = found.ok_or_else(|| {
        Refusal::unknown("figure", figure, FIGURES.iter().map(|known| known.name))
    })?;
    match which {
        None => Ok((found, Statistic::Mean)),
        Some(which) if found.has_moments() => Ok((found, statistic(which)?)),
        Some(which) => Err(Refusal::new(format!(
            "{name}: a call has one value of {figure}, and no {which}"
        ))
        .with_help(format!("write {figure} alone"))),
    }
}

fn statistic(which: &str) -> Result<Statistic, Refusal> {
    match which {
        "min" => Ok(Statistic::Quantile(0.0)),
        // It counts the values above something, which a limit says by its bound.
        above if above.starts_with("above") => Err(unknown(which)),
        which => which.parse().map_err(|_| unknown(which)),
    }
}

fn unknown(which: &str) -> Refusal {
    Refusal::new(format!("{which:?} is none of a figure's values"))
        .with_help("write _min, _max, _mean, or a percentile such as _p5")
}

/// A bound of this unit.
fn number(unit: Unit, text: &str) -> Result<f64, Refusal> {
    let plain = |text: &str| {
        text.parse()
            .ok()
            .filter(|value: &f64| value.is_finite() && *value >= 0.0)
    };
    let (value, expected) = match unit {
        Unit::Count => (plain(text), "a number such as 1"),
        Unit::Time => (
            text.parse::<Duration>().ok().map(Duration::as_secs_f64),
            "a time such as 250ms",
        ),
        Unit::Share => (
            text.strip_suffix('%')
                .and_then(|percent| plain(percent.trim()))
                .map(|percent| percent / 100.0),
            "a share such as 2%",
        ),
        Unit::Rate => (
            text.parse::<Rate>().ok().map(|rate| rate.as_bits() as f64),
            "a rate such as 500kbit",
        ),
    };
    value.ok_or_else(|| {
        Refusal::new(format!("{text:?} is not {expected}")).with_help(format!("write {expected}"))
    })
}

/// A value of this unit as people read it.
pub fn shown(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count if libm::round(value) == value => format!("{value:.0}"),
        Unit::Count => format!("{value:.1}"),
        Unit::Time if value < 1.0 => format!("{:.0} ms", value * 1e3),
        Unit::Time => format!("{value:.2} s"),
        Unit::Share => format!("{:.1} %", value * 100.0),
        Unit::Rate => format!("{:.2} Mbit/s", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_their_units() {
        let read = |text: &str| text.parse::<Limit>().unwrap();
        let fps = read("fps_p5>=20");
        assert_eq!(
            (fps.text.as_str(), fps.name.as_str()),
            ("fps_p5 >= 20", "fps_p5")
        );
        assert_eq!((fps.which, fps.bound), (Statistic::Quantile(0.05), 20.0));
        assert!(fps.is_kept(20.0) && !fps.is_kept(19.9));
        let freezes = read(" freezes  <=  1 ");
        assert_eq!(freezes.text, "freezes <= 1");
        assert!(freezes.is_kept(1.0) && !freezes.is_kept(2.0));
        assert_eq!(read("rtt_p95 <= 250ms").bound, 0.25);
        assert_eq!(read("lost <= 2%").bound, 0.02);
        assert_eq!(read("rate_min >= 500kbit").bound, 500e3);
        assert_eq!(read("recover <= 3s").bound, 3.0);
        assert_eq!(read("fps >= 24").which, Statistic::Mean);
    }

    #[test]
    fn what_is_no_limit_is_refused_with_a_remedy() {
        for (text, message, help) in [
            ("freezes", "neither <= nor >=", "freezes <= 1"),
            ("freezes < 1", "neither <= nor >=", "freezes <= 1"),
            ("freezes >= 1", "less of it is better", "write freezes <= 1"),
            ("fps <= 20", "more of it is better", "write fps >= 20"),
            ("freeze <= 1", "freeze", "freezes"),
            (
                "freezes_p5 <= 1",
                "one value of freezes",
                "write freezes alone",
            ),
            ("fps_p101 >= 1", "\"p101\"", "_p5"),
            ("fps_above:3 >= 1", "\"above:3\"", "_p5"),
            ("rtt <= 250", "\"250\" is not a time", "250ms"),
            ("lost <= 0.1", "not a share", "2%"),
            ("freezes <= many", "not a number", "such as 1"),
            ("freezes <= -1", "not a number", "such as 1"),
            ("rate >= 3", "not a rate", "500kbit"),
            (
                "recover_max <= 3s",
                "one value of recover",
                "write recover alone",
            ),
            ("", "neither", "freezes <= 1"),
        ] {
            let refusal = text.parse::<Limit>().unwrap_err();
            assert!(
                refusal.message.contains(message),
                "{text}: {}",
                refusal.message
            );
            assert!(
                refusal.help.as_deref().unwrap_or_default().contains(help),
                "{text}: {refusal:?}"
            );
        }
    }

    #[test]
    fn values_are_shown_with_their_units() {
        assert_eq!(shown(Unit::Count, 2.0), "2");
        assert_eq!(shown(Unit::Count, 2.25), "2.2");
        assert_eq!(shown(Unit::Time, 0.0405), "40 ms");
        assert_eq!(shown(Unit::Time, 2.5), "2.50 s");
        assert_eq!(shown(Unit::Share, 0.0213), "2.1 %");
        assert_eq!(shown(Unit::Rate, 1.5e6), "1.50 Mbit/s");
    }
}
