//! What the receiving end saw: frozen pictures, frames that did not come, key frames that were asked for.

use super::{
    STILL, Still, TimelineCause, TimelineFinding, counted, counters, grown, joined, stands,
};
use crate::yours::import::axis::{SecondsAxis, Step};
use crate::yours::import::dump::{DumpConnection, DumpReport};

/// Seconds between two freezes that are told as one time.
const FREEZES: f64 = 1.0;
/// The longest freeze, in seconds.
const LONGEST: f64 = 3600.0;
/// The shortest time without frames, in seconds, that is told.
const FRAMES: f64 = 2.0;
/// So many key frames that are asked for, closer than so many seconds, are a storm.
const STORM: f64 = 3.0;
const CLOSE: f64 = 5.0;

/// All of them.
pub fn of(
    connection: &DumpConnection,
    axis: &SecondsAxis,
    outages: &[TimelineFinding],
) -> Vec<TimelineFinding> {
    let streams_here = connection.streams("inbound-rtp", "video");
    let mut findings: Vec<TimelineFinding> = streams_here
        .iter()
        .flat_map(|of| freezes(of, axis))
        .collect();
    for stream in &streams_here {
        let frames = axis.steps(&[stream.numbers("framesReceived")]);
        let lost = axis.steps(&[stream.numbers("packetsLost")]);
        let stood = stands(&frames, STILL, FRAMES).into_iter().filter(|of| {
            let explained = outages.iter().any(|by| by.explains(of.span()));
            !of.is_last && !explained && grown(&lost, of.span()) < 1.0
        });
        findings.extend(stood.map(far_camera));
    }
    let sent = connection.streams("outbound-rtp", "video");
    for (reports, of) in [
        (&streams_here, "inbound-rtp: this end asks"),
        (&sent, "outbound-rtp: the other end asks"),
    ] {
        let asked = ["pliCount", "firCount"]
            .into_iter()
            .flat_map(|name| counters(reports, name));
        let steps = axis.steps(&asked.collect::<Vec<_>>());
        findings.extend(storms(&steps, of));
    }
    findings
}

/// Freezes, which a browser counts with all of their time when the next frame is shown.
fn freezes(stream: &DumpReport<'_>, axis: &SecondsAxis) -> Vec<TimelineFinding> {
    let count = axis.steps(&[stream.numbers("freezeCount")]);
    let lasted = axis.steps(&[stream.numbers("totalFreezesDuration")]);
    let ends = if lasted.is_empty() { &count } else { &lasted };
    let ends = ends.iter().filter(|of| of.by > 0.0);
    let mut times: Vec<(f64, f64)> = ends
        .map(|of| {
            let lasted = counted(&lasted, (of.from, of.until)).min(LONGEST);
            ((of.until - lasted).clamp(0.0, of.until), of.until)
        })
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let told = joined(times.into_iter(), FREEZES).into_iter().map(|span| {
        let told = format!(
            "inbound-rtp freezeCount +{:.0}, totalFreezesDuration +{:.1} s",
            counted(&count, span),
            counted(&lasted, span)
        );
        TimelineFinding::new(TimelineCause::Freeze, span, told)
    });
    told.collect()
}

fn far_camera(of: Still) -> TimelineFinding {
    let told = "framesReceived of inbound-rtp stand, nothing is lost, and other packets come: the other end's camera \
                or encoder, or a server that forwards none";
    TimelineFinding::new(TimelineCause::FarCamera, of.span(), told.to_owned())
}

fn storms(steps: &[Step], of: &str) -> Vec<TimelineFinding> {
    let asked = steps.iter().filter(|of| of.by > 0.0);
    let times = joined(asked.map(|of| (of.from, of.until)), CLOSE).into_iter();
    let storms = times.filter_map(|span| {
        let asked = counted(steps, span);
        let told = format!("pliCount and firCount +{asked:.0} of {of} for key frames");
        (asked >= STORM).then(|| TimelineFinding::new(TimelineCause::KeyFrames, span, told))
    });
    storms.collect()
}
