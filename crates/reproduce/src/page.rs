//! What came of experiments, for readers: Markdown, HTML, JSON.

use crate::Outcome;
use crate::claim::{Checked, Verdict};
use crate::figure::{self, Form, Panel, Series, Shown};
use maud::{Markup, html};
use measure::estimate::Estimate;
use report::draw::axis::Axis;
use report::draw::plot::Plot;
use report::{look, shape, swatch};
use serde::Serialize;
use std::fmt::Write as _;

/// The JSON document of `analects reproduce`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// The program's version.
    pub version: &'a str,
    /// Where traces and pages come from.
    pub data: &'a str,
    /// Whether it was a quick run.
    pub quick: bool,
    /// All claims of all experiments that were run.
    pub claims: Vec<&'a Checked>,
}

/// Our value with its interval and unit, as it is printed.
pub fn ours(claim: &Checked) -> String {
    let Some(value) = claim.ours else {
        return "–".to_owned();
    };
    let estimate = Estimate {
        ci95: claim.ci95,
        ..Estimate::exact(value)
    };
    format!("{} {}", figure::text(&estimate), claim.unit)
        .trim()
        .to_owned()
}

/// A section of Markdown for an experiment.
pub fn markdown(outcome: &Outcome<'_>) -> String {
    let written = &outcome.experiment.written;
    let mut text = format!("## {}: {}\n", outcome.experiment.id, written.title);
    _ = writeln!(text, "{}. {}\n", written.paper, written.about.trim());
    if outcome.runs > 0 {
        _ = writeln!(
            text,
            "`analects reproduce {}`: {} runs.\n",
            outcome.experiment.id, outcome.runs
        );
    }
    if !outcome.claims.is_empty() {
        text += "| claim | published | ours (95 %) | verdict | note |\n| --- | --- | --- | --- | --- |\n";
        for claim in &outcome.claims {
            let cells = [
                &claim.statement,
                &claim.published,
                &ours(claim),
                &verdict(claim),
                &claim.note,
            ];
            text += &row(cells.map(|cell| cell.as_str()));
        }
        text.push('\n');
    }
    for shown in &outcome.figures {
        let (head, rows) = shown.table();
        let of = if shown.kind == Form::Scatter {
            String::new()
        } else {
            format!(" ({})", shown.axes[1])
        };
        _ = writeln!(text, "{}{of}:\n", shown.title);
        text += &row(head.iter().map(String::as_str));
        text += &row(head.iter().map(|_| "---"));
        for cells in &rows {
            text += &row(cells.iter().map(String::as_str));
        }
        text.push('\n');
    }
    text
}

fn verdict(claim: &Checked) -> String {
    match claim.verdict {
        Verdict::Fails => format!("**{}**", claim.verdict.name()),
        _ => claim.verdict.name().to_owned(),
    }
}

fn row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells = cells
        .into_iter()
        .map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// How many claims hold, do not, and cannot be told.
pub fn counts<'a>(claims: impl Iterator<Item = &'a Checked>) -> [usize; 3] {
    let mut counts = [0; 3];
    for claim in claims {
        counts[match claim.verdict {
            Verdict::Holds => 0,
            Verdict::Fails => 1,
            Verdict::Untold => 2,
        }] += 1;
    }
    counts
}

/// A page of HTML for an experiment: claims, and figures in the paper's form.
pub fn html(outcome: &Outcome<'_>) -> String {
    let written = &outcome.experiment.written;
    let body = html! {
        header {
            h1 { (written.title) }
            p { (written.paper) ". " (written.about) }
        }
        @if outcome.mechanism.is_some() {
            p {
                a href="mechanism.html" { "One run of each, over time" } ": who waits, and why."
            }
        }
        @if !outcome.claims.is_empty() { (claims(&outcome.claims)) }
        @for shown in &outcome.figures { (drawn(shown)) }
    };
    report::framed(&written.title, "", &body)
}

