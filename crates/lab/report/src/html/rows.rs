//! Bars over time: a row for each subject, in it one or more lanes, on them intervals.

use crate::draw::axis::Axis;
use crate::draw::svg::{SvgPath, coordinate as c, short};
use crate::draw::values::{DrawnValue, Mark, PlotKey};
use crate::draw::{CHARACTER, Drawing, abscissa};
use maud::{Markup, PreEscaped, html};

const RIGHT: f64 = 18.0;
const ABOVE: f64 = 6.0;
const BELOW: f64 = 38.0;
const GAP: f64 = 6.0;
/// Longer names of rows are cut.
const NAME: usize = 28;
/// On charts that are not wider than this, names stand above their rows.
const NARROW: f64 = 600.0;
/// Height of a name above its row.
const LINE: f64 = 16.0;
/// Intervals shorter than this many pixels are drawn this long, and one of them in each such
/// place.
const SHORTEST: f64 = 1.0;

/// A chart of rows in the making.
#[derive(Debug)]
pub struct Rows {
    width: f64,
    left: f64,
    axis: Axis,
    floor: f64,
    marks: String,
    names: Vec<String>,
    values: Vec<DrawnValue>,
}

/// The meaning of bars of a row, and the classes that they are drawn in.
#[derive(Debug, Clone)]
pub struct Part {
    /// Their meaning.
    pub name: String,
    /// Their classes.
    pub classes: String,
}

impl Part {
    pub fn new(name: &str, classes: &str) -> Part {
        Part {
            name: name.to_owned(),
            classes: classes.to_owned(),
        }
    }
}

impl Rows {
    /// An empty chart of so many pixels in width, for rows of these names.
    pub fn new<'a>(width: f64, axis: Axis, names: impl Iterator<Item = &'a str>) -> Self {
        let longest = names
            .map(|name| name.chars().count().min(NAME))
            .max()
            .unwrap_or(0);
        let left = if width > NARROW {
            longest as f64 * CHARACTER + 12.0
        } else {
            RIGHT
        };
        Rows {
            width,
            left,
            axis,
            floor: ABOVE,
            marks: String::new(),
            names: Vec::new(),
            values: Vec::new(),
        }
    }

    fn px(&self, x: f64) -> f64 {
        self.left + self.axis.place(x) * (self.width - RIGHT - self.left)
    }

    /// Adds a row of so many pixels in height; its lanes share it. On each lane are intervals:
    /// from when to when, and which of `parts` they are. The whole row is in `group`.
    pub fn row(
        &mut self,
        group: &str,
        name: &str,
        height: f64,
        parts: &[Part],
        lanes: &[Vec<Bar>],
    ) {
        let above = self.width <= NARROW;
        let top = self.floor + if above { LINE } else { 0.0 };
        self.floor = top + height + GAP;
        let width = self.width - RIGHT - self.left;
        let lane_height = height / lanes.len().max(1) as f64;
        let path = |number: usize| {
            let mut path = SvgPath::default();
            for (lane, bars) in lanes.iter().enumerate() {
                let y = top + (lane as f64 + 0.5) * lane_height;
                self.bars(&mut path, y, bars.iter().filter(|bar| bar.class == number));
            }
            path
        };
        let named = if above {
            html! {
                text x=(c(self.left)) y=(c(top - 4.0)) { (short(name, NAME)) }
            }
        } else {
            html! {
                text x=(c(self.left - 6.0)) y=(c(top + height / 2.0 + 4.0)) text-anchor="end" {
                    (short(name, NAME))
                }
            }
        };
        let row = html! {
            g class=(group) {
                rect class="lane" x=(c(self.left)) y=(c(top)) width=(c(width)) height=(c(height)) {}
                (named)
                @for (number, part) in parts.iter().enumerate() {
                    (path(number).wide(&part.classes, (lane_height - 0.4).max(0.4)))
                }
            }
        };
        self.marks += &row.into_string();
        self.keep(name, parts, lanes);
    }

    /// Keeps the contents of a row; a row without bars is kept as well.
    fn keep(&mut self, name: &str, parts: &[Part], lanes: &[Vec<Bar>]) {
        let place = self.names.len() as f64;
        self.names.push(name.to_owned());
        for bar in lanes.iter().flatten() {
            let part = parts.get(bar.class).map(|part| part.name.clone());
            self.values.push(DrawnValue {
                series: name.to_owned(),
                mark: Mark::Span,
                part: part.unwrap_or_default(),
                x: None,
                x_ends: Some((bar.from, bar.to)),
                y: Some(place),
                y_ends: None,
            });
        }
    }

    fn bars<'a>(&self, path: &mut SvgPath, y: f64, bars: impl Iterator<Item = &'a Bar>) {
        let mut drawn_to = f64::NEG_INFINITY;
        for bar in bars {
            let (from, to) = (self.px(bar.from), self.px(bar.to));
            if to <= drawn_to {
                continue;
            }
            let to = to.max(from + SHORTEST);
            path.start(from, y);
            path.across(to);
            drawn_to = to;
        }
    }

    /// The complete chart with its `title`; `keys` explain its colours.
    pub fn finish(self, title: &str, keys: Vec<PlotKey>) -> Drawing {
        let height = self.floor + BELOW;
        let ends = (self.left, self.width - RIGHT);
        let (axis, below) = abscissa(&self.axis, ends, self.floor, height);
        let content: Markup = html! { (PreEscaped(&self.marks)) (axis) };
        Drawing {
            title: title.to_owned(),
            x: self.axis,
            y: Axis::rows(&self.names),
            keys,
            values: self.values,
            hollow: false,
            cut: false,
            size: (self.width, height + below),
            content,
        }
    }
}

