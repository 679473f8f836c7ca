//! The page of a call that was recorded: when what happened, and its figures over time.

use super::frame::{framed, section};
use super::look::{Look, looks};
use super::rows::{Bar, Part, Rows};
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use crate::draw::{Drawing, Point};
use maud::{Markup, html};

/// Width and height of a drawing on a wide page, and on a narrow one, in pixels.
const SIZES: [(f64, f64); 2] = [(1037.0, 210.0), (420.0, 230.0)];
/// Height of a row of the timeline.
const ROW: f64 = 18.0;
/// The most times that the table has.
const TIMES: usize = 500;

/// What a recorded call was.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// The page's title.
    pub title: String,
    /// What it is of, each fact with its name.
    pub facts: Vec<(String, String)>,
    /// Its length in seconds.
    pub seconds: f64,
    /// What happened, in the order of time.
    pub times: Vec<Time>,
    /// What is not known.
    pub unknown: Vec<String>,
    /// Its figures.
    pub figures: Vec<CourseFigure>,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub struct Time {
    /// From when to when, in seconds of the call.
    pub span: (f64, f64),
    /// What it was, in a word or two.
    pub what: String,
    /// What says so.
    pub told: String,
    /// Whether figures are shaded in it.
    pub is_shaded: bool,
}

/// Lines over time in one picture.
#[derive(Debug, Clone)]
pub struct CourseFigure {
    /// Its name.
    pub title: String,
    /// Its ordinate with the unit.
    pub ordinate: String,
    /// The lines, each with its name: seconds of the call and values; none where none is known.
    pub lines: Vec<(String, Vec<Point>)>,
}

impl Course {
    /// The page, as HTML.
    pub fn page(&self) -> String {
        let content = html! {
            h1 { (self.title) }
            dl class="facts" {
                @for (name, fact) in &self.facts { dt { (name) } dd { (fact) } }
            }
            (section("times", "What happened", &self.happened()))
            (section("figures", "Over time", &self.pictures()))
            (section("unknown", "Not known", &html! {
                ul { @for of in &self.unknown { li { (of) } } }
            }))
        };
        framed(&self.title, "", &content)
    }

    fn axis(&self) -> Axis {
        Axis::exact("time, s", 0.0, self.seconds.max(1.0), 8)
    }

    fn happened(&self) -> Markup {
        if self.times.is_empty() {
            return html! { p { "The recording shows no trouble." } };
        }
        let [wide, narrow] = SIZES.map(|size| self.rows(size.0));
        html! {
            figure { (wide.element("big")) (narrow.element("small")) }
            div class="wide" tabindex="0" {
                table class="claims" {
                    thead { tr { th { "What" } th { "From, s" } th { "To, s" } th { "As told by" } } }
                    tbody {
                        @for of in self.times.iter().take(TIMES) {
                            tr {
                                th { (of.what) }
                                td { (format!("{:.1}", of.span.0)) }
                                td { (format!("{:.1}", of.span.1)) }
                                td { (of.told) }
                            }
                        }
                    }
                }
            }
            @if self.times.len() > TIMES {
                p class="note" { (self.times.len() - TIMES) " more are left out." }
            }
        }
    }

    /// A row for each thing that happened.
    fn rows(&self, width: f64) -> Drawing {
        let mut names: Vec<&str> = Vec::new();
        for of in &self.times {
            if !names.contains(&&*of.what) {
                names.push(&of.what);
            }
        }
        let mut rows = Rows::new(width, self.axis(), names.iter().copied());
        for name in &names {
            let part = Part::new(name, "bar c0");
            let bars = self.times.iter().filter(|of| of.what == *name);
            let bars = bars.map(|of| Bar {
                from: of.span.0,
                to: of.span.1,
                class: 0,
            });
            rows.row("", name, ROW, &[part], &[bars.collect()]);
        }
        rows.finish("what happened, over time", Vec::new())
    }

    /// Its figures over time alone, as a part of another page.
    pub fn pictures(&self) -> Markup {
        let mut shaded: Vec<&str> = Vec::new();
        for of in self.times.iter().filter(|of| of.is_shaded) {
            if !shaded.contains(&&*of.what) {
                shaded.push(&of.what);
            }
        }
        html! {
            @if !shaded.is_empty() {
                p class="note" { "Shaded: " (shaded.join(", ")) "." }
            }
            @for figure in &self.figures {
                @if let Some(most) = figure.most() {
                    @let looks = looks(&figure.names());
                    @let [wide, narrow] = SIZES.map(|size| self.plot(figure, most, &looks, size));
                    figure {
                        p class="legend" {
                            @for (name, look) in figure.names().iter().zip(&looks) {
                                span { (look.swatch()) (name) }
                            }
                        }
                        (wide.element("big"))
                        (narrow.element("small"))
                        figcaption { (figure.title) (wide.remarks()) }
                        (wide.table())
                    }
                }
            }
        }
    }

    fn plot(&self, figure: &CourseFigure, most: f64, looks: &[Look], size: (f64, f64)) -> Drawing {
        let y = Axis::from_zero(&figure.ordinate, most.max(f64::MIN_POSITIVE), 5);
        let mut plot = Plot::new(size.0, size.1, self.axis(), y);
        for of in self.times.iter().filter(|of| of.is_shaded).take(TIMES) {
            plot.span("load", of.span.0, of.span.1);
        }
        for ((name, points), look) in figure.lines.iter().zip(looks) {
            plot.series(&look.key(name), &look.classes(), |plot| {
                plot.line("", points);
            });
        }
        plot.finish(&figure.title)
    }
}

impl CourseFigure {
    fn names(&self) -> Vec<&str> {
        self.lines.iter().map(|line| &*line.0).collect()
    }

    /// The greatest value; none if it has no values.
    fn most(&self) -> Option<f64> {
        let points = self.lines.iter().flat_map(|line| &line.1);
        let values = points.filter_map(|point| point.1);
        values
            .filter(|value| value.is_finite())
            .reduce(f64::max)
            .map(|most| most.max(1e-3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> Course {
        let time = |what: &str, span, is_shaded| Time {
            span,
            what: what.to_owned(),
            told: "a < b".to_owned(),
            is_shaded,
        };
        Course {
            title: "A call".to_owned(),
            seconds: 60.0,
            times: vec![
                time("loss", (5.0, 9.0), true),
                time("layer", (0.0, 60.0), false),
                time("loss", (20.0, 21.0), true),
            ],
            figures: vec![
                CourseFigure {
                    title: "Rate".to_owned(),
                    ordinate: "Mbit/s".to_owned(),
                    lines: vec![("sent".to_owned(), vec![(1.0, Some(2.0)), (2.0, None)])],
                },
                CourseFigure {
                    title: "Nothing".to_owned(),
                    ordinate: "ms".to_owned(),
                    lines: vec![("none".to_owned(), vec![(1.0, None)])],
                },
            ],
            ..Course::default()
        }
    }

    #[test]
    fn a_page_has_times_and_lines_and_leaves_out_what_has_no_values() {
        let page = course().page();
        // In each of the two sizes, the two shaded times.
        assert_eq!(page.matches("<rect class=\"load\"").count(), 4, "{page}");
        assert_eq!(page.matches("a &lt; b").count(), 3);
        assert!(page.contains("<figcaption>Rate"), "{page}");
        assert!(page.contains("Shaded: loss."), "{page}");
        assert!(!page.contains("Nothing"), "{page}");
    }

    #[test]
    fn a_call_without_trouble_says_so() {
        let mut course = course();
        course.times.clear();
        assert!(course.page().contains("shows no trouble"));
    }
}
