//! The sections of a report, in their order.

use super::frame::framed;
use super::report::Report;
use super::subject::Subject;
use super::{
    about, children, classes, comparison, flows, frames, headline, loads, sojourn, tradeoff,
};
use crate::export::Document;
use maud::html;
use measure::metric::Registry;
use scenario::Scenario;

/// The report on `document`, results of `scenario` and its variants, with the columns of `metrics`.
///
/// Plots over time show the first result of each discipline that has a series.
pub fn html(scenario: &Scenario, document: &Document<'_>, metrics: &Registry) -> String {
    page(&Report::new(Subject::of(scenario), document, metrics))
}

/// The whole page.
pub fn page(report: &Report<'_>) -> String {
    let sections = html! {
        (headline::section(report))
        (comparison::section(report))
        (tradeoff::section(report))
        (frames::section(report))
        (loads::section(report))
        (flows::section(report))
        (classes::section(report))
        (children::section(report))
        (sojourn::section(report))
        (about::section(report))
    };
    framed(report.subject.name, &report.toggles(), &sections)
}
