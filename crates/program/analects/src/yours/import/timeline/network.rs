//! What the network did: outages, losses, long round trips.

use super::{
    APART, BACK, NOTHING, TimelineCause, TimelineFinding, both, counted, counters, grown, joined,
    stands, usual,
};
use crate::yours::import::axis::{GAP, SecondsAxis, Step};
use crate::yours::import::dump::{DumpConnection, DumpReport, Sample};

/// The shortest time without a byte, in seconds, that is an outage where bytes come all the time.
const OUTAGE: f64 = 1.0;
/// The same where little comes: reports of RTCP, checks of ICE.
const QUIET_OUTAGE: f64 = 6.0;
/// Bytes a second that come all the time.
const STEADY: f64 = 2000.0;
/// Reports of the other end that are farther apart, in seconds, are of no one time.
const REPORTS: f64 = 60.0;
/// The share of losses above which most of what was sent between two reports was lost, and not in a part of it.
const MOST: f64 = 0.5;
/// The least share of packets, and the least packets, that make a time one of loss.
const LOSS: f64 = 0.005;
const PACKETS: f64 = 3.0;
/// The share that is the usual one of a call that loses all the time.
const ALWAYS: f64 = 0.002;
/// What is lost above so many times the usual share is a time of its own.
const MORE: f64 = 3.0;
/// The share that an outage loses of what was sent at least: packets can be sent again when it has ended.
const GONE: f64 = 0.3;

/// Bytes that came, by what counts most of them, and that one's name.
fn received(connection: &DumpConnection) -> (Vec<Vec<Sample>>, &'static str) {
    for of in ["transport", "candidate-pair"] {
        let reports: Vec<DumpReport<'_>> = connection.reports(of).into_values().collect();
        let counters = counters(&reports, "bytesReceived");
        if counters.iter().any(|of| of.len() > 2) {
            return (counters, of);
        }
    }
    let reports = both(connection, "inbound-rtp");
    (counters(&reports, "bytesReceived"), "inbound-rtp")
}

/// When nothing came, before and after which something did.
pub fn outages(connection: &DumpConnection, axis: &SecondsAxis) -> Vec<TimelineFinding> {
    let (bytes, of) = received(connection);
    let steps = axis.steps(&bytes);
    // Where media alone is counted, an end that sends nothing looks the same.
    let steady = usual(&steps) > STEADY && of != "inbound-rtp";
    let least = if steady { OUTAGE } else { QUIET_OUTAGE };
    let lost = lost_in(connection, axis, "inbound-rtp");
    let out = both(connection, "outbound-rtp");
    let sent = axis.steps(&counters(&out, "packetsSent"));
    let lost_there = lost_in(connection, axis, "remote-inbound-rtp");
    let outages = stands(&steps, 0.0, least).into_iter().map(|still| {
        let count = |steps: &[Step]| counted(steps, (still.from, still.until + BACK));
        let (here, there) = (count(&lost), count(&lost_there));
        let usual = usual(&steps) / 1e3;
        let end = still.end();
        let mut told = format!(
            "{of} bytesReceived stands{end}, {usual:.0} kB/s otherwise; told after it: packetsLost +{here:.0} here, \
             +{there:.0} at the other end"
        );
        if of == "inbound-rtp" {
            told += "; an end that sends nothing looks the same: the dump counts media alone";
        }
        let mut finding = TimelineFinding::new(TimelineCause::Outage, still.span(), told);
        finding.is_both = there > 0.0 && there >= GONE * grown(&sent, still.span());
        finding
    });
    outages.collect()
}

/// Packets that were lost, as reports of one type tell.
pub fn lost_in(connection: &DumpConnection, axis: &SecondsAxis, of: &str) -> Vec<Step> {
    axis.steps(&counters(&both(connection, of), "packetsLost"))
}

/// When packets were lost, outside `outages`.
pub fn losses(
    connection: &DumpConnection,
    axis: &SecondsAxis,
    outages: &[TimelineFinding],
) -> Vec<TimelineFinding> {
    let both_ways = directions(connection, axis, outages);
    both_ways.iter().flat_map(DirectionLosses::times).collect()
}

/// The shares of packets that were lost, from sample to sample, with the time of its end: on the way here, and
/// on the way there.
pub fn shares(connection: &DumpConnection, axis: &SecondsAxis) -> [Vec<(f64, f64)>; 2] {
    directions(connection, axis, &[]).map(|of| {
        let share = |step: &Step| (step.until, of.share((step.from, step.until), step.by));
        of.lost.iter().map(share).collect()
    })
}

