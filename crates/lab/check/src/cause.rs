//! Why a call missed a limit, from the link's own log: which packets of the call were lost by the wire, dropped by a
//! queue or waited there, beside whose packets, and when the line stood still.
//!
//! Every packet of the call at a time of trouble is one of five: lost by the wire; late or dropped while the line
//! stood still; late or dropped behind packets of others; late or dropped behind the call's own; or none of these. A
//! cause's share is that of the packets of its direction. Where the packets show none, a line that was full is the
//! cause, and else the application itself.

use crate::file::Media;
use crate::lane::Lane;
use crate::log::{LoggedFate, LoggedPacket};
use core::fmt::Write as _;
use serde::Serialize;
use std::collections::BTreeMap;

/// A packet that waits so long, in s, can make a frame late. A freeze is a gap 150 ms longer than usual.
pub const LATE: f64 = 0.05;
/// A cause of fewer packets is none.
const LEAST: f64 = 0.01;
/// Others have a part in a wait if so many of the bytes that left meanwhile were theirs.
const PART: f64 = 0.2;
/// A line that carries so much of what it can is full.
const FULL: f64 = 0.85;
/// A drop is by the queue's state of so long before, in s.
const LATELY: f64 = 0.2;
/// A pause of a sender that is told, in s.
const PAUSE: f64 = 0.3;

/// The names of the directions.
const WAYS: [&str; 2] = ["down", "up"];

/// What kind of cause it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckCauseKind {
    /// The line carried nothing.
    Outage,
    /// Packets waited in a queue, or were dropped by it, behind those of others.
    QueueOfOthers,
    /// They did so behind the call's own: the line was too narrow for it.
    NarrowLine,
    /// The wire lost packets.
    Loss,
    /// Nothing of these.
    Application,
}

/// A cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// Its kind.
    pub kind: CheckCauseKind,
    /// The direction, `down` or `up`; none of the application.
    pub way: Option<&'static str>,
    /// Share of the call's packets in that direction that it concerns.
    pub share: f64,
    /// In words, as a clause.
    pub words: String,
}

/// What is known of a call's link.
#[derive(Debug)]
pub struct LinkEvidence<'a> {
    /// The log, in the order in which packets left.
    pub packets: &'a [LoggedPacket],
    /// Both directions of the line: down, up.
    pub lanes: &'a [Lane; 2],
    /// Which packets are the call's.
    pub media: &'a Media,
}

/// Causes of trouble at these times, in s, that of the largest share of its direction first; at least one.
pub fn causes(evidence: &LinkEvidence<'_>, times: &[(f64, f64)]) -> Vec<Cause> {
    let ways = [0, 1].map(|way| WayLosses::of(evidence, way, times));
    let mut found: Vec<Cause> = ways.iter().flat_map(WayLosses::causes).collect();
    found.sort_by(|one, other| {
        other
            .share
            .total_cmp(&one.share)
            .then(one.kind.cmp(&other.kind))
    });
    if found.is_empty() {
        found.extend(ways.iter().filter_map(WayLosses::full));
    }
    if found.is_empty() {
        found.push(by_itself(&ways));
    }
    found
}

/// Whether two spans overlap.
fn overlap(times: &[(f64, f64)], (from, until): (f64, f64)) -> bool {
    times
        .iter()
        .any(|(start, end)| from < *end && until > *start)
}

/// Bytes that left a queue, summed up: all, and those of others.
struct LeftBytes {
    at: Vec<f64>,
    all: Vec<f64>,
    others: Vec<f64>,
}

impl LeftBytes {
    fn of(packets: &[(&LoggedPacket, bool)]) -> LeftBytes {
        let mut left = LeftBytes {
            at: Vec::new(),
            all: vec![0.0],
            others: vec![0.0],
        };
        for (packet, is_call) in packets
            .iter()
            .filter(|(packet, _)| packet.fate != LoggedFate::Dropped)
        {
            let (all, others) = (left.all[left.at.len()], left.others[left.at.len()]);
            left.at.push(packet.left);
            left.all.push(all + packet.bytes);
            left.others
                .push(others + if *is_call { 0.0 } else { packet.bytes });
        }
        left
    }

