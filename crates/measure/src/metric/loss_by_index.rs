//! `loss_by_index`: how often the first packets of a flow are dropped, and the later ones.

use super::declared::{Better, Metric};
use super::meter::{Meter, found};
use crate::event::{Event, LinkId, PacketId, Sink};
use crate::flows::Flows;
use crate::result::MeasuredValue;
use scenario::Scenario;
use std::collections::BTreeMap;
use units::Instant;

/// `loss_by_index` for the registry.
pub const LOSS_BY_INDEX: Metric = Metric {
    name: "loss_by_index",
    unit: "%",
    summary: "packets dropped at the first queue, by their number within their flow",
    about: "The first packet of a flow has number 1; packets from number 100 on count together. \
        Retransmissions are packets as any other. It follows every packet, so a scenario has to ask \
        for it: metrics = [\"loss_by_index\"].",
    source: "FLOQ paper, the establishment phase of ten packets",
    better: Better::Less,
    column: None,
    meter: Some(|scenario| Box::new(LossByIndex::new(scenario))),
    take: |observed, of| found(observed, "loss_by_index", of),
};

/// Packets from this number on count together.
const LAST: u32 = 100;
/// The first queue towards the home.
const QUEUE: LinkId = LinkId(0);

struct LossByIndex {
    from: Instant,
    /// Packets of each flow so far.
    flows: Flows<u32>,
    /// The numbers within their flow of packets that wait.
    waiting: BTreeMap<u64, u32>,
    /// Packets that came and packets that were dropped, by number.
    counts: Vec<(u64, u64)>,
}

impl LossByIndex {
    fn new(scenario: &Scenario) -> Self {
        LossByIndex {
            from: Instant::ZERO + scenario.warmup,
            flows: Flows::default(),
            waiting: BTreeMap::new(),
            counts: vec![(0, 0); LAST as usize],
        }
    }

    fn came(&mut self, now: Instant, packet: PacketId) {
        let count = packet.flow.and_then(|flow| self.flows.get_mut(flow));
        let Some(count) = count else {
            return;
        };
        *count = (*count + 1).min(LAST);
        if now >= self.from {
            self.waiting.insert(packet.number, *count);
            self.counts[*count as usize - 1].0 += 1;
        }
    }
}

impl Sink for LossByIndex {
    fn event(&mut self, now: Instant, event: Event) {
        match event {
            Event::Traffic(workload::Event::FlowStarted { flow, .. }) => self.flows.insert(flow, 0),
            Event::Traffic(workload::Event::FlowEnded { flow }) => {
                self.flows.remove(flow);
            }
            Event::Enqueued { link, packet } if link == QUEUE => self.came(now, packet),
            Event::Dequeued { link, packet, .. } if link == QUEUE => {
                self.waiting.remove(&packet.number);
            }
            Event::Dropped { link, packet, .. } if link == QUEUE => {
                if let Some(number) = self.waiting.remove(&packet.number) {
                    self.counts[number as usize - 1].1 += 1;
                }
            }
            _ => {}
        }
    }
}

impl Meter for LossByIndex {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let counts = (1..).zip(&self.counts).filter(|(_, (came, _))| *came > 0);
        let value = |(number, (came, dropped)): (u32, &(u64, u64))| MeasuredValue {
            of: String::new(),
            at: Some(f64::from(number)),
            value: 100.0 * *dropped as f64 / *came as f64,
        };
        counts.map(value).collect()
    }
}
