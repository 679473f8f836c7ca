//! A plot: two axes and what is drawn between them.
//!
//! Colours, dashes and fonts are the style sheet's: marks carry classes only, so that a plot
//! follows the reader's light or dark scheme.

use super::axis::Axis;
use super::svg::{Path, coordinate as c, escape};
use super::thin::{Point, thin};
use std::fmt::Write as _;

/// Points of one line; more cannot be told apart on a screen.
const MOST_POINTS: usize = 2000;

/// Room around the drawing, in pixels: the ticks' texts left and below, the axis' name above.
const LEFT: f64 = 50.0;
const RIGHT: f64 = 18.0;
const ABOVE: f64 = 26.0;
const BELOW: f64 = 38.0;
/// Width of a character, near enough to tell whether texts overlap.
const CHARACTER: f64 = 7.0;

/// A rectangle of pixels: left, top, right, bottom.
type Area = (f64, f64, f64, f64);

/// A plot in the making.
#[derive(Debug)]
pub struct Plot {
    width: f64,
    height: f64,
    x: Axis,
    y: Axis,
    marks: String,
    /// What labels must not cover: markers, and other labels.
    taken: Vec<Area>,
    /// What they should not cover if they can help it: intervals.
    crossed: Vec<Area>,
}

impl Plot {
    /// An empty plot of so many pixels.
    pub fn new(width: f64, height: f64, x: Axis, y: Axis) -> Self {
        Plot {
            width,
            height,
            x,
            y,
            marks: String::new(),
            taken: Vec::new(),
            crossed: Vec::new(),
        }
    }

    fn px(&self, x: f64) -> f64 {
        LEFT + self.x.place(x) * (self.width - LEFT - RIGHT)
    }

    fn py(&self, y: f64) -> f64 {
        self.height - BELOW - self.y.place(y) * (self.height - ABOVE - BELOW)
    }

    /// Puts what follows, until [`end`](Plot::end), into a group of these classes.
    pub fn group(&mut self, classes: &str) {
        _ = write!(self.marks, "<g class=\"{classes}\">");
    }

    /// Ends a group.
    pub fn end(&mut self) {
        self.marks.push_str("</g>\n");
    }

    /// A line through `points`, interrupted where there is no value.
    pub fn line(&mut self, class: &str, points: &[Point]) {
        let mut path = Path::default();
        let mut drawing = false;
        let points = thin(points, MOST_POINTS);
        for (at, (x, y)) in points.iter().enumerate() {
            let Some(y) = y else {
                drawing = false;
                continue;
            };
            let (x, y) = (self.px(*x), self.py(*y));
            if drawing {
                path.to(x, y);
            } else {
                path.start(x, y);
                // A single point between two gaps is seen as a dot, thanks to round line ends.
                if points.get(at + 1).is_none_or(|next| next.1.is_none()) {
                    path.across(x);
                }
            }
            drawing = true;
        }
        self.marks += &path.element(&format!("class=\"line {class}\""));
    }

    /// A line that holds each value until the next one, until `end`.
    pub fn steps(&mut self, class: &str, points: &[(f64, f64)], end: f64) {
        let path = self.stairs(points, end);
        self.marks += &path.element(&format!("class=\"line {class}\""));
    }

    /// The area below such a line.
    pub fn area(&mut self, class: &str, points: &[(f64, f64)], end: f64) {
        let mut path = self.stairs(points, end);
        let floor = self.py(self.y.ends().0);
        if let Some((first, _)) = points.first() {
            path.upright(floor);
            path.across(self.px(*first));
        }
        self.marks += &path.element(&format!("class=\"area {class}\""));
    }

    fn stairs(&self, points: &[(f64, f64)], end: f64) -> Path {
        let mut path = Path::default();
        let mut level = f64::NAN;
        for (at, (x, y)) in points.iter().enumerate() {
            let (x, y) = (self.px(*x), self.py(*y));
            if at == 0 {
                path.start(x, y);
            } else if (y - level).abs() >= 0.05 {
                path.across(x);
                path.upright(y);
            } else {
                continue;
            }
            level = y;
        }
        if !points.is_empty() {
            path.across(self.px(end));
        }
        path
    }

    /// The distribution of `values`, as shares of `total`: the line ends below 100 % if there are
    /// fewer values.
    pub fn distribution(&mut self, values: &mut [f64], total: usize) {
        values.sort_by(f64::total_cmp);
        let share = |count: usize| count as f64 / total.max(1) as f64;
        let (from, to) = self.x.ends();
        let points: Vec<Point> = (1..)
            .zip(values.iter())
            .map(|(count, value)| (*value, Some(share(count))))
            .collect();
        let mut steps = vec![(from, 0.0)];
        steps.extend(
            thin(&points, MOST_POINTS / 4)
                .iter()
                .map(|(x, y)| (*x, y.unwrap_or(0.0))),
        );
        self.steps("", &steps, to);
    }

