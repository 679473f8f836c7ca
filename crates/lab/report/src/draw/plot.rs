//! A plot: two axes and the items drawn between them.
//!
//! Colours, dashes and fonts are in the style sheet: marks carry classes only, so that a plot
//! follows the reader's light or dark scheme. The drawn values are kept as numbers as well.

use super::axis::{ABOVE_ROW, Axis, Ends};
use super::drawing::Drawing;
use super::labels::{CHARACTER, Labels};
use super::marker::marker;
use super::spread::Spread;
use super::svg::{SvgPath, coordinate as c, short};
use super::thin::{Point, thin};
use super::ticks::abscissa;
use super::values::{DrawnValue, Mark, PlotKey};
use maud::{Markup, PreEscaped, html};

/// Points of one line for each pixel in width; more cannot be distinguished on a screen.
const MOST_POINTS: f64 = 2.25;

/// Room around the drawing, in pixels: the ticks' texts left and below, the axis' name above.
const LEFT: f64 = 50.0;
const RIGHT: f64 = 18.0;
const ABOVE: f64 = 26.0;
/// The same if the ordinate has no name.
const BARE: f64 = 4.0;
const BELOW: f64 = 38.0;
/// Height of a row of texts.
const LINE: f64 = 14.0;
/// Half of a box's height.
const BOX: f64 = 8.0;

/// A plot in the making.
#[derive(Debug)]
pub struct Plot {
    width: f64,
    height: f64,
    left: f64,
    above: f64,
    x: Axis,
    y: Axis,
    marks: String,
    labels: Labels,
    keys: Vec<PlotKey>,
    values: Vec<DrawnValue>,
    /// The series being drawn.
    series: String,
    hollow: bool,
    cut: bool,
}

impl Plot {
    /// An empty plot of so many pixels.
    pub fn new(width: f64, height: f64, x: Axis, y: Axis) -> Self {
        let texts = y.ticks().iter().map(|(_, text)| text.chars().count());
        let left = match texts.max() {
            Some(longest) => LEFT.max(longest as f64 * CHARACTER + 12.0),
            None => RIGHT,
        };
        Plot {
            width,
            height,
            left,
            above: if y.label.is_empty() { BARE } else { ABOVE },
            x,
            y,
            marks: String::new(),
            labels: Labels::default(),
            keys: Vec::new(),
            values: Vec::new(),
            series: String::new(),
            hollow: false,
            cut: false,
        }
    }

    /// An empty plot of rows of so many pixels, with their names above them.
    pub fn rows(width: f64, row: f64, x: Axis, names: &[String]) -> Self {
        let height = BARE + BELOW + names.len() as f64 * row;
        let mut plot = Plot::new(width, height, x, Axis::rows(names));
        let most = ((width - plot.left - RIGHT) / CHARACTER) as usize;
        for (place, name) in (0..).zip(names) {
            let top = plot.py(f64::from(place) - ABOVE_ROW);
            plot.mark(html! {
                text class="label" x=(c(plot.left)) y=(c(top + LINE)) { (short(name, most)) }
            });
        }
        plot
    }

    fn px(&self, x: f64) -> f64 {
        self.left + self.x.place(x) * (self.width - self.left - RIGHT)
    }

    fn py(&self, y: f64) -> f64 {
        self.height - BELOW - self.y.place(y) * (self.height - self.above - BELOW)
    }

    /// Puts the output of `draw` into a group of these classes, and those of `key`, with its name.
    pub fn series(&mut self, key: &PlotKey, classes: &str, draw: impl FnOnce(&mut Plot)) {
        self.series.clone_from(&key.name);
        self.within(format!("{classes} {}", key.classes).trim(), draw);
        if !self.keys.contains(key) {
            self.keys.push(key.clone());
        }
    }

    /// Puts the output of `draw` into a group of these classes.
    pub fn within(&mut self, classes: &str, draw: impl FnOnce(&mut Plot)) {
        let before = std::mem::take(&mut self.marks);
        draw(self);
        let inside = PreEscaped(std::mem::replace(&mut self.marks, before));
        self.mark(html! { g class=(classes) { (inside) } });
    }

    /// Keeps a value that is drawn.
    fn keep(
        &mut self,
        mark: Mark,
        part: &str,
        x: (f64, Option<Ends>),
        y: (Option<f64>, Option<Ends>),
    ) {
        self.values.push(DrawnValue {
            series: self.series.clone(),
            mark,
            part: part.to_owned(),
            x: Some(x.0),
            x_ends: x.1,
            y: y.0,
            y_ends: y.1,
        });
    }

    fn keep_steps(&mut self, mark: Mark, part: &str, points: &[(f64, f64)]) {
        for (x, y) in points {
            self.keep(mark, part, (*x, None), (Some(*y), None));
        }
    }

