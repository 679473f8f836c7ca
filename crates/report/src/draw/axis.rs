//! Axes: where a value has its place, and the ticks beside it.

use super::svg::short;

/// A labelled axis from one value to another.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    from: f64,
    to: f64,
    log: bool,
    ticks: Vec<(f64, String)>,
}

/// Above this ratio of largest to smallest value, a logarithmic axis shows more.
const LOG_RATIO: f64 = 30.0;
/// A logarithmic axis does not go further down than this; what is below is drawn at its end.
const DEEPEST: f64 = 1e5;
/// Values for which ticks can be told apart; what is beyond them is drawn at the edge.
const RANGE: (f64, f64) = (1e-6, 1e12);

impl Axis {
    /// From exactly `from` to exactly `to`, with up to `ticks` round numbers between.
    pub fn exact(label: &str, from: f64, to: f64, ticks: usize) -> Axis {
        let to = if to > from { to } else { from + 1.0 };
        let step = step(to - from, ticks);
        let first = (from / step).ceil();
        let values = (0..=ticks).map(|tick| (first + tick as f64) * step);
        let inside = values.filter(|value| *value <= to + step * 1e-9);
        Axis {
            label: label.to_owned(),
            ticks: inside.map(|value| (value, number(value, step))).collect(),
            from,
            to,
            log: false,
        }
    }

    /// From the round number below `from` to the one above `to`.
    pub fn round(label: &str, from: f64, to: f64, ticks: usize) -> Axis {
        let (from, to) = (bounded(from), bounded(to).max(bounded(from) + RANGE.0));
        let ends = |step: f64| ((from / step).floor(), (to / step - 1e-9).ceil());
        let fits = |step: &f64| ends(*step).1 - ends(*step).0 <= ticks.max(2) as f64;
        let step = one_two_five().into_iter().find(fits).unwrap_or(RANGE.1);
        let (first, last) = ends(step);
        Axis::exact(label, first * step, last * step, (last - first) as usize)
    }

    /// From zero to the round number above `to`.
    pub fn from_zero(label: &str, to: f64, ticks: usize) -> Axis {
        Axis::round(label, 0.0, to, ticks)
    }

    /// From 0 to 100 %; its values are from 0 to 1.
    pub fn percent(label: &str) -> Axis {
        let ticks = [0, 25, 50, 75, 100].map(|p| (f64::from(p) / 100.0, format!("{p} %")));
        Axis {
            label: label.to_owned(),
            from: 0.0,
            to: 1.0,
            log: false,
            ticks: ticks.to_vec(),
        }
    }

    /// For places that have names: 0, 1, and so on, with room on both sides.
    pub fn places(label: &str, names: &[String]) -> Axis {
        let ticks = (0..)
            .zip(names)
            .map(|(place, name)| (f64::from(place), short(name, 14)));
        Axis {
            label: label.to_owned(),
            from: -0.5,
            to: names.len() as f64 - 0.5,
            log: false,
            ticks: ticks.collect(),
        }
    }

    /// For values of which the smallest positive one is `least` and the largest is `most`:
    /// logarithmic if they are far apart, from zero if not.
    pub fn fitting(label: &str, least: f64, most: f64, ticks: usize) -> Axis {
        let most = bounded(most).max(RANGE.0);
        let least = least.max(most / DEEPEST).max(RANGE.0);
        if most / least < LOG_RATIO {
            return Axis::from_zero(label, most, ticks);
        }
        let all = one_two_five();
        let from = all
            .iter()
            .rev()
            .find(|value| **value <= least * 1.001)
            .unwrap_or(&RANGE.0);
        let to = all
            .iter()
            .find(|value| **value >= most * 0.999)
            .unwrap_or(&RANGE.1);
        let inside: Vec<f64> = all
            .iter()
            .copied()
            .filter(|v| (from..=to).contains(&v))
            .collect();
        let decade = |value: &f64| libm::log10(*value).fract().abs() < 1e-9;
        let sparse = inside.len() > ticks + 2;
        let shown = inside.into_iter().filter(|value| !sparse || decade(value));
        Axis {
            label: label.to_owned(),
            from: *from,
            to: *to,
            log: true,
            ticks: shown.map(|value| (value, number(value, value))).collect(),
        }
    }

