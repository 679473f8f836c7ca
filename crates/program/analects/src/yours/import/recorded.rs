//! What a connection of a dump tells about its call: streams, the path, and when there was trouble.

use super::axis::{self, SecondsAxis, median};
use super::dump::{DumpConnection, DumpReport, Sample};
use super::timeline::{self, TimelineCause, TimelineFinding};
use super::wanted::{self, Wanted};

/// A second is one of trouble if the round trip was longer than the shortest by this, in seconds: half of
/// what makes a frame late (`stall_threshold`).
const TROUBLE: f64 = 0.1;
/// Such a time goes on for as long as the round trip is longer by this, in seconds: a transfer's queue swings.
const WAITS: f64 = 0.05;
/// A longer round trip, in seconds, is no measurement.
const LONGEST_RTT: f64 = 30.0;
/// Seconds without trouble that do not end an episode: a round trip is measured about once in three.
const CALM: usize = 3;
/// Seconds before an episode whose rates are compared with those in it.
const BEFORE: usize = 5;

/// One direction of the call.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedMedia {
    /// Width and height of the last picture.
    pub size: Option<(f64, f64)>,
    /// Frames a second: the median.
    pub fps: f64,
    /// Rate of the video in each second, in bit/s.
    pub rates: Vec<f64>,
    /// The highest rate that the sender's encoders were asked for, in bit/s; only of what is sent.
    pub cap: Option<f64>,
    /// Rate of the audio, in bit/s.
    pub audio: f64,
    /// Share of packets that were lost, if the dump knows.
    pub lost: Option<f64>,
    /// Freezes that ended in each second; only of what is received.
    pub freezes: Vec<f64>,
    /// How many seconds the freezes that ended in each second had lasted.
    pub frozen: Vec<f64>,
}

/// A stream of sound of a call that has no video: packets at a beat.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// Whether it is sent.
    pub up: bool,
    /// Packets a second.
    pub packets: f64,
    /// Bytes of a packet, without headers.
    pub bytes: f64,
    /// Share of packets that were lost.
    pub lost: f64,
}

/// A time in which the round trip was long, and no outage explains it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Episode {
    /// Its first second in the call.
    pub from: usize,
    /// The second after it.
    pub until: usize,
    /// The longest round trip in it, in seconds.
    pub rtt: f64,
    /// Whether the direction that is sent lost more of its rate than the one that is received.
    pub up: bool,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its seconds.
    pub axis: SecondsAxis,
    /// What was sent; simulcast's layers together.
    pub sent: Option<RecordedMedia>,
    /// What was received, each stream by itself.
    pub received: Vec<RecordedMedia>,
    /// The streams of a call of sound alone.
    pub sounds: Vec<Sound>,
    /// The shortest round trip, in seconds.
    pub rtt: f64,
    /// The longest round trip of each second in which one was measured, in seconds.
    pub rtts: Vec<Option<f64>>,
    /// What it wanted to send.
    pub wanted: Wanted,
    /// Times in which packets waited, in their order.
    pub episodes: Vec<Episode>,
    /// What the dump knows, in the order of time.
    pub findings: Vec<TimelineFinding>,
}

impl Episode {
    /// In the timeline, beside the call's shortest round trip.
    fn told(&self, shortest: f64) -> TimelineFinding {
        let told = format!(
            "up to {:.0} ms, the shortest is {:.0} (roundTripTime, currentRoundTripTime): packets waited",
            1e3 * self.rtt,
            1e3 * shortest
        );
        let span = (self.from as f64, self.until as f64);
        TimelineFinding::new(TimelineCause::RoundTrip, span, told)
    }
}

impl RecordedMedia {
    /// Rate on average while video came, in bit/s.
    pub fn mean(&self) -> f64 {
        let active: Vec<f64> = self
            .rates
            .iter()
            .copied()
            .filter(|rate| *rate > 0.0)
            .collect();
        active.iter().sum::<f64>() / active.len().max(1) as f64
    }

