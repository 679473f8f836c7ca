//! `redundancy`: what calls send for the case that something is lost.

use super::declared::{Better, Column, Metric, Range};
use super::meter::{Meter, found};
use crate::event::{Event, MediaContent, Sink};
use crate::result::MeasuredValue;
use scenario::Scenario;
use std::collections::BTreeMap;
use units::{FlowId, Instant};
use workload::{Event as Application, TrafficId};

/// `redundancy` for the registry.
pub const REDUNDANCY: Metric = Metric {
    name: NAME,
    unit: "%",
    range: Range::PERCENT,
    summary: "share of a call's bytes that is sent for the case that others are lost",
    about: "Packets of forward error correction, and copies of earlier frames of audio with their headers, of \
            all bytes that the call's sender put on the wire, IP headers included; of a conference all \
            pictures count. Only the simulator knows what packets carry. `redundancy:NAME` is \
            that of one entry. A scenario has to ask for it: metrics = [\"redundancy\"].",
    source: "this project; decision 0027",
    better: Better::Less,
    column: Some(Column::mean("redundancy", 1).asked()),
    meter: Some(|scenario| Box::new(Redundancy::new(scenario))),
    take: |observed, entry| found(observed, NAME, entry),
};

const NAME: &str = "redundancy";

/// The calls of a run.
struct Redundancy {
    names: Vec<String>,
    from: Instant,
    /// Whose flow it is.
    flows: BTreeMap<FlowId, TrafficId>,
    /// Redundant bytes, and all.
    bytes: BTreeMap<TrafficId, (u64, u64)>,
}

impl Redundancy {
    fn new(scenario: &Scenario) -> Self {
        let names = scenario.traffic.iter().map(|entry| entry.name.clone());
        Redundancy {
            names: names.collect(),
            from: Instant::ZERO + scenario.warmup,
            flows: BTreeMap::new(),
            bytes: BTreeMap::new(),
        }
    }

    fn sent(&mut self, flow: FlowId, bytes: u32, content: MediaContent) {
        let Some(call) = self.flows.get(&flow) else {
            return;
        };
        let redundant = match content {
            MediaContent::Audio { copied, .. } => copied,
            MediaContent::Fec => bytes,
            MediaContent::Video { .. } | MediaContent::Padding => 0,
        };
        let (of, all) = self.bytes.entry(*call).or_default();
        *of += u64::from(redundant);
        *all += u64::from(bytes);
    }
}

impl Sink for Redundancy {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Traffic(Application::FlowStarted { flow, traffic, .. }) => {
                self.flows.insert(flow, traffic);
            }
            Event::Media { packet, part } if now >= self.from => {
                if let Some(flow) = packet.flow {
                    self.sent(flow, packet.bytes, part.content);
                }
            }
            _ => {}
        }
    }

    fn wants_ends(&self) -> bool {
        true
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for Redundancy {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let calls = self.bytes.iter();
        let values = calls.map(|(call, (redundant, all))| MeasuredValue {
            of: self.names[usize::from(call.0)].clone(),
            at: None,
            value: 100.0 * *redundant as f64 / *all as f64,
        });
        values.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{MediaPart, PacketId};
    use units::{Duration, Ecn};
    use workload::Carrier;

    #[test]
    fn the_share_of_all_bytes_of_the_measured_time() {
        let mut redundancy = Redundancy {
            names: vec!["page".to_owned(), "call".to_owned()],
            from: Instant::ZERO + Duration::from_secs(1),
            flows: BTreeMap::new(),
            bytes: BTreeMap::new(),
        };
        let flow = FlowId(7);
        let started = Application::FlowStarted {
            flow,
            traffic: TrafficId(1),
            carrier: Carrier::Media,
            server: 0,
        };
        redundancy.event(Instant::ZERO, &Event::Traffic(started));
        let video = MediaContent::Video {
            sequence: 0,
            frame: 0,
            last: true,
        };
        let audio = MediaContent::Audio {
            frame: 0,
            copied: 85,
        };
        for (second, flow, bytes, content) in [
            (0, flow, 1_000, audio),
            (1, flow, 777, video),
            (1, flow, 223, audio),
            (1, FlowId(8), 500, video),
        ] {
            let packet = PacketId {
                number: 0,
                flow: Some(flow),
                subflow: 0,
                bytes,
                ecn: Ecn::NotCapable,
            };
            let part = MediaPart { stream: 0, content };
            let now = Instant::ZERO + Duration::from_secs(second);
            redundancy.event(now, &Event::Media { packet, part });
        }
        let values = redundancy.finish();
        let values: Vec<_> = values.iter().map(|of| (of.of.as_str(), of.value)).collect();
        assert_eq!(values, [("call", 8.5)]);
    }
}
