//! A run as a data file of flent.

use super::parties::Parties;
use super::{TapOutput, WritingTap};
use flate2::Compression;
use flate2::write::GzEncoder;
use measure::{Event, Sink};
use scenario::Scenario;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use units::{FlowId, Instant};
use workload::{Carrier, Event as Application, Rows, TrafficId};

/// Seconds between two points of a series, as flent has them.
const STEP: f64 = 0.2;
/// A longer run has a longer step: no plot has more points across.
const MOST_STEPS: f64 = 20_000.0;
/// Beyond so many series the flows of an entry are not told apart.
const MOST_SERIES: usize = 64;
/// The name of the test, of which flent knows the plots: any number of transfers both ways, and pings.
const TEST: &str = "rrul_be_nflows";
/// The figure of a `udp` entry that is a ping.
const PING: &str = "answered";
/// Nothing in a run has a date.
const TIME: &str = "1970-01-01T00:00:00.000000Z";

/// Writes the run as a data file of flent (format 4, compressed), which flent's own plots read.
///
/// Series of rates are of bytes that applications received in order, in Mbit/s; the pings are the answers to
/// the datagrams of `udp` entries with `answer`, in ms. A value is for the time since the point before it.
///
/// | series | what |
/// | --- | --- |
/// | `TCP download BE::1`, `TCP upload BE::1` and so on | what TCP or QUIC carry: each transfer, and all flows of a page entry together. The name in results is the series' `ANALECTS_FLOW`. Beyond 64 series the flows of an entry are one |
/// | `TCP download sum`, `TCP download avg`, of uploads and `TCP totals` | as flent has them |
/// | `Ping (ms) UDP BE`; `Ping (ms) UDP NAME` for every other entry | round trips of datagrams |
/// | `Ping (ms) avg` | the mean of the pings |
/// | names of entries | calls, and datagrams: flent prints and exports them, and no plot of its own shows them |
///
/// Times begin with the run, warm-up included.
pub struct Flent<'a, W: Write> {
    parties: Parties<'a>,
    /// The scenario's.
    name: String,
    title: String,
    step: f64,
    /// In the order in which they began.
    series: Vec<Gathered>,
    flows: BTreeMap<FlowId, usize>,
    rest: BTreeMap<TrafficId, usize>,
    pings: BTreeMap<TrafficId, usize>,
    last: Instant,
    output: TapOutput<BufWriter<W>>,
}

/// What a series is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeriesKind {
    Transfer { up: bool },
    Ping,
    Other,
}

/// A series while the run goes.
struct Gathered {
    kind: SeriesKind,
    name: String,
    /// For each step the sum of its values, and how many there were.
    steps: Vec<(f64, u32)>,
}

/// A series as it is written.
type Points = Vec<Option<f64>>;

#[derive(Serialize)]
struct File {
    version: u32,
    metadata: Metadata,
    x_values: Vec<f64>,
    results: BTreeMap<String, Points>,
    /// What was measured, as opposed to sums. Without any, flent takes the file for empty and exports nothing.
    raw_values: BTreeMap<String, Vec<Raw>>,
}

#[derive(Serialize)]
struct Raw {
    t: f64,
    val: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "UPPERCASE")]
struct Metadata {
    name: &'static str,
    /// Plots name both ends.
    local_host: &'static str,
    host: String,
    title: String,
    time: &'static str,
    t0: &'static str,
    step_size: f64,
    length: f64,
    total_length: f64,
    data_filename: String,
    test_parameters: Parameters,
    series_meta: BTreeMap<String, Meta>,
}

#[derive(Serialize)]
struct Parameters {
    upload_streams: usize,
    download_streams: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "UPPERCASE")]
struct Meta {
    units: &'static str,
    analects_flow: String,
}