    fn mark(&mut self, mark: Markup) {
        self.marks += &mark.into_string();
    }

    /// A line through `points`, interrupted at missing values.
    pub fn line(&mut self, class: &str, points: &[Point]) {
        for (x, y) in points {
            self.keep(Mark::Line, class, (*x, None), (*y, None));
        }
        let mut path = SvgPath::default();
        let mut drawing = false;
        let points = thin(points, self.most_points());
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
        self.mark(path.element(&format!("line {class}")));
    }

    /// A line that holds each value until the next one, until `end`.
    pub fn steps(&mut self, class: &str, points: &[(f64, f64)], end: f64) {
        self.keep_steps(Mark::Steps, class, points);
        self.stepped(class, points, end);
    }

    fn stepped(&mut self, class: &str, points: &[(f64, f64)], end: f64) {
        let path = self.stairs(points, end);
        self.mark(path.element(&format!("line {class}")));
    }

    /// The area below such a line.
    pub fn area(&mut self, class: &str, points: &[(f64, f64)], end: f64) {
        self.keep_steps(Mark::Area, class, points);
        let mut path = self.stairs(points, end);
        let edge = self.stairs(points, end).element("line edge");
        let floor = self.py(self.y.ends().0);
        if let Some((first, _)) = points.first() {
            path.upright(floor);
            path.across(self.px(*first));
        }
        self.mark(path.element(&format!("area {class}")));
        self.mark(edge);
    }

    fn most_points(&self) -> usize {
        (self.width * MOST_POINTS) as usize
    }

    fn stairs(&self, points: &[(f64, f64)], end: f64) -> SvgPath {
        let mut path = SvgPath::default();
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
        for (x, y) in &points {
            self.keep(Mark::Share, "", (*x, None), (*y, None));
        }
        let mut steps = vec![(from, 0.0)];
        steps.extend(
            thin(&points, self.most_points() / 4)
                .iter()
                .map(|(x, y)| (*x, y.unwrap_or(0.0))),
        );
        self.stepped("", &steps, to);
    }

    /// A dashed line across at `y`, with a text at its end.
    pub fn level(&mut self, y: f64, text: &str) {
        let (left, right, at) = (self.left, self.width - RIGHT, self.py(y));
        let mut path = SvgPath::default();
        path.start(left, at);
        path.across(right);
        self.mark(html! {
            (path.element("limit"))
            text class="limit" x=(c(right - 2.0)) y=(c(at - 4.0)) text-anchor="end" { (text) }
        });
        let long = text.chars().count();
        let start = right - 2.0 - long as f64 * CHARACTER;
        self.labels.text((start, at - 4.0), long);
    }

    /// A dashed line upright at `x`, with a text next to its foot, where distributions leave room.
    pub fn upright(&mut self, x: f64, text: &str) {
        let at = self.px(x);
        let mut path = SvgPath::default();
        path.start(at, self.above);
        path.upright(self.height - BELOW);
        let (anchor, side) = if at > self.width * 0.8 {
            ("end", -4.0)
        } else {
            ("start", 4.0)
        };
        let foot = self.height - BELOW - 6.0;
        self.mark(html! {
            (path.element("limit"))
            text class="limit" x=(c(at + side)) y=(c(foot)) text-anchor=(anchor) { (text) }
        });
    }

    /// A span of the abscissa, from top to bottom, behind later items.
    pub fn span(&mut self, class: &str, from: f64, to: f64) {
        let (left, right) = (self.px(from), self.px(to));
        if right > left {
            let (width, height) = (c(right - left), c(self.height - self.above - BELOW));
            self.mark(html! {
                rect class=(class) x=(c(left)) y=(c(self.above)) width=(width) height=(height) {}
            });
        }
    }

    /// A marker with its intervals in x and y, if it has any: each from its own ends, with an arrow
    /// if it continues beyond the axis. Hollow, if its uncertainty is unknown.
    pub fn marker(
        &mut self,
        shape: usize,
        at: (f64, f64),
        ends: [Option<Ends>; 2],
        filled: bool,
        about: &str,
    ) {
        let (x, y) = (self.px(at.0), self.py(at.1));
        let mut path = SvgPath::default();
        if let Some((from, to)) = ends[0] {
            let pixels = (self.px(from), self.px(to));
            path.start(pixels.0, y);
            path.across(pixels.1);
            for (end, px, towards) in [(from, pixels.0, 1.0), (to, pixels.1, -1.0)] {
                if !self.x.holds(end) {
                    arrow(&mut path, (px, y), (5.0 * towards, 3.5));
                    self.cut = true;
                }
            }
            self.labels.interval((pixels.0, y), (pixels.1, y));
        }
        if let Some((from, to)) = ends[1] {
            let pixels = (self.py(from), self.py(to));
            path.start(x, pixels.0);
            path.upright(pixels.1);
            for (end, py, towards) in [(from, pixels.0, -1.0), (to, pixels.1, 1.0)] {
                if !self.y.holds(end) {
                    arrow(&mut path, (x, py), (3.5, 5.0 * towards));
                    self.cut = true;
                }
            }
            self.labels.interval((x, pixels.0), (x, pixels.1));
        }
        self.mark(path.element("interval"));
        self.mark(marker(shape, (x, y), filled, about));
        self.labels.marker((x, y));
        self.hollow |= !filled;
        self.keep(Mark::Point, "", (at.0, ends[0]), (Some(at.1), ends[1]));
    }

