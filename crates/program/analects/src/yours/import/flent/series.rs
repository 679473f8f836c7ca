//! The series of a data file of flent: which are transfers, and which measure a round trip.
//!
//! `SERIES_META` says what ran for a series (`RUNNER`) and in which unit its values are (`UNITS`). Files
//! before version 3 have the unit only. There the name decides (`flent/tests/*.conf`): `A::b` is a
//! statistic of `A` unless `b` is a number, and a last word such as `sum` is computed from other series.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The parts of a data file that are read, of any version since the second.
#[derive(Debug, Deserialize)]
pub struct File {
    pub metadata: Metadata,
    pub x_values: Vec<f64>,
    pub results: BTreeMap<String, Vec<Option<f64>>>,
}

#[derive(Debug, Deserialize)]
pub struct Metadata {
    #[serde(rename = "NAME")]
    pub name: String,
    #[serde(rename = "TITLE", default)]
    pub title: Option<String>,
    #[serde(rename = "SERIES_META", default)]
    series: BTreeMap<String, About>,
}

/// What the file says of a series.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE", default)]
struct About {
    runner: Option<String>,
    units: Option<String>,
    command: Option<String>,
    mean_value: Option<f64>,
}

/// What runs a transfer.
const TRANSFERS: [&str; 2] = ["NetperfDemoRunner", "IperfCsvRunner"];
/// Last words of the names of series that are computed from others.
const COMPUTED: [&str; 5] = ["sum", "avg", "fairness", "totals", "sums"];
/// Units of rates, and how many Mbit/s one is.
const RATES: [(&str, f64); 4] = [
    ("Mbits/s", 1.0),
    ("Kbits/s", 1e-3),
    ("Gbits/s", 1e3),
    ("bits/s", 1e-6),
];

/// Where data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataWay {
    Down,
    Up,
}

/// A series of rates.
#[derive(Debug)]
pub struct Transfer<'a> {
    pub name: &'a str,
    /// None if neither its name nor its command says.
    pub way: Option<DataWay>,
    /// It is UDP, which no congestion control keeps from filling the line.
    pub flood: bool,
    /// How many Mbit/s one of its values is.
    pub unit: f64,
}

/// What measures the round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Ping,
    /// TCP's own smoothed round trip, of all uploads (`--socket-stats`).
    Tcp,
    /// A call's delay one way, doubled.
    Call,
    /// How long a request over HTTP took.
    Http,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::Ping => "ping",
            Source::Tcp => "round trip that TCP measured",
            Source::Call => "delay of the call, doubled",
            Source::Http => "time of a request over HTTP",
        }
    }
}

/// Round trips in ms, in order; at least one.
#[derive(Debug)]
pub struct Latency {
    pub source: Source,
    pub sorted: Vec<f64>,
}

