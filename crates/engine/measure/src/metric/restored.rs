//! `restored`: what calls got back from redundancy.

use super::declared::{Better, Column, Metric, Range};
use super::meter::{Meter, found};
use crate::event::{Event, Sink};
use crate::result::MeasuredValue;
use scenario::Scenario;
use std::collections::BTreeMap;
use units::Instant;
use workload::{Event as Application, TrafficId};

/// `restored` for the registry.
pub const RESTORED: Metric = Metric {
    name: NAME,
    unit: "",
    range: Range::Positive,
    summary: "what a call's receiver restored from redundancy",
    about: "Packets of video that forward error correction gave back (`session = { fec = true }`; of a \
            conference those of the large picture), and frames of audio that came with a later packet \
            before their own, which was lost or late (`session = { red = 1 }`). Calls \
            without redundancy have no value. `restored:NAME` is that of one entry. A scenario has to ask \
            for it: metrics = [\"restored\"].",
    source: "this project; decision 0027",
    better: Better::Neither,
    column: Some(Column::mean("restored", 1).asked()),
    meter: Some(|scenario| Box::new(Restored::new(scenario))),
    take: |observed, entry| found(observed, NAME, entry),
};

const NAME: &str = "restored";

/// The calls of a run.
struct Restored {
    names: Vec<String>,
    from: Instant,
    counts: BTreeMap<TrafficId, u64>,
}

impl Restored {
    fn new(scenario: &Scenario) -> Self {
        let names = scenario.traffic.iter().map(|entry| entry.name.clone());
        let entries = (0..).map(TrafficId).zip(&scenario.traffic);
        let redundant = entries.filter(|(_, entry)| entry.session.fec || entry.session.red > 0);
        Restored {
            names: names.collect(),
            from: Instant::ZERO + scenario.warmup,
            counts: redundant.map(|(call, _)| (call, 0)).collect(),
        }
    }
}

impl Sink for Restored {
    fn event(&mut self, now: Instant, event: &Event) {
        if let Event::Traffic(
            Application::AudioRestored { call, .. } | Application::PartRestored { call, .. },
        ) = *event
            && now >= self.from
            && let Some(count) = self.counts.get_mut(&call)
        {
            *count += 1;
        }
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for Restored {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let counts = self.counts.iter();
        let values = counts.map(|(call, count)| MeasuredValue {
            of: self.names[usize::from(call.0)].clone(),
            at: None,
            value: *count as f64,
        });
        values.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn each_call_by_itself_from_the_measured_time_on() {
        let mut restored = Restored {
            names: vec!["page".to_owned(), "call".to_owned()],
            from: Instant::ZERO + Duration::from_secs(1),
            counts: BTreeMap::from([(TrafficId(1), 0)]),
        };
        let call = TrafficId(1);
        for second in 0..3 {
            let now = Instant::ZERO + Duration::from_secs(second);
            let event = Application::AudioRestored {
                call,
                frame: second,
            };
            restored.event(now, &Event::Traffic(event));
        }
        let values = restored.finish();
        let values: Vec<_> = values.iter().map(|of| (of.of.as_str(), of.value)).collect();
        assert_eq!(values, [("call", 2.0)]);
    }
}
