//! Metrics of actors' transfers.

use super::answers::each;
use super::declared::{Better, Metric, Range};

/// Mean completion time.
pub const ACTORS_FCT: Metric = Metric {
    name: "actors_fct",
    unit: "ms",
    range: Range::Positive,
    summary: "mean completion time of the transfers of actors",
    about: "Covers all transfers of `kind = \"actors\"` that began in the measured time and were \
            complete, from a transfer's start, its handshake included, to its last byte. One value \
            for each entry.",
    source: "the thesis on age-based scheduling with AQM, tables 3 and 4",
    better: Better::Less,
    column: Some(super::Column::mean("FCT", 1)),
    meter: None,
    take: |observed, entry| each(observed, entry, "actors_fct", |row| row.value),
};

/// How sure it is of one run alone.
pub const ACTORS_FCT_FLOWS: Metric = Metric {
    name: "actors_fct_flows",
    unit: "ms",
    range: Range::Positive,
    summary: "half the 95 % interval of `actors_fct` over the transfers of one run",
    about: "1.96 standard errors, as if transfers were independent of each other. They are not: \
            transfers at the same time share a link, so the interval over seeds is wider.",
    source: "the thesis on age-based scheduling with AQM, tables 3 and 4",
    better: Better::Neither,
    column: None,
    meter: None,
    take: |observed, entry| {
        each(observed, entry, "actors_fct", |row| {
            row.error.map(|e| 1.96 * e)
        })
    },
};

/// How many.
pub const TRANSFERS: Metric = Metric {
    name: "transfers",
    unit: "",
    range: Range::Positive,
    summary: "transfers of actors that were complete",
    about: "The transfers whose mean is `actors_fct`.",
    source: "this project",
    better: Better::More,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, "actors_fct", |row| Some(row.count as f64)),
};
