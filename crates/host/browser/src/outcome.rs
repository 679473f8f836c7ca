//! What a trial showed, from the browsers' statistics (W3C, "Identifiers for WebRTC's Statistics API").

use crate::Error;
use crate::records::{CALL, Record, RecordsFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Frames in a second, of which fewer are low.
const LOW_FPS: f64 = 10.0;

/// The call as its receiver had it, while it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Call {
    /// How long that was, s.
    pub seconds: f64,
    /// How often the picture stood still (`freezeCount`: for three mean frame times, and 150 ms longer than
    /// one, at least).
    pub freezes: f64,
    /// For how long in all, s (`totalFreezesDuration`).
    pub frozen: f64,
    /// Frames shown in a second (`framesDecoded`).
    pub fps: f64,
    /// Seconds with fewer than ten frames (the poster on user-controllable congestion mitigation, section 3).
    pub low_fps: f64,
    /// kbit/s that arrived (`bytesReceived`).
    pub kbit: f64,
    /// How long a frame waited in the receiver, ms (`jitterBufferDelay`).
    pub buffer_ms: f64,
    /// Frames that the caller encoded in a second (`framesEncoded`).
    pub encoded_fps: f64,
    /// For how long the caller's processor was too slow, s (`qualityLimitationDurations`).
    pub slow: f64,
}

/// A page that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visit {
    /// Which page.
    pub number: u32,
    /// Its requests, and those without an answer.
    pub requests: u32,
    /// See above.
    pub failed: u32,
    /// Until the last answer was there, ms.
    pub ms: f64,
}

/// What a trial showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The call.
    pub call: Call,
    /// Pages, in their order.
    pub visits: Vec<Visit>,
}

impl Outcome {
    /// The outcome of the trial in `folder`.
    ///
    /// # Errors
    /// If its records cannot be read, a browser had an error, or something is missing.
    pub fn read(folder: &Path) -> Result<Outcome, Error> {
        of(&RecordsFile::read(folder, CALL)?)
    }
}

fn of(records: &[Record]) -> Result<Outcome, Error> {
    let incomplete =
        |what: &str| Error::new(what, "begin again; if it stays so, this host is too slow");
    let kind = |kind: &'static str| records.iter().filter(move |record| record.kind == kind);
    if let Some(error) = kind("error").next() {
        let message = error.what["message"]
            .as_str()
            .unwrap_or("a browser had an error");
        return Err(incomplete(message));
    }
    let at = |name| kind(name).next().map(|record| record.at);
    let (Some(begun), Some(ended)) = (at("begun"), at("ended")) else {
        return Err(incomplete("the call did not come about, or did not end"));
    };
    // The last statistics before a moment.
    let before = |name, moment: f64| kind(name).take_while(|record| record.at <= moment).last();
    let ends = |name| Some([before(name, begun)?, before(name, ended)?]);
    let (Some(received), Some(called)) = (ends("receiver"), ends("caller")) else {
        return Err(incomplete("a browser told nothing of the call"));
    };
    let visits = kind("visit").map(|record| Visit::deserialize(&record.what));
    let visits = visits.collect::<Result<Vec<_>, _>>();
    let measured = received[0].at..=received[1].at;
    let low = low_fps(kind("receiver").filter(|record| measured.contains(&record.at)));
    let call = call(received, called, low).ok_or_else(|| incomplete("the call stood still"))?;
    Ok(Outcome {
        call,
        visits: visits.map_err(|error| incomplete(&format!("a page's record: {error}")))?,
    })
}

/// Seconds with fewer frames than `LOW_FPS`, of the browser's own clock. Statistics come four times in one, so
/// that what counts as a second is up to a quarter longer.
fn low_fps<'a>(records: impl Iterator<Item = &'a Record>) -> usize {
    let told = records.filter_map(|record| {
        let of = |name: &str| record.what[name].as_f64();
        Some((of("timestamp")? / 1e3, of("framesDecoded")?))
    });
    let mut from: Option<(f64, f64)> = None;
    let mut low = 0;
    for (at, frames) in told {
        let (begun, before) = *from.get_or_insert((at, frames));
        if at - begun >= 1.0 {
            low += usize::from((frames - before) / (at - begun) < LOW_FPS);
            from = Some((at, frames));
        }
    }
    low
}