    /// A box with its whiskers on the row `place`.
    pub fn spread(&mut self, place: f64, of: Spread) {
        let y = self.py(place);
        let [low, lower, median, upper, high] =
            [of.low, of.lower, of.median, of.upper, of.high].map(|value| self.px(value));
        let mut whiskers = SvgPath::default();
        for (from, to) in [(lower, low), (upper, high)] {
            whiskers.start(from, y);
            whiskers.across(to);
            whiskers.start(to, y - BOX / 2.0);
            whiskers.upright(y + BOX / 2.0);
        }
        let mut middle = SvgPath::default();
        middle.start(median, y - BOX);
        middle.upright(y + BOX);
        self.mark(html! {
            (whiskers.element("interval"))
            rect class="box" x=(c(lower)) y=(c(y - BOX)) width=(c(upper - lower)) height=(c(2.0 * BOX)) {}
            (middle.element("median"))
        });
        self.keep(
            Mark::Box,
            "",
            (of.median, Some((of.lower, of.upper))),
            (Some(place), None),
        );
        self.keep(
            Mark::Whiskers,
            "",
            (of.median, Some((of.low, of.high))),
            (Some(place), None),
        );
    }

    /// Small points on the row `place`, a little above one another so that near ones are seen.
    pub fn dots(&mut self, place: f64, values: &[f64]) {
        for (number, value) in values.iter().enumerate() {
            let away = [0.0, -4.0, 4.0][number % 3];
            let (x, y) = (self.px(*value), self.py(place) + away);
            self.mark(html! { circle class="dot" cx=(c(x)) cy=(c(y)) r="2.5" {} });
            self.keep(Mark::Point, "", (*value, None), (Some(place), None));
        }
    }

    /// A text next to a marker, or at the end of a line from it, where it covers nothing; nowhere
    /// if there is no such place. To be called when all markers stand.
    pub fn label(&mut self, at: (f64, f64), text: &str) {
        let bounds = (
            self.left,
            self.above - 12.0,
            self.width,
            self.height - BELOW,
        );
        let marker = (self.px(at.0), self.py(at.1));
        let Some(place) = self.labels.place(marker, text.chars().count(), bounds) else {
            return;
        };
        let mut leader = SvgPath::default();
        if let Some([from, to]) = place.leader {
            leader.start(from.0, from.1);
            leader.to(to.0, to.1);
        }
        let (x, y) = place.start;
        self.mark(html! {
            (leader.element("leader"))
            text class="label" x=(c(x)) y=(c(y)) { (text) }
        });
    }

    /// The complete plot, with its `title`.
    pub fn finish(self, title: &str) -> Drawing {
        let (right, floor) = (self.width - RIGHT, self.height - BELOW);
        let across = |y: f64| {
            let mut path = SvgPath::default();
            path.start(self.left, y);
            path.across(right);
            path.element("grid")
        };
        let most = ((self.width - 8.0) / CHARACTER) as usize;
        let (foot, below) = abscissa(&self.x, (self.left, right), floor, self.height);
        let content = html! {
            @for (value, text) in self.y.ticks() {
                @let y = self.py(*value);
                (across(y))
                text x=(c(self.left - 6.0)) y=(c(y + 4.0)) text-anchor="end" { (text) }
            }
            text class="axis" x="4" y="12" { (short(&self.y.label, most)) }
            (foot)
            (PreEscaped(&self.marks))
        };
        Drawing {
            title: title.to_owned(),
            x: self.x,
            y: self.y,
            keys: self.keys,
            values: self.values,
            hollow: self.hollow,
            cut: self.cut,
            size: (self.width, self.height + below),
            content,
        }
    }
}

/// The head of an arrow at `tip`, so far back and so far to both sides.
fn arrow(path: &mut SvgPath, tip: (f64, f64), (dx, dy): (f64, f64)) {
    let upright = dy.abs() > dx.abs();
    let other = if upright { (-dx, dy) } else { (dx, -dy) };
    path.start(tip.0 + dx, tip.1 + dy);
    path.to(tip.0, tip.1);
    path.to(tip.0 + other.0, tip.1 + other.1);
}

#[cfg(test)]
mod tests;
