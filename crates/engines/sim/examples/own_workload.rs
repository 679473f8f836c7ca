//! A workload, a metric and a tap of your own: sensors that report at a beat, how late the worst
//! report is, and a count of those that the queue drops.
//!
//! `cargo run --release -p sim --example own_workload`

use measure::metric::{Better, Metric, Observed, Range};
use measure::{Event, PacketId, Sink, Taps, tapped};
use scenario::Document;
use sim::Simulator;
use std::collections::BTreeSet;
use std::sync::Arc;
use units::param::Settings;
use units::{Bytes, Duration, FlowId, Instant};
use workload::{
    App, Carrier, ConnId, Datagram, Figure, Input, Kept, Output, Rows, Start, TrafficId, Workload,
};
use workload::{BuildError, Entry, Library};

units::params! {
    /// Parameters of a `sensor` entry.
    pub struct SensorParams {
        /// From one report to the next.
        beat: Duration = "100ms", range "1ms".."1h", source "an example";
        /// Length of a report, IP header included.
        report: Bytes = "200B", range "29B".."1500B", source "an example";
    }
}

/// The entry for the registry.
pub const ENTRY: Entry = Entry {
    name: "sensor",
    summary: "a sensor that reports at a beat",
    about: "Sends a datagram at each beat. Not for sensors that wait to be asked.",
    source: "an example",
    params: SensorParams::SPECS,
    check: |settings| SensorParams::parse(settings).map(drop),
    carriers: &[Carrier::Udp],
    control: None,
    rows: Rows::Figures,
    figures: &[Figure {
        name: "delay",
        unit: "ms",
        about: "time from a report's sending to its arrival",
        kept: Kept::Samples,
    }],
    presets: &[],
    build,
};

fn build(settings: &Settings, _: &dyn Library) -> Result<Arc<dyn Workload>, BuildError> {
    Ok(Arc::new(SensorParams::parse(settings)?))
}

impl Workload for SensorParams {
    fn values(&self) -> Vec<(&'static str, String)> {
        SensorParams::values(self)
    }

    fn client(&self, _: &Start<'_>) -> Box<dyn App> {
        let params = self.clone();
        Box::new(Sensor { params, reports: 0 })
    }

    fn server(&self) -> Option<Box<dyn App>> {
        Some(Box::new(Desk))
    }

    fn client_sends(&self) -> bool {
        true
    }
}

/// The end that reports.
struct Sensor {
    params: SensorParams,
    reports: u64,
}

const CONN: ConnId = ConnId(0);

impl App for Sensor {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => out.push(Output::Open {
                conn: CONN,
                carrier: Carrier::Udp,
                server: 0,
                extra_rtt: Duration::ZERO,
            }),
            Input::Timer(_) => {
                let datagram = Datagram {
                    id: self.reports,
                    bytes: self.params.report.get() as u32,
                    sent: now,
                };
                self.reports += 1;
                out.push(Output::Datagram {
                    conn: CONN,
                    datagram,
                });
            }
            _ => return,
        }
        out.push(Output::Timer(now + self.params.beat, 0));
    }
}

/// The end that listens: it observes the workload's first figure.
struct Desk;

impl App for Desk {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        if let Input::Datagram { datagram, .. } = input {
            out.push(Output::Report(workload::Report::Figure {
                figure: 0,
                value: now.since(datagram.sent).as_millis_f64(),
                began: datagram.sent,
            }));
        }
    }
}

/// The largest delay of a report, from the workload's observations.
const WORST_REPORT: Metric = Metric {
    name: "worst_report",
    unit: "ms",
    range: Range::Positive,
    summary: "largest delay of a sensor's report",
    about: "Of all reports that arrived.",
    source: "an example",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed: &Observed<'_>, entry| {
        let figures = observed.run.figures.iter();
        let ours = figures.filter(|row| row.figure == "sensor_delay");
        let ours = ours.filter(|row| entry.is_empty() || row.name == entry);
        ours.filter_map(|row| row.max).collect()
    },
};

/// Counts what queues drop of one traffic entry.
#[derive(Default)]
struct Dropped {
    entry: u16,
    flows: BTreeSet<FlowId>,
    packets: u64,
}

impl Sink for Dropped {
    fn event(&mut self, _: Instant, event: &Event) {
        match *event {
            Event::Traffic(workload::Event::FlowStarted { flow, traffic, .. })
                if traffic == TrafficId(self.entry) =>
            {
                self.flows.insert(flow);
            }
            Event::Dropped {
                packet: PacketId {
                    flow: Some(flow), ..
                },
                ..
            } if self.flows.contains(&flow) => self.packets += 1,
            _ => {}
        }
    }
}

/// Delay of the worst report in ms and reports dropped, under `discipline`, in parallel with a
/// download.
fn measured(discipline: &str) -> (f64, u64) {
    let mut simulator = Simulator::default();
    simulator.workloads.add(ENTRY);
    simulator.metrics.add(WORST_REPORT);
    let text = format!(
        r#"
        duration = "20s"
        warmup = "2s"
        disciplines = ["{discipline}"]
        link = {{ rate = "10mbit", rtt = "40ms", buffer = "200p" }}
        traffic = [
            {{ name = "sensor", kind = "sensor", beat = "50ms" }},
            {{ name = "download", kind = "bulk" }},
        ]
        "#
    );
    let document = Document::parse("sensor.toml", &text).expect("it is TOML");
    let scenario = document.resolve(&simulator).expect("it is a scenario");
    let mut dropped = Dropped::default();
    let taps = Taps {
        series: false,
        tap: Some(&mut dropped),
    };
    let choice = &scenario.disciplines[0];
    let run = tapped(&simulator, &scenario, choice, 1, taps).expect("it runs");
    let metric = simulator
        .metrics
        .select("worst_report")
        .expect("it was added");
    let observed = Observed {
        run: &run,
        control: None,
    };
    (metric.of(&observed)[0], dropped.packets)
}

fn main() {
    for discipline in ["pfifo", "fq_codel"] {
        let (worst, dropped) = measured(discipline);
        println!("{discipline:9} worst report {worst:6.1} ms, {dropped} dropped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_waits_behind_a_download_but_for_fair_queuing() {
        let (behind, _) = measured("pfifo");
        let (beside, dropped) = measured("fq_codel");
        // 200 packets of 1500 B take 240 ms at 10 Mbit/s; one of another flow takes 1.2 ms.
        assert!((150.0..262.0).contains(&behind), "{behind}");
        assert!((20.0..25.0).contains(&beside), "{beside}");
        assert_eq!(dropped, 0);
    }
}
