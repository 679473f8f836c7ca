//! Metrics of page loads, and of what they do to calls.

use super::declared::{Better, Column, Metric, Observed, belongs};
use crate::result::{PageResult, RunResult};

/// Of each page load that belongs to `entry`.
fn each(observed: &Observed<'_>, entry: &str, take: fn(&PageResult) -> Option<f64>) -> Vec<f64> {
    let pages = observed.run.pages.iter();
    let pages = pages.filter(|page| belongs(&page.name, entry));
    pages.filter_map(take).collect()
}

/// Stall of all calls of each load; none where nobody can stall.
fn stalls(observed: &Observed<'_>, entry: &str) -> Vec<f64> {
    if observed.run.calls.is_empty() {
        return Vec::new();
    }
    each(observed, entry, |page| Some(page.stall_s * 1e3))
}

/// Stall of all calls less that of the control run, for each load.
fn caused(observed: &Observed<'_>) -> Vec<f64> {
    let stall = |run: &RunResult| run.calls.iter().fold(0.0, |sum, call| sum + call.stall_s);
    let loads = observed.run.pages.len();
    let control = observed.control.filter(|_| loads > 0);
    control
        .map(|control| 1e3 * (stall(observed.run) - stall(control)) / loads as f64)
        .into_iter()
        .collect()
}

/// Stall around a page load.
pub const PAGE_STALL: Metric = Metric {
    name: "page_stall",
    unit: "ms",
    summary: "stall of all calls from a page's start until two seconds after its end",
    about: "Stall of the frames that are handed over in that time. Pages that load at the same time \
            share it. What the link itself does meanwhile counts as well: see `caused`.",
    source: "the Confucius paper, section 7.2; decision 0005",
    better: Better::Less,
    column: Some(Column::mean("stall/page", 0)),
    meter: None,
    take: stalls,
};

/// Stall that a page causes.
pub const CAUSED: Metric = Metric {
    name: "caused",
    unit: "ms",
    summary: "stall that a page causes: a run's less that of the run without pages, for each load",
    about: "Needs control runs, which `--without NAME` makes: they leave out what is accused. One \
            value for each run.",
    source: "this project; decision 0005",
    better: Better::Less,
    column: Some(Column::mean("caused/page", 0)),
    meter: None,
    take: |observed, _| caused(observed),
};

/// Largest frame delay while a page loads.
pub const PAGE_DELAY: Metric = Metric {
    name: "page_delay",
    unit: "ms",
    summary: "largest frame delay while a page loads",
    about: "Of all calls' frames that are handed over from the start of the load until two seconds \
            after its end.",
    source: "the Confucius paper, section 7.2; decision 0005",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, |page| page.frame_max_ms),
};

/// Page load time.
pub const PLT: Metric = Metric {
    name: "plt",
    unit: "ms",
    summary: "page load time",
    about: "From the start of the navigation until the last request of the page is complete. A load \
            that the end of the run cuts off has none.",
    source: "the Confucius paper, section 7.2; decision 0005",
    better: Better::Less,
    column: Some(Column::mean("PLT", 0)),
    meter: None,
    take: |observed, entry| each(observed, entry, |page| page.plt_ms),
};
