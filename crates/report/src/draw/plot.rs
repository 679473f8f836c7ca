//! A plot: two axes and what is drawn between them.
//!
//! Colours, dashes and fonts are the style sheet's: marks carry classes only, so that a plot
//! follows the reader's light or dark scheme.

use super::axis::Axis;
use super::svg::{Path, coordinate as c};
use super::thin::{Point, thin};
use maud::{Markup, PreEscaped, html};

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

/// An interval on an axis: its ends.
pub type Ends = (f64, f64);

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

    /// Puts what `draw` draws into a group of these classes.
    pub fn group(&mut self, classes: &str, draw: impl FnOnce(&mut Plot)) {
        let before = std::mem::take(&mut self.marks);
        draw(self);
        let inside = PreEscaped(std::mem::replace(&mut self.marks, before));
        self.mark(html! { g class=(classes) { (inside) } });
    }

    fn mark(&mut self, mark: Markup) {
        self.marks += &mark.into_string();
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
        self.mark(path.element(&format!("line {class}")));
    }

    /// A line that holds each value until the next one, until `end`.
    pub fn steps(&mut self, class: &str, points: &[(f64, f64)], end: f64) {
        let path = self.stairs(points, end);
        self.mark(path.element(&format!("line {class}")));
    }

    /// The area below such a line.
    pub fn area(&mut self, class: &str, points: &[(f64, f64)], end: f64) {
        let mut path = self.stairs(points, end);
        let floor = self.py(self.y.ends().0);
        if let Some((first, _)) = points.first() {
            path.upright(floor);
            path.across(self.px(*first));
        }
        self.mark(path.element(&format!("area {class}")));
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
        self.mark(html! {
            (path.element("limit"))
            text class="limit" x=(c(right - 2.0)) y=(c(at - 4.0)) text-anchor="end" { (text) }
        });
    }

    /// A dashed line upright at `x`, with a text beside its foot, where distributions leave room.
    pub fn upright(&mut self, x: f64, text: &str) {
        let at = self.px(x);
        let mut path = Path::default();
        path.start(at, ABOVE);
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

    /// A span of the abscissa, from top to bottom, behind what follows.
    pub fn span(&mut self, class: &str, from: f64, to: f64) {
        let (left, right) = (self.px(from), self.px(to));
        if right > left {
            let (width, height) = (c(right - left), c(self.height - ABOVE - BELOW));
            self.mark(html! {
                rect class=(class) x=(c(left)) y=(ABOVE) width=(width) height=(height) {}
            });
        }
    }

    /// A marker with its intervals in x and y, where it has any.
    pub fn marker(&mut self, shape: usize, at: (f64, f64), ends: [Option<Ends>; 2], about: &str) {
        let (x, y) = (self.px(at.0), self.py(at.1));
        let mut path = Path::default();
        if let Some((from, to)) = ends[0] {
            let (from, to) = (self.px(from), self.px(to));
            path.start(from, y);
            path.across(to);
            self.crossed.push((from, y - 2.0, to, y + 2.0));
        }
        if let Some((from, to)) = ends[1] {
            let (from, to) = (self.py(from), self.py(to));
            path.start(x, from);
            path.upright(to);
            self.crossed.push((x - 2.0, to, x + 2.0, from));
        }
        self.mark(path.element("interval"));
        self.mark(marker(shape, x, y, about));
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
        let ((anchor, text_x, text_y, _), covered) = (*side, area(side));
        self.mark(html! {
            text class="label" x=(c(text_x)) y=(c(text_y)) text-anchor=(anchor) { (text) }
        });
        self.taken.push(covered);
    }

    /// The plot as an SVG element; `name` is read to those who cannot see it.
    pub fn finish(self, name: &str) -> Markup {
        let (right, floor) = (self.width - RIGHT, self.height - BELOW);
        let across = |y: f64| {
            let mut path = Path::default();
            path.start(LEFT, y);
            path.across(right);
            path.element("grid")
        };
        let content = html! {
            @for (value, text) in self.y.ticks() {
                @let y = self.py(*value);
                (across(y))
                text x=(c(LEFT - 6.0)) y=(c(y + 4.0)) text-anchor="end" { (text) }
            }
            text class="axis" x="4" y="12" { (self.y.label) }
            (abscissa(&self.x, (LEFT, right), floor, self.height))
            (PreEscaped(&self.marks))
        };
        drawing((self.width, self.height), name, &content)
    }
}

/// An SVG element of so many pixels in width and height; `name` is read to those who cannot see it.
pub fn drawing((width, height): (f64, f64), name: &str, content: &Markup) -> Markup {
    let view = format!("0 0 {} {}", c(width), c(height));
    html! { svg viewBox=(view) role="img" aria-label=(name) { (content) } }
}

/// The line at the foot of a plot, its ticks, and below them the name of the axis.
pub fn abscissa(axis: &Axis, (left, right): (f64, f64), floor: f64, bottom: f64) -> Markup {
    let at = |value: f64| left + axis.place(value) * (right - left);
    let mut path = Path::default();
    path.start(left, floor);
    path.across(right);
    for (value, _) in axis.ticks() {
        path.start(at(*value), floor);
        path.upright(floor + 4.0);
    }
    html! {
        (path.element("frame"))
        @for (value, text) in axis.ticks() {
            text x=(c(at(*value))) y=(c(floor + 16.0)) text-anchor="middle" { (text) }
        }
        text class="axis" x=(c(right)) y=(c(bottom - 5.0)) text-anchor="end" { (axis.label) }
    }
}

fn overlap(a: Area, b: Area) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// A marker of one of six shapes. A pointer over it shows what it is `about`.
pub fn marker(shape: usize, x: f64, y: f64, about: &str) -> Markup {
    let title = html! { @if !about.is_empty() { title { (about) } } };
    let corners: &[(f64, f64)] = match shape % 6 {
        0 => return html! { circle class="marker" cx=(c(x)) cy=(c(y)) r="5" { (title) } },
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
    html! { polygon class="marker" points=(points.join(" ")) { (title) } }
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
    fn intervals_are_drawn_from_end_to_end() {
        let mut plot = plot();
        // Lopsided: from 0.9 to 1.5 across, from 0.2 to 0.6 upright.
        let ends = [Some((0.9, 1.5)), Some((0.2, 0.6))];
        plot.marker(0, (1.0, 0.5), ends, "a <b>");
        assert!(
            plot.marks.contains("d=\"M140 76H200M150 106V66\""),
            "{}",
            plot.marks
        );
        assert!(plot.marks.contains("<title>a &lt;b&gt;</title>"));
    }

    #[test]
    fn groups_hold_what_is_drawn_in_them() {
        let mut plot = plot();
        plot.span("a", 0.0, 1.0);
        plot.group("b", |plot| plot.span("c", 0.0, 1.0));
        let order = ["class=\"a\"", "<g class=\"b\"><rect class=\"c\"", "</g>"];
        let places = order.map(|part| plot.marks.find(part).unwrap());
        assert!(places.is_sorted(), "{}", plot.marks);
    }

    #[test]
    fn labels_do_not_cover_one_another() {
        let mut plot = plot();
        for at in [(0.5, 0.5), (0.6, 0.5)] {
            plot.marker(0, at, [None, None], "");
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