impl<'a, W: Write> Flent<'a, W> {
    /// The run of `scenario` with the title `title`, written to `writer`.
    pub fn new(scenario: &'a Scenario, title: String, writer: W) -> Self {
        Flent {
            parties: Parties::new(scenario),
            name: scenario.name.clone(),
            title,
            step: STEP.max(scenario.duration.as_secs_f64() / MOST_STEPS),
            series: Vec::new(),
            flows: BTreeMap::new(),
            rest: BTreeMap::new(),
            pings: BTreeMap::new(),
            last: Instant::ZERO,
            output: TapOutput::new(BufWriter::with_capacity(super::BUFFER, writer)),
        }
    }

    fn begin(&mut self, kind: SeriesKind, name: String) -> usize {
        let steps = Vec::new();
        self.series.push(Gathered { kind, name, steps });
        self.series.len() - 1
    }

    fn started(&mut self, flow: FlowId, traffic: TrafficId) {
        let Some(party) = self.parties.flow(Some(flow)) else {
            return;
        };
        let (entry, own) = (party.entry, party.name());
        let transfer = SeriesKind::Transfer { up: entry.up };
        let alone = entry.kind.entry.rows == Rows::Flows && self.series.len() < MOST_SERIES;
        let place = match party.carrier {
            Carrier::Tcp | Carrier::Quic if alone => self.begin(transfer, own),
            Carrier::Tcp | Carrier::Quic => self.of_entry(traffic, transfer, entry.name.clone()),
            _ => self.of_entry(traffic, SeriesKind::Other, entry.name.clone()),
        };
        self.flows.insert(flow, place);
    }

    /// The series that the flows of an entry share.
    fn of_entry(&mut self, traffic: TrafficId, kind: SeriesKind, name: String) -> usize {
        match self.rest.get(&traffic) {
            Some(&place) => place,
            None => {
                let place = self.begin(kind, name);
                self.rest.insert(traffic, place);
                place
            }
        }
    }

