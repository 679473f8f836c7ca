//! Metrics of queues: of the first one, or of the link that is named.

use super::declared::{Better, Column, Metric, Range};
use super::observed::Observed;
use crate::result::LinkResult;

/// Of the link of that name, or of the first.
fn link(observed: &Observed<'_>, name: &str, take: fn(&LinkResult) -> Option<f64>) -> Vec<f64> {
    let mut links = observed.run.links.iter();
    let link = links.find(|link| name.is_empty() || link.name == name);
    link.and_then(take).into_iter().collect()
}

/// Of FLOW/CLASS; none if the discipline has no classes, or the flow was in none.
fn class_share(observed: &Observed<'_>, entry: &str) -> Vec<f64> {
    let (flow, class) = entry.split_once('/').unwrap_or((entry, ""));
    let first = observed.run.links.first();
    let of_flow: Vec<_> = first
        .into_iter()
        .flat_map(|link| &link.residence)
        .filter(|residence| residence.flow == flow)
        .collect();
    let there = of_flow.iter().filter(|residence| residence.class == class);
    let share = 100.0 * there.map(|residence| residence.share).sum::<f64>();
    (!of_flow.is_empty()).then_some(share).into_iter().collect()
}

/// Mean waiting time.
pub const SOJOURN: Metric = Metric {
    name: "sojourn",
    unit: "ms",
    range: Range::Positive,
    summary: "mean time that packets waited in the first queue",
    about: "From enqueue to dequeue, over the packets that left in the measured time. \
            `sojourn:LINK` is that of another link; every metric of a queue takes a link in the \
            same way.",
    source: "RFC 8289, section 3; RFC 7928, section 2.6",
    better: Better::Less,
    column: Some(Column::mean("sojourn", 1)),
    meter: None,
    take: |observed, name| link(observed, name, |link| link.sojourn_ms.mean),
};

/// 95th percentile of waiting time.
pub const SOJOURN_P95: Metric = Metric {
    name: "sojourn_p95",
    unit: "ms",
    range: Range::Positive,
    summary: "95th percentile of the time that packets waited in the first queue",
    about: "95 % of the packets waited no longer than this; to three significant digits.",
    source: "RFC 8289, section 3; RFC 7928, section 2.6",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, name| link(observed, name, |link| link.sojourn_ms.p95),
};

/// Mean backlog over the buffer.
pub const OCCUPANCY: Metric = Metric {
    name: "occupancy",
    unit: "%",
    range: Range::Positive,
    summary: "mean backlog of the first queue over its buffer",
    about: "A mean over time, in packets or bytes as the link's `buffer` was given; none without a \
            `buffer`.",
    source: "the Confucius paper, figure 8; decision 0005",
    better: Better::Neither,
    column: None,
    meter: None,
    take: |observed, name| {
        link(observed, name, |link| {
            link.occupancy.map(|share| share * 100.0)
        })
    },
};

/// Share of the capacity that was used.
pub const UTILIZATION: Metric = Metric {
    name: "utilization",
    unit: "%",
    range: Range::PERCENT,
    summary: "share of the first link's capacity that was used",
    about: "IP bytes that left in the measured time, over what the link could have carried; \
            `overhead` counts as unused.",
    source: "RFC 5166, section 2.1",
    better: Better::Neither,
    column: Some(Column::mean("use", 0)),
    meter: None,
    take: |observed, name| {
        link(observed, name, |link| {
            link.utilization.map(|share| share * 100.0)
        })
    },
};

/// Packets dropped.
pub const DROPS: Metric = Metric {
    name: "drops",
    unit: "",
    range: Range::Positive,
    summary: "packets dropped at the first queue",
    about: "In the measured time of a run.",
    source: "RFC 7928, section 2.3",
    better: Better::Less,
    column: Some(Column::mean("drops", 0)),
    meter: None,
    take: |observed, name| link(observed, name, |link| Some(link.drops as f64)),
};

/// Packets marked.
pub const MARKS: Metric = Metric {
    name: "marks",
    unit: "",
    range: Range::Positive,
    summary: "packets marked at the first queue",
    about: "Packets that got the mark Congestion Experienced in the measured time of a run.",
    source: "RFC 3168, section 5",
    better: Better::Neither,
    column: None,
    meter: None,
    take: |observed, name| link(observed, name, |link| Some(link.marks as f64)),
};

/// Moves between classes.
pub const MOVES: Metric = Metric {
    name: "moves",
    unit: "",
    range: Range::Positive,
    summary: "moves of flows between classes of the first queue",
    about: "Number of times that the discipline moved a flow to another class. A flow's first \
            placement and leaving the class `new` do not count; none if the discipline has no \
            classes.",
    source: "this project; decision 0005",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, name| link(observed, name, |link| link.moves.map(|moves| moves as f64)),
};

/// Time in a class.
pub const CLASS_SHARE: Metric = Metric {
    name: "class_share",
    unit: "%",
    range: Range::PERCENT,
    summary: "share of the time that a flow was in a class of the first queue: \
              class_share:FLOW/CLASS",
    about: "Share of the measured time. A flow stays in its last class, even while it is idle, \
            until it is put into another one.",
    source: "this project; decision 0005",
    better: Better::Neither,
    column: None,
    meter: None,
    take: class_share,
};
