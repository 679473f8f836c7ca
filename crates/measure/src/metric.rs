//! Figures of a run by name, for sweeps, claims and plots.
//!
//! A metric takes from a run as many values as there are: one for each call, page load, transfer or
//! queue. What becomes of them is a [`Statistic`](crate::Statistic)'s business. `NAME:ENTRY` takes a
//! metric of one traffic entry only.

use crate::{CallResult, FlowResult, LinkResult, PageResult, RunResult};
use units::Refusal;

/// A run, and its control run without the traffic whose doing is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The run.
    pub run: &'a RunResult,
    /// The same without that traffic, where it was made.
    pub control: Option<&'a RunResult>,
}

/// What a metric takes from a run; the text is the traffic entry's name, or empty for all.
type Take = fn(&Observed<'_>, &str) -> Vec<f64>;

/// A figure that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its unit, as it is printed behind a number.
    pub unit: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    take: Take,
}

/// A metric, of all traffic or of one entry.
#[derive(Debug, Clone)]
pub struct Metric {
    kind: &'static Kind,
    entry: String,
}

impl Metric {
    /// Reads `NAME` or `NAME:ENTRY`.
    ///
    /// # Errors
    /// If there is no such metric.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let (name, entry) = text.split_once(':').unwrap_or((text, ""));
        let kind = KINDS.iter().find(|kind| kind.name == name);
        let names = || KINDS.iter().map(|kind| kind.name);
        let kind = kind.ok_or_else(|| Refusal::unknown("metric", name, names()))?;
        Ok(Metric {
            kind,
            entry: entry.to_owned(),
        })
    }

    /// What it is.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// The traffic entry or link that it is of; empty for all.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The values in a run; none where it has nothing of the sort.
    pub fn of(&self, observed: &Observed<'_>) -> Vec<f64> {
        (self.kind.take)(observed, &self.entry)
    }
}

impl core::fmt::Display for Metric {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.kind.name)?;
        match self.entry.as_str() {
            "" => Ok(()),
            entry => write!(f, ":{entry}"),
        }
    }
}

