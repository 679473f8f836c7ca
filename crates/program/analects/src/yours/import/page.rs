//! The page on a dump that one engineer sends to another: times and figures, without addresses, URLs and names
//! of devices.

use super::axis::{GAP, Step};
use super::dump::DumpConnection;
use super::recorded::Recorded;
use super::timeline::{self, TimelineCause, TimelineFinding};
use report::draw::Point;
use report::{Course, CourseFigure, Time};

/// The page, as HTML.
pub fn page(connection: &DumpConnection, call: &Recorded) -> String {
    let axis = &call.axis;
    let mut facts = vec![
        ("length".to_owned(), format!("{} s", axis.seconds)),
        ("began".to_owned(), axis.begin()),
    ];
    if call.rtt > 0.0 {
        let rtt = format!("{:.0} ms", 1e3 * call.rtt);
        facts.push(("shortest round trip".to_owned(), rtt));
    }
    if let Some(way) = timeline::path(connection) {
        facts.push(("path".to_owned(), way));
    }
    let course = Course {
        title: "A recorded call".to_owned(),
        facts,
        seconds: axis.seconds as f64,
        times: call.findings.iter().map(time).collect(),
        unknown: timeline::unknown(connection, axis),
        figures: figures(connection, call),
    };
    course.page()
}

fn time(of: &TimelineFinding) -> Time {
    Time {
        span: (of.from, of.until),
        what: of.cause.name().to_owned(),
        told: of.told.clone(),
        is_shaded: matches!(of.cause, TimelineCause::Outage | TimelineCause::Freeze),
    }
}

fn figures(connection: &DumpConnection, call: &Recorded) -> Vec<CourseFigure> {
    let axis = &call.axis;
    let rate = |of: &str, kind: &str, name: &str, unit: f64| {
        let reports = connection.streams(of, kind);
        let counters: Vec<_> = reports.iter().map(|report| report.numbers(name)).collect();
        points(&axis.steps(&counters), unit)
    };
    let video = |of, name, unit| rate(of, "video", name, unit);
    let sound = |of, name| rate(of, "audio", name, 8e-3);
    let [here, there] = timeline::shares(connection, axis);
    let rtts = (0..).zip(&call.rtts);
    let rtts = rtts.map(|(second, rtt)| (f64::from(second) + 0.5, rtt.map(|rtt| 1e3 * rtt)));
    let frozen = video("inbound-rtp", "totalFreezesDuration", 1.0);
    vec![
        figure(
            "Rate of the video",
            "Mbit/s",
            vec![
                ("received", video("inbound-rtp", "bytesReceived", 8e-6)),
                ("sent", video("outbound-rtp", "bytesSent", 8e-6)),
            ],
        ),
        figure(
            "Rate of the sound",
            "kbit/s",
            vec![
                ("received", sound("inbound-rtp", "bytesReceived")),
                ("sent", sound("outbound-rtp", "bytesSent")),
            ],
        ),
        figure(
            "Packets that were lost",
            "%",
            vec![("received", percent(here)), ("sent", percent(there))],
        ),
        figure("Round trip", "ms", vec![("round trip", rtts.collect())]),
        figure(
            "Frames, all streams together",
            "frames/s",
            vec![
                ("camera", video("media-source", "frames", 1.0)),
                ("sent", video("outbound-rtp", "framesEncoded", 1.0)),
                ("received", video("inbound-rtp", "framesDecoded", 1.0)),
            ],
        ),
        figure(
            "Freezes, counted with all of their time when they end",
            "s",
            vec![("frozen", frozen)],
        ),
    ]
}

fn figure(title: &str, ordinate: &str, lines: Vec<(&str, Vec<Point>)>) -> CourseFigure {
    let lines = lines.into_iter().filter(|line| !line.1.is_empty());
    CourseFigure {
        title: title.to_owned(),
        ordinate: ordinate.to_owned(),
        lines: lines.map(|(name, of)| (name.to_owned(), of)).collect(),
    }
}

/// A counter's growth in a second, in so many of a unit; nothing where the page took no samples.
fn points(steps: &[Step], unit: f64) -> Vec<Point> {
    let point = |of: &Step| {
        (
            of.until,
            (of.until - of.from <= GAP).then(|| unit * of.rate()),
        )
    };
    steps.iter().map(point).collect()
}

fn percent(shares: Vec<(f64, f64)>) -> Vec<Point> {
    let point = |(at, share): (f64, f64)| (at, Some(100.0 * share));
    shares.into_iter().map(point).collect()
}
