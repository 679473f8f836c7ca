//! `spoilt`: whether a run had any stall.

use analects::measure::metric::{Better, Column, Metric, Range};

/// `spoilt` for the registry: 100 for a run in which a call stalled, 0 for one without a stall.
pub const SPOILT: Metric = Metric {
    name: "spoilt",
    unit: "%",
    range: Range::PERCENT,
    summary: "share of runs in which a call stalled",
    about: "100 for each run with a stall, however short, and 0 for the others. `spoilt:NAME` is that of one entry.",
    source: "this program",
    better: Better::Less,
    column: Some(Column::mean("spoilt", 0)),
    meter: None,
    take: |observed, entry| {
        let calls = observed.run.calls.iter();
        let mut calls = calls
            .filter(|call| entry.is_empty() || call.name == entry)
            .peekable();
        if calls.peek().is_none() {
            return Vec::new();
        }
        vec![if calls.any(|call| call.stall_s > 0.0) {
            100.0
        } else {
            0.0
        }]
    },
};
