//! What the sending end did: limits of the encoder, the camera, layers.

use super::{
    APART, STILL, Still, TimelineCause, TimelineFinding, counters, grown, joined, spans, stands,
};
use crate::yours::import::axis::{SecondsAxis, Step};
use crate::yours::import::dump::{DumpConnection, DumpReport};
use scenario::printable;
use serde_json::Value;

/// The reasons of `qualityLimitationReason`, and what they are here.
const REASONS: [(&str, TimelineCause); 3] = [
    ("bandwidth", TimelineCause::Bandwidth),
    ("cpu", TimelineCause::Processor),
    ("other", TimelineCause::Other),
];
/// The share of a sample's time that makes it one of a limit.
const LIMITED: f64 = 0.3;
/// So long before an encoder tells of a limit may what it was to give have fallen, in seconds.
const BEFORE: f64 = 10.0;
/// Bits a second that are no picture of 25 frames.
const STARVING: f64 = 100e3;
/// The shortest times, in seconds, in which a camera, and a layer, stood still.
const CAMERA: f64 = 1.5;
const LAYER: f64 = 3.0;
/// An encoder that lets less of the frames out leaves some, for as long in seconds, of so many a second.
const ENCODED: f64 = 0.6;
const LEFT_OUT: f64 = 3.0;
const FRAMES: f64 = 5.0;
/// Longest name of a layer.
const NAME: usize = 16;

/// All of them.
pub fn of(
    connection: &DumpConnection,
    axis: &SecondsAxis,
    outages: &[TimelineFinding],
) -> Vec<TimelineFinding> {
    let layers = connection.streams("outbound-rtp", "video");
    let off: Vec<TimelineFinding> = layers
        .iter()
        .flat_map(|of| switched_off(of, axis))
        .collect();
    let mut findings = limits(&layers, axis);
    let silent = off.iter().map(|of| (of.from, of.until));
    let silent: Vec<(f64, f64)> = silent.chain(starving(&layers, axis)).collect();
    let explained = |(from, until): (f64, f64)| {
        let near = |of: &(f64, f64)| of.0 < until + 1.0 && of.1 > from - 1.0;
        outages.iter().any(|by| by.explains((from, until))) || silent.iter().any(near)
    };
    let sources = connection.streams("media-source", "video");
    for source in &sources {
        let frames = axis.steps(&[source.numbers("frames")]);
        let of_source: Vec<&DumpReport<'_>> =
            layers.iter().filter(|of| is_of(of, source)).collect();
        let stood = stands(&frames, STILL, CAMERA);
        let screen = of_source
            .iter()
            .any(|of| of.text("contentType").as_deref() == Some("screenshare"));
        findings.extend(stood.iter().map(|of| camera(of, screen)));
        findings.extend(left_out(&frames, &of_source, axis, &explained));
    }
    findings.extend(starved(connection, &layers, axis));
    findings.extend(off);
    findings.retain(|of| !outages.iter().any(|by| hides(by, of)));
    findings
}

/// Whether an outage explains all of a finding, which began in it.
fn hides(outage: &TimelineFinding, of: &TimelineFinding) -> bool {
    outage.explains((of.from, of.until))
        && of.from > outage.from - 1.0
        && of.until < outage.until + 2.0 * APART
}

fn is_of(layer: &DumpReport<'_>, source: &DumpReport<'_>) -> bool {
    let id = layer.text("mediaSourceId");
    id.is_none_or(|id| id == source.id)
}

