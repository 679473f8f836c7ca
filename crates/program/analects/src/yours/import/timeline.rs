//! What a dump itself knows of a call: when what happened, and which statistics say so.

mod network;
mod path;
mod receiver;
mod sender;
mod unknown;

use super::axis::{GAP, SecondsAxis, Step, median};
use super::dump::{DumpConnection, DumpReport, Sample};

pub use network::shares;
pub use path::last as path;
pub use unknown::of as unknown;

/// Seconds between two times of the same that do not make them two.
const APART: f64 = 3.0;
/// Seconds after an outage until all is as before it.
const BACK: f64 = 3.0;
/// The most times in which one counter stands still: more are no call's.
const MOST: usize = 1000;
/// The share of losses above which next to nothing passed in one direction: reports on it can be of a longer
/// time.
pub const NOTHING: f64 = 0.7;
/// The share of its usual frames or bytes that a camera, or a layer, gives while it stands still.
const STILL: f64 = 0.03;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineCause {
    /// The page took no samples.
    NoSamples,
    /// Nothing passed.
    Outage,
    /// Packets were lost on the way here, or on the way there.
    LossReceived,
    LossSent,
    /// The round trip was long: packets waited.
    RoundTrip,
    /// The encoder was limited by what it believed the network to carry.
    Bandwidth,
    /// The encoder was limited by the processor.
    Processor,
    /// The encoder was limited by something else, such as a setting.
    Other,
    /// Frames came to the encoder, and did not leave it.
    Encoder,
    /// The camera gave no frames.
    Camera,
    /// The other end sent no frames.
    FarCamera,
    /// A layer of simulcast was not sent.
    Layer,
    /// The application switched what is sent off.
    Off,
    /// The picture stood still.
    Freeze,
    /// Key frames were asked for, again and again.
    KeyFrames,
    /// A server of TURN carried the call.
    Relay,
}

impl TimelineCause {
    /// In a table.
    pub fn name(self) -> &'static str {
        match self {
            TimelineCause::NoSamples => "no samples",
            TimelineCause::Outage => "outage",
            TimelineCause::LossReceived => "loss, received",
            TimelineCause::LossSent => "loss, sent",
            TimelineCause::RoundTrip => "round trip",
            TimelineCause::Bandwidth => "bandwidth",
            TimelineCause::Processor => "CPU",
            TimelineCause::Other => "other limit",
            TimelineCause::Encoder => "encoder",
            TimelineCause::Camera => "camera",
            TimelineCause::FarCamera => "far camera",
            TimelineCause::Layer => "layer",
            TimelineCause::Off => "switched off",
            TimelineCause::Freeze => "freeze",
            TimelineCause::KeyFrames => "key frames",
            TimelineCause::Relay => "relay",
        }
    }

    /// Whether a part of the call with it tells more than one without.
    pub fn is_trouble(self) -> bool {
        !matches!(
            self,
            TimelineCause::NoSamples
                | TimelineCause::Layer
                | TimelineCause::Off
                | TimelineCause::Relay
        )
    }
}

/// Something that a dump knows.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineFinding {
    /// In seconds of the call.
    pub from: f64,
    pub until: f64,
    pub cause: TimelineCause,
    /// What the statistics say, and which.
    pub told: String,
    /// The share of packets that were lost in it, if it is of them.
    pub lost: f64,
    /// Whether that is what was lost all the time.
    pub is_always: bool,
    /// Whether what was sent in it was lost as well, if it is an outage.
    pub is_both: bool,
}

impl TimelineFinding {
    /// One of a time, with what tells it.
    pub fn new(cause: TimelineCause, (from, until): (f64, f64), told: String) -> Self {
        TimelineFinding {
            from,
            until,
            cause,
            told,
            lost: 0.0,
            is_always: false,
            is_both: false,
        }
    }

    /// Whether it is an outage at a time, or just before it: frames, reports and estimates come back later.
    pub fn explains(&self, (from, until): (f64, f64)) -> bool {
        self.cause == TimelineCause::Outage && self.overlaps(from - BACK, until + 1.0)
    }

    /// Whether it overlaps a time.
    pub fn overlaps(&self, from: f64, until: f64) -> bool {
        self.from < until && self.until > from
    }
}

