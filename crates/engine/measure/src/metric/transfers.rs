//! Metrics of bulk transfers, and of how all flows share.

use super::declared::{Better, Column, Metric, Range, belongs};
use super::observed::Observed;
use crate::result::FlowResult;

/// The transfers that belong to `entry`.
fn of<'a>(observed: &Observed<'a>, entry: &str) -> impl Iterator<Item = &'a FlowResult> {
    let flows = observed.run.flows.iter();
    flows.filter(move |flow| belongs(&flow.name, entry))
}

/// When the last of the transfers with an end was complete; none if one was not.
fn all_done(observed: &Observed<'_>, entry: &str) -> Vec<f64> {
    let times: Option<Vec<f64>> = of(observed, entry).map(|flow| flow.fct_ms).collect();
    let last = times.and_then(|times| times.into_iter().reduce(f64::max));
    last.into_iter().collect()
}

/// The total rate of all transfers that are not complete.
fn bulk_rate(observed: &Observed<'_>, entry: &str) -> Vec<f64> {
    let lasting = of(observed, entry).filter(|flow| flow.fct_ms.is_none());
    let rates = lasting.map(|flow| flow.goodput_mbps);
    rates.reduce(|sum, rate| sum + rate).into_iter().collect()
}

/// Completion time.
pub const FCT: Metric = Metric {
    name: "fct",
    unit: "ms",
    range: Range::Positive,
    summary: "completion time of a transfer",
    about: "From a transfer's first packet to its last byte. A transfer that is unlimited, or not \
            complete when the run ends, has no value.",
    source: "RFC 7928, section 2.1",
    better: Better::Less,
    column: Some(Column::mean("transfer", 0)),
    meter: None,
    take: |observed, entry| of(observed, entry).filter_map(|flow| flow.fct_ms).collect(),
};

/// Completion time of the last one.
pub const ALL_DONE: Metric = Metric {
    name: "all_done",
    unit: "ms",
    range: Range::Positive,
    summary: "completion time of the last of several transfers",
    about: "The longest completion time of a run's transfers; none if one of them is not complete.",
    source: "RFC 7928, section 2.1",
    better: Better::Less,
    column: None,
    meter: None,
    take: all_done,
};

/// Goodput of one.
pub const FLOW_RATE: Metric = Metric {
    name: "flow_rate",
    unit: "Mbit/s",
    range: Range::Positive,
    summary: "goodput of a transfer",
    about: "Bytes delivered in order over the transfer's own part of the measured time.",
    source: "RFC 7928, section 2.5",
    better: Better::More,
    column: None,
    meter: None,
    take: |observed, entry| of(observed, entry).map(|flow| flow.goodput_mbps).collect(),
};

/// The queueing delay of a transfer's packets.
pub const FLOW_DELAY: Metric = Metric {
    name: "flow_delay",
    unit: "ms",
    range: Range::Positive,
    summary: "mean time that a transfer's packets waited in their first queue",
    about: "Only the transfer's own packets, in the first queue of its direction; none for a \
            transfer with an end.",
    source: "RFC 7928, section 2.6",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| {
        let waits = of(observed, entry).filter_map(|flow| flow.sojourn_ms);
        waits.filter_map(|waits| waits.mean).collect()
    },
};

/// Goodput of all that last.
pub const BULK_RATE: Metric = Metric {
    name: "bulk_rate",
    unit: "Mbit/s",
    range: Range::Positive,
    summary: "total goodput of a run's transfers that are not complete when the run ends",
    about: "Each transfer's goodput is taken over its own part of the measured time, so the sum \
            over transfers at different times may exceed what the link carries.",
    source: "RFC 7928, section 2.5",
    better: Better::More,
    column: Some(Column::mean("bulk", 2)),
    meter: None,
    take: bulk_rate,
};

/// Jain's index.
pub const JFI: Metric = Metric {
    name: "jfi",
    unit: "",
    range: Range::Within(0.0, 1.0),
    summary: "Jain's index over the goodput of calls and unlimited transfers",
    about: "1 if all calls and transfers that last as long as the run get the same, 1/n if one of \
            n gets everything; none for fewer than two.",
    source: "R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness and Discrimination, \
             DEC-TR-301, 1984",
    better: Better::More,
    column: Some(Column::mean("JFI", 3)),
    meter: None,
    take: |observed, _| observed.run.jfi.into_iter().collect(),
};
