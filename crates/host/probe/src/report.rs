//! The findings, for people and programs.

use crate::call::Call;
use crate::control::{Sender, Votes};
use crate::depth::Managed;
use crate::order;
use crate::trains::{Overtaking, TrainsFinding};
use cca::tonopah::{Evidence, NoticeKind};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::time::Instant;
use units::Duration;

/// Verdicts of the detector that there have to be at least for fair queuing: one can be chance.
const LEAST_VOTES: u32 = 3;

/// A call whose frames waited for at least this part of what the load's packets waited at the same time was in their
/// queue: one of its own, or a class apart, would have let it pass.
const ALIKE: f64 = 0.75;
/// How sure that is.
const BY_CALL: f64 = 0.7;

/// The direction of the data, whose queue is examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataDirection {
    /// From the server to the client: a person's downlink, where most of the traffic is.
    Down,
    /// From the client to the server.
    Up,
}

/// The management of the bottleneck's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Management {
    /// Flows wait in queues of their own.
    FairQueuing,
    /// All flows wait in one queue, which drops only when full.
    SharedFifo,
    /// All wait in one queue that an AQM keeps short.
    Aqm,
    /// Too little was seen.
    Unknown,
}

/// The period of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The last intervals.
    Moment,
    /// The whole time.
    Whole,
}

/// The observations of a sender. Times in milliseconds, shares from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// When, since data began to flow.
    pub at_ms: f64,
    /// Which way the data went.
    pub direction: DataDirection,
    /// The verdict.
    pub verdict: Management,
    /// How sure it is.
    pub confidence: f64,
    /// Whether marks, or losses far below the queue's depth, showed an AQM; null if there were too
    /// few observations. With fair queues only marks show it.
    pub aqm: Option<bool>,
    /// Whether the server's limit held the data back at the end, and not the path.
    pub held: bool,
    /// By how much packets of one subflow waited longer than those of the other next to them, with
    /// the roles swapped in between, ms; null before it was seen.
    pub difference_ms: Option<f64>,
    /// Whether packets overtook those sent before them, as fair queues let them.
    pub overtaken: bool,
    /// Whether packets kept their order in trains that queued, as one queue does.
    #[serde(default)]
    pub in_order: bool,
    /// Age of the last evidence for the verdict, ms.
    pub age_ms: f64,
    /// The smallest round trip; null before the first.
    pub base_rtt_ms: Option<f64>,
    /// Mean rate of delivery since slow start, Mbit/s, QUIC's headers included. In the quick form, the
    /// rate at which the last train arrived.
    pub rate_mbit: f64,
    /// The queue's depth: the median; null before the first round trip, and in the quick form, in which
    /// only its own trains queue.
    pub queue_ms: Option<f64>,
    /// The 95th percentile.
    pub queue_p95_ms: Option<f64>,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes lost.
    pub lost_bytes: u64,
    /// Number of congestion marks (ECN) reported.
    pub marks: u64,
    /// The share of packets that arrived after later ones of the same subflow, 0 to 1. From 0.005 on there
    /// is no verdict: no queue does that.
    #[serde(default)]
    pub reordered: f64,
    /// What the trains of the quick form showed; absent in the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trains: Option<Overtaking>,
    /// What a call beside the load has found; absent if there was none: in the quick form, with a peer of before it,
    /// and within a limit that leaves no room for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

impl Report {
    /// The state of `sender` at `now`, since data began to flow at `start`: at this moment, or in
    /// all.
    pub fn of(
        sender: &Sender,
        direction: DataDirection,
        start: Instant,
        now: Instant,
        scope: Scope,
    ) -> Self {
        let seen = sender.verdict(now);
        let depth = sender.depth();
        let totals = sender.totals();
        let trains = sender.overtaking();
        let ms = |d: Duration| d.as_millis_f64();
        let (kind, confidence) = match (trains, scope) {
            (Some(trains), _) => of_trains(trains.finding),
            (None, Scope::Moment) => (seen.kind, seen.confidence),
            (None, Scope::Whole) => weigh(sender.votes()),
        };
        let (kind, confidence) = match sender.frames().share_of_wait() {
            Some(share) if kind == NoticeKind::Unknown && share >= ALIKE => {
                (NoticeKind::Shared, BY_CALL)
            }
            _ => (kind, confidence),
        };
        let queue = |q: f64| depth.quantile(q).filter(|_| trains.is_none()).map(ms);
        // A path without a queue looks like one queue for all, too.
        let (verdict, confidence) = match (kind, depth.stood()) {
            _ if !sender.order().is_kept() => (Management::Unknown, 0.0),
            (NoticeKind::Shared, false) => (Management::Unknown, 0.0),
            // So does one that is short for whatever reason.
            (NoticeKind::Shared, true)
                if depth.managed() == Managed::Unknown && !depth.is_deep() =>
            {
                (Management::Unknown, 0.0)
            }
            _ => judge(kind, confidence, depth.managed()),
        };
        Report {
            at_ms: now.saturating_duration_since(start).as_secs_f64() * 1e3,
            direction,
            verdict,
            confidence,
            aqm: match (depth.managed(), verdict) {
                (Managed::Aqm(_), _) if depth.marks() > 0 => Some(true),
                // Which of several queues was full, and how full, a sender does not see.
                (_, Management::FairQueuing) | (Managed::Unknown, _) => None,
                _ if trains.is_some() => None,
                (Managed::Aqm(_), _) => Some(true),
                (Managed::DropTail(_), _) => Some(false),
            },
            held: sender.is_held(),
            difference_ms: match seen.evidence {
                Evidence::Delays { difference_ms, .. } => Some(difference_ms),
                _ => None,
            },
            overtaken: match trains {
                Some(trains) => trains.finding == TrainsFinding::Overtaken,
                None => seen.evidence == Evidence::Train,
            },
            in_order: match scope {
                Scope::Moment => seen.evidence == Evidence::Order,
                Scope::Whole => 2 * sender.votes().in_order > sender.votes().shared,
            },
            age_ms: ms(sender.age(now)),
            base_rtt_ms: depth.base().map(ms),
            rate_mbit: sender.rate().as_mbit_f64(),
            queue_ms: queue(0.5),
            queue_p95_ms: queue(0.95),
            sent_bytes: totals.sent,
            lost_bytes: totals.lost,
            marks: depth.marks(),
            reordered: sender.order().late(),
            trains,
            call: Call::of(sender.frames(), depth.stood()),
        }
    }

