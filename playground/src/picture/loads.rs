//! Parts of pages and transfers with an end, as they come.

use super::moment::ms;
use scenario::Scenario;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{FlowId, Instant};
use workload::page::Page;
use workload::{Event, Rows, TrafficId};

/// What happened to a page or a transfer. The traffic entry by its place, then the load or the flow by
/// its number, then the time in milliseconds.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// A page began; with the number of its parts.
    Began(u16, u32, f64, usize),
    /// A part of it is there.
    Part(u16, u32, f64),
    /// All of it is there.
    Complete(u16, u32, f64),
    /// A transfer began.
    Flow(u16, u32, f64),
    /// A transfer is complete.
    FlowDone(u16, u32, f64),
}

/// Follows all pages and transfers.
pub struct Loads {
    /// For each entry, whether its flows are transfers, and its pages.
    entries: Vec<(bool, Vec<Arc<Page>>)>,
    /// Transfers so far, by entry.
    started: Vec<u32>,
    flows: BTreeMap<FlowId, (u16, u32)>,
    happened: Vec<Happened>,
}

impl Loads {
    /// Nothing has begun.
    pub fn new(scenario: &Scenario) -> Self {
        let entries = scenario.traffic.iter().map(|entry| {
            let transfers = entry.kind.entry.rows == Rows::Flows;
            (transfers, entry.kind.workload.pages().to_vec())
        });
        Loads {
            entries: entries.collect(),
            started: vec![0; scenario.traffic.len()],
            flows: BTreeMap::new(),
            happened: Vec::new(),
        }
    }

    /// Handles an event.
    pub fn event(&mut self, now: Instant, event: &Event) {
        let happened = match *event {
            Event::PageStarted {
                page: TrafficId(page),
                load,
                site,
                ..
            } => {
                let pages = self.entries.get(usize::from(page)).map(|(_, pages)| pages);
                let of = pages.and_then(|pages| pages.get(site as usize));
                let parts = of.map_or(0, |page| page.requests().len());
                Happened::Began(page, load, ms(now), parts)
            }
            Event::RequestDone { page, load, .. } => Happened::Part(page.0, load, ms(now)),
            Event::PageDone { page, load } => Happened::Complete(page.0, load, ms(now)),
            Event::FlowStarted {
                flow,
                traffic: TrafficId(entry),
                ..
            } => {
                let place = usize::from(entry);
                if !self
                    .entries
                    .get(place)
                    .is_some_and(|(transfers, _)| *transfers)
                {
                    return;
                }
                let number = self.started[place];
                self.started[place] += 1;
                self.flows.insert(flow, (entry, number));
                Happened::Flow(entry, number, ms(now))
            }
            Event::FlowDone { flow } => match self.flows.get(&flow) {
                Some((entry, number)) => Happened::FlowDone(*entry, *number, ms(now)),
                None => return,
            },
            _ => return,
        };
        self.happened.push(happened);
    }

    /// What happened since the last call.
    pub fn take(&mut self) -> Vec<Happened> {
        core::mem::take(&mut self.happened)
    }
}
