//! A dump of rtcstats, as chrome://webrtc-internals and the library of that name write it: events, a line of JSON for
//! each, among them whole reports of `getStats`, or what has changed in them.
//!
//! Source: github.com/rtcstats/rtcstats, packages/rtcstats-server/docs/file-format.md (version 3) and
//! packages/rtcstats-shared/compression.js.

use super::dump::{Dump, DumpConnection, ReportedSeries};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How a dump begins.
pub const BEGINS: &[u8] = b"RTCStatsDump";
/// The version of the format that is read.
const VERSION: u64 = 3;
/// What the method is called, and its short forms.
const STATISTICS: [&str; 3] = ["getStats", "g", "1"];
/// The short form of the name of a time: that of all reports that tell no time themselves.
const TIME: &str = "t";
/// The most room of all values, in bytes: those of a call of some hours. What has not changed is not in the file, so that
/// its length is no bound.
const MOST: usize = 2 << 30;

/// The short forms of types.
const TYPES: [&str; 14] = [
    "inbound-rtp",
    "outbound-rtp",
    "remote-inbound-rtp",
    "remote-outbound-rtp",
    "transport",
    "candidate-pair",
    "local-candidate",
    "remote-candidate",
    "data-channel",
    "peer-connection",
    "certificate",
    "media-source",
    "media-playout",
    "codec",
];

/// The short forms of those statistics that are looked at.
const NAMES: [(u64, &str); 40] = [
    (11, "kind"),
    (14, "packetsReceived"),
    (15, "packetsLost"),
    (23, "frameWidth"),
    (24, "frameHeight"),
    (25, "framesPerSecond"),
    (32, "freezeCount"),
    (33, "totalFreezesDuration"),
    (41, "bytesReceived"),
    (42, "nackCount"),
    (43, "firCount"),
    (44, "pliCount"),
    (60, "framesReceived"),
    (66, "contentType"),
    (75, "roundTripTime"),
    (76, "totalRoundTripTime"),
    (78, "roundTripTimeMeasurements"),
    (79, "packetsSent"),
    (80, "bytesSent"),
    (81, "mediaSourceId"),
    (82, "rid"),
    (87, "targetBitrate"),
    (91, "framesEncoded"),
    (95, "qualityLimitationReason"),
    (96, "qualityLimitationDurations"),
    (100, "active"),
    (106, "width"),
    (107, "height"),
    (108, "frames"),
    (116, "protocol"),
    (118, "state"),
    (125, "selectedCandidatePairId"),
    (136, "candidateType"),
    (139, "relayProtocol"),
    (148, "localCandidateId"),
    (149, "remoteCandidateId"),
    (150, "nominated"),
    (152, "currentRoundTripTime"),
    (153, "availableOutgoingBitrate"),
    (157, "responsesReceived"),
];

/// Reports by their names, each of statistics by theirs.
type Reports = BTreeMap<String, Map<String, Value>>;

/// What is known of a connection.
#[derive(Default)]
struct Known {
    url: String,
    /// The last of each report.
    reports: Reports,
    series: BTreeMap<String, ReportedSeries>,
    log: Vec<Value>,
}

/// Reads a dump that begins as one.
///
/// # Errors
/// A sentence with the line, what was found and what is expected.
pub fn read(bytes: &[u8]) -> Result<Dump, String> {
    read_within(MOST, bytes)
}

/// The same of a file whose values take so many bytes at most.
fn read_within(most: usize, bytes: &[u8]) -> Result<Dump, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("{error}: expected UTF-8"))?;
    let mut lines = text.lines().zip(1..).skip(1);
    version(lines.next())?;
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let mut room = 0;
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        let event: Value = serde_json::from_str(line)
            .map_err(|error| format!("line {number}: {error}: expected an event in JSON"))?;
        let [
            Value::String(_) | Value::Number(_),
            Value::String(id),
            what,
            ..,
        ] = parts(&event)
        else {
            // What is of no connection, such as a camera's, and what later versions add.
            continue;
        };
        let method = name(&event[0]);
        let of = known.entry(id.clone()).or_default();
        if STATISTICS.contains(&&*method) {
            of.reports = whole(std::mem::take(&mut of.reports), what);
            room += of.note();
            if room > most {
                return Err(format!(
                    "line {number}: its values take more than {most} bytes, expected a call"
                ));
            }
        } else {
            of.hear(&method, what, &event);
        }
    }
    let connections = known.into_iter().map(|(id, of)| (id, of.connection()));
    Ok(Dump {
        connections: connections.collect(),
    })
}

/// Whether a statistic is looked at. Chromium's own sums are in brackets.
fn is_read(name: &str) -> bool {
    name == "mediaType" || NAMES.iter().any(|(_, known)| *known == name)
}

