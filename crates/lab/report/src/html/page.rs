//! The sections of a report, in their order.

use super::frame::framed;
use super::report::Report;
use super::subject::Subject;
use super::{
    about, boxes, children, classes, comparison, flows, frames, headline, loads, senders, sojourn,
    tradeoff, why,
};
use crate::draw::Drawing;
use crate::export::ExportDocument;
use maud::{Markup, html};
use measure::metric::Registry;
use scenario::Scenario;

/// A report: a page, and the plots on it.
#[derive(Debug)]
pub struct Pages {
    /// The page, as HTML.
    pub html: String,
    /// The drawings on it, each with the name of its file.
    pub drawings: Vec<(String, Drawing)>,
}

/// The report on `document`, results of `scenario` and its variants, with the columns of `metrics`.
///
/// Plots over time show those of the [telling](crate::telling()) results that have a series.
pub fn html(scenario: &Scenario, document: &ExportDocument<'_>, metrics: &Registry) -> Pages {
    page(Report::new(Subject::of(scenario), document, metrics))
}

/// The whole page.
pub fn page(report: Report<'_>) -> Pages {
    let sections = sections(&report);
    Pages {
        html: framed(report.subject.name, &report.toggles(), &sections),
        drawings: report.into_drawings(),
    }
}

fn sections(report: &Report<'_>) -> Markup {
    html! {
        (headline::section(report))
        (frames::seen(report))
        (comparison::section(report))
        (why::section(report))
        (tradeoff::section(report))
        (boxes::section(report))
        (frames::section(report))
        (loads::section(report))
        (flows::section(report))
        (classes::section(report))
        (children::section(report))
        (sojourn::section(report))
        (senders::section(report))
        (about::section(report))
    }
}
