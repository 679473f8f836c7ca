//! Calls from a dump of `chrome://webrtc-internals`: how fast each was, its frames, the round trip.
//!
//! The dump is JSON: `PeerConnections`, in each `stats`, in these `ID-NAME` with `statsType` and
//! `values`, a list within a string (chromium, content/browser/webrtc/resources/dump_creator.js).

use crate::answer::{self, Failure};
use serde::Serialize;
use serde_json::Value;

/// What a dump says of calls.
#[derive(Debug, PartialEq, Serialize)]
struct Recorded {
    calls: Vec<Call>,
    /// The shortest round trip that was seen; none if the dump has none.
    rtt_ms: Option<f64>,
}

/// One direction of a call.
#[derive(Debug, PartialEq, Serialize)]
struct Call {
    up: bool,
    /// The rate that it did not exceed in nineteen of twenty seconds.
    kbit: u32,
    /// Frames per second, the median.
    fps: u32,
}

/// Streams in a dump beyond so many are not a household's.
const MOST_CALLS: usize = 16;
/// A video below this is not sent.
const LEAST_KBIT: f64 = 30.0;

/// Prints the calls that the dump `text` says.
pub fn webrtc(text: &str) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line {
        webrtc: Recorded,
    }
    let webrtc = recorded(text)?;
    answer::print(&Line { webrtc })
}

fn refused(message: &str) -> Failure {
    let help = "save one at chrome://webrtc-internals with \"Create a WebRTC-Internals dump\" while a call goes on";
    Failure::new(message, help)
}

fn recorded(text: &str) -> Result<Recorded, Failure> {
    let dump: Value =
        serde_json::from_str(text).map_err(|error| refused(&format!("it is no JSON: {error}")))?;
    let connections = dump.get("PeerConnections").and_then(Value::as_object);
    let connections = connections.ok_or_else(|| refused("it has no PeerConnections"))?;
    let stats: Vec<Series<'_>> = connections
        .values()
        .filter_map(|of| of.get("stats")?.as_object())
        .flatten()
        .filter_map(|(key, series)| Series::of(key, series))
        .collect();
    let mut calls = Vec::new();
    for (kind, rate, up) in [
        ("inbound-rtp", "[bytesReceived_in_bits/s]", false),
        ("outbound-rtp", "[bytesSent_in_bits/s]", true),
    ] {
        let rates = stats.iter().filter(|of| of.kind == kind && of.name == rate);
        calls.extend(rates.filter_map(|rate| call(rate, &stats, up)));
    }
    if calls.is_empty() {
        return Err(refused("it has no video with a rate and frames per second"));
    }
    calls.truncate(MOST_CALLS);
    let trips = stats
        .iter()
        .filter(|of| of.kind == "candidate-pair" && of.name == "currentRoundTripTime");
    let trips = trips
        .flat_map(|of| of.values.iter().copied())
        .filter(|s| (1e-4..10.0).contains(s));
    let shortest = trips.min_by(f64::total_cmp);
    Ok(Recorded {
        calls,
        rtt_ms: shortest.map(|s| libm::round(s * 1e4) / 10.0),
    })
}

/// The video whose rate this is; none if it is sound, or was not sent.
fn call(rate: &Series<'_>, stats: &[Series<'_>], up: bool) -> Option<Call> {
    let mut frames = stats
        .iter()
        .filter(|of| of.id == rate.id && of.name == "framesPerSecond");
    let fps = measure::quantile(&ascending(&frames.next()?.values), 0.5)?;
    let kbit = measure::quantile(&ascending(&rate.values), 0.95)? / 1e3;
    let sane = (LEAST_KBIT..=1e6).contains(&kbit) && (1.0..=240.0).contains(&fps);
    sane.then_some(Call {
        up,
        kbit: kbit as u32,
        fps: fps as u32,
    })
}

fn ascending(values: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| *value > 0.0)
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A statistic over time.
struct Series<'a> {
    id: &'a str,
    name: &'a str,
    kind: &'a str,
    values: Vec<f64>,
}

impl<'a> Series<'a> {
    fn of(key: &'a str, series: &'a Value) -> Option<Self> {
        let (id, name) = key.split_once('-')?;
        let values: Vec<Value> = serde_json::from_str(series.get("values")?.as_str()?).ok()?;
        Some(Series {
            id,
            name,
            kind: series.get("statsType")?.as_str()?,
            values: values.iter().filter_map(Value::as_f64).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = r#"{"PeerConnections": {"7-1": {"url": "<script>", "stats": {
        "IT01V1-framesPerSecond": {"statsType": "inbound-rtp", "values": "[0,30,30,29]"},
        "IT01V1-[bytesReceived_in_bits/s]": {"statsType": "inbound-rtp", "values": "[1000000,2500000,2400000]"},
        "IT01A1-[bytesReceived_in_bits/s]": {"statsType": "inbound-rtp", "values": "[32000,32000]"},
        "CP1-currentRoundTripTime": {"statsType": "candidate-pair", "values": "[0.031,0.0284,null]"}
    }}}}"#;

    #[test]
    fn a_dump_becomes_a_call() {
        let call = Call {
            up: false,
            kbit: 2500,
            fps: 30,
        };
        let expected = Recorded {
            calls: vec![call],
            rtt_ms: Some(28.4),
        };
        assert_eq!(recorded(DUMP).unwrap(), expected);
    }

    #[test]
    fn what_is_no_dump_is_refused() {
        let deep = "[".repeat(100_000);
        for (text, why) in [
            ("", "it is no JSON"),
            (&*deep, "it is no JSON"),
            ("{}", "it has no PeerConnections"),
            (
                r#"{"PeerConnections": {"1": {"stats": {"a-b": {"values": "["}}}}}"#,
                "it has no video",
            ),
        ] {
            let error = recorded(text).unwrap_err();
            assert!(error.message.starts_with(why), "{}", error.message);
        }
    }
}