    /// The verdict in words.
    pub fn headline(&self) -> String {
        let what = match (self.verdict, self.aqm) {
            (Management::FairQueuing, Some(true)) => "fair queuing with AQM",
            (Management::FairQueuing, _) => "fair queuing",
            (Management::SharedFifo, _) => "a shared FIFO",
            (Management::Aqm, _) => "one queue with AQM",
            (Management::Unknown, _) => return "unknown".to_owned(),
        };
        format!("{what} ({:.0} % sure)", 100.0 * self.confidence)
    }

    /// What it means for other transfers. Of calls it says nothing: two equal transfers were tried, and a queue such as
    /// `confucius` keeps a call apart from both of them.
    pub fn meaning(&self) -> String {
        let deep = self.queue_p95_ms.unwrap_or(0.0);
        match self.verdict {
            Management::FairQueuing => "Each flow waits in a queue of its own: other people's \
                 transfers take bandwidth from it, and hardly add delay."
                .to_owned(),
            Management::SharedFifo => {
                format!("Equal flows wait in one queue, here for up to {deep:.0} ms.")
            }
            Management::Aqm => format!(
                "Equal flows share one queue and its losses, but it is kept short (here {deep:.0} ms)."
            ),
            Management::Unknown if self.reordered >= order::SHARE => format!(
                "Nothing can be said: {:.1} % of the packets of one port overtook each other, which no \
                 queue lets them.",
                100.0 * self.reordered
            ),
            Management::Unknown if self.trains.is_some() => {
                "Nothing can be said: a probe that loads the path for some seconds, without --quick, \
                 says more."
                    .to_owned()
            }
            Management::Unknown if self.held => {
                "Nothing can be said: the server's limit held the data \
                 back, and the path was not filled."
                    .to_owned()
            }
            Management::Unknown => "Nothing can be said: the path was not filled for long enough, \
                 or what was seen fits neither."
                .to_owned(),
        }
    }

    /// What a call beside such a load has to expect, in words: by the call that was sent, and nothing else.
    pub fn for_a_call(&self) -> String {
        match &self.call {
            Some(call) => call.meaning(),
            None if self.trains.is_some() => {
                "unknown: a call is sent beside a load only, without --quick.".to_owned()
            }
            None => "unknown: no call was sent. The server is of before the call, or the limit of the rate leaves no \
                 room for it."
                .to_owned(),
        }
    }

    /// What the verdict rests on, in words.
    pub fn reason(&self) -> String {
        if let Some(trains) = self.trains {
            return trains.finding.to_string();
        }
        match self.difference_ms {
            _ if self.overtaken => Evidence::Train,
            _ if self.in_order && self.verdict != Management::FairQueuing => Evidence::Order,
            Some(difference_ms) => Evidence::Delays {
                difference_ms,
                queue_ms: self.queue_ms.unwrap_or(0.0),
            },
            None => Evidence::None,
        }
        .to_string()
    }