    /// The rate that it reached: the encoders' highest target; or what a second of twenty exceeds, for what
    /// comes again after a loss makes single seconds large.
    pub fn reached(&self) -> f64 {
        let mut seen = self.rates.clone();
        seen.sort_by(f64::total_cmp);
        let high = seen.get((0.95 * seen.len() as f64) as usize);
        let high = high.copied().filter(|rate| *rate > 0.0);
        let seen = || high.unwrap_or_else(|| seen.last().copied().unwrap_or_default());
        self.cap.unwrap_or_else(seen)
    }
}

/// Bytes of video, or of sound, that a connection has sent and received.
pub fn bytes_of(connection: &DumpConnection, medium: &str) -> f64 {
    let of = |kind: &str, count: &str| last_of_all(&connection.streams(kind, medium), count);
    of("outbound-rtp", "bytesSent") + of("inbound-rtp", "bytesReceived")
}

/// The call of a connection: with video, or where none was sent or received, of sound alone.
///
/// # Errors
/// A sentence that says what is missing.
pub fn call(connection: &DumpConnection) -> Result<Recorded, String> {
    let of = |medium| {
        SecondsAxis::of(connection, medium).and_then(|axis| of_axis(connection, axis, medium))
    };
    of("video")
        .or_else(|| of("audio"))
        .ok_or_else(|| "it has no two seconds of video or sound".to_owned())
}

/// The call by its seconds of one medium; none if nothing of that was sent or received.
fn of_axis(connection: &DumpConnection, axis: SecondsAxis, medium: &str) -> Option<Recorded> {
    let sounds = match medium {
        "audio" => sounds(connection, &axis),
        _ => Vec::new(),
    };
    let sent = connection.streams("outbound-rtp", "video");
    let received = connection.streams("inbound-rtp", "video");
    let rtts = round_trips(connection, &axis);
    let shortest = rtts.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let rtt = if shortest.is_finite() { shortest } else { 0.0 };
    let audio = |of: &str, count: &str| {
        let streams = connection.streams(of, "audio").into_iter();
        let rates = streams.map(|report| mean(&axis.rates(&report.numbers(count))));
        rates.fold(0.0, f64::max)
    };
    let mut recorded = Recorded {
        sent: outgoing(connection, &sent, &axis, audio("outbound-rtp", "bytesSent")),
        received: received
            .iter()
            .filter_map(|of| incoming(of, &axis))
            .collect(),
        sounds,
        rtt,
        wanted: wanted::of(connection, &sent),
        episodes: Vec::new(),
        findings: timeline::of(connection, &axis),
        rtts,
        axis: axis.clone(),
    };
    // One stream of audio goes with one of video; the others share the first one's.
    if let Some(first) = recorded.received.first_mut() {
        first.audio = audio("inbound-rtp", "bytesReceived");
    }
    recorded.episodes = episodes(&recorded);
    let told = recorded.episodes.iter().map(|of| of.told(rtt));
    recorded.findings.extend(told);
    timeline::sort(&mut recorded.findings);
    let has_media = !(recorded.received.is_empty() && recorded.sounds.is_empty());
    (has_media || recorded.sent.is_some()).then_some(recorded)
}

