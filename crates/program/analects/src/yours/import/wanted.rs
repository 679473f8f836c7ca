//! What a call wanted to send: settings of its sender, and what its camera gives.

use super::axis::median;
use super::dump::{DumpConnection, DumpReport};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most entries of a log, from its end, that are looked at.
const ENTRIES: usize = 10_000;
/// The greatest `maxBitrate`, in bit/s.
const GREATEST: f64 = 1e10;

/// So much of a limit is the limit.
const REACHED: f64 = 0.95;

/// What a sender wanted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wanted {
    /// The greatest rate of all layers in bit/s, and what says so.
    pub rate: Option<(f64, &'static str)>,
    /// Frames a second that the camera gives: the median.
    pub fps: Option<f64>,
}

/// Of a connection that sends `layers`.
pub fn of(connection: &DumpConnection, layers: &[DumpReport<'_>]) -> Wanted {
    let sources = connection.streams("media-source", "video");
    let rates = sources.iter().filter_map(|source| {
        let samples = source.numbers("framesPerSecond").into_iter();
        median(samples.map(|of| of.1).filter(|fps| *fps > 0.0).collect())
    });
    let sizes = sources
        .iter()
        .filter_map(|of| Some((of.last("width")?, of.last("height")?)));
    let size = sizes.reduce(|a, b| if a.0 * a.1 > b.0 * b.1 { a } else { b });
    let one = layers.len() == 1 && sources.len() == 1;
    let screen = layers
        .iter()
        .any(|of| of.text("contentType").as_deref() == Some("screenshare"));
    let default = size.filter(|_| one && !screen).map(default);
    // A limit that a page sets later, with setParameters, is in no dump.
    let targets = layers.iter().flat_map(|of| of.numbers("targetBitrate"));
    let reached = targets.map(|of| of.1).fold(0.0, f64::max);
    let own = |rate: f64| {
        if reached >= REACHED * rate {
            (
                rate,
                "libwebrtc's own for a picture of that size, which it reached",
            )
        } else {
            (
                rate,
                "libwebrtc's own for a picture of that size, unless setParameters, which no dump has, set another",
            )
        }
    };
    Wanted {
        rate: match setting(&connection.log) {
            Setting::Most(rate) => Some((rate, "maxBitrate of the sender's settings")),
            Setting::None => default.map(own),
            Setting::Unknown => None,
        },
        fps: rates.reduce(f64::max),
    }
}

/// The greatest rate of a picture where a sender has no `maxBitrate`: GetMaxDefaultVideoBitrateKbps of
/// libwebrtc's video/config/encoder_stream_factory.cc.
fn default((width, height): (f64, f64)) -> f64 {
    let pixels = width * height;
    match pixels {
        _ if pixels <= 320.0 * 240.0 => 600e3,
        _ if pixels <= 640.0 * 480.0 => 1700e3,
        _ if pixels <= 960.0 * 540.0 => 2000e3,
        _ => 2500e3,
    }
}

/// What the log says of the rate.
enum Setting {
    /// The sum of what active encodings may have.
    Most(f64),
    /// It shows encodings, and none has a limit.
    None,
    /// It shows no encodings, or a limit on some of them.
    Unknown,
}

/// The last encodings of each transceiver that sends video.
fn setting(log: &Value) -> Setting {
    let entries = log.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut encodings: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for entry in entries.iter().rev().take(ENTRIES).rev() {
        let value = entry.get("value").and_then(Value::as_str);
        let Some(value) = value.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
            continue;
        };
        let is_video = value.get("kind").and_then(Value::as_str) == Some("video");
        let number = value.get("transceiverIndex").and_then(Value::as_u64);
        let of = value.pointer("/sender/encodings").and_then(Value::as_array);
        let sends = |of: &Value| of.as_str().is_some_and(|way| way.starts_with("send"));
        if let (true, Some(number), Some(of)) = (is_video, number, of) {
            if value.get("direction").is_none_or(sends) {
                encodings.insert(number, of.clone());
            } else {
                encodings.remove(&number);
            }
        }
    }
    let active = encodings
        .values()
        .flatten()
        .filter(|of| of.get("active") != Some(&Value::Bool(false)));
    let most = active.map(|of| {
        let most = of.get("maxBitrate").and_then(Value::as_f64);
        most.filter(|most| (1.0..=GREATEST).contains(most))
    });
    let most: Vec<Option<f64>> = most.collect();
    let known: Vec<f64> = most.iter().flatten().copied().collect();
    match (most.len(), known.len()) {
        (0, _) => Setting::Unknown,
        (_, 0) => Setting::None,
        (all, known_ones) if all == known_ones => Setting::Most(known.iter().sum()),
        _ => Setting::Unknown,
    }
}