    /// A dashed line across at `y`, with a text at its end.
    pub fn level(&mut self, y: f64, text: &str) {
        let (left, right, at) = (LEFT, self.width - RIGHT, self.py(y));
        let mut path = Path::default();
        path.start(left, at);
        path.across(right);
        self.marks += &path.element("class=\"limit\"");
        _ = writeln!(
            self.marks,
            "<text class=\"limit\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            c(right - 2.0),
            c(at - 4.0),
            escape(text)
        );
    }

    /// A dashed line upright at `x`, with a text beside its foot, where distributions leave room.
    pub fn upright(&mut self, x: f64, text: &str) {
        let at = self.px(x);
        let mut path = Path::default();
        path.start(at, ABOVE);
        path.upright(self.height - BELOW);
        self.marks += &path.element("class=\"limit\"");
        let (anchor, side) = if at > self.width * 0.8 {
            ("end", -4.0)
        } else {
            ("start", 4.0)
        };
        _ = writeln!(
            self.marks,
            "<text class=\"limit\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            c(at + side),
            c(self.height - BELOW - 6.0),
            escape(text)
        );
    }

    /// A span of the abscissa, from top to bottom, behind what follows.
    pub fn span(&mut self, class: &str, from: f64, to: f64) {
        let (left, right) = (self.px(from), self.px(to));
        if right > left {
            _ = writeln!(
                self.marks,
                "<rect class=\"{class}\" x=\"{}\" y=\"{ABOVE}\" width=\"{}\" height=\"{}\"/>",
                c(left),
                c(right - left),
                c(self.height - ABOVE - BELOW)
            );
        }
    }

    /// A marker with its intervals: half widths in x and y.
    pub fn marker(&mut self, shape: usize, at: (f64, f64), half: (f64, f64), about: &str) {
        let (x, y) = (self.px(at.0), self.py(at.1));
        let mut path = Path::default();
        if half.0 > 0.0 {
            path.start(self.px(at.0 - half.0), y);
            path.across(self.px(at.0 + half.0));
        }
        if half.1 > 0.0 {
            path.start(x, self.py(at.1 - half.1));
            path.upright(self.py(at.1 + half.1));
        }
        self.marks += &path.element("class=\"interval\"");
        let across = (
            self.px(at.0 - half.0),
            y - 2.0,
            self.px(at.0 + half.0),
            y + 2.0,
        );
        let upright = (
            x - 2.0,
            self.py(at.1 + half.1),
            x + 2.0,
            self.py(at.1 - half.1),
        );
        self.crossed.extend([across, upright]);
        self.marks += &marker(shape, x, y, about);
        self.taken.push((x - 7.0, y - 7.0, x + 7.0, y + 7.0));
    }

    /// A text beside a marker, on the first side where it covers nothing, or else only intervals;
    /// nowhere if there is none. To be called when all markers stand.
    pub fn label(&mut self, at: (f64, f64), text: &str) {
        let (x, y) = (self.px(at.0), self.py(at.1));
        let width = text.chars().count() as f64 * CHARACTER;
        let sides = [
            ("start", x + 9.0, y + 4.0, x + 9.0),
            ("end", x - 9.0, y + 4.0, x - 9.0 - width),
            ("middle", x, y - 10.0, x - width / 2.0),
            ("middle", x, y + 19.0, x - width / 2.0),
            ("start", x + 7.0, y - 8.0, x + 7.0),
            ("start", x + 7.0, y + 17.0, x + 7.0),
            ("end", x - 7.0, y - 8.0, x - 7.0 - width),
            ("end", x - 7.0, y + 17.0, x - 7.0 - width),
            ("middle", x, y - 24.0, x - width / 2.0),
            ("middle", x, y + 33.0, x - width / 2.0),
        ];
        let area =
            |(_, _, y, left): &(&str, f64, f64, f64)| (*left, y - 10.0, left + width, y + 3.0);
        let inside = |area: Area| {
            let (top, floor) = (ABOVE - 12.0, self.height - BELOW);
            area.0 >= LEFT && area.1 >= top && area.2 <= self.width && area.3 <= floor
        };
        let clear = |of: &[Area], area: Area| !of.iter().any(|other| overlap(area, *other));
        let free = sides
            .iter()
            .filter(|side| inside(area(side)) && clear(&self.taken, area(side)));
        let best = free.clone().find(|side| clear(&self.crossed, area(side)));
        let Some(side) = best.or_else(|| free.clone().next()) else {
            return;
        };
        let (anchor, text_x, text_y, _) = side;
        _ = writeln!(
            self.marks,
            "<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            c(*text_x),
            c(*text_y),
            escape(text)
        );
        self.taken.push(area(side));
    }

