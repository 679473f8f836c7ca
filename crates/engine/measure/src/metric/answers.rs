//! Metrics of datagrams that ask, and of their answers.

use super::declared::{Better, Column, Metric, Range, belongs};
use super::observed::Observed;
use crate::result::FigureResult;

/// The values that `take` has for the figure called `figure` of each entry that belongs to `entry`.
pub(super) fn each(
    observed: &Observed<'_>,
    entry: &str,
    figure: &str,
    take: fn(&FigureResult) -> Option<f64>,
) -> Vec<f64> {
    let figures = observed.run.figures.iter();
    let of = figures.filter(|row| row.figure == figure && belongs(&row.name, entry));
    of.filter_map(take).collect()
}

/// How long almost all answers take.
pub const ANSWER_P99: Metric = Metric {
    name: "answer_p99",
    unit: "ms",
    range: Range::Positive,
    summary: "99th percentile of the time to a datagram's answer",
    about: "Covers the datagrams of `kind = \"udp\"` with `answer`: the time from sending one to \
            the arrival of its answer. Losses in either direction do not count: see \
            `datagrams_lost`.",
    source: "decision 0005",
    better: Better::Less,
    column: Some(Column::mean("answer p99", 0).asked()),
    meter: None,
    take: |observed, entry| each(observed, entry, "udp_answered", |row| row.p99),
};

/// Datagrams lost.
pub const DATAGRAMS_LOST: Metric = Metric {
    name: "datagrams_lost",
    unit: "%",
    range: Range::PERCENT,
    summary: "datagrams that did not arrive",
    about: "Share of the datagrams that `kind = \"udp\"` sent and that did not arrive before the \
        run ended.",
    source: "RFC 7680",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, "udp_lost", |row| row.value),
};