    /// All bytes and those of others that left between two moments.
    fn between(&self, from: f64, until: f64) -> (f64, f64) {
        let [start, end] = [from, until].map(|at| self.at.partition_point(|left| *left <= at));
        let end = end.max(start);
        (
            self.all[end] - self.all[start],
            self.others[end] - self.others[start],
        )
    }
}

/// What happened to the call's packets in one direction at the times of trouble.
struct WayLosses<'a> {
    way: usize,
    lane: &'a Lane,
    times: &'a [(f64, f64)],
    /// The call's packets.
    packets: usize,
    /// Those of each kind.
    counts: BTreeMap<CheckCauseKind, usize>,
    dropped: usize,
    /// The longest wait of one.
    longest: f64,
    /// The longest time without one, within the times of trouble, before which and after which there were some.
    pause: f64,
    /// Bytes that left the queue, and those of others among them, while packets of the call were late.
    beside: (f64, f64),
    /// The busiest of others, and its bytes.
    other: Option<(String, f64)>,
    /// Bytes that left the queue.
    carried: f64,
}

impl<'a> WayLosses<'a> {
    fn of(evidence: &LinkEvidence<'a>, way: usize, times: &'a [(f64, f64)]) -> WayLosses<'a> {
        let packets = evidence.packets.iter().filter(|packet| packet.way == way);
        let mut packets: Vec<(&LoggedPacket, bool)> = packets
            .map(|packet| (packet, evidence.media.has(packet)))
            .collect();
        packets.sort_by(|one, other| one.0.left.total_cmp(&other.0.left));
        let left = LeftBytes::of(&packets);
        let mut found = WayLosses {
            way,
            lane: &evidence.lanes[way],
            times,
            packets: 0,
            counts: BTreeMap::new(),
            dropped: 0,
            longest: 0.0,
            pause: pause(&packets, times),
            beside: (0.0, 0.0),
            other: busiest(&packets, times),
            carried: times
                .iter()
                .map(|(from, until)| left.between(*from, *until).0)
                .sum(),
        };
        for (packet, _) in packets.iter().filter(|(_, is_call)| *is_call) {
            if overlap(times, (packet.came - 1e-9, packet.left + 1e-9)) {
                found.add(packet, &left);
            }
        }
        found
    }

    fn add(&mut self, packet: &LoggedPacket, left: &LeftBytes) {
        self.packets += 1;
        let waited = packet.left - packet.came;
        self.longest = self.longest.max(waited);
        let is_dropped = packet.fate == LoggedFate::Dropped;
        self.dropped += usize::from(is_dropped);
        let kind = if packet.fate == LoggedFate::Lost {
            CheckCauseKind::Loss
        } else if is_dropped || waited > LATE {
            let from = if is_dropped {
                packet.came.min(packet.left - LATELY)
            } else {
                packet.came
            };
            let (all, others) = left.between(from, packet.left);
            if self.lane.stands(from, packet.left) > 0.5 * (packet.left - from) {
                CheckCauseKind::Outage
            } else {
                self.beside = (self.beside.0 + all, self.beside.1 + others);
                if others >= PART * all && others > 0.0 {
                    CheckCauseKind::QueueOfOthers
                } else {
                    CheckCauseKind::NarrowLine
                }
            }
        } else {
            return;
        };
        *self.counts.entry(kind).or_default() += 1;
    }

    fn name(&self) -> &'static str {
        WAYS[self.way]
    }

    /// When the line stood still in the times of trouble.
    fn still(&self) -> Vec<(f64, f64)> {
        let spans = self.lane.still().iter().copied();
        spans.filter(|span| overlap(self.times, *span)).collect()
    }

    fn causes(&self) -> Vec<Cause> {
        let share = |kind: &CheckCauseKind, count: usize| {
            let of_packets = count as f64 / self.packets.max(1) as f64;
            match kind {
                // Packets that wait to the end are in no log.
                CheckCauseKind::Outage => of_packets.max(self.stood()),
                _ => of_packets,
            }
        };
        let mut counts = self.counts.clone();
        if !self.still().is_empty() {
            counts.entry(CheckCauseKind::Outage).or_default();
        }
        let shares = counts
            .iter()
            .map(|(kind, count)| (*kind, *count, share(kind, *count)));
        let causes = shares
            .filter(|(.., share)| *share >= LEAST)
            .map(|(kind, count, share)| Cause {
                kind,
                way: Some(self.name()),
                share,
                words: match kind {
                    CheckCauseKind::Loss => self.lost(count),
                    CheckCauseKind::Outage => self.stood_still(),
                    CheckCauseKind::QueueOfOthers => self.behind_others(count),
                    CheckCauseKind::NarrowLine | CheckCauseKind::Application => {
                        self.behind_itself(count)
                    }
                },
            });
        causes.collect()
    }

    /// The part of the times of trouble in which the line stood still.
    fn stood(&self) -> f64 {
        let all: f64 = self.times.iter().map(|(from, until)| until - from).sum();
        let still: f64 = self
            .times
            .iter()
            .map(|(from, until)| self.lane.stands(*from, *until))
            .sum();
        still / all.max(1e-9)
    }

    fn lost(&self, count: usize) -> String {
        format!(
            "the wire lost {:.1} % of the call's packets on the way {} ({count} of {})",
            100.0 * count as f64 / self.packets.max(1) as f64,
            self.name(),
            self.packets,
        )
    }

    fn stood_still(&self) -> String {
        let spans = self.still().into_iter();
        let spans = spans.map(|(from, until)| format!("from {from:.1} to {until:.1} s"));
        let spans: Vec<String> = spans.take(3).collect();
        format!("the line {} stood still {}", self.name(), spans.join(", "))
    }

    fn waited(&self, count: usize) -> String {
        let mut text = format!(
            "{:.0} % of the call's packets waited more than {:.0} ms, up to {:.0}, in the queue {}",
            100.0 * count as f64 / self.packets.max(1) as f64,
            1e3 * LATE,
            1e3 * self.longest,
            self.name(),
        );
        if self.longest <= LATE {
            text = format!(
                "the queue {} dropped {} of the call's {} packets",
                self.name(),
                self.dropped,
                self.packets
            );
        } else if self.dropped > 0 {
            _ = write!(text, ", which dropped {} of {}", self.dropped, self.packets);
        }
        text
    }

    fn behind_others(&self, count: usize) -> String {
        let part = 100.0 * self.beside.1 / self.beside.0.max(1.0);
        let most = self
            .other
            .as_ref()
            .map_or(String::new(), |(name, _)| format!(", most of {name}"));
        format!(
            "{}, behind packets of others: {part:.0} % of the bytes{most}",
            self.waited(count)
        )
    }

    fn behind_itself(&self, count: usize) -> String {
        format!(
            "{}, behind the call's own{}",
            self.waited(count),
            self.had()
        )
    }

    /// What the line could carry.
    fn had(&self) -> String {
        let seconds: f64 = self.times.iter().map(|(from, until)| until - from).sum();
        let mbit = |bytes: f64| 8.0 * bytes / 1e6 / seconds.max(1e-9);
        match self.could() {
            Some(could) => format!(
                ": the line had {:.2} Mbit/s, and {:.2} came through",
                mbit(could),
                mbit(self.carried)
            ),
            None => String::new(),
        }
    }

    fn could(&self) -> Option<f64> {
        let bytes = self
            .times
            .iter()
            .map(|(from, until)| self.lane.bytes(*from, *until));
        bytes.sum()
    }

    /// The line was full, although no packet was late.
    fn full(&self) -> Option<Cause> {
        let part = self.carried / self.could()?.max(1.0);
        (part >= FULL && self.packets > 0).then(|| Cause {
            kind: CheckCauseKind::NarrowLine,
            way: Some(self.name()),
            share: part,
            words: format!("the line {} was full{}", self.name(), self.had()),
        })
    }
}