    /// Whether it is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// The ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// The ticks, with their texts.
    pub fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }

    /// The place of a value, from 0 to 1; values beyond the ends are drawn there.
    pub fn place(&self, value: f64) -> f64 {
        let place = if self.log {
            let log = |value: f64| libm::log10(value.max(self.from));
            (log(value) - log(self.from)) / (log(self.to) - log(self.from))
        } else {
            (value - self.from) / (self.to - self.from)
        };
        if place.is_nan() {
            0.0
        } else {
            place.clamp(0.0, 1.0)
        }
    }
}

fn bounded(value: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(-RANGE.1, RANGE.1)
    }
}

/// 1, 2, 5, 10, … over the whole range.
fn one_two_five() -> Vec<f64> {
    (-6..12)
        .flat_map(|decade: i32| {
            let power = libm::pow(10.0, f64::from(decade.abs()));
            // Dividing by a power is exact to the last bit, as if the number had been written down.
            [1.0, 2.0, 5.0].map(|digit| {
                if decade < 0 {
                    digit / power
                } else {
                    digit * power
                }
            })
        })
        .collect()
}

/// The smallest of 1, 2, 5 times a power of ten that divides `span` into at most `most` steps.
fn step(span: f64, most: usize) -> f64 {
    let fits = |step: &f64| span / step <= most as f64 * (1.0 + 1e-9);
    one_two_five().into_iter().find(fits).unwrap_or(RANGE.1)
}

/// `value` with as many decimals as `step` needs.
fn number(value: f64, step: f64) -> String {
    let decimals = (0..6)
        .find(|&d| step * libm::pow(10.0, f64::from(d)) > 0.999)
        .unwrap_or(6);
    let decimals = usize::try_from(decimals).unwrap_or(0);
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks().iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        // 60/6 = 10.
        assert_eq!(
            texts(&Axis::exact("s", 0.0, 60.0, 6)),
            ["0", "10", "20", "30", "40", "50", "60"]
        );
        // 0.35/5 = 0.07, so 0.1; the next multiple above 0.35 is 0.4.
        let axis = Axis::from_zero("s", 0.35, 5);
        assert_eq!(texts(&axis), ["0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(axis.ends(), (0.0, 0.4));
        // 20.1 takes 5 steps of 5, where 19.9 takes 4.
        assert_eq!(Axis::from_zero("s", 20.1, 5).ends(), (0.0, 25.0));
        assert_eq!(Axis::from_zero("s", 19.9, 5).ends(), (0.0, 20.0));
        // Ends stay where they are; the first multiple of 2 above 3 is 4.
        let axis = Axis::exact("s", 3.0, 9.0, 4);
        assert_eq!(
            (texts(&axis), axis.ends()),
            (vec!["4", "6", "8"], (3.0, 9.0))
        );
    }

    #[test]
    fn far_apart_values_get_a_logarithmic_axis() {
        assert!(!Axis::fitting("ms", 20.0, 500.0, 6).is_log());
        let axis = Axis::fitting("ms", 12.0, 900.0, 6);
        assert!(axis.is_log());
        assert_eq!(
            texts(&axis),
            ["10", "20", "50", "100", "200", "500", "1000"]
        );
        assert_eq!(axis.place(100.0), 0.5);
        assert_eq!((axis.place(0.0), axis.place(1e9)), (0.0, 1.0));
        // Five decades: only their starts have a text. More are not drawn.
        let axis = Axis::fitting("ms", 0.1, 10_000.0, 6);
        assert_eq!(texts(&axis), ["0.1", "1", "10", "100", "1000", "10000"]);
        assert_eq!(Axis::fitting("ms", 1e-9, 10_000.0, 6).ends(), axis.ends());
    }

    #[test]
    fn odd_values_make_no_odd_axis() {
        for most in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e-300] {
            for axis in [
                Axis::from_zero("", most, 5),
                Axis::fitting("", most, most, 5),
            ] {
                let (from, to) = axis.ends();
                assert!(from < to && to.is_finite(), "{most}: {from} {to}");
                assert!(axis.ticks().len() <= 8, "{most}: {:?}", axis.ticks());
                assert!((0.0..=1.0).contains(&axis.place(most)), "{most}");
            }
        }
    }
}