/// The last values of a number, of all reports together.
fn last_of_all(reports: &[DumpReport<'_>], name: &str) -> f64 {
    reports.iter().filter_map(|report| report.last(name)).sum()
}

/// The streams of sound.
fn sounds(connection: &DumpConnection, axis: &SecondsAxis) -> Vec<Sound> {
    let of = |kind: &str, up: bool, bytes: &str, packets: &str| -> Vec<Sound> {
        let reports = connection.streams(kind, "audio").into_iter();
        let sound = |report: DumpReport<'_>| {
            let sum = |count: &str| axis.growth(&report.numbers(count)).iter().sum::<f64>();
            let (bytes, came) = (sum(bytes), sum(packets));
            let lost = if up {
                last_of_all(
                    &connection.streams("remote-inbound-rtp", "audio"),
                    "packetsLost",
                )
            } else {
                report.last("packetsLost").unwrap_or_default()
            };
            (bytes > 0.0 && came >= 1.0).then(|| Sound {
                up,
                packets: came / axis.seconds as f64,
                bytes: bytes / came,
                lost: share(lost, if up { came } else { lost + came }),
            })
        };
        reports.filter_map(sound).collect()
    };
    let mut all = of("inbound-rtp", false, "bytesReceived", "packetsReceived");
    all.extend(of("outbound-rtp", true, "bytesSent", "packetsSent"));
    all
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Frames a second of the stream that has most.
fn frames(reports: &[DumpReport<'_>]) -> f64 {
    let of = |report: &DumpReport<'_>| {
        let samples = report.numbers("framesPerSecond").into_iter();
        median(samples.map(|of| of.1).filter(|fps| *fps > 0.0).collect())
    };
    reports.iter().filter_map(of).fold(0.0, f64::max)
}

fn picture(report: &DumpReport<'_>) -> Option<(f64, f64)> {
    Some((report.last("frameWidth")?, report.last("frameHeight")?))
}

fn share(lost: f64, of: f64) -> f64 {
    if of > 0.0 { (lost / of).min(1.0) } else { 0.0 }
}

/// What was sent, all layers together.
fn outgoing(
    connection: &DumpConnection,
    layers: &[DumpReport<'_>],
    axis: &SecondsAxis,
    audio: f64,
) -> Option<RecordedMedia> {
    let mut rates = vec![0.0; axis.seconds];
    let mut caps = vec![0.0; axis.seconds];
    for layer in layers {
        let sums = rates
            .iter_mut()
            .zip(axis.rates(&layer.numbers("bytesSent")));
        sums.for_each(|(sum, rate)| *sum += rate);
        let targets = caps
            .iter_mut()
            .zip(axis.greatest(&layer.numbers("targetBitrate")));
        targets.for_each(|(sum, target)| *sum += target.unwrap_or_default());
    }
    rates.iter().any(|rate| *rate > 0.0).then_some(())?;
    let told = connection.streams("remote-inbound-rtp", "video");
    let lost = last_of_all(&told, "packetsLost");
    let packets = last_of_all(layers, "packetsSent");
    let largest = layers.iter().filter_map(picture);
    Some(RecordedMedia {
        size: largest.max_by(|a, b| a.0.total_cmp(&b.0)),
        fps: frames(layers),
        cap: caps.into_iter().reduce(f64::max).filter(|cap| *cap > 0.0),
        rates,
        audio,
        lost: (!told.is_empty()).then(|| share(lost, packets)),
        freezes: Vec::new(),
        frozen: Vec::new(),
    })
}

/// A stream that was received.
fn incoming(report: &DumpReport<'_>, axis: &SecondsAxis) -> Option<RecordedMedia> {
    let rates = axis.rates(&report.numbers("bytesReceived"));
    rates.iter().any(|rate| *rate > 0.0).then_some(())?;
    let lost = report.last("packetsLost").unwrap_or_default();
    let came = report.last("packetsReceived").unwrap_or_default();
    Some(RecordedMedia {
        size: picture(report),
        fps: frames(std::slice::from_ref(report)),
        cap: None,
        rates,
        audio: 0.0,
        lost: Some(share(lost, lost + came)),
        freezes: axis.growth(&report.numbers("freezeCount")),
        frozen: axis.growth(&report.numbers("totalFreezesDuration")),
    })
}

/// The longest round trip of each second in which one was measured: by RTCP, or by STUN on the pair of
/// addresses that carried most.
fn round_trips(connection: &DumpConnection, axis: &SecondsAxis) -> Vec<Option<f64>> {
    let remote = connection.reports("remote-inbound-rtp");
    let pairs = connection.reports("candidate-pair");
    let carried = |report: &DumpReport<'_>| {
        let counts = ["bytesSent", "bytesReceived"].map(|count| report.last(count));
        counts.into_iter().flatten().sum::<f64>()
    };
    let pair = pairs
        .values()
        .filter(|of| of.last("currentRoundTripTime").is_some())
        .max_by(|a, b| carried(a).total_cmp(&carried(b)));
    let by_rtcp = remote
        .values()
        .flat_map(|report| measured(report, "roundTripTime", "roundTripTimeMeasurements"));
    let by_stun = pair
        .into_iter()
        .flat_map(|report| measured(report, "currentRoundTripTime", "responsesReceived"));
    let samples: Vec<Sample> = by_rtcp
        .chain(by_stun)
        .filter(|of| of.1 > 0.0 && of.1 < LONGEST_RTT)
        .collect();
    axis.greatest(&samples)
}

/// The round trips of a report: as they stand there, or, where they lack times, from their sum and count. One stands there
/// until the next is measured, some seconds later; where it is counted, it counts once.
fn measured(report: &DumpReport<'_>, name: &str, count: &str) -> Vec<Sample> {
    let sums = report.numbers("totalRoundTripTime");
    let counts = report.numbers(count);
    if report.is_timed(name) || sums.is_empty() {
        let mut samples = report.numbers(name);
        if !counts.is_empty() {
            samples.dedup_by_key(|of| axis::value(&counts, of.0));
        }
        return samples;
    }
    let pairs = sums.windows(2).filter_map(|pair| {
        let [before, now] = [pair[0], pair[1]];
        let count = axis::value(&counts, now.0) - axis::value(&counts, before.0);
        (count > 0.0).then(|| (now.0, (now.1 - before.1) / count))
    });
    pairs.collect()
}

/// The times with a long round trip outside outages, those that are close together as one.
fn episodes(call: &Recorded) -> Vec<Episode> {
    let late = |(second, rtt): (usize, &Option<f64>)| {
        let second = second as f64;
        let explained = |of: &TimelineFinding| of.explains((second, second + 1.0));
        rtt.is_some_and(|rtt| rtt > call.rtt + WAITS) && !call.findings.iter().any(explained)
    };
    let waits: Vec<bool> = call.rtts.iter().enumerate().map(late).collect();
    let mut episodes: Vec<Episode> = Vec::new();
    for second in (0..call.axis.seconds).filter(|second| waits[*second]) {
        let rtt = call.rtts[second].unwrap_or_default();
        match episodes.last_mut() {
            Some(last) if second <= last.until + CALM => {
                last.until = second + 1;
                last.rtt = last.rtt.max(rtt);
            }
            _ => episodes.push(Episode {
                from: second,
                until: second + 1,
                rtt,
                up: false,
            }),
        }
    }
    episodes.retain(|of| of.rtt > call.rtt + TROUBLE);
    let received: Vec<f64> = (0..call.axis.seconds)
        .map(|second| call.received.iter().map(|of| of.rates[second]).sum())
        .collect();
    let sent = call.sent.as_ref().map(|of| &*of.rates);
    for episode in &mut episodes {
        let fall = |rates: &[f64]| fall(rates, episode);
        episode.up = sent.map_or(0.0, fall) > fall(&received);
    }
    episodes
}

/// The share of its rate before an episode that a direction loses in it.
fn fall(rates: &[f64], episode: &Episode) -> f64 {
    let before = mean(&rates[episode.from.saturating_sub(BEFORE)..episode.from]);
    let within = &rates[episode.from..(episode.until + 1).min(rates.len())];
    let least = within.iter().copied().fold(f64::INFINITY, f64::min);
    if before > 0.0 {
        (1.0 - least / before).max(0.0)
    } else {
        0.0
    }
}