/// The longest time in which no packet of the call came to the queue.
fn pause(packets: &[(&LoggedPacket, bool)], times: &[(f64, f64)]) -> f64 {
    let call = packets
        .iter()
        .filter(|(_, is_call)| *is_call)
        .map(|(packet, _)| packet.came);
    let mut came: Vec<f64> = call.collect();
    came.sort_by(f64::total_cmp);
    let pauses = came
        .windows(2)
        .filter(|two| overlap(times, (two[0], two[1])));
    pauses.map(|two| two[1] - two[0]).fold(0.0, f64::max)
}

/// Who else sent most at these times.
fn busiest(packets: &[(&LoggedPacket, bool)], times: &[(f64, f64)]) -> Option<(String, f64)> {
    let mut flows: BTreeMap<(&str, &[String; 2]), f64> = BTreeMap::new();
    for (packet, is_call) in packets {
        if !is_call && overlap(times, (packet.came, packet.left + 1e-9)) {
            *flows.entry((&packet.carrier, &packet.ends)).or_default() += packet.bytes;
        }
    }
    let most = flows
        .into_iter()
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    let ((carrier, [source, destination]), bytes) = most;
    let carrier = if carrier.is_empty() {
        String::new()
    } else {
        format!(" ({carrier})")
    };
    Some((format!("{source} to {destination}{carrier}"), bytes))
}

