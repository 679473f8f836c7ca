//! Recorded capacity in JSON: pieces of a duration and a rate each.
//!
//! OpenNetLab's have `{"uplink": {"trace_pattern": [{"duration": ms, "capacity": kbit/s}]}}`, Sabre's
//! `[{"duration_ms": …, "bandwidth_kbps": …}]`. rattan's are netem-trace's models: `RepeatedBwPatternConfig` of
//! `StaticBwConfig` with `bw` and `duration`, as texts or as numbers, and `TraceBwConfig` with many rates of one
//! duration.

use super::TraceSamples;
use super::unit::{self, KBIT, MILLISECONDS};
use crate::cli::TraceArgs;
use serde_json::Value;
use units::{Duration, Rate, Refusal};

/// More pieces are a mistake.
const MOST: usize = 10_000_000;

type Result<T> = core::result::Result<T, Refusal>;

/// Seconds and Mbit/s of each piece.
type Pieces = Vec<(f64, f64)>;

/// Reads a document.
///
/// # Errors
/// What was found, and what is expected.
pub fn read(text: &str, args: &TraceArgs) -> Result<TraceSamples> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| Refusal::new(format!("{error}: expected JSON")))?;
    let (document, of) = direction(&document, args.up)?;
    let mut pieces = Pieces::new();
    add(document, &mut pieces)?;
    if pieces.is_empty() {
        return Err(expected("no pieces"));
    }
    let mut now = 0.0;
    let points = pieces.iter().map(|(seconds, mbit)| {
        let start = now;
        now += seconds;
        (start, *mbit)
    });
    let points = points.collect();
    Ok(TraceSamples {
        understood: format!("JSON{of}: {} pieces of a duration and a rate", pieces.len()),
        points,
        end: Some(now),
    })
}

fn expected(found: &str) -> Refusal {
    let message = format!(
        "found {found}, expected pieces with a duration and a capacity, or a model of netem-trace"
    );
    Refusal::new(message).with_help(
        "write {\"downlink\": {\"trace_pattern\": [{\"duration\": 1000, \"capacity\": 3100}]}}",
    )
}

/// The direction that is asked for, of a document that has some.
fn direction(document: &Value, up: bool) -> Result<(&Value, &'static str)> {
    let [down, upward] = ["downlink", "uplink"].map(|name| document.get(name));
    match (down, upward) {
        (None, None) if up => Err(expected("no \"uplink\"")),
        (None, None) => Ok((document, "")),
        (Some(down), _) if !up => Ok((down, ", its downlink")),
        (_, Some(upward)) => Ok((upward, ", its uplink")),
        (_, None) => Err(expected("no \"uplink\"")),
    }
}

/// Adds the pieces of a value.
fn add(value: &Value, pieces: &mut Pieces) -> Result<()> {
    if pieces.len() > MOST {
        return Err(Refusal::new(format!("it has more than {MOST} pieces")));
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| add(item, pieces)),
        Value::Object(fields) => {
            let key = |name: &str| fields.get(name);
            if let Some(inner) = key("trace_pattern") {
                return add(inner, pieces);
            }
            if let Some(inner) = key("TraceBwConfig") {
                return many(inner.get("pattern").unwrap_or(inner), pieces);
            }
            for model in ["RepeatedBwPatternConfig", "StaticBwConfig", "FixedBwConfig"] {
                if let Some(inner) = key(model) {
                    return add(inner, pieces);
                }
            }
            if let Some(name) = fields.keys().find(|name| name.ends_with("BwConfig")) {
                let message = format!("a {name} draws its rates, and is no recording");
                return Err(Refusal::new(message).with_help("write it out as a trace first"));
            }
            if let Some(inner) = key("pattern") {
                return add(inner, pieces);
            }
            pieces.push(piece(fields)?);
            Ok(())
        }
        other => Err(expected(
            &other.to_string().chars().take(40).collect::<String>(),
        )),
    }
}

/// Rates of one duration: `[["25ms", ["26Mbps", "39Mbps"]], …]`.
fn many(value: &Value, pieces: &mut Pieces) -> Result<()> {
    let of = |group: &Value| {
        let (duration, rates) = (group.get(0)?, group.get(1)?.as_array()?);
        Some((duration.clone(), rates.clone()))
    };
    for group in value.as_array().into_iter().flatten() {
        let (span, rates) = of(group).ok_or_else(|| expected("a group without rates"))?;
        let span = seconds("duration", &span)?;
        for value in &rates {
            pieces.push((span, mbit("bw", value)?));
        }
    }
    Ok(())
}

fn piece(fields: &serde_json::Map<String, Value>) -> Result<(f64, f64)> {
    let find = |words: &[&str]| {
        let is = |name: &str| {
            words
                .iter()
                .any(|word| name.to_lowercase().starts_with(word))
        };
        fields.iter().find(|(name, _)| is(name))
    };
    let duration = find(&["duration"]).ok_or_else(|| expected("a piece without a duration"))?;
    let rate = find(&[
        "capacity",
        "bandwidth",
        "bw",
        "throughput",
        "rate",
        "bitrate",
    ]);
    let rate = rate.ok_or_else(|| expected("a piece without a capacity"))?;
    Ok((seconds(duration.0, duration.1)?, mbit(rate.0, rate.1)?))
}

/// A duration: a text with a unit, `{"secs": 1, "nanos": 0}`, or a number, in ms if its name has no unit.
fn seconds(name: &str, value: &Value) -> Result<f64> {
    let parts = ["secs", "nanos"].map(|part| value.get(part).and_then(Value::as_f64));
    let found = match (value, parts) {
        (_, [Some(secs), nanos]) => Some(secs + nanos.unwrap_or(0.0) / 1e9),
        // humantime writes 1m 30s.
        (Value::String(text), _) => text
            .split_whitespace()
            .map(|part| part.parse::<Duration>().ok().map(Duration::as_secs_f64))
            .sum(),
        (Value::Number(number), _) => {
            let unit = unit::time_in(name).unwrap_or(MILLISECONDS);
            number.as_f64().map(|number| number * unit.of)
        }
        _ => None,
    };
    found
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0)
        .ok_or_else(|| expected(&format!("{name}: {value}")))
}

/// A rate: a text with a unit, `{"gbps": 0, "bps": 12000000}`, or a number, in kbit/s if its name has no unit.
fn mbit(name: &str, value: &Value) -> Result<f64> {
    let parts = ["gbps", "bps"].map(|part| value.get(part).and_then(Value::as_f64));
    let found = match (value, parts) {
        (_, [Some(gbps), bps]) => Some(gbps * 1e3 + bps.unwrap_or(0.0) / 1e6),
        (Value::String(text), _) => {
            let lower = text.to_lowercase().replace("bps", "bit").replace(' ', "");
            lower.parse::<Rate>().ok().map(Rate::as_mbit_f64)
        }
        (Value::Number(number), _) => {
            let unit = unit::rate_in(name).unwrap_or(KBIT);
            number.as_f64().map(|number| number * unit.of)
        }
        _ => None,
    };
    found
        .filter(|mbit| mbit.is_finite() && *mbit >= 0.0)
        .ok_or_else(|| expected(&format!("{name}: {value}")))
}