/// When an encoder was limited, and by what.
fn limits(layers: &[DumpReport<'_>], axis: &SecondsAxis) -> Vec<TimelineFinding> {
    let says = layers
        .iter()
        .any(|of| !of.samples("qualityLimitationReason").is_empty());
    let mut findings = Vec::new();
    for (reason, cause) in REASONS {
        let mut times: Vec<(f64, f64)> = layers
            .iter()
            .flat_map(|of| limited(of, axis, reason))
            .collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (from, until) in joined(times.into_iter(), APART) {
            let mut told = if says {
                format!("outbound-rtp qualityLimitationReason is {reason}")
            } else {
                format!("outbound-rtp qualityLimitationDurations of {reason} grow")
            };
            let fell = (cause == TimelineCause::Bandwidth).then(|| fell(layers, axis, from));
            let fell = fell.flatten();
            if let Some(fell) = fell {
                let before = from - fell;
                told += &format!("; targetBitrate fell to less than half {before:.0} s before");
            }
            findings.push(TimelineFinding::new(
                cause,
                (fell.unwrap_or(from), until),
                told,
            ));
        }
    }
    findings
}

/// When what the encoder was to give had fallen, if that was before it told of a limit at `from`: it tells with a frame, and
/// leaves out frames first. From then on it was less than half of the most in the seconds before.
fn fell(layers: &[DumpReport<'_>], axis: &SecondsAxis, from: f64) -> Option<f64> {
    let falls = layers.iter().filter_map(|layer| {
        let targets = layer.numbers("targetBitrate").into_iter();
        let targets = targets.map(|(time, rate)| (axis.at(time), rate));
        let before: Vec<(f64, f64)> = targets
            .filter(|(time, _)| (from - BEFORE..=from).contains(time))
            .collect();
        let most = before.iter().map(|of| of.1).fold(0.0, f64::max);
        let low = before.iter().rev().take_while(|of| of.1 < most / 2.0);
        low.last().map(|of| of.0)
    });
    falls.reduce(f64::min).filter(|fell| *fell < from)
}

/// When an encoder had next to nothing to give, so that it left out frames, on any machine.
fn starving(layers: &[DumpReport<'_>], axis: &SecondsAxis) -> Vec<(f64, f64)> {
    let spans = layers.iter().flat_map(|layer| {
        let targets = layer.numbers("targetBitrate");
        let low = targets.windows(2).filter(|pair| pair[1].1 < STARVING);
        let low = low.map(|pair| (axis.at(pair[0].0), axis.at(pair[1].0)));
        joined(low, APART)
    });
    spans.collect()
}

/// The samples at which one was limited by a reason.
fn limited(layer: &DumpReport<'_>, axis: &SecondsAxis, reason: &str) -> Vec<(f64, f64)> {
    let reasons = layer.samples("qualityLimitationReason");
    let is = |value: &Value| value.as_str() == Some(reason);
    let told = reasons.windows(2).filter(|pair| is(&pair[1].1));
    let mut times: Vec<(f64, f64)> = told
        .map(|pair| (axis.at(pair[0].0), axis.at(pair[1].0)))
        .collect();
    if reasons.is_empty() {
        let durations = layer.samples("qualityLimitationDurations").into_iter();
        let of_reason = durations.filter_map(|(time, of)| Some((time, of.get(reason)?.as_f64()?)));
        let steps = axis.steps(&[of_reason.collect()]);
        let most = steps.iter().filter(|of| of.rate() > LIMITED);
        times.extend(most.map(|of| (of.from, of.until)));
    }
    times.retain(|of| of.1 > of.0);
    times
}

/// When the application had one sent no more.
fn switched_off(layer: &DumpReport<'_>, axis: &SecondsAxis) -> Vec<TimelineFinding> {
    let active = layer.samples("active");
    let off = active
        .windows(2)
        .filter(|pair| pair[1].1 == Value::Bool(false));
    let times = joined(
        off.map(|pair| (axis.at(pair[0].0), axis.at(pair[1].0))),
        0.01,
    );
    let name = layer.text("rid").map_or_else(String::new, |rid| {
        format!(" of layer {} (rid)", printable(&rid, NAME))
    });
    let told = format!("active of outbound-rtp{name} is false: the application switched it off");
    let found = times.into_iter().filter(|of| of.1 > of.0);
    found
        .map(|span| TimelineFinding::new(TimelineCause::Off, span, told.clone()))
        .collect()
}

fn camera(of: &Still, screen: bool) -> TimelineFinding {
    let mut told = format!("frames of media-source stand{}", of.end());
    if screen {
        told += "; it is a screen, which gives none while nothing changes";
    }
    TimelineFinding::new(TimelineCause::Camera, of.span(), told)
}

/// When frames came to the encoder and did not leave it, as the layer with most of them tells, and nothing else
/// explains that.
fn left_out(
    frames: &[Step],
    layers: &[&DumpReport<'_>],
    axis: &SecondsAxis,
    explained: &dyn Fn((f64, f64)) -> bool,
) -> Vec<TimelineFinding> {
    let encoded = |of: &&DumpReport<'_>| axis.steps(&[of.numbers("framesEncoded")]);
    let total = |steps: &Vec<Step>| steps.iter().map(|of| of.by).sum::<f64>();
    let Some(encoded) = layers
        .iter()
        .map(encoded)
        .max_by(|a, b| total(a).total_cmp(&total(b)))
        .filter(|steps| !steps.is_empty())
    else {
        return Vec::new();
    };
    let leaves = |of: &&Step| {
        let span = (of.from, of.until);
        let out = grown(&encoded, span);
        of.rate() >= FRAMES && out < ENCODED * of.by && !explained(span)
    };
    let times = spans(frames.iter().filter(leaves)).into_iter();
    let long = times.filter(|of| of.1 - of.0 >= LEFT_OUT).map(|span| {
        let long = span.1 - span.0;
        let [came, out] = [frames, &encoded].map(|of| grown(of, span) / long);
        let told = format!(
            "of {came:.0} frames/s of media-source, framesEncoded has {out:.0}: a slow machine, or a setting such \
             as maxFramerate"
        );
        TimelineFinding::new(TimelineCause::Encoder, span, told)
    });
    long.collect()
}

/// Layers of simulcast that sent nothing while another one did.
fn starved(
    connection: &DumpConnection,
    layers: &[DumpReport<'_>],
    axis: &SecondsAxis,
) -> Vec<TimelineFinding> {
    if layers.len() < 2 {
        return Vec::new();
    }
    let pairs: Vec<DumpReport<'_>> = connection.reports("candidate-pair").into_values().collect();
    let able = counters(&pairs, "availableOutgoingBitrate").into_iter();
    let able = able.flatten().map(|of| of.1).reduce(f64::max);
    let able = able.map_or_else(String::new, |rate| {
        let rate = rate / 1e6;
        format!("; availableOutgoingBitrate was at most {rate:.2} Mbit/s")
    });
    let sent = |of: &DumpReport<'_>| axis.steps(&[of.numbers("bytesSent")]);
    let mut findings = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        let Some(name) = layer.text("rid") else {
            continue;
        };
        let others = layers.iter().enumerate().filter(|of| of.0 != number);
        let others: Vec<Vec<Step>> = others.map(|of| sent(of.1)).collect();
        let steps = sent(layer);
        let never = layer.last("bytesSent") == Some(0.0);
        let times: Vec<(f64, f64)> = match (never, steps.first(), steps.last()) {
            (true, Some(first), Some(last)) => vec![(first.from, last.until)],
            _ => stands(&steps, STILL, LAYER)
                .iter()
                .map(Still::span)
                .collect(),
        };
        for span in times {
            // Where no layer sends, or this one was to send nothing, it is not the layer.
            let sends = |of: &Vec<Step>| grown(of, span) > 0.0;
            let off = switched_off(layer, axis);
            let is_off = off.iter().any(|of| of.overlaps(span.0, span.1));
            if is_off || !others.iter().any(sends) {
                continue;
            }
            let told = format!(
                "layer {} (rid): bytesSent of outbound-rtp {}, while others send{able}",
                printable(&name, NAME),
                if never { "never grows" } else { "stands" },
            );
            findings.push(TimelineFinding::new(TimelineCause::Layer, span, told));
        }
    }
    findings
}
