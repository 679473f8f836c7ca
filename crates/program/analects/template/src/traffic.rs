//! `sensor`: reports at a beat, in datagrams.

use analects::units::param::Settings;
use analects::units::{Bytes, Duration, Instant};
use analects::workload::{
    App, BuildError, Carrier, ConnId, Datagram, Entry, Figure, Input, Kept, Library, Output,
    Report, Rows, Start, Workload,
};
use std::sync::Arc;

analects::units::params! {
    /// Parameters of a `sensor` entry.
    pub struct SensorParams {
        /// From one report to the next.
        beat: Duration = "100ms", range "1ms".."1h", source "this program";
        /// Length of a report, IP header included.
        report: Bytes = "200B", range "29B".."1500B", source "this program";
    }
}

/// `sensor` for the registry.
pub const ENTRY: Entry = Entry {
    name: "sensor",
    summary: "reports at a beat",
    about: "Sends a datagram at each beat.\n\nNot for sensors that wait to be asked.",
    source: "this program",
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
        Box::new(Sensor {
            params: self.clone(),
            reports: 0,
        })
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

/// The end that listens.
struct Desk;

impl App for Desk {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        if let Input::Datagram { datagram, .. } = input {
            out.push(Output::Report(Report::Figure {
                figure: 0,
                value: now.since(datagram.sent).as_millis_f64(),
                began: datagram.sent,
            }));
        }
    }
}