fn directions(
    connection: &DumpConnection,
    axis: &SecondsAxis,
    outages: &[TimelineFinding],
) -> [DirectionLosses; 2] {
    let here = both(connection, "inbound-rtp");
    let came = axis.steps(&counters(&here, "packetsReceived"));
    let lost = axis.steps(&counters(&here, "packetsLost"));
    let asked = axis.steps(&counters(&here, "nackCount"));
    let received = DirectionLosses {
        cause: TimelineCause::LossReceived,
        told: "inbound-rtp",
        lost: outside(lost, outages, GAP),
        asked,
        sent: came,
        are_all: false,
    };
    // Reports on sound are farther apart: they tell where there are none on video.
    let video = connection.streams("remote-inbound-rtp", "video");
    let (there, out) = if video.is_empty() {
        (
            both(connection, "remote-inbound-rtp"),
            both(connection, "outbound-rtp"),
        )
    } else {
        (video, connection.streams("outbound-rtp", "video"))
    };
    let sent = DirectionLosses {
        cause: TimelineCause::LossSent,
        told: "remote-inbound-rtp",
        lost: outside(
            axis.steps(&counters(&there, "packetsLost")),
            outages,
            REPORTS,
        ),
        asked: axis.steps(&counters(&out, "nackCount")),
        sent: axis.steps(&counters(&out, "packetsSent")),
        are_all: true,
    };
    [received, sent]
}

/// Steps that are of one time, and of no outage.
fn outside(steps: Vec<Step>, outages: &[TimelineFinding], longest: f64) -> Vec<Step> {
    let is_of = |of: &Step| {
        let explained = outages.iter().any(|by| by.explains((of.from, of.until)));
        of.until - of.from <= longest && !explained
    };
    steps.into_iter().filter(is_of).collect()
}

/// What was lost on one way.
struct DirectionLosses {
    cause: TimelineCause,
    /// The reports that tell.
    told: &'static str,
    lost: Vec<Step>,
    /// Packets that were asked for again.
    asked: Vec<Step>,
    /// Packets that were sent, or those that came.
    sent: Vec<Step>,
    /// Whether `sent` has those that were lost.
    are_all: bool,
}

impl DirectionLosses {
    fn share(&self, (from, until): (f64, f64), lost: f64) -> f64 {
        let others = grown(&self.sent, (from, until));
        let all = others + if self.are_all { 0.0 } else { lost };
        if all > 0.0 {
            (lost / all).min(1.0)
        } else {
            0.0
        }
    }

    /// The loss of the whole call, if there always was some, and times of more.
    fn times(&self) -> Vec<TimelineFinding> {
        let share = |of: &Step| self.share((of.from, of.until), of.by);
        let mut shares: Vec<f64> = self.lost.iter().map(share).collect();
        let by_step = shares.clone();
        shares.sort_by(f64::total_cmp);
        let usual = shares.get(shares.len() / 2).copied().unwrap_or_default();
        let mut all = Vec::new();
        if let (true, Some(first), Some(last)) =
            (usual > ALWAYS, self.lost.first(), self.lost.last())
        {
            all.extend(self.time((first.from, last.until), ", all the time"));
        }
        let is_more = |at: &(usize, &Step)| by_step[at.0] > MORE * usual + LOSS;
        let more = self.lost.iter().enumerate().filter(is_more);
        let times = joined(more.map(|of| self.narrowed(of.1)), APART);
        all.extend(times.into_iter().filter_map(|of| self.time(of, "")));
        all
    }

    /// The part of a step in which packets were asked for again: reports on what is sent can be some seconds
    /// apart. Where most was lost, nobody asked in time.
    fn narrowed(&self, step: &Step) -> (f64, f64) {
        let whole = (step.from, step.until);
        if self.share(whole, step.by) > MOST {
            return whole;
        }
        let asked = self.asked.iter().filter(|of| of.by > 0.0);
        let within = asked.filter(|of| of.from < step.until && of.until > step.from);
        let span = within
            .map(|of| (of.from, of.until))
            .reduce(|a, b| (a.0, b.1));
        let span = span.unwrap_or(whole);
        (span.0.max(step.from), span.1.min(step.until))
    }

    fn time(&self, span: (f64, f64), when: &str) -> Option<TimelineFinding> {
        let lost = grown(&self.lost, span);
        (lost >= PACKETS).then(|| {
            let share = self.share(span, lost);
            let asked = grown(&self.asked, span);
            let nearly = if share > NOTHING {
": next to nothing passed"
} else {
""
};
            let told = format!(
                "{} packetsLost +{lost:.0}, {:.1} % of packets{when}{nearly}; nackCount +{asked:.0}",
                self.told,
                100.0 * share
            );
            let mut finding = TimelineFinding::new(self.cause, span, told);
            finding.lost = share;
            finding.is_always = !when.is_empty();
            finding
        })
    }
}
