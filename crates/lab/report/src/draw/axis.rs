//! Axes: the place of a value, and the ticks.

use super::svg::short;

/// An interval on an axis: its ends.
pub type Ends = (f64, f64);

/// A labelled axis from one value to another.
#[derive(Debug, Clone)]
pub struct Axis {
    /// The quantity, with its unit.
    pub label: String,
    from: f64,
    to: f64,
    log: bool,
    ticks: Vec<(f64, String)>,
    /// Names of the places 0, 1, and so on, if the axis has places instead of values.
    names: Vec<String>,
}

/// Above this ratio of largest to smallest value, a logarithmic axis shows more.
const LOG_RATIO: f64 = 30.0;
/// How much of a row is above its middle line.
pub const ABOVE_ROW: f64 = 0.65;
/// If the largest value of all cases is above this many times their median, it flattens the others.
const FLATTENED: f64 = 20.0;
/// How many times the largest value intervals may reach before an axis leaves out their ends.
const REACH: f64 = 3.0;
/// A logarithmic axis does not go further down than this; smaller values are drawn at its end.
const DEEPEST: f64 = 1e5;
/// Values for which ticks can be told apart; values beyond them are drawn at the edge.
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
            names: Vec::new(),
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
            names: Vec::new(),
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
            names: names.to_vec(),
        }
    }

    /// An ordinate of rows, the first one on top; their names stand in the plot, above their
    /// contents.
    pub fn rows(names: &[String]) -> Axis {
        Axis {
            label: String::new(),
            from: names.len() as f64 - ABOVE_ROW,
            to: -ABOVE_ROW,
            log: false,
            ticks: Vec::new(),
            names: names.to_vec(),
        }
    }

    /// For values whose smallest positive one is `least` and whose largest is `most`: logarithmic
    /// if they are far apart, from zero if not.
    pub fn fitting(label: &str, least: f64, most: f64, ticks: usize) -> Axis {
        let least = least.max(bounded(most) / DEEPEST).max(RANGE.0);
        if bounded(most).max(RANGE.0) / least < LOG_RATIO {
            Axis::from_zero(label, bounded(most).max(RANGE.0), ticks)
        } else {
            Axis::logarithmic(label, least, most, ticks)
        }
    }

    /// For a value of each case, with its interval if there is one; from zero on if that is asked
    /// for. Intervals lie on the axis as a whole unless they are so long that they would hide the
    /// rest. If one case flattens the others the axis is logarithmic.
    pub fn of_cases(label: &str, cases: &[(f64, Option<Ends>)], zero: bool, ticks: usize) -> Axis {
        let values: Vec<f64> = cases.iter().map(|case| case.0).collect();
        let size = values
            .iter()
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        let reach = size.max(RANGE.0) * REACH;
        let ends = |(value, ends): &(f64, Option<Ends>)| {
            let (low, high) = ends.unwrap_or((*value, *value));
            [*value, low.max(-reach), high.min(reach)]
        };
        let all = || cases.iter().flat_map(ends);
        let most = all().fold(f64::NEG_INFINITY, f64::max);
        if flattened(&values) {
            let positive = all().filter(|value| *value > 0.0);
            return Axis::logarithmic(label, positive.fold(f64::INFINITY, f64::min), most, ticks);
        }
        let least = all().fold(f64::INFINITY, f64::min);
        if zero || cases.is_empty() {
            Axis::round(label, least.min(0.0), most.max(0.0), ticks)
        } else {
            Axis::round(label, least, most, ticks)
        }
    }

    /// A logarithmic one for positive values from `least` to `most`.
    pub fn logarithmic(label: &str, least: f64, most: f64, ticks: usize) -> Axis {
        let most = bounded(most).max(RANGE.0);
        let least = least.max(most / DEEPEST).max(RANGE.0);
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
            label: format!("{label} (log scale)"),
            from: *from,
            to: *to,
            log: true,
            names: Vec::new(),
            ticks: shown.map(|value| (value, number(value, value))).collect(),
        }
    }

    /// Whether it is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// Names of its places, if it has places.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a value has a place between the ends.
    pub fn holds(&self, value: f64) -> bool {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        // A value that was rounded to an end lies on it.
        let near = (high - low) * 1e-9;
        (low - near..=high + near).contains(&value)
    }

    /// A value as it is written down: the name of a place, or the number.
    pub fn written(&self, value: f64) -> String {
        // Beside a place is at it.
        let name = self.names.get(libm::round(value) as usize);
        name.cloned().unwrap_or_else(|| value.to_string())
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

/// Whether all values are positive, and the largest is so far above their median that the others
/// could not be told apart next to it.
pub fn flattened(values: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else {
        return false;
    };
    *least > 0.0 && *most > FLATTENED * sorted[(sorted.len() - 1) / 2]
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
    fn intervals_lie_on_the_axis_as_a_whole() {
        let axis = Axis::of_cases("s", &[(1.0, Some((-2.5, 9.0))), (3.0, None)], true, 6);
        assert!(!axis.is_log());
        assert!(axis.holds(-2.5) && axis.holds(9.0), "{:?}", axis.ends());
        let axis = Axis::of_cases("s", &[(2.2, Some((2.1, 2.9)))], false, 6);
        assert!(axis.holds(2.1) && !axis.holds(0.0), "{:?}", axis.ends());
        // A value so large that no other could be seen next to it leaves the axis.
        let axis = Axis::of_cases("s", &[(1.0, Some((0.0, 900.0))), (3.0, None)], true, 6);
        assert_eq!(axis.ends(), (0.0, 10.0));
        let none = Axis::of_cases("s", &[], false, 6);
        assert!(none.ends().0 < none.ends().1);
    }

    #[test]
    fn where_one_case_flattens_the_rest_the_axis_is_logarithmic_and_says_so() {
        let cases = |values: &[f64]| -> Vec<(f64, Option<Ends>)> {
            values.iter().map(|value| (*value, None)).collect()
        };
        // The median of 1, 2 and 3 is 2, of four the lower one in the middle.
        for (values, log) in [
            (&[1.0, 2.0, 40.0][..], false),
            (&[1.0, 2.0, 41.0], true),
            (&[1.0, 2.0, 3.0, 41.0], true),
            (&[0.0, 2.0, 41.0], false),
            (&[-1.0, 2.0, 41.0], false),
        ] {
            let axis = Axis::of_cases("delay, ms", &cases(values), true, 6);
            assert_eq!(axis.is_log(), log, "{values:?}");
            assert_eq!(axis.label.ends_with("(log scale)"), log, "{}", axis.label);
        }
        // An interval down to zero is not on it.
        let axis = Axis::of_cases(
            "s",
            &[(1.0, Some((0.0, 2.0))), (1.0, None), (50.0, None)],
            true,
            6,
        );
        assert!(axis.is_log() && !axis.holds(0.0) && axis.holds(2.0));
    }

    #[test]
    fn places_are_written_by_their_names() {
        let axis = Axis::places("buffer", &["1bdp".to_owned(), "2bdp".to_owned()]);
        assert_eq!(
            [0.8, 1.2].map(|place| axis.written(place)),
            ["2bdp", "2bdp"]
        );
        assert_eq!(Axis::percent("share").written(0.25), "0.25");
        assert_eq!(
            libm::round(Axis::rows(&["a".to_owned(), "b".to_owned()]).place(1.0) * 1e3),
            175.0
        );
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