impl File {
    /// The series that are rates of transfers.
    pub fn transfers(&self) -> Vec<Transfer<'_>> {
        let names = self.results.keys();
        names.filter_map(|name| self.transfer(name)).collect()
    }

    fn transfer<'a>(&'a self, name: &'a str) -> Option<Transfer<'a>> {
        let none = About::default();
        let about = self.metadata.series.get(name).unwrap_or(&none);
        let is = match &about.runner {
            Some(runner) => TRANSFERS.contains(&&**runner),
            None => !is_statistic(name) && !is_computed(name) && is_of_transport(name),
        };
        let unit = match &about.units {
            Some(unit) => RATES.iter().find(|(name, _)| name == unit)?.1,
            None => 1.0,
        };
        let command = about.command.as_deref().unwrap_or_default();
        is.then(|| Transfer {
            name,
            way: way(name, command),
            flood: name.starts_with("UDP") || command.split(' ').any(|word| word == "-u"),
            unit,
        })
    }

    /// The times of a series' first and last value, if they are two.
    pub fn span(&self, name: &str) -> Option<(f64, f64)> {
        let first = self.points(name).next()?.0;
        let last = self.points(name).last()?.0;
        (first < last).then_some((first, last))
    }

    /// The mean of a series from one time to another: straight lines between its values, which netperf gives at
    /// uneven times, and nothing before the first and after the last.
    pub fn mean(&self, name: &str, (from, until): (f64, f64)) -> f64 {
        let next = self.points(name).skip(1);
        let pieces = self.points(name).zip(next).map(|((t0, v0), (t1, v1))| {
            let (begin, end) = (t0.max(from), t1.min(until));
            let at = |time: f64| v0 + (v1 - v0) * (time - t0) / (t1 - t0);
            if begin < end {
                (end - begin) * (at(begin) + at(end)) / 2.0
            } else {
                0.0
            }
        });
        pieces.sum::<f64>() / (until - from)
    }

    /// The values of a series from one time to another.
    pub fn values(&self, name: &str, (from, until): (f64, f64)) -> Vec<f64> {
        let points = self.points(name);
        let within = points.filter(|(time, _)| (from..=until).contains(time));
        within.map(|(_, value)| value).collect()
    }

    /// The times and values of a series.
    pub fn points(&self, name: &str) -> impl Iterator<Item = (f64, f64)> {
        let values = self.results.get(name).map_or(&[][..], Vec::as_slice);
        let points = self.x_values.iter().zip(values);
        let points = points.filter_map(|(time, value)| Some((*time, (*value)?)));
        points.filter(|(_, value)| value.is_finite() && *value >= 0.0)
    }

    /// The file's own sum of one direction, in Mbit/s: over the whole run, or over a part of it.
    pub fn own_sum(&self, way: DataWay, part: (f64, f64)) -> Option<f64> {
        let is = |name: &&String| {
            name.ends_with(" sum") && name.starts_with("TCP") && self::way(name, "") == Some(way)
        };
        let name = self.results.keys().find(is)?;
        let about = self.metadata.series.get(name);
        let values = self.values(name, part);
        let mean = (!values.is_empty()).then(|| measure::interval::mean(&values));
        about.and_then(|about| about.mean_value).or(mean)
    }

    /// The series of pings.
    fn pings(&self) -> impl Iterator<Item = &str> {
        let is = |name: &&String| {
            name.starts_with("Ping (ms)") && !is_statistic(name) && !is_computed(name)
        };
        self.results.keys().filter(is).map(String::as_str)
    }

    /// The shortest pings to the nearest and to the farthest host, in ms.
    pub fn distances(&self, part: (f64, f64)) -> Option<(f64, f64)> {
        let shortest = |name| self.values(name, part).into_iter().reduce(f64::min);
        let all: Vec<f64> = self.pings().filter_map(shortest).collect();
        let least = all.iter().copied().reduce(f64::min);
        least.zip(all.iter().copied().reduce(f64::max))
    }

    /// What the file has of round trips: pings, or what comes nearest.
    pub fn latency(&self, part: (f64, f64)) -> Option<Latency> {
        let sockets = self
            .results
            .keys()
            .filter(|name| name.ends_with("::tcp_rtt"));
        // One series for each list of addresses, with a number if there are several.
        let requests = self
            .results
            .keys()
            .filter(|name| name.starts_with("HTTP latency") && !is_statistic(name));
        let of = |name: &str, unit: f64| -> Vec<f64> {
            let values = self.values(name, part).into_iter();
            values.map(|value| value * unit).collect()
        };
        // Pings to several hosts are several round trips.
        let mut pings = self.pings().map(|name| of(name, 1.0));
        let ping = pings.find(|values| !values.is_empty());
        let candidates = [
            (Source::Ping, ping.unwrap_or_default()),
            (
                Source::Tcp,
                sockets.flat_map(|name| of(name, 1.0)).collect(),
            ),
            (Source::Call, of("VoIP::delay", 2.0)),
            (
                Source::Http,
                requests.flat_map(|name| of(name, 1.0)).collect(),
            ),
        ];
        let found = candidates
            .into_iter()
            .find(|(_, values)| !values.is_empty());
        found.map(|(source, mut sorted)| {
            sorted.sort_by(f64::total_cmp);
            Latency { source, sorted }
        })
    }
}

/// Whether `name` is `A::b`, and `b` no number of a flow.
fn is_statistic(name: &str) -> bool {
    let last = name.rsplit_once("::").map(|(_, last)| last);
    last.is_some_and(|last| !last.chars().all(|c| c.is_ascii_digit()))
}

fn is_computed(name: &str) -> bool {
    let last = name.rsplit(' ').next().unwrap_or_default();
    COMPUTED.contains(&last)
}

fn is_of_transport(name: &str) -> bool {
    ["TCP ", "UDP ", "SCTP "]
        .iter()
        .any(|of| name.starts_with(of))
}

/// Where the data of a series goes: what its name says, or else netperf's test.
fn way(name: &str, command: &str) -> Option<DataWay> {
    let words = [name, command].map(|text| text.split([' ', ':']).collect::<Vec<_>>());
    let has = |place: usize, word: &str| words[place].contains(&word);
    match () {
        () if has(0, "upload") => Some(DataWay::Up),
        () if has(0, "download") => Some(DataWay::Down),
        () if has(1, "TCP_STREAM") => Some(DataWay::Up),
        () if has(1, "TCP_MAERTS") => Some(DataWay::Down),
        () => None,
    }
}
