//! Stall against page load time: a point for each discipline.

use super::frame::section as wrap;
use super::look::{look, shape};
use super::report::Report;
use super::words::{SHORT_NAME, time};
use crate::draw::axis::Axis;
use crate::draw::plot::{Ends, Plot};
use crate::draw::svg::short;
use maud::{Markup, html};
use measure::Estimate;
use measure::metric::pages::{PAGE_STALL, PLT};

/// A discipline, its page load time in s, and its stall per page load in ms.
type Dot = (usize, Estimate, Estimate);

/// The plot, where there are several disciplines with more than one load to take a mean of.
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

/// The ends of an estimate's interval; without one, the estimate.
fn ends(estimate: &Estimate) -> Ends {
    estimate.ci95.unwrap_or((estimate.value, estimate.value))
}

fn scatter(report: &Report<'_>) -> Option<Markup> {
    let dots = dots(report);
    if dots.len() < 2 {
        return None;
    }
    let plts = || dots.iter().map(|(_, plt, _)| ends(plt));
    let from = plts().map(|ends| ends.0).fold(f64::INFINITY, f64::min);
    let to = plts().map(|ends| ends.1).fold(0.0, f64::max);
    let stalls = dots.iter().map(|(.., stall)| ends(stall).1);
    let x = Axis::round("page load time, s", from.max(0.0), to, 8);
    let begins_at_zero = x.ends().0 <= 0.0;
    let y = Axis::from_zero("stall per page load, ms", stalls.fold(0.0, f64::max), 6);
    let mut plot = Plot::new(900.0, 360.0, x, y);
    for (n, plt, stall) in &dots {
        let about = format!(
            "{}: PLT {}, stall {} per page load",
            report.name(*n),
            time(plt.value * 1e3),
            time(stall.value)
        );
        plot.group(&format!("d{n} {}", look(*n)), |plot| {
            let at = (plt.value, stall.value);
            plot.marker(shape(*n), at, [plt.ci95, stall.ci95], &about);
        });
    }
    for (n, plt, stall) in &dots {
        let name = short(report.name(*n), SHORT_NAME);
        plot.group(&format!("d{n}"), |plot| {
            plot.label((plt.value, stall.value), &name);
        });
    }
    Some(html! {
        figure class="wide" {
            (report.legend(dots.iter().map(|dot| dot.0)))
            (plot.finish("stall per page load against page load time"))
            figcaption {
                "Means over all page loads"
                @if report.runs() > 1 { "; lines: 95 % intervals" }
                ". Better is down and to the left."
                @if !begins_at_zero { " The axis of page load time does not begin at zero." }
            }
        }
    })
}
