//! A dump of chrome://webrtc-internals: connections, and the series of their statistics.
//!
//! The format has no specification. It is what the page's script writes: for each statistic of each report
//! of `getStats` the times of its first and last sample, and its samples, about one a second, as a text of
//! JSON. A sample is left out where the report has no such statistic; one statistic of each report,
//! `timestamp`, is when its samples were taken. The statistics are W3C's Identifiers for WebRTC's Statistics
//! API.

use super::file::plain;
use super::times::{self, Times};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// No statistic of a call is greater: bytes of a year at 100 Mbit/s.
const GREATEST: f64 = 1e15;
/// How the other format of that page begins.
const RTCSTATS: &[u8] = b"RTCStatsDump";
/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// How a page begins that about:webrtc of Firefox saves.
const PAGE: &[u8] = b"<";

/// A whole dump.
#[derive(Debug, Deserialize)]
pub struct Dump {
    /// By their names in the dump.
    #[serde(rename = "PeerConnections")]
    pub connections: BTreeMap<String, Connection>,
}

/// A peer connection.
#[derive(Debug, Deserialize)]
pub struct Connection {
    /// The page that made it.
    #[serde(default)]
    pub url: String,
    stats: BTreeMap<String, Statistic>,
    /// What the page asked for, and what came of it, as the browser wrote it.
    #[serde(rename = "updateLog", default)]
    pub log: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statistic {
    start_time: String,
    end_time: String,
    #[serde(default)]
    stats_type: String,
    values: String,
}

/// A report of one object, such as a stream that is received.
#[derive(Debug, Default)]
pub struct Report<'a> {
    /// Its name in the dump.
    pub id: &'a str,
    statistics: BTreeMap<&'a str, &'a Statistic>,
}

/// A sample: seconds since 1970, and the value.
pub type Sample = (f64, f64);

impl Dump {
    /// Reads a file.
    ///
    /// # Errors
    /// A sentence with the reason why it is none.
    pub fn read(path: &Path) -> Result<Dump, String> {
        let bytes = plain(path)?;
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        if bytes.starts_with(RTCSTATS) {
            return Err(
                "it is an \"rtcstats dump\": use the page's other button, \"webrtc-internals dump\""
                    .to_owned(),
            );
        }
        if bytes.starts_with(PAGE) {
            return Err(
                "it is a saved page, as about:webrtc of Firefox saves them: that has the totals of a call, not \
                 its seconds"
                    .to_owned(),
            );
        }
        serde_json::from_slice(bytes).map_err(|error| {
            format!("{error}: expected what chrome://webrtc-internals writes, {{\"PeerConnections\": ...}}")
        })
    }
}

impl Connection {
    /// The reports of one type, such as `inbound-rtp`, by their names.
    pub fn reports(&self, of: &str) -> BTreeMap<&str, Report<'_>> {
        let mut reports: BTreeMap<&str, Report<'_>> = BTreeMap::new();
        for (name, statistic) in &self.stats {
            // Statistics that the page has computed are in brackets, and may have hyphens themselves.
            let Some((report, name)) = name.rsplit_once('-').filter(|_| !name.ends_with(']'))
            else {
                continue;
            };
            if statistic.is_of(of, report) {
                let entry = reports.entry(report).or_default();
                entry.id = report;
                entry.statistics.insert(name, statistic);
            }
        }
        reports
    }

    /// The reports of one type that are of `kind`, video or audio.
    pub fn streams(&self, of: &str, kind: &str) -> Vec<Report<'_>> {
        let is = |report: &Report<'_>| {
            let told = report.text("kind").or_else(|| report.text("mediaType"));
            told.as_deref() == Some(kind)
        };
        self.reports(of).into_values().filter(is).collect()
    }
}

impl Connection {
    /// Whether it has only the statistics of Google's own names that Chrome wrote before it had those of
    /// W3C; 122 writes no others.
    pub fn is_legacy(&self) -> bool {
        let mut names = self.stats.keys();
        let legacy = |name: &String| {
            name.contains("-goog") || name.starts_with("ssrc_") || name.starts_with("bweforvideo")
        };
        let none = |of: &&str| self.reports(of).is_empty();
        names.any(legacy) && ["inbound-rtp", "outbound-rtp"].iter().all(none)
    }
}

impl Report<'_> {
    /// The values of a statistic with the times of their samples; none if there is no such statistic.
    pub fn samples(&self, name: &str) -> Vec<(f64, Value)> {
        let Some(statistic) = self.statistics.get(name) else {
            return Vec::new();
        };
        let values = statistic.values();
        let times = self.times(statistic, values.len()).of;
        times.into_iter().zip(values).collect()
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
        let statistic = self.statistics.get(name);
        statistic.is_some_and(|of| self.times(of, of.values().len()).known)
    }

    fn times(&self, statistic: &Statistic, count: usize) -> Times {
        let ends = [&*statistic.start_time, &*statistic.end_time].map(seconds);
        let [Some(start), Some(end)] = ends else {
            return Times::default();
        };
        let clock = self.statistics.get("timestamp").map(|of| of.values());
        let clock: Option<Vec<f64>> = clock.and_then(|values| {
            let seconds = |value: &Value| value.as_f64().map(|ms| ms / 1e3);
            values.iter().map(seconds).collect()
        });
        times::of(count, (start, end), clock.as_deref().unwrap_or_default())
    }

    /// The last value of a text.
    pub fn text(&self, name: &str) -> Option<String> {
        let values = self.statistics.get(name)?.values();
        Some(values.last()?.as_str()?.to_owned())
    }

    /// The last value of a number.
    pub fn last(&self, name: &str) -> Option<f64> {
        Some(self.numbers(name).last()?.1)
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
    /// Whether it is of a report of type `of`, called `report`.
    fn is_of(&self, of: &str, report: &str) -> bool {
        match self.stats_type.as_str() {
            "" => NAMES
                .iter()
                .any(|(begins, is)| *is == of && report.starts_with(begins)),
            is => is == of,
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
