//! Stall against page load time: a point for each discipline.

use super::frame::section as wrap;
use super::report::{Report, Size};
use super::words::time;
use crate::draw::Drawing;
use crate::draw::axis::{Axis, Ends};
use crate::draw::plot::Plot;
use crate::draw::svg::short;
use maud::{Markup, html};
use measure::Estimate;
use measure::metric::pages::{PAGE_STALL, PLT};

/// A discipline, its page load time in s, and its stall per page load in ms.
type Dot = (usize, Estimate, Estimate);

/// The plot, if there are several disciplines with more than one load to take a mean of.
pub fn section(report: &Report<'_>) -> Markup {
    let content = html! { @if let Some(scatter) = scatter(report) { (scatter) } };
    wrap("tradeoff", "Stall against page load time", &content)
}

fn dots(report: &Report<'_>) -> Vec<Dot> {
    let seconds = |plt: Estimate| Estimate {
        value: plt.value / 1e3,
        ci95: plt.ci95.map(|(low, high)| (low / 1e3, high / 1e3)),
        ..plt
    };
    let several = (0..).zip(&report.summaries).filter(|of| of.1.loads > 1);
    several
        .filter_map(|(n, s)| Some((n, seconds(s.get(&PLT)?), s.get(&PAGE_STALL)?)))
        .collect()
}

fn scatter(report: &Report<'_>) -> Option<Markup> {
    let dots = dots(report);
    if dots.len() < 2 {
        return None;
    }
    let [x, y] = axes(&dots);
    let draw = |size| draw(report, &dots, [&x, &y], size);
    let caption = html! {
        "Means over all page loads"
        @if report.runs() > 1 { "; lines: 95 % intervals" }
        ". Better is down and to the left."
        @if x.ends().0 > 0.0 { " The axis of page load time does not begin at zero." }
    };
    Some(html! {
        figure {
            (report.legend(dots.iter().map(|dot| dot.0)))
            (report.wide("tradeoff", draw, &caption))
        }
    })
}

/// Page load time across, from where it begins, and stall upright, from zero.
fn axes(dots: &[Dot]) -> [Axis; 2] {
    let cases = |of: fn(&Dot) -> Estimate| -> Vec<(f64, Option<Ends>)> {
        let estimates = dots.iter().map(of);
        estimates.map(|of| (of.value, of.ci95)).collect()
    };
    let (x, y) = (cases(|dot| dot.1), cases(|dot| dot.2));
    [
        Axis::of_cases("page load time, s", &x, false, 6),
        Axis::of_cases("stall per page load, ms", &y, true, 6),
    ]
}

fn draw(report: &Report<'_>, dots: &[Dot], axes: [&Axis; 2], size: Size) -> Drawing {
    let [x, y] = axes.map(Clone::clone);
    let mut plot = Plot::new(size.width, size.height, x, y);
    for (n, plt, stall) in dots {
        let about = format!(
            "{}: PLT {}, stall {} per page load",
            report.name(*n),
            time(plt.value * 1e3),
            time(stall.value)
        );
        plot.series(&report.plotted(*n), &format!("d{n}"), |plot| {
            let (at, ends) = ((plt.value, stall.value), [plt.ci95, stall.ci95]);
            let filled = ends.iter().all(Option::is_some);
            plot.marker(report.look(*n).shape(), at, ends, filled, &about);
        });
    }
    for (n, plt, stall) in dots {
        let name = short(report.name(*n), size.name);
        plot.within(&format!("d{n}"), |plot| {
            plot.label((plt.value, stall.value), &name);
        });
    }
    plot.finish("stall per page load against page load time")
}
