//! A dump of a call: connections, and the series of their statistics.
//!
//! The format of chrome://webrtc-internals has no specification. It is what the page's script writes: for each statistic of each report
//! of `getStats` the times of its first and last sample, and its samples, about one a second, as a text of
//! JSON. A sample is left out where the report has no such statistic; one statistic of each report,
//! `timestamp`, is when its samples were taken. The statistics are W3C's Identifiers for WebRTC's Statistics
//! API.

use super::times::{self, Times};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// No statistic of a call is greater: bytes of a year at 100 Mbit/s.
const GREATEST: f64 = 1e15;

/// A whole dump.
#[derive(Debug)]
pub struct Dump {
    /// By their names in the dump.
    pub connections: BTreeMap<String, DumpConnection>,
}

/// A peer connection.
#[derive(Debug)]
pub struct DumpConnection {
    /// The page that made it.
    pub url: String,
    /// By their names in the dump.
    series: BTreeMap<String, ReportedSeries>,
    /// What the page asked for, and what came of it: entries with a text of JSON as `value`.
    pub log: Value,
    legacy: bool,
}

/// All that was reported of one object.
#[derive(Debug, Default)]
pub struct ReportedSeries {
    of: String,
    statistics: BTreeMap<String, StatisticSamples>,
}

/// The values of one statistic, as many as times.
#[derive(Debug, Default)]
struct StatisticSamples {
    times: Times,
    values: Vec<Value>,
}

/// A report of one object, such as a stream that is received.
#[derive(Debug)]
pub struct DumpReport<'a> {
    /// Its name in the dump.
    pub id: &'a str,
    series: &'a ReportedSeries,
}

/// A sample: seconds since 1970, and the value.
pub type Sample = (f64, f64);

impl Dump {
    /// Reads what chrome://webrtc-internals writes as its own.
    ///
    /// # Errors
    /// A sentence with the reason why it is none.
    pub fn of_internals(bytes: &[u8]) -> Result<Dump, String> {
        let written: WrittenDump = serde_json::from_slice(bytes).map_err(|error| {
            format!("{error}: expected what chrome://webrtc-internals writes, {{\"PeerConnections\": ...}}")
        })?;
        let connections = written.connections.into_iter();
        Ok(Dump {
            connections: connections.map(|(id, of)| (id, of.read())).collect(),
        })
    }
}

impl DumpConnection {
    /// One of the page at `url`, with these series and this log.
    pub fn of(url: String, series: BTreeMap<String, ReportedSeries>, log: Value) -> Self {
        DumpConnection {
            url,
            series,
            log,
            legacy: false,
        }
    }

    /// The reports of one type, such as `inbound-rtp`, by their names.
    pub fn reports(&self, of: &str) -> BTreeMap<&str, DumpReport<'_>> {
        let is = self.series.iter().filter(|(_, series)| series.of == of);
        is.map(|(id, series)| (id.as_str(), DumpReport { id, series }))
            .collect()
    }

    /// The reports of one type that are of `kind`, video or audio.
    pub fn streams(&self, of: &str, kind: &str) -> Vec<DumpReport<'_>> {
        let is = |report: &DumpReport<'_>| {
            let told = report.text("kind").or_else(|| report.text("mediaType"));
            told.as_deref() == Some(kind)
        };
        self.reports(of).into_values().filter(is).collect()
    }

    /// Whether it has only the statistics of Google's own names that Chrome wrote before it had those of
    /// W3C; 122 writes no others.
    pub fn is_legacy(&self) -> bool {
        let none = |of: &&str| self.reports(of).is_empty();
        self.legacy && ["inbound-rtp", "outbound-rtp"].iter().all(none)
    }
}

impl ReportedSeries {
    /// Nothing yet, of a type such as `inbound-rtp`.
    pub fn of(of: &str) -> Self {
        ReportedSeries {
            of: of.to_owned(),
            ..ReportedSeries::default()
        }
    }

    /// Adds what a report tells that was taken at `time`, in seconds since 1970.
    pub fn add<'a>(&mut self, time: f64, told: impl Iterator<Item = (&'a String, &'a Value)>) {
        for (name, value) in told {
            let samples = self.statistics.entry(name.clone()).or_default();
            samples.times.known = true;
            samples.times.of.push(time);
            samples.values.push(value.clone());
        }
    }
}

