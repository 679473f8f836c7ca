//! `fps`: frames shown in each second of a call.

use super::declared::{Better, Metric, Range};
use super::meter::{Meter, found};
use crate::event::{Event, Sink};
use crate::result::MeasuredValue;
use scenario::Scenario;
use std::collections::BTreeMap;
use units::{Duration, Instant};
use workload::TrafficId;

/// `fps` for the registry.
pub const FPS: Metric = Metric {
    name: NAME,
    unit: "frames/s",
    range: Range::Positive,
    summary: "frames shown in each second of a call",
    about: "Whole seconds of the measured time from a call's first measured frame on, as for `low_fps`: \
            its events are the seconds below 10. `fps:NAME` is that of one entry. A scenario has to ask \
            for it: metrics = [\"fps\"].",
    source: "the poster on user-controllable congestion mitigation, figure 2; Zhuge's low-FPS events",
    better: Better::More,
    column: None,
    meter: Some(|scenario| Box::new(Fps::new(scenario))),
    take: |observed, entry| found(observed, NAME, entry),
};

const NAME: &str = "fps";
const SECOND: Duration = Duration::from_secs(1);

/// The calls of a run.
struct Fps {
    names: Vec<String>,
    from: Instant,
    end: Instant,
    calls: BTreeMap<TrafficId, CallSeconds>,
}

/// Frames of a call, by the second in which they were shown.
struct CallSeconds {
    first: Instant,
    seconds: Vec<u32>,
}

impl Fps {
    fn new(scenario: &Scenario) -> Self {
        Fps {
            names: scenario
                .traffic
                .iter()
                .map(|entry| entry.name.clone())
                .collect(),
            from: Instant::ZERO + scenario.warmup,
            end: Instant::ZERO + scenario.duration,
            calls: BTreeMap::new(),
        }
    }
}

impl Sink for Fps {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Traffic(workload::Event::FrameSent { call, .. }) if now >= self.from => {
                let whole = self.end.since(now).as_nanos() / SECOND.as_nanos();
                self.calls.entry(call).or_insert_with(|| CallSeconds {
                    first: now,
                    seconds: vec![0; whole as usize],
                });
            }
            Event::Traffic(workload::Event::FrameShown { call, .. }) => {
                if let Some(call) = self.calls.get_mut(&call) {
                    let second = now.since(call.first).as_nanos() / SECOND.as_nanos();
                    if let Some(count) = call.seconds.get_mut(second as usize) {
                        *count += 1;
                    }
                }
            }
            _ => {}
        }
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

impl Meter for Fps {
    fn finish(&mut self) -> Vec<MeasuredValue> {
        let mut values = Vec::new();
        for (call, CallSeconds { seconds, .. }) in &self.calls {
            let of = &self.names[call.0 as usize];
            values.extend(seconds.iter().map(|count| MeasuredValue {
                of: of.clone(),
                at: None,
                value: f64::from(*count),
            }));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: TrafficId = TrafficId(1);

    #[test]
    fn whole_seconds_from_the_first_measured_frame() {
        let mut fps = Fps {
            names: vec!["page".to_owned(), "call".to_owned()],
            from: Instant::ZERO + SECOND,
            end: Instant::ZERO + SECOND * 4,
            calls: BTreeMap::new(),
        };
        // One every 100 ms from 550 ms on; those from 2.5 to 3 s are shown at 3.5.
        for frame in 0..34 {
            let sent = Instant::ZERO + Duration::from_millis(550 + 100 * frame);
            let late = (2500..3000).contains(&sent.since(Instant::ZERO).as_millis());
            let shown = if late {
                Instant::ZERO + Duration::from_millis(3500)
            } else {
                sent
            };
            let call = CALL;
            fps.event(
                sent,
                &Event::Traffic(workload::Event::FrameSent { call, frame }),
            );
            fps.event(
                shown,
                &Event::Traffic(workload::Event::FrameShown {
                    call,
                    frame,
                    held: Duration::ZERO,
                }),
            );
        }
        // From 1.05 s: whole seconds until 2.05 and 3.05, and half a one until 3.95, which does not count.
        let values = fps.finish();
        assert!(values.iter().all(|value| value.of == "call"));
        let values: Vec<f64> = values.iter().map(|value| value.value).collect();
        assert_eq!(values, [10.0, 5.0]);
    }
}