fn call(received: [&Record; 2], called: [&Record; 2], low_fps: usize) -> Option<Call> {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let grown = |ends: [&Record; 2], name: &str| {
        let [from, to] = ends.map(|record| number(&record.what[name]));
        to - from
    };
    // The browser's own clock, ms.
    let seconds = |ends| grown(ends, "timestamp") / 1e3;
    let time = seconds(received);
    let of = |name| grown(received, name);
    let slow = called.map(|record| number(&record.what["qualityLimitationDurations"]["cpu"]));
    let emitted = of("jitterBufferEmittedCount");
    (time > 0.0 && emitted > 0.0).then(|| Call {
        seconds: time,
        freezes: of("freezeCount"),
        frozen: of("totalFreezesDuration"),
        fps: of("framesDecoded") / time,
        low_fps: low_fps as f64,
        kbit: of("bytesReceived") * 8.0 / 1e3 / time,
        buffer_ms: 1e3 * of("jitterBufferDelay") / emitted,
        encoded_fps: grown(called, "framesEncoded") / seconds(called),
        slow: slow[1] - slow[0],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(at: f64, kind: &str, what: Value) -> Record {
        Record {
            at,
            kind: kind.to_owned(),
            what,
        }
    }

    fn receiver(at: f64, frames: u64, freezes: u64, frozen: f64) -> Record {
        let what = json!({
            "timestamp": 1000.0 * at, "framesDecoded": frames, "freezeCount": freezes,
            "totalFreezesDuration": frozen, "bytesReceived": frames * 1000,
            "jitterBufferDelay": 0.05 * frames as f64, "jitterBufferEmittedCount": frames,
        });
        record(at, "receiver", what)
    }

    fn caller(at: f64, frames: u64) -> Record {
        let limited = json!({ "cpu": 0.5 });
        let what = json!({ "timestamp": 1000.0 * at, "framesEncoded": frames, "qualityLimitationDurations": limited });
        record(at, "caller", what)
    }

    fn records() -> Vec<Record> {
        let visit = json!({ "number": 0, "requests": 40, "failed": 1, "ms": 2500.5 });
        vec![
            caller(1.0, 10),
            receiver(1.0, 10, 3, 2.0),
            receiver(2.0, 40, 4, 3.0),
            caller(2.0, 40),
            record(2.1, "begun", json!({})),
            record(6.0, "visit", visit),
            receiver(12.0, 240, 6, 4.5),
            caller(12.0, 340),
            record(12.1, "ended", json!({})),
            receiver(13.0, 999, 99, 99.0),
        ]
    }

    #[test]
    fn the_call_is_what_happened_between_its_ends() {
        let outcome = of(&records()).unwrap();
        let expected = Call {
            seconds: 10.0,
            freezes: 2.0,
            frozen: 1.5,
            fps: 20.0,
            low_fps: 0.0,
            kbit: 160.0,
            buffer_ms: 50.0,
            encoded_fps: 30.0,
            slow: 0.0,
        };
        assert!((outcome.call.buffer_ms - 50.0).abs() < 1e-9);
        let call = Call {
            buffer_ms: 50.0,
            ..outcome.call
        };
        assert_eq!(call, expected);
        assert_eq!(outcome.visits.len(), 1);
        assert_eq!(outcome.visits[0].failed, 1);
    }

    #[test]
    fn seconds_with_few_frames_are_counted() {
        // Nine frames in one second, eleven in the next, none in two, and 0.6 s that are none.
        let told = [
            (0.0, 0),
            (0.5, 9),
            (1.0, 9),
            (2.1, 20),
            (3.1, 20),
            (4.1, 20),
            (4.7, 20),
        ];
        let records: Vec<_> = told
            .iter()
            .map(|&(at, frames)| receiver(at, frames, 0, 0.0))
            .collect();
        assert_eq!(low_fps(records.iter()), 3);
    }

    #[test]
    fn what_is_missing_is_an_error() {
        for left_out in ["begun", "ended", "receiver", "caller"] {
            let rest: Vec<_> = records()
                .into_iter()
                .filter(|r| r.kind != left_out)
                .collect();
            assert!(of(&rest).is_err(), "{left_out}");
        }
        let mut all = records();
        all.push(record(
            13.0,
            "error",
            json!({ "message": "The caller: no codec" }),
        ));
        assert_eq!(of(&all).unwrap_err().message, "The caller: no codec");
        // Nothing was shown between the ends.
        let still = [receiver(1.0, 5, 0, 0.0), caller(1.0, 5)];
        let all: Vec<_> = still
            .into_iter()
            .chain([
                record(2.0, "begun", json!({})),
                record(3.0, "ended", json!({})),
            ])
            .collect();
        assert!(of(&all).is_err());
    }
}
