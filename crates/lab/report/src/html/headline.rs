//! The summary in sentences: which discipline does best, and why a call stalled under each.

use super::report::Report;
use super::words::{SHORT_NAME, time};
use crate::draw::svg::short;
use crate::summary::Summary;
use maud::{Markup, html};
use measure::metric::Metric;
use measure::metric::calls::STALL;
use measure::metric::pages::PLT;
use measure::metric::queues::{DROPS, SOJOURN};
use measure::metric::transfers::{BULK_RATE, FCT};

/// Title, and which discipline does best.
pub fn section(report: &Report<'_>) -> Markup {
    html! {
        header {
            h1 { (report.subject.name) }
            p { (report.subject.summary) }
            p class="verdict" { (verdict(report)) }
        }
    }
}

/// The best discipline for the call, for the page, and for transfers, as far as the runs show.
fn verdict(report: &Report<'_>) -> Markup {
    let summaries = &report.summaries;
    if summaries.len() < 2 {
        return html! {};
    }
    if report.runs() == 1 {
        return html! {
            "One run each: it cannot tell which of the " (summaries.len()) " disciplines does best."
        };
    }
    let stall = best(summaries, &STALL, 1e3);
    let parts: Vec<Markup> = [
        stall.map(|best| best.text(["stalls", "stall"], "least")),
        best(summaries, &PLT, 1.0).map(|best| best.text(["loads", "load"], "pages fastest")),
        best(summaries, &FCT, 1.0)
            .map(|best| best.text(["completes", "complete"], "transfers fastest")),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        @if !parts.is_empty() { "Of " (summaries.len()) " disciplines, " (joined(&parts, "; ")) "." }
    }
}

/// `parts` with `between` them.
fn joined(parts: &[Markup], between: &str) -> Markup {
    html! {
        @for (n, part) in parts.iter().enumerate() {
            @if n > 0 { (between) }
            (part)
        }
    }
}

/// Those with the lowest value as it is printed, in the order of the page, and those whose difference
/// from it has an interval with zero in it.
struct Best {
    lowest: Vec<Markup>,
    value: f64,
    untold: Vec<Markup>,
}

/// The best in `metric`, which `factor` turns into milliseconds.
fn best(summaries: &[Summary], metric: &Metric, factor: f64) -> Option<Best> {
    let values = || {
        summaries
            .iter()
            .filter_map(|s| Some((s, s.get(metric)?.value)))
    };
    let (first, least) = values().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let printed = |value: f64| time(value * factor);
    let (lowest, others): (Vec<_>, Vec<_>) =
        values().partition(|(_, value)| printed(*value) == printed(least));
    let name = |of: &Summary| html! { b { (short(&of.discipline, SHORT_NAME)) } };
    let untold = others.iter().filter(|(of, _)| !of.differs(first, metric));
    Some(Best {
        lowest: lowest.iter().map(|(of, _)| name(of)).collect(),
        value: least * factor,
        untold: untold
            .map(|(of, value)| html! { (name(of)) " (" (printed(*value)) ")" })
            .collect(),
    })
}

impl Best {
    /// That this one, or several, do it best.
    fn text(&self, [one, several]: [&str; 2], best: &str) -> Markup {
        let verb = if self.lowest.len() == 1 { one } else { several };
        let value = time(self.value);
        html! {
            (listed(&self.lowest)) " " (verb) " "
            @if value == "0" && best == "least" { "not at all" } @else { (best) " (" (value) ")" }
            @if !self.untold.is_empty() {
                ", which the runs do not tell from " (listed(&self.untold))
            }
        }
    }
}

/// Names in a sentence.
fn listed(names: &[Markup]) -> Markup {
    let shown = &names[..names.len().min(3)];
    let more = names.len() - shown.len();
    html! {
        @match shown {
            shown if more > 0 => { (joined(shown, ", ")) " and " (more) " more" }
            [first @ .., last] if !first.is_empty() => { (joined(first, ", ")) " and " (last) }
            shown => { (joined(shown, "")) }
        }
    }
}

/// One discipline: does the call stall, does the page wait, and the actions of its queue.
pub fn sentence(report: &Report<'_>, n: usize) -> Markup {
    let what = outcome(report, &report.summaries[n]).join(", ");
    html! {
        b { (report.look(n).swatch()) (report.name(n)) } ": " (what) "." (why(report, n))
    }
}

/// The outcome for calls, pages and transfers.
fn outcome(report: &Report<'_>, summary: &Summary) -> Vec<String> {
    let value = |metric: &Metric| summary.get(metric).map(|estimate| estimate.value);
    let mut parts = Vec::new();
    if let Some(stall) = value(&STALL) {
        parts.push(match time(stall * 1e3).as_str() {
            "0" => "no stall".to_owned(),
            stall => format!("stalls {stall}"),
        });
    }
    match value(&PLT) {
        Some(plt) => parts.push(format!("pages in {}", time(plt))),
        None if report.subject.has_pages() => parts.push("no page was complete".to_owned()),
        None => {}
    }
    if let Some(fct) = value(&FCT) {
        parts.push(format!("transfers in {}", time(fct)));
    } else if let Some(bulk) = value(&BULK_RATE) {
        parts.push(format!("{bulk:.2} Mbit/s of bulk"));
    }
    parts
}

/// Why the call that stalled most in the typical run did; how long packets waited if none did.
fn why(report: &Report<'_>, n: usize) -> String {
    let drawn = report
        .drawn
        .iter()
        .find(|drawn| drawn.n == n && !drawn.worst);
    let calls = drawn.into_iter().flat_map(|drawn| &drawn.run.calls);
    let worst = calls.max_by(|a, b| a.stall_s.total_cmp(&b.stall_s));
    let cause = worst.and_then(|call| Some((call, call.why.as_ref()?.main()?)));
    if let Some((call, cause)) = cause {
        let which = if report.runs() > 1 {
            "In the typical run, "
        } else {
            ""
        };
        return format!(" {which}{}: {}.", call.name, cause.text(&call.control));
    }
    let value = |metric: &Metric| report.summaries[n].get(metric).map(|of| of.value);
    let Some(sojourn) = value(&SOJOURN) else {
        return String::new();
    };
    let drops = match value(&DROPS) {
        Some(drops) if drops > 0.0 => format!(", {drops:.0} are dropped"),
        _ => String::new(),
    };
    format!(" Packets wait {} on average{drops}.", time(sojourn))
}