impl DumpReport<'_> {
    /// The values of a statistic with the times of their samples; none if there is no such statistic.
    pub fn samples(&self, name: &str) -> Vec<(f64, Value)> {
        let Some(samples) = self.series.statistics.get(name) else {
            return Vec::new();
        };
        let times = samples.times.of.iter().copied();
        times.zip(samples.values.iter().cloned()).collect()
    }

    /// The samples of a number; none if there is no such statistic, or its times are none.
    pub fn numbers(&self, name: &str) -> Vec<Sample> {
        let number = |(time, value): (f64, Value)| {
            let value = value
                .as_f64()
                .filter(|value| (0.0..=GREATEST).contains(value))?;
            Some((time, value))
        };
        self.samples(name).into_iter().filter_map(number).collect()
    }

    /// Whether the report says when each sample of a statistic was taken.
    pub fn is_timed(&self, name: &str) -> bool {
        let samples = self.series.statistics.get(name);
        samples.is_some_and(|samples| samples.times.known)
    }

    /// The last value of a text.
    pub fn text(&self, name: &str) -> Option<String> {
        let samples = self.series.statistics.get(name)?;
        Some(samples.values.last()?.as_str()?.to_owned())
    }

    /// The last value of a number.
    pub fn last(&self, name: &str) -> Option<f64> {
        Some(self.numbers(name).last()?.1)
    }
}

/// What that page writes.
#[derive(Deserialize)]
struct WrittenDump {
    #[serde(rename = "PeerConnections")]
    connections: BTreeMap<String, WrittenConnection>,
}

#[derive(Deserialize)]
struct WrittenConnection {
    #[serde(default)]
    url: String,
    stats: BTreeMap<String, Statistic>,
    #[serde(rename = "updateLog", default)]
    log: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statistic {
    start_time: String,
    end_time: String,
    #[serde(default)]
    stats_type: String,
    values: String,
}

impl WrittenConnection {
    fn read(self) -> DumpConnection {
        let legacy = |name: &String| {
            name.contains("-goog") || name.starts_with("ssrc_") || name.starts_with("bweforvideo")
        };
        let legacy = self.stats.keys().any(legacy);
        let mut reports: BTreeMap<&str, BTreeMap<&str, &Statistic>> = BTreeMap::new();
        for (name, statistic) in &self.stats {
            // Statistics that the page has computed are in brackets, and may have hyphens themselves.
            if let Some((report, name)) = name.rsplit_once('-').filter(|_| !name.ends_with(']')) {
                reports.entry(report).or_default().insert(name, statistic);
            }
        }
        let series = reports
            .into_iter()
            .map(|(id, of)| (id.to_owned(), series(id, &of)));
        DumpConnection {
            series: series.collect(),
            url: self.url,
            log: self.log,
            legacy,
        }
    }
}

/// The series of the report `id`.
fn series(id: &str, statistics: &BTreeMap<&str, &Statistic>) -> ReportedSeries {
    let clock = statistics.get("timestamp").map(|of| of.values());
    let clock: Option<Vec<f64>> = clock.and_then(|values| {
        let seconds = |value: &Value| value.as_f64().map(|ms| ms / 1e3);
        values.iter().map(seconds).collect()
    });
    let clock = clock.unwrap_or_default();
    let samples = |of: &Statistic| {
        let values = of.values();
        let ends = [&*of.start_time, &*of.end_time].map(seconds);
        let times = match ends {
            [Some(start), Some(end)] => times::of(values.len(), (start, end), &clock),
            _ => Times::default(),
        };
        StatisticSamples { times, values }
    };
    let of = statistics.values().find_map(|statistic| statistic.of(id));
    ReportedSeries {
        of: of.unwrap_or_default(),
        statistics: statistics
            .iter()
            .map(|(name, of)| ((*name).to_owned(), samples(of)))
            .collect(),
    }
}

/// How the names of reports begin in dumps that do not say their type, and that type.
const NAMES: [(&str, &str); 4] = [
    ("RTCInboundRTP", "inbound-rtp"),
    ("RTCOutboundRTP", "outbound-rtp"),
    ("RTCRemoteInboundRtp", "remote-inbound-rtp"),
    ("RTCIceCandidatePair", "candidate-pair"),
];

impl Statistic {
    /// The type of the report that it is of, called `report`.
    fn of(&self, report: &str) -> Option<String> {
        match self.stats_type.as_str() {
            "" => {
                let named = NAMES.iter().find(|(begins, _)| report.starts_with(begins));
                named.map(|(_, of)| (*of).to_owned())
            }
            of => Some(of.to_owned()),
        }
    }

    fn values(&self) -> Vec<Value> {
        serde_json::from_str(&self.values).unwrap_or_default()
    }
}

/// Seconds since 1970.
fn seconds(text: &str) -> Option<f64> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.as_millisecond() as f64 / 1e3)
}