fn claims(claims: &[Checked]) -> Markup {
    let head = ["claim", "published", "ours (95 %)", "verdict", "note"];
    html! {
        section {
            h2 { "Claims" }
            div class="wide" {
                table class="claims" {
                    thead { tr { @for cell in head { th { (cell) } } } }
                    tbody {
                        @for claim in claims {
                            tr {
                                th { (claim.statement) }
                                td { (claim.published) }
                                td { (ours(claim)) }
                                td { (claim.verdict.name()) }
                                td { (claim.note) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn drawn(shown: &Shown) -> Markup {
    let cases = shown.panels.first().map(|panel| panel.series.iter());
    let (head, rows) = shown.table();
    html! {
        section {
            h2 { (shown.title) }
            p class="legend" {
                @for series in cases.into_iter().flatten() {
                    span class=(look(series.number)) { (swatch(series.number)) (series.case) }
                }
            }
            div class="grid" {
                @for panel in &shown.panels {
                    figure { figcaption { b { (panel.title) } } (plot(shown, panel)) }
                }
            }
            div class="wide" {
                table {
                    thead { tr { @for cell in &head { th { (cell) } } } }
                    tbody {
                        @for row in &rows { tr { @for cell in row { td { (cell) } } } }
                    }
                }
            }
        }
    }
}

/// Size of a panel in pixels.
const SIZE: (f64, f64) = (520.0, 300.0);
const TICKS: usize = 6;

fn plot(shown: &Shown, panel: &Panel) -> Markup {
    let values = || {
        panel
            .series
            .iter()
            .flat_map(|series| &series.values)
            .flatten()
    };
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let label = &shown.axes;
    let mut plot = match shown.kind {
        Form::Lines | Form::Bars => {
            let places = match shown.kind {
                Form::Lines => panel.columns.clone(),
                _ => panel
                    .series
                    .iter()
                    .map(|series| series.case.clone())
                    .collect(),
            };
            let y = value_axis(&label[1], values().map(|e| e.value));
            Plot::new(SIZE.0, SIZE.1, Axis::places(&label[0], &places), y)
        }
        Form::Scatter => {
            let at = |place: usize| {
                panel
                    .series
                    .iter()
                    .filter_map(move |s| s.values[place].map(|e| e.value))
            };
            let [x, y] = [0, 1].map(|place| value_axis(&label[place], at(place)));
            Plot::new(SIZE.0, SIZE.1, x, y)
        }
        Form::Distribution => {
            let most = most(&mut panel.series.iter().flat_map(|s| &s.all).copied());
            let x = Axis::from_zero(&label[0], most, TICKS);
            Plot::new(SIZE.0, SIZE.1, x, Axis::percent("share of them"))
        }
    };
    if let Some(limit) = shown.limit {
        plot.level(limit, &figure::number(limit));
    }
    for (place, series) in (0..).zip(&panel.series) {
        plot.group(&look(series.number), |plot| {
            draw(plot, shown.kind, place, series);
        });
    }
    if shown.kind == Form::Scatter {
        for series in &panel.series {
            if let [Some(x), Some(y)] = series.values[..] {
                plot.label((x.value, y.value), &series.case);
            }
        }
    }
    plot.finish(&format!("{} {}", shown.title, panel.title))
}

fn value_axis(label: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
    let least = values.clone().fold(0.0, f64::min);
    Axis::round(label, least, values.fold(0.0, f64::max), TICKS)
}

fn draw(plot: &mut Plot, kind: Form, place: u32, series: &Series) {
    let marker = |plot: &mut Plot, x: f64, y: &Estimate| {
        let ends = [None, y.ci95];
        plot.marker(shape(series.number), (x, y.value), ends, &series.case);
    };
    match kind {
        Form::Lines => {
            let points: Vec<(f64, Option<f64>)> = (0..)
                .zip(&series.values)
                .map(|(place, value)| (f64::from(place), value.map(|e| e.value)))
                .collect();
            plot.line("", &points);
            for (place, value) in (0..).zip(&series.values) {
                if let Some(value) = value {
                    marker(plot, f64::from(place), value);
                }
            }
        }
        Form::Bars => {
            if let Some(Some(value)) = series.values.first() {
                marker(plot, f64::from(place), value);
            }
        }
        Form::Scatter => {
            if let [Some(x), Some(y)] = &series.values[..] {
                let ends = [x.ci95, y.ci95];
                plot.marker(shape(series.number), (x.value, y.value), ends, &series.case);
            }
        }
        Form::Distribution => plot.distribution(&mut series.all.clone(), series.all.len()),
    }
}