/// The findings of a connection, in the order of time.
pub fn of(connection: &DumpConnection, axis: &SecondsAxis) -> Vec<TimelineFinding> {
    let lost = network::lost_in(connection, axis, "inbound-rtp");
    let gaps = axis.gaps.iter().map(|of| {
        let lost = grown(&lost, *of);
        let told =
            format!("the page took none, so that only sums are known: packetsLost +{lost:.0}");
        TimelineFinding::new(TimelineCause::NoSamples, *of, told)
    });
    let mut findings: Vec<TimelineFinding> = gaps.collect();
    findings.extend(network::outages(connection, axis));
    // What an outage explains is not told again.
    let outages = findings.clone();
    findings.extend(network::losses(connection, axis, &outages));
    findings.extend(sender::of(connection, axis, &outages));
    findings.extend(receiver::of(connection, axis, &outages));
    findings.extend(path::relays(connection, axis));
    sort(&mut findings);
    findings
}

/// Sorts by time.
pub fn sort(findings: &mut [TimelineFinding]) {
    findings.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.until.total_cmp(&b.until)));
}

/// The times of steps, those that are close together as one.
fn spans<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<(f64, f64)> {
    joined(steps.map(|of| (of.from, of.until)), APART)
}

fn joined(times: impl Iterator<Item = (f64, f64)>, apart: f64) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (from, until) in times {
        match all.last_mut() {
            Some(last) if from <= last.1 + apart => last.1 = last.1.max(until),
            _ => all.push((from, until)),
        }
    }
    all
}

/// How much counters grew in a time.
fn grown(steps: &[Step], (from, until): (f64, f64)) -> f64 {
    let part = |of: &Step| {
        let common = of.until.min(until) - of.from.max(from);
        of.rate() * common.max(0.0)
    };
    let first = steps.partition_point(|of| of.until <= from);
    let within = steps[first..].iter().take_while(|of| of.from < until);
    within.map(part).sum()
}

/// How much counters grew by the samples that were taken in a time.
fn counted(steps: &[Step], (from, until): (f64, f64)) -> f64 {
    let first = steps.partition_point(|of| of.until <= from);
    let within = steps[first..]
        .iter()
        .take_while(|of| of.until <= until + 0.01);
    within.map(|of| of.by).sum()
}

/// One statistic of several reports.
fn counters(reports: &[DumpReport<'_>], name: &str) -> Vec<Vec<Sample>> {
    reports.iter().map(|of| of.numbers(name)).collect()
}

/// The reports of one type, of sound and of video.
fn both<'a>(connection: &'a DumpConnection, of: &str) -> Vec<DumpReport<'a>> {
    let mut all = connection.streams(of, "audio");
    all.extend(connection.streams(of, "video"));
    all
}

/// The middle one of a counter's rates, where it grew; zero if it never did.
fn usual(steps: &[Step]) -> f64 {
    let rates = steps.iter().map(Step::rate).filter(|rate| *rate > 0.0);
    median(rates.collect()).unwrap_or_default()
}

/// When a counter all but stood still.
#[derive(Debug, Clone, Copy)]
struct Still {
    from: f64,
    until: f64,
    /// Whether it did to the end.
    is_last: bool,
}

impl Still {
    fn span(&self) -> (f64, f64) {
        (self.from, self.until)
    }

    fn end(&self) -> &'static str {
        if self.is_last {
            " to the end of the dump"
        } else {
            ""
        }
    }
}

/// Times in which a counter all but stood still after it had grown, to the fraction of the sample in which
/// that began and ended.
///
/// `still` is the share of its usual growth that counts as none, and `least` the shortest time, in seconds.
fn stands(steps: &[Step], still: f64, least: f64) -> Vec<Still> {
    let usual = usual(steps);
    let near = |of: &Step| of.until - of.from <= GAP;
    let stands = |of: &&Step| of.rate() <= still * usual && near(of);
    let times = joined(
        steps.iter().filter(stands).map(|of| (of.from, of.until)),
        0.01,
    );
    // The part of a neighbouring step in which it stood still, if it was as fast as usual in the rest.
    let part = |of: &Step| {
        if near(of) {
            (1.0 - of.rate() / usual).max(0.0) * (of.until - of.from)
        } else {
            0.0
        }
    };
    let exact = times.into_iter().filter_map(|(from, until)| {
        let before = steps[..steps.partition_point(|of| of.from < from - 0.005)].last()?;
        let after = steps.get(steps.partition_point(|of| of.from < until - 0.005));
        let still = Still {
            from: from - part(before),
            until: until + after.map_or(0.0, part),
            is_last: after.is_none(),
        };
        (still.until - still.from >= least).then_some(still)
    });
    exact.take(MOST).collect()
}
