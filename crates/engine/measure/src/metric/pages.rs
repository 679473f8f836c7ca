//! Metrics of page loads, and of their effect on calls.

use super::declared::{Better, Column, Metric, Range, belongs};
use super::observed::Observed;
use crate::result::{PageResult, RunResult};

/// Of each page load that belongs to `entry`.
fn each(observed: &Observed<'_>, entry: &str, take: fn(&PageResult) -> Option<f64>) -> Vec<f64> {
    let pages = observed.run.pages.iter();
    let pages = pages.filter(|page| belongs(&page.name, entry));
    pages.filter_map(take).collect()
}

/// Stall of all calls of each load; none if there are no calls that can stall.
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
    range: Range::Positive,
    summary: "stall of all calls from a page's start until two seconds after its end",
    about: "Stall of the frames that are handed over in that time. Pages that load at the same \
            time share it. Stall from the link's own changes in that time counts as well: see \
            `caused`.",
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
    range: Range::Any,
    summary: "stall that a page causes: a run's stall less that of the run without pages, for each \
        load",
    about: "Needs control runs, which `--without NAME` makes: they leave out the traffic under \
            test. One value for each run.",
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
    range: Range::Positive,
    summary: "largest frame delay while a page loads",
    about: "Covers the frames of all calls that are handed over from the start of the load until \
            two seconds after its end.",
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
    range: Range::Positive,
    summary: "page load time",
    about: "From the start of the navigation until the last request of the page is complete. A \
            load that the end of the run cuts off has no value.",
    source: "the Confucius paper, section 7.2; decision 0005",
    better: Better::Less,
    column: Some(Column::mean("PLT", 0)),
    meter: None,
    take: |observed, entry| each(observed, entry, |page| page.plt_ms),
};

/// The part of a page load time that servers and the browser take.
pub const PLT_SERVERS: Metric = Metric {
    name: "plt_servers",
    unit: "ms",
    range: Range::Positive,
    summary: "load time of the same page over a network that takes no time",
    about: "The browser and the servers are the same, and every message arrives when it is sent: \
            servers think, the browser works, requests wait for what causes them and for a free \
            connection. No network can change this time. Complete loads only, as for `plt`.",
    source: "this project; decision 0032",
    better: Better::Neither,
    column: Some(Column::mean("PLT servers", 0).asked()),
    meter: None,
    take: |observed, entry| {
        each(observed, entry, |page| {
            page.plt_ms.and(Some(page.servers_ms))
        })
    },
};

/// The part of a page load time that round trips take.
pub const PLT_TRIPS: Metric = Metric {
    name: "plt_trips",
    unit: "ms",
    range: Range::Any,
    summary: "additional load time from the round trips to the servers, without the time for bytes",
    about: "Every message arrives half a round trip after it is sent, however long it is: \
            handshakes and requests have their round trips, but there are no rates, queues, \
            windows or losses. A nearer server changes this time, a link or a queue does not. \
            Complete loads only.",
    source: "this project; decision 0032",
    better: Better::Neither,
    column: Some(Column::mean("PLT trips", 0).asked()),
    meter: None,
    take: |observed, entry| {
        each(observed, entry, |page| {
            page.plt_ms.and(Some(page.round_trips_ms - page.servers_ms))
        })
    },
};

/// The part of a page load time that the link can change.
pub const PLT_LINK: Metric = Metric {
    name: "plt_link",
    unit: "ms",
    range: Range::Any,
    summary: "the rest of the page load time: what the link and its queue can change",
    about: "`plt` less `plt_servers` and `plt_trips`: bytes on the link, waiting in queues, \
            losses, and the rounds that congestion controls need to open their windows. Complete \
            loads only. The value can be a little below 0 if a late answer happens to free a \
            better connection.",
    source: "this project; decision 0032",
    better: Better::Less,
    column: Some(Column::mean("PLT link", 0).asked()),
    meter: None,
    take: |observed, entry| {
        each(observed, entry, |page| {
            page.plt_ms.map(|plt| plt - page.round_trips_ms)
        })
    },
};

/// Loads that are not complete.
pub const UNFINISHED: Metric = Metric {
    name: "unfinished",
    unit: "",
    range: Range::Positive,
    summary: "page loads that the end of the run cuts off",
    about: "Covers loads that began at least two seconds before the end. They have no load time: \
            if many loads are unfinished under a discipline, its `plt` covers only the others. One \
            value for each run.",
    source: "this project; decision 0032",
    better: Better::Less,
    column: Some(Column::mean("unfinished", 1).asked()),
    meter: None,
    take: |observed, entry| {
        let cut_off = |page: &PageResult| Some(f64::from(u8::from(page.plt_ms.is_none())));
        match each(observed, entry, cut_off).as_slice() {
            [] => Vec::new(),
            loads => vec![loads.iter().sum()],
        }
    },
};

/// Loads that are complete.
pub const LOADS: Metric = Metric {
    name: "loads",
    unit: "",
    range: Range::Positive,
    summary: "page loads that were complete",
    about: "If each load begins a pause after the end of the one before, faster loads mean more \
            loads. One value for each run.",
    source: "FLOQ, figures 6 and 7",
    better: Better::More,
    column: None,
    meter: None,
    take: |observed, entry| {
        let complete = |page: &PageResult| Some(f64::from(u8::from(page.plt_ms.is_some())));
        match each(observed, entry, complete).as_slice() {
            [] => Vec::new(),
            loads => vec![loads.iter().sum()],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A load of 900 ms, with 300 ms for servers and 200 ms for round trips, and one that was cut
    /// off.
    #[test]
    fn a_load_time_is_the_sum_of_its_parts() {
        let load = |plt_ms| PageResult {
            name: "page".to_owned(),
            plt_ms,
            servers_ms: 300.0,
            round_trips_ms: 500.0,
            ..PageResult::default()
        };
        let run = RunResult {
            pages: vec![load(Some(900.0)), load(None)],
            ..RunResult::default()
        };
        let observed = Observed {
            run: &run,
            control: None,
        };
        let of = |metric: Metric| (metric.take)(&observed, "page");
        assert_eq!(of(PLT), [900.0]);
        assert_eq!(of(PLT_SERVERS), [300.0]);
        assert_eq!(of(PLT_TRIPS), [200.0]);
        assert_eq!(of(PLT_LINK), [400.0]);
        assert_eq!(of(UNFINISHED), [1.0]);
        assert_eq!(of(LOADS), [1.0]);
        assert!((UNFINISHED.take)(&observed, "other").is_empty());
    }
}
