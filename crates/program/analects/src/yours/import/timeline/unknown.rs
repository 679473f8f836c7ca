//! What a dump cannot tell, or this one does not.

use super::path;
use crate::yours::import::axis::SecondsAxis;
use crate::yours::import::dump::{DumpConnection, DumpReport};

/// Sentences, the ones of this dump first.
pub fn of(connection: &DumpConnection, axis: &SecondsAxis) -> Vec<String> {
    let mut all = Vec::new();
    if axis.goes_on {
        all.push(format!("what came behind {} s: more than an hour without samples, or more than a day, is left out", axis.seconds));
    }
    all.extend(times(connection));
    let sent = connection.streams("outbound-rtp", "video");
    let lacks = |of: &[DumpReport<'_>], names: &[&str]| {
        let has =
            |report: &DumpReport<'_>| names.iter().any(|name| !report.samples(name).is_empty());
        !of.is_empty() && !of.iter().any(has)
    };
    if lacks(
        &sent,
        &["qualityLimitationReason", "qualityLimitationDurations"],
    ) {
        all.push(
            "whether the processor or the network limited the encoder: there is no qualityLimitationReason"
                .to_owned(),
        );
    }
    let sources = connection.streams("media-source", "video");
    if !sent.is_empty() && (sources.is_empty() || lacks(&sources, &["frames"])) {
        all.push("whether the camera stood still: there are no frames of media-source".to_owned());
    }
    let told = connection.streams("remote-inbound-rtp", "video");
    if !sent.is_empty() && told.is_empty() {
        all.push("what of the sent pictures was lost: there is no remote-inbound-rtp".to_owned());
    }
    if path::last(connection).is_none() {
        all.push(
            "whether a server of TURN carried the call: there is no selected candidate-pair with its candidates"
                .to_owned(),
        );
    }
    all.push(
        "the rates of the line, what else was on it, and where on the way packets were lost or waited: no dump \
         knows"
            .to_owned(),
    );
    all
}

/// How far the times of samples are not known.
fn times(connection: &DumpConnection) -> Option<String> {
    let counters = [
        ("inbound-rtp", "bytesReceived"),
        ("outbound-rtp", "bytesSent"),
        ("candidate-pair", "currentRoundTripTime"),
    ];
    let of: Vec<bool> = counters
        .into_iter()
        .flat_map(|(of, name)| {
            let reports = connection.reports(of).into_values();
            let samples = reports.filter(move |report| !report.samples(name).is_empty());
            samples.map(move |report| report.is_timed(name))
        })
        .collect();
    let untimed = of.iter().filter(|is_timed| !*is_timed).count();
    (untimed > 0).then(|| {
        format!(
            "when samples were taken: {untimed} of {} reports have no timestamp series that fits; their samples stand \
             evenly between the first and the last one, so that gaps are not seen and times may be wrong",
            of.len()
        )
    })
}