    /// The plot as an SVG element; `name` is read to those who cannot see it.
    pub fn finish(self, name: &str) -> String {
        let (right, floor) = (self.width - RIGHT, self.height - BELOW);
        let mut grid = String::new();
        for (value, text) in self.y.ticks() {
            let y = self.py(*value);
            let mut path = Path::default();
            path.start(LEFT, y);
            path.across(right);
            grid += &path.element("class=\"grid\"");
            let (x, y) = (c(LEFT - 6.0), c(y + 4.0));
            _ = writeln!(
                grid,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{text}</text>"
            );
        }
        _ = writeln!(
            grid,
            "<text class=\"axis\" x=\"4\" y=\"12\">{}</text>",
            escape(&self.y.label)
        );
        let axis = abscissa(&self.x, (LEFT, right), floor, self.height);
        format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{grid}{axis}{}</svg>\n",
            c(self.width),
            c(self.height),
            escape(name),
            self.marks
        )
    }
}

/// The line at the foot of a plot, its ticks, and below them the name of the axis.
pub fn abscissa(axis: &Axis, (left, right): (f64, f64), floor: f64, bottom: f64) -> String {
    let mut path = Path::default();
    path.start(left, floor);
    path.across(right);
    let mut texts = String::new();
    for (value, text) in axis.ticks() {
        let x = left + axis.place(*value) * (right - left);
        path.start(x, floor);
        path.upright(floor + 4.0);
        let (x, y) = (c(x), c(floor + 16.0));
        _ = writeln!(
            texts,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>"
        );
    }
    _ = writeln!(
        texts,
        "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        c(right),
        c(bottom - 5.0),
        escape(&axis.label)
    );
    path.element("class=\"frame\"") + &texts
}

fn overlap(a: Area, b: Area) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// A marker of one of six shapes.
pub fn marker(shape: usize, x: f64, y: f64, about: &str) -> String {
    let corners: &[(f64, f64)] = match shape % 6 {
        0 => {
            return format!(
                "<circle class=\"marker\" cx=\"{}\" cy=\"{}\" r=\"5\">{}</circle>\n",
                c(x),
                c(y),
                title(about)
            );
        }
        1 => &[(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)],
        2 => &[(0.0, -5.5), (5.5, 4.5), (-5.5, 4.5)],
        3 => &[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)],
        4 => &[(0.0, 5.5), (5.5, -4.5), (-5.5, -4.5)],
        _ => &[(-6.0, -2.5), (6.0, -2.5), (6.0, 2.5), (-6.0, 2.5)],
    };
    let points: Vec<String> = corners
        .iter()
        .map(|(dx, dy)| format!("{},{}", c(x + dx), c(y + dy)))
        .collect();
    let points = points.join(" ");
    format!(
        "<polygon class=\"marker\" points=\"{points}\">{}</polygon>\n",
        title(about)
    )
}

/// What a pointer over an element shows.
fn title(about: &str) -> String {
    match about {
        "" => String::new(),
        about => format!("<title>{}</title>", escape(about)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 pixels to each unit: 68 of margins across, 64 upright.
    fn plot() -> Plot {
        let axis = |to| Axis::exact("v", 0.0, to, 4);
        Plot::new(268.0, 164.0, axis(2.0), axis(1.0))
    }

    #[test]
    fn lines_are_interrupted_where_there_is_no_value() {
        let mut plot = plot();
        plot.line(
            "",
            &[
                (0.0, Some(0.0)),
                (1.0, Some(1.0)),
                (1.2, None),
                (2.0, Some(0.5)),
            ],
        );
        assert!(
            plot.marks.contains("d=\"M50 126L150 26M250 76H250\""),
            "{}",
            plot.marks
        );
    }

    #[test]
    fn areas_are_stairs_down_to_the_floor() {
        let mut plot = plot();
        plot.area("", &[(0.0, 0.5), (1.0, 1.0), (1.5, 1.0)], 2.0);
        assert!(
            plot.marks.contains("d=\"M50 76H150V26H250V126H50\""),
            "{}",
            plot.marks
        );
    }

    #[test]
    fn distributions_end_where_values_are_missing() {
        let mut plot = plot();
        // Two values of four: 25 % at 0.5, 50 % at 1.
        plot.distribution(&mut [1.0, 0.5], 4);
        assert!(
            plot.marks.contains("d=\"M50 126H100V101H150V76H250\""),
            "{}",
            plot.marks
        );
    }

    #[test]
    fn labels_do_not_cover_one_another() {
        let mut plot = plot();
        for at in [(0.5, 0.5), (0.6, 0.5)] {
            plot.marker(0, at, (0.0, 0.0), "");
        }
        plot.label((0.5, 0.5), "ab");
        plot.label((0.6, 0.5), "cd");
        // The second marker is 10 pixels to the right of the first and in the way of its label;
        // on the left there is room.
        assert!(
            plot.marks
                .contains("x=\"91\" y=\"80\" text-anchor=\"end\">ab"),
            "{}",
            plot.marks
        );
        assert!(
            plot.marks
                .contains("x=\"119\" y=\"80\" text-anchor=\"start\">cd")
        );
    }
}