    /// All of it, a line each.
    pub fn text(&self) -> String {
        let mut text = format!("verdict     {}\n", self.headline());
        let way = match self.direction {
            DataDirection::Down => "from the server to here",
            DataDirection::Up => "from here to the server",
        };
        let or = |x: Option<f64>| x.map_or("not seen".to_owned(), |x| format!("{x:.1} ms"));
        let lost = 100.0 * self.lost_bytes as f64 / self.sent_bytes.max(1) as f64;
        let lines = [
            ("direction", way.to_owned()),
            ("base RTT", or(self.base_rtt_ms)),
            ("rate", format!("{:.1} Mbit/s", self.rate_mbit)),
            (
                "queue",
                format!(
                    "{} (median), {} (95 %)",
                    or(self.queue_ms),
                    or(self.queue_p95_ms)
                ),
            ),
            ("lost", format!("{lost:.2} %, {} marks", self.marks)),
            ("because", self.reason()),
            ("for others", self.meaning()),
            ("for a call", self.for_a_call()),
        ];
        let queue_is_ours = self.trains.is_some();
        for (name, value) in lines {
            if name == "queue" && queue_is_ours {
                continue;
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<11} {value}");
        }
        text
    }

    /// Whether every figure is one that a sender can observe: a peer's report is not trusted.
    pub(crate) fn is_sound(&self) -> bool {
        let share = |x: f64| (0.0..=1.0).contains(&x);
        let size = |x: f64| (0.0..1e9).contains(&x);
        share(self.confidence)
            && share(self.reordered)
            && self.trains.is_none_or(|trains| trains.is_sound())
            && self.call.is_none_or(|call| call.is_sound())
            && self.difference_ms.is_none_or(|x| size(x.abs()))
            && size(self.age_ms)
            && size(self.at_ms)
            && size(self.rate_mbit)
            && [self.base_rtt_ms, self.queue_ms, self.queue_p95_ms]
                .into_iter()
                .all(|x| x.is_none_or(size))
    }
}

/// The verdict of the quick form: that of one observation.
fn of_trains(finding: TrainsFinding) -> (NoticeKind, f64) {
    match finding {
        TrainsFinding::Overtaken => (NoticeKind::Fair, 0.5),
        _ => (NoticeKind::Unknown, 0.0),
    }
}

/// The verdict over the whole time out of those over it: that of most of them. Without verdicts for
/// a quarter of the time, there is none.
fn weigh(votes: Votes) -> (NoticeKind, f64) {
    let decided = votes.fair + votes.shared;
    if decided == 0 || decided < votes.unknown / 3 {
        return (NoticeKind::Unknown, 0.0);
    }
    let fair = f64::from(votes.fair) / f64::from(decided);
    let covered = f64::from(decided) / f64::from(decided + votes.unknown);
    if fair > 0.5 && votes.fair >= LEAST_VOTES {
        (NoticeKind::Fair, covered * fair)
    } else {
        (NoticeKind::Shared, covered * (1.0 - fair).max(0.5))
    }
}

/// One verdict out of two: the detector's about isolation, and that about the queue's management.
fn judge(kind: NoticeKind, confidence: f64, managed: Managed) -> (Management, f64) {
    match (kind, managed) {
        (NoticeKind::Unknown, _) => (Management::Unknown, 0.0),
        (NoticeKind::Fair, _) => (Management::FairQueuing, confidence),
        (NoticeKind::Shared, Managed::Aqm(sure)) => (Management::Aqm, confidence.min(sure)),
        (NoticeKind::Shared, Managed::DropTail(sure)) => {
            (Management::SharedFifo, confidence.min(sure))
        }
        (NoticeKind::Shared, Managed::Unknown) => (Management::SharedFifo, confidence.min(0.5)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_verdicts_decide() {
        let of = |fair, shared, unknown| {
            weigh(Votes {
                fair,
                shared,
                unknown,
                in_order: 0,
            })
        };
        assert_eq!(of(60, 40, 0), (NoticeKind::Fair, 0.6));
        assert_eq!(of(25, 75, 0), (NoticeKind::Shared, 0.75));
        assert_eq!(of(100, 0, 0), (NoticeKind::Fair, 1.0));
        assert_eq!(of(0, 100, 100), (NoticeKind::Shared, 0.5));
        assert_eq!(of(2, 0, 0), (NoticeKind::Shared, 0.5));
        assert_eq!(of(10, 10, 80).0, NoticeKind::Unknown);
        assert_eq!(of(0, 0, 0).0, NoticeKind::Unknown);
    }

    #[test]
    fn two_observations_make_one_verdict() {
        let cases = [
            (
                NoticeKind::Unknown,
                Managed::Aqm(1.0),
                (Management::Unknown, 0.0),
            ),
            (
                NoticeKind::Fair,
                Managed::Aqm(0.5),
                (Management::FairQueuing, 0.8),
            ),
            (
                NoticeKind::Shared,
                Managed::Aqm(0.6),
                (Management::Aqm, 0.6),
            ),
            (
                NoticeKind::Shared,
                Managed::DropTail(0.9),
                (Management::SharedFifo, 0.8),
            ),
            (
                NoticeKind::Shared,
                Managed::Unknown,
                (Management::SharedFifo, 0.5),
            ),
        ];
        for (kind, managed, expected) in cases {
            assert_eq!(judge(kind, 0.8, managed), expected);
        }
    }
}