fn by_itself(ways: &[WayLosses<'_>; 2]) -> Cause {
    let longest = ways.iter().map(|way| way.longest).fold(0.0, f64::max);
    let packets: usize = ways.iter().map(|way| way.packets).sum();
    let mut words = match packets {
        0 => "the application's own doing: it sent nothing at all".to_owned(),
        _ => format!(
            "the application's own doing: no packet of the call waited longer than {:.0} ms, and next to none was lost",
            libm::ceil(1e3 * longest - 1e-6)
        ),
    };
    for (way, end) in ways.iter().zip(["far", "near"]) {
        if way.pause > PAUSE {
            _ = write!(words, "; its {end} end sent nothing for {:.1} s", way.pause);
        }
    }
    Cause {
        kind: CheckCauseKind::Application,
        way: None,
        share: 1.0,
        words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::{Capacity, Trace};
    use std::sync::Arc;
    use units::{Duration, Rate};

    const CALL: &str = "10.0.0.1:5004";
    const OTHER: &str = "10.0.0.1:80";
    const HOME: &str = "10.0.0.2:4000";

    fn packet(way: usize, call: bool, came: f64, waited: f64, fate: LoggedFate) -> LoggedPacket {
        let far = if call { CALL } else { OTHER };
        let ends = if way == 0 { [far, HOME] } else { [HOME, far] };
        LoggedPacket {
            came,
            left: came + waited,
            way,
            carrier: if call { "udp" } else { "tcp" }.to_owned(),
            ends: ends.map(str::to_owned),
            bytes: 1000.0,
            fate,
        }
    }

    /// A call of a hundred packets a second both ways, for ten seconds, whose packets fare as `how` says.
    fn call(how: impl Fn(usize, f64) -> (f64, LoggedFate)) -> Vec<LoggedPacket> {
        let each = |number: u32| {
            let at = f64::from(number) / 100.0;
            [0, 1].map(|way| {
                let (waited, fate) = how(way, at);
                packet(way, true, at, waited, fate)
            })
        };
        (0..1000).flat_map(each).collect()
    }

    /// Whether the packet of that moment is one of so many.
    fn is_each(of: u32, at: f64) -> bool {
        ((at * 100.0).round() as u32).is_multiple_of(of)
    }

    fn steps(steps: &[(u64, u64)]) -> Lane {
        let steps: Vec<_> = steps
            .iter()
            .map(|&(at, kbit)| (Duration::from_secs(at), Rate::from_bits(kbit * 1000)))
            .collect();
        Lane::new(&Capacity::Trace(Arc::new(Trace::steps(&steps))), 10.0)
    }

    fn first(packets: &[LoggedPacket], lanes: &[Lane; 2]) -> Cause {
        let media: Media = "udp".parse().unwrap();
        let evidence = LinkEvidence {
            packets,
            lanes,
            media: &media,
        };
        causes(&evidence, &[(4.0, 7.0)]).remove(0)
    }

    fn wide() -> [Lane; 2] {
        [steps(&[(0, 20_000)]), steps(&[(0, 20_000)])]
    }

    #[test]
    fn loss_of_the_wire() {
        let packets = call(|way, at| {
            let lost = way == 0 && is_each(10, at);
            (
                0.001,
                if lost {
                    LoggedFate::Lost
                } else {
                    LoggedFate::Sent
                },
            )
        });
        let cause = first(&packets, &wide());
        assert_eq!(
            (cause.kind, cause.way),
            (CheckCauseKind::Loss, Some("down"))
        );
        assert!(
            cause
                .words
                .contains("10.3 % of the call's packets on the way down"),
            "{}",
            cause.words
        );
    }

    /// A queue in one direction, of others in part.
    fn queue(way: usize) -> Cause {
        let mut packets = call(|of, at| {
            (
                if of == way && at > 4.0 { 0.3 } else { 0.001 },
                LoggedFate::Sent,
            )
        });
        packets.extend((0..3000).map(|number| {
            packet(
                way,
                false,
                4.0 + f64::from(number) / 1000.0,
                0.3,
                LoggedFate::Sent,
            )
        }));
        first(&packets, &wide())
    }

    #[test]
    fn a_queue_of_others_down_and_up() {
        let cause = queue(0);
        assert_eq!(
            (cause.kind, cause.way),
            (CheckCauseKind::QueueOfOthers, Some("down"))
        );
        for words in [
            "up to 300, in the queue down",
            "behind packets of others: 91 %",
            "most of 10.0.0.1:80 to 10.0.0.2:4000 (tcp)",
        ] {
            assert!(cause.words.contains(words), "{words}: {}", cause.words);
        }
        let cause = queue(1);
        assert_eq!(
            (cause.kind, cause.way),
            (CheckCauseKind::QueueOfOthers, Some("up"))
        );
    }

    #[test]
    fn an_outage_by_steps() {
        let still = |_, at: f64| {
            (
                if (5.0..6.0).contains(&at) {
                    6.0 - at
                } else {
                    0.001
                },
                LoggedFate::Sent,
            )
        };
        let lanes = [
            steps(&[(0, 20_000), (5, 0), (6, 20_000)]),
            steps(&[(0, 20_000)]),
        ];
        let cause = first(&call(still), &lanes);
        assert_eq!(
            (cause.kind, cause.way),
            (CheckCauseKind::Outage, Some("down"))
        );
        assert_eq!(cause.words, "the line down stood still from 5.0 to 6.0 s");
        // To the end: what waits is in no log.
        let packets = call(|_, _| (0.001, LoggedFate::Sent));
        let packets: Vec<LoggedPacket> = packets
            .into_iter()
            .filter(|packet| packet.came < 5.0)
            .collect();
        let cause = first(
            &packets,
            &[steps(&[(0, 20_000), (5, 0)]), steps(&[(0, 20_000)])],
        );
        assert_eq!(cause.kind, CheckCauseKind::Outage);
    }

    #[test]
    fn a_narrow_line() {
        let packets = call(|way, at| {
            (
                if way == 1 && at > 3.0 { 0.4 } else { 0.001 },
                LoggedFate::Sent,
            )
        });
        let lanes = [steps(&[(0, 20_000)]), steps(&[(0, 800)])];
        let cause = first(&packets, &lanes);
        assert_eq!(
            (cause.kind, cause.way),
            (CheckCauseKind::NarrowLine, Some("up"))
        );
        assert!(
            cause
                .words
                .contains("the call's own: the line had 0.80 Mbit/s"),
            "{}",
            cause.words
        );
        // Its sender follows the line, so that nothing waits.
        let cause = first(&call(|_, _| (0.001, LoggedFate::Sent)), &lanes);
        assert_eq!(
            (cause.kind, cause.way),
            (CheckCauseKind::NarrowLine, Some("up"))
        );
        assert!(
            cause.words.contains("the line up was full"),
            "{}",
            cause.words
        );
        let dropped = call(|way, at| {
            (
                0.0,
                if way == 1 && at > 3.0 && is_each(4, at) {
                    LoggedFate::Dropped
                } else {
                    LoggedFate::Sent
                },
            )
        });
        let cause = first(&dropped, &lanes);
        assert!(
            cause.kind == CheckCauseKind::NarrowLine
                && cause.words.contains("the queue up dropped"),
            "{cause:?}"
        );
    }

    #[test]
    fn none_of_these() {
        let cause = first(&call(|_, _| (0.001, LoggedFate::Sent)), &wide());
        assert_eq!((cause.kind, cause.way), (CheckCauseKind::Application, None));
        assert!(
            cause.words.contains("waited longer than 1 ms"),
            "{}",
            cause.words
        );
        let packets = call(|_, _| (0.001, LoggedFate::Sent));
        let paused: Vec<LoggedPacket> = packets
            .into_iter()
            .filter(|packet| packet.way == 1 || !(5.0..5.9).contains(&packet.came))
            .collect();
        let cause = first(&paused, &wide());
        assert!(
            cause.words.contains("its far end sent nothing for 0.9 s"),
            "{}",
            cause.words
        );
        assert!(first(&[], &wide()).words.contains("sent nothing at all"));
    }
}