/// Whether a result called `name` belongs to the traffic entry `entry`: it is it, or one of several.
fn belongs(name: &str, entry: &str) -> bool {
    let rest = name.strip_prefix(entry);
    entry.is_empty()
        || rest.is_some_and(|rest| {
            let number = rest.strip_prefix('-');
            rest.is_empty()
                || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
}

fn calls(observed: &Observed<'_>, entry: &str, take: fn(&CallResult) -> Option<f64>) -> Vec<f64> {
    let calls = observed.run.calls.iter();
    let calls = calls.filter(|call| belongs(&call.name, entry));
    calls.filter_map(take).collect()
}

fn pages(observed: &Observed<'_>, entry: &str, take: fn(&PageResult) -> Option<f64>) -> Vec<f64> {
    let pages = observed.run.pages.iter();
    let pages = pages.filter(|page| belongs(&page.name, entry));
    pages.filter_map(take).collect()
}

fn flows(observed: &Observed<'_>, entry: &str, take: fn(&FlowResult) -> Option<f64>) -> Vec<f64> {
    let flows = observed.run.flows.iter();
    let flows = flows.filter(|flow| belongs(&flow.name, entry));
    flows.filter_map(take).collect()
}

/// Of the link of that name, or of the first.
fn link(observed: &Observed<'_>, name: &str, take: fn(&LinkResult) -> Option<f64>) -> Vec<f64> {
    let mut links = observed.run.links.iter();
    let link = links.find(|link| name.is_empty() || link.name == name);
    link.and_then(take).into_iter().collect()
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

/// When the last of the transfers with an end was complete; none if one was not.
fn all_done(observed: &Observed<'_>, entry: &str) -> Vec<f64> {
    let flows = observed.run.flows.iter();
    let times = flows
        .filter(|flow| belongs(&flow.name, entry))
        .map(|flow| flow.fct_ms);
    let last: Option<Vec<f64>> = times.collect();
    let last = last.and_then(|times| times.into_iter().reduce(f64::max));
    last.into_iter().collect()
}

/// Of FLOW/CLASS; none where the discipline has no classes, or the flow was in none.
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

/// What can be asked for, in the order in which it is listed.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "stall",
        unit: "s",
        about: "stall of a call",
        take: |o, entry| calls(o, entry, |call| Some(call.stall_s)),
    },
    Kind {
        name: "page_stall",
        unit: "ms",
        about: "stall of all calls from a page's start until two seconds after its end",
        take: |o, entry| pages(o, entry, |page| Some(page.stall_s * 1e3)),
    },
    Kind {
        name: "caused",
        unit: "ms",
        about: "stall that a page causes: a run's less that of the run without pages, for each load",
        take: |o, _| caused(o),
    },
    Kind {
        name: "page_delay",
        unit: "ms",
        about: "largest frame delay while a page loads",
        take: |o, entry| pages(o, entry, |page| page.frame_max_ms),
    },
    Kind {
        name: "frame_p50",
        unit: "ms",
        about: "median frame delay of a call",
        take: |o, entry| calls(o, entry, |call| call.frame_delay_ms.p50),
    },
    Kind {
        name: "frame_p95",
        unit: "ms",
        about: "95th percentile of a call's frame delay",
        take: |o, entry| calls(o, entry, |call| call.frame_delay_ms.p95),
    },
    Kind {
        name: "frame_max",
        unit: "ms",
        about: "largest frame delay of a call",
        take: |o, entry| calls(o, entry, |call| call.frame_delay_ms.max),
    },
    Kind {
        name: "frames_lost",
        unit: "%",
        about: "frames of a call that were never shown",
        take: |o, entry| {
            calls(o, entry, |call| {
                (call.frames > 0).then(|| 100.0 * call.frames_lost as f64 / call.frames as f64)
            })
        },
    },
    Kind {
        name: "freezes",
        unit: "",
        about: "freezes of a call by WebRTC's rule",
        take: |o, entry| calls(o, entry, |call| Some(call.freezes as f64)),
    },
    Kind {
        name: "low_fps",
        unit: "",
        about: "seconds of a call with fewer than ten frames shown",
        take: |o, entry| calls(o, entry, |call| Some(call.low_fps_events as f64)),
    },
    Kind {
        name: "call_rate",
        unit: "Mbit/s",
        about: "media that a call delivered",
        take: |o, entry| calls(o, entry, |call| Some(call.goodput_mbps)),
    },
    Kind {
        name: "call_delay",
        unit: "ms",
        about: "95th percentile of the time that a call's packets waited in their first queue",
        take: |o, entry| calls(o, entry, |call| call.sojourn_ms.p95),
    },
    Kind {
        name: "plt",
        unit: "ms",
        about: "page load time",
        take: |o, entry| pages(o, entry, |page| page.plt_ms),
    },
    Kind {
        name: "fct",
        unit: "ms",
        about: "completion time of a transfer",
        take: |o, entry| flows(o, entry, |flow| flow.fct_ms),
    },
    Kind {
        name: "all_done",
        unit: "ms",
        about: "completion time of the last of several transfers",
        take: all_done,
    },
    Kind {
        name: "flow_rate",
        unit: "Mbit/s",
        about: "goodput of a transfer",
        take: |o, entry| flows(o, entry, |flow| Some(flow.goodput_mbps)),
    },
    Kind {
        name: "sojourn",
        unit: "ms",
        about: "mean time that packets waited in the first queue, or in that of the link named",
        take: |o, entry| link(o, entry, |link| link.sojourn_ms.mean),
    },
    Kind {
        name: "sojourn_p95",
        unit: "ms",
        about: "95th percentile of the same",
        take: |o, entry| link(o, entry, |link| link.sojourn_ms.p95),
    },
    Kind {
        name: "occupancy",
        unit: "%",
        about: "mean backlog of the first queue over its buffer, or of that of the link named",
        take: |o, entry| link(o, entry, |link| link.occupancy.map(|share| share * 100.0)),
    },
    Kind {
        name: "utilization",
        unit: "%",
        about: "share of the first link's capacity that was used, or of the link named",
        take: |o, entry| link(o, entry, |link| link.utilization.map(|share| share * 100.0)),
    },
    Kind {
        name: "drops",
        unit: "",
        about: "packets dropped at the first queue, or at that of the link named",
        take: |o, entry| link(o, entry, |link| Some(link.drops as f64)),
    },
    Kind {
        name: "marks",
        unit: "",
        about: "packets marked at the first queue, or at that of the link named",
        take: |o, entry| link(o, entry, |link| Some(link.marks as f64)),
    },
    Kind {
        name: "moves",
        unit: "",
        about: "moves of flows between classes of the first queue",
        take: |o, entry| link(o, entry, |link| link.moves.map(|moves| moves as f64)),
    },
    Kind {
        name: "class_share",
        unit: "%",
        about: "share of the time that a flow was in a class of the first queue: class_share:FLOW/CLASS",
        take: class_share,
    },
    Kind {
        name: "jfi",
        unit: "",
        about: "Jain's index over the goodput of calls and unlimited transfers",
        take: |o, _| o.run.jfi.into_iter().collect(),
    },
];