/// An interval on a lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its start.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Which of the row's classes it is drawn in.
    pub class: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Rows {
        // Names of one character: 19 pixels on the left, 18 on the right, 1000 for the axis.
        Rows::new(1037.0, Axis::exact("s", 0.0, 100.0, 5), ["a"].into_iter())
    }

    fn bar(from: f64, to: f64, class: usize) -> Bar {
        Bar { from, to, class }
    }

    #[test]
    fn bars_stand_on_their_lane_in_their_class() {
        let mut chart = chart();
        let lanes = [
            vec![bar(0.0, 5.0, 0), bar(5.0, 10.0, 1)],
            vec![bar(1.0, 2.0, 1)],
        ];
        chart.row(
            "",
            "a",
            8.0,
            &["k0", "k1"].map(|class| Part::new("", class)),
            &lanes,
        );
        // Lanes of 4 pixels each from 6 on: centres at 8 and 12.
        assert!(
            chart
                .marks
                .contains("class=\"k0\" stroke-width=\"3.6\" d=\"M19 8H69\"")
        );
        assert!(
            chart
                .marks
                .contains("class=\"k1\" stroke-width=\"3.6\" d=\"M69 8H119M29 12H39\"")
        );
    }

    #[test]
    fn many_short_bars_are_drawn_once_in_each_place() {
        let mut chart = chart();
        // A hundred bars within 1/100 of a pixel, and one 10 pixels on.
        let mut bars: Vec<Bar> = (0..100)
            .map(|n| bar(f64::from(n) * 1e-5, f64::from(n) * 1e-5 + 5e-6, 0))
            .collect();
        bars.push(bar(1.0, 1.0, 0));
        chart.row("", "a", 8.0, &[Part::new("", "k0")], &[bars]);
        assert!(
            chart.marks.contains("d=\"M19 10H20M29 10H30\""),
            "{}",
            chart.marks
        );
    }

    #[test]
    fn names_stand_above_rows_that_are_narrow() {
        let mut chart = Rows::new(
            400.0,
            Axis::exact("s", 0.0, 10.0, 5),
            ["a long name"].into_iter(),
        );
        chart.row(
            "",
            "a long name",
            8.0,
            &[Part::new("late", "late")],
            &[vec![bar(1.0, 2.0, 0)]],
        );
        assert!(
            chart.marks.contains("<text x=\"18\" y=\"18\">a long name"),
            "{}",
            chart.marks
        );
        let drawing = chart.finish("t", Vec::new());
        assert!(
            drawing
                .csv()
                .unwrap()
                .ends_with("a long name,span,late,,1,2,a long name,,\n")
        );
    }
}