    fn observed(&mut self, now: Instant, traffic: TrafficId, figure: u8, value: f64) {
        let Some(entry) = self.parties.entry(traffic) else {
            return;
        };
        let figure = entry.kind.entry.figures.get(usize::from(figure));
        if figure.is_none_or(|figure| figure.name != PING) {
            return;
        }
        let place = match self.pings.get(&traffic) {
            Some(&place) => place,
            None => {
                let name = if self.pings.is_empty() {
                    "BE"
                } else {
                    &entry.name
                };
                self.begin(SeriesKind::Ping, format!("Ping (ms) UDP {name}"))
            }
        };
        self.pings.insert(traffic, place);
        self.add(now, place, value);
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn add(&mut self, now: Instant, place: usize, value: f64) {
        let step = (now.as_secs_f64() / self.step) as usize;
        let steps = &mut self.series[place].steps;
        if steps.len() <= step {
            steps.resize(step + 1, (0.0, 0));
        }
        steps[step].0 += value;
        steps[step].1 += 1;
    }

    /// Rates are of every step until the end; of pings only those that came are points.
    fn points(&self, series: &Gathered, steps: usize) -> Points {
        let rate = 8.0 / self.step / 1e6;
        let of = |step| series.steps.get(step).copied().unwrap_or_default();
        let points = (0..steps).map(|step| match (series.kind, of(step)) {
            (SeriesKind::Ping, (_, 0)) => None,
            (SeriesKind::Ping, (sum, count)) => Some(sum / f64::from(count)),
            (_, (bytes, _)) => Some(bytes * rate),
        });
        points.collect()
    }

    fn file(&self) -> File {
        let steps = self.series.iter().map(|series| series.steps.len()).max();
        let steps = steps.unwrap_or_default();
        let x_values: Vec<f64> = (1..=steps).map(|step| step as f64 * self.step).collect();
        let (mut results, mut series_meta) = (BTreeMap::new(), BTreeMap::new());
        let mut raw_values = BTreeMap::new();
        let (mut ups, mut downs, mut pings) = (Vec::new(), Vec::new(), Vec::new());
        for series in &self.series {
            let points = self.points(series, steps);
            let (name, units) = match series.kind {
                SeriesKind::Transfer { up: true } => {
                    ups.push(points.clone());
                    (format!("TCP upload BE::{}", ups.len()), "Mbits/s")
                }
                SeriesKind::Transfer { up: false } => {
                    downs.push(points.clone());
                    (format!("TCP download BE::{}", downs.len()), "Mbits/s")
                }
                SeriesKind::Ping => {
                    pings.push(points.clone());
                    (series.name.clone(), "ms")
                }
                SeriesKind::Other => (series.name.clone(), "Mbits/s"),
            };
            let analects_flow = series.name.clone();
            let meta = Meta {
                units,
                analects_flow,
            };
            series_meta.insert(name.clone(), meta);
            raw_values.insert(name.clone(), raw(&x_values, &points));
            results.insert(name, points);
        }
        for (name, of) in [("upload", &ups), ("download", &downs)] {
            results.insert(format!("TCP {name} sum"), sums(of, steps));
            results.insert(format!("TCP {name} avg"), means(of, steps));
        }
        let all: Vec<Points> = ups.iter().chain(&downs).cloned().collect();
        results.insert("TCP totals".to_owned(), sums(&all, steps));
        results.insert("Ping (ms) avg".to_owned(), means(&pings, steps));
        let length = self.last.as_secs_f64();
        File {
            version: 4,
            metadata: Metadata {
                name: TEST,
                local_host: "analects",
                host: self.name.clone(),
                title: self.title.clone(),
                time: TIME,
                t0: TIME,
                step_size: self.step,
                length,
                total_length: length,
                data_filename: format!("{TEST}.flent.gz"),
                test_parameters: Parameters {
                    upload_streams: ups.len(),
                    download_streams: downs.len(),
                },
                series_meta,
            },
            x_values,
            results,
            raw_values,
        }
    }
}

fn raw(times: &[f64], points: &Points) -> Vec<Raw> {
    let points = times.iter().zip(points);
    points
        .filter_map(|(t, val)| {
            Some(Raw {
                t: *t,
                val: (*val)?,
            })
        })
        .collect()
}

/// Point by point, over the series that have one.
fn merge(series: &[Points], steps: usize, of: impl Fn(f64, usize) -> f64) -> Points {
    let step = |step: usize| {
        let values: Vec<f64> = series.iter().filter_map(|points| points[step]).collect();
        let sum = values.iter().sum::<f64>();
        (!values.is_empty()).then(|| of(sum, values.len()))
    };
    (0..steps).map(step).collect()
}

fn sums(series: &[Points], steps: usize) -> Points {
    merge(series, steps, |sum, _| sum)
}

fn means(series: &[Points], steps: usize) -> Points {
    merge(series, steps, |sum, count| sum / count as f64)
}

impl<W: Write> Sink for Flent<'_, W> {
    fn event(&mut self, now: Instant, event: &Event) {
        self.last = now;
        let Event::Traffic(event) = *event else {
            return;
        };
        self.parties.start(&event);
        match event {
            Application::FlowStarted { flow, traffic, .. } => self.started(flow, traffic),
            Application::Delivered { flow, bytes } => {
                if let Some(&place) = self.flows.get(&flow) {
                    self.add(now, place, bytes as f64);
                }
            }
            Application::Observed {
                traffic,
                figure,
                value,
                ..
            } => self.observed(now, traffic, figure, value),
            _ => {}
        }
    }
}

impl<W: Write> WritingTap for Flent<'_, W> {
    fn finish(&mut self) -> io::Result<()> {
        let file = self.file();
        self.output.finish(|out| {
            let mut packed = GzEncoder::new(&mut *out, Compression::default());
            serde_json::to_writer(&mut packed, &file)?;
            packed.finish()?.flush()
        })
    }
}