/// The room of a value, in bytes: that of what tells where it is, and of a text or of what it has in it.
fn size(name: &str, value: &Value) -> usize {
    let own = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(|value| size("", value)).sum(),
        Value::Object(values) => values.iter().map(|(name, value)| size(name, value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + size_of::<f64>() + name.len() + own
}

fn version(line: Option<(&str, usize)>) -> Result<(), String> {
    let header: Option<Value> = line.and_then(|(line, _)| serde_json::from_str(line).ok());
    let found = header.as_ref().and_then(|header| header.get("fileFormat"));
    match found {
        Some(found) if found.as_u64() == Some(VERSION) => Ok(()),
        Some(found) => Err(format!(
            "line 2: found fileFormat {found} of rtcstats, expected {VERSION}"
        )),
        None => Err(format!(
            "line 2: found no {{\"fileFormat\": ...}}, which a dump of rtcstats begins with; expected {VERSION}"
        )),
    }
}

fn parts(event: &Value) -> &[Value] {
    event.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A text, or the number that stands for it.
fn name(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The name of a statistic in full.
fn full(name: &str) -> &str {
    let number = name.parse::<u64>().ok();
    let known = number.and_then(|number| NAMES.iter().find(|(of, _)| *of == number));
    match known {
        Some((_, full)) => full,
        None if name == TIME => "timestamp",
        None => name,
    }
}

/// Reports as they are after those `before` and what has changed: what is not mentioned is as it was, and null is gone.
fn whole(before: Reports, changed: &Value) -> Reports {
    let mut reports = before;
    let Some(changed) = changed.as_object() else {
        return reports;
    };
    let common = changed.get(TIME).filter(|time| time.is_number());
    let mut timed = BTreeSet::new();
    for (id, report) in changed {
        match report {
            Value::Null => {
                reports.remove(id);
            }
            Value::Object(report) => {
                let of = reports.entry(id.clone()).or_default();
                for (name, value) in report {
                    merge(of.entry(full(name)).or_insert(Value::Null), value);
                }
                if report.contains_key(TIME) || report.contains_key("timestamp") {
                    timed.insert(id);
                }
            }
            _ => {}
        }
    }
    if let Some(time) = common {
        for (id, report) in &mut reports {
            if !timed.contains(&id) {
                report.insert("timestamp".to_owned(), time.clone());
            }
        }
    }
    reports
}

/// Parts of an object that are not mentioned stay.
fn merge(value: &mut Value, new: &Value) {
    match (value, new) {
        (Value::Object(parts), Value::Object(new)) => {
            parts.extend(
                new.iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
        }
        (value, new) => *value = new.clone(),
    }
}

impl Known {
    /// Adds the reports to their series, and returns how much room that takes.
    fn note(&mut self) -> usize {
        let mut bytes = 0;
        for (id, report) in &self.reports {
            let of = match report.get("type") {
                Some(Value::Number(number)) => {
                    let place = number.as_u64().and_then(|number| number.checked_sub(1));
                    place.and_then(|place| TYPES.get(place as usize).copied())
                }
                Some(Value::String(of)) => Some(of.as_str()),
                _ => None,
            };
            let time = report.get("timestamp").and_then(Value::as_f64);
            let (Some(of), Some(time)) = (of, time) else {
                continue;
            };
            let series = self
                .series
                .entry(id.clone())
                .or_insert_with(|| ReportedSeries::of(of));
            let told = report.iter().filter(|(name, _)| is_read(name));
            bytes += told
                .clone()
                .map(|(name, value)| size(name, value))
                .sum::<usize>();
            series.add(time / 1e3, told);
        }
        bytes
    }

    /// Takes in an event that is no report.
    fn hear(&mut self, method: &str, what: &Value, event: &Value) {
        match method {
            "create" | "39" => {
                self.url = event
                    .get(3)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            }
            _ if method.starts_with("transceiver") => {
                self.log
                    .push(serde_json::json!({ "type": method, "value": what.to_string() }));
            }
            _ => {}
        }
    }

    fn connection(self) -> DumpConnection {
        DumpConnection::of(self.url, self.series, Value::Array(self.log))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_mentioned_stays_and_null_is_gone() {
        let first = json!({"t": 1.0, "A": {"type": 1, "41": 5, "x": {"a": 1, "b": 2}}, "B": {"type": "codec"}});
        let reports = whole(Reports::new(), &first);
        assert_eq!(reports["A"]["bytesReceived"], 5);
        let reports = whole(reports, &json!({"t": 2.0, "A": {"x": {"b": 3}}, "B": null}));
        let a = json!({"type": 1, "bytesReceived": 5, "x": {"a": 1, "b": 3}, "timestamp": 2.0});
        assert_eq!(json!(reports), json!({ "A": a }));
        // One that tells a time of its own keeps it.
        let reports = whole(reports, &json!({"t": 4.0, "A": {"timestamp": 3.0}}));
        assert_eq!(reports["A"]["timestamp"], 3.0);
    }

    #[test]
    fn no_file_takes_more_room_than_a_call() {
        // A short line for each thousand values.
        let many: Map<String, Value> = (0..500)
            .map(|n| (n.to_string(), json!({"type": 1, "41": 1})))
            .collect();
        let first = json!(["g", "1", many, 1]);
        let again = "[\"g\",\"1\",{\"t\":1},1]\n".repeat(10);
        let text = format!("RTCStatsDump\n{{\"fileFormat\":3}}\n{first}\n{again}");
        let refused = read_within(100_000, text.as_bytes()).unwrap_err();
        assert!(refused.contains("expected a call"), "{refused}");
        assert!(read_within(1 << 20, text.as_bytes()).is_ok());
        // A long text that stays is as many as there are events.
        let long = json!(["g", "1", {"t": 1, "A": {"type": 1, "kind": "x".repeat(10_000)}}, 1]);
        let again = again.repeat(10);
        let text = format!("RTCStatsDump\n{{\"fileFormat\":3}}\n{long}\n{again}");
        let refused = read_within(500_000, text.as_bytes()).unwrap_err();
        assert!(refused.contains("expected a call"), "{refused}");
    }
}
