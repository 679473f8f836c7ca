//! From findings to causes with names.

use crate::cause::{Behind, Cause, CauseKind, CauseShare, Stall, Whose, Why, words};
use crate::engine::BuiltLink;
use crate::event::LinkId;
use crate::why::call::{JudgedCall, Spell, add, bin};
use crate::why::judge::{Finding, PathPart};
use crate::why::queue::{Entry, QueuePast};
use qdisc::Limit;
use scenario::Scenario;
use units::{Duration, Instant};

/// A link that carries less than this share of the usual had no capacity.
const DIP: f64 = 0.5;
/// An entry with less of the bytes than this is not named.
const NAMED: f64 = 0.1;
/// Stalls that are listed.
const MOST_LISTED: usize = 20;
/// Bins over which a call's rate before a stall is taken, and its lowest in it.
const BEFORE: usize = 10;
const LOWEST: usize = 3;

/// What gives findings their names.
pub struct FindingNames<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// All queues.
    pub queues: &'a [QueuePast],
    /// The same as the engine built them.
    pub links: &'a [BuiltLink],
    /// The call.
    pub call: Entry,
    /// What was seen of it.
    pub of: &'a JudgedCall,
}

impl FindingNames<'_> {
    /// Why the call stalled; `worst_ms` is its longest frame delay.
    pub fn why(&self, control: &str, worst_ms: Option<f64>) -> Why {
        let call = self.of;
        let total: Duration = call
            .stalls
            .iter()
            .fold(Duration::ZERO, |sum, of| sum + of.stall);
        let mut findings = Vec::new();
        for (stall, finding) in call.stalls.iter().flat_map(|stall| &stall.findings) {
            add(&mut findings, *stall, finding.clone());
        }
        findings.sort_by_key(|(stall, _)| core::cmp::Reverse(*stall));
        let causes = findings.iter().map(|(stall, finding)| CauseShare {
            stall_s: stall.as_secs_f64(),
            share: stall.as_secs_f64() / total.as_secs_f64(),
            cause: self.cause(finding),
            tried: None,
        });
        let causes: Vec<CauseShare> = causes.collect();
        let mut longest: Vec<&Spell> = call.stalls.iter().collect();
        longest.sort_by_key(|spell| core::cmp::Reverse(spell.stall));
        longest.truncate(MOST_LISTED);
        longest.sort_by_key(|spell| spell.from);
        let name = &self.scenario.traffic[usize::from(self.call)].name;
        let mut why = Why {
            text: words::none(name, worst_ms),
            count: call.stalls.len() as u64,
            causes,
            refuted: Vec::new(),
            rare: false,
            stalls: longest
                .into_iter()
                .map(|spell| self.stall(call, spell))
                .collect(),
        };
        why.tell(name, control);
        why
    }

    fn stall(&self, call: &JudgedCall, spell: &Spell) -> Stall {
        let from = bin(spell.from);
        // Behind the run's end it sends nothing, which is no low rate.
        let end = bin(Instant::ZERO + self.scenario.duration);
        let last = (bin(spell.to) + BEFORE).min(end).saturating_sub(LOWEST);
        let lowest = (from.min(last)..=last)
            .map(|start| call.mbps(start, start + LOWEST))
            .min_by(f64::total_cmp);
        let most = spell.findings.iter().max_by_key(|(stall, _)| *stall);
        Stall {
            from_s: spell.from.as_secs_f64(),
            to_s: spell.to.as_secs_f64(),
            stall_s: spell.stall.as_secs_f64(),
            worst_ms: spell.worst.map(Duration::as_millis_f64),
            rate_before_mbps: call.mbps(from.saturating_sub(BEFORE), from),
            rate_lowest_mbps: lowest.unwrap_or(0.0),
            cause: most.map_or_else(
                || self.cause(&Finding::at(PathPart::Unknown, Duration::ZERO)),
                |(_, finding)| self.cause(finding),
            ),
        }
    }

    fn cause(&self, finding: &Finding) -> Cause {
        let (mut kind, link) = match finding.place {
            PathPart::Queue(link) => (CauseKind::Queue, Some(link)),
            PathPart::Device(link) => (CauseKind::Device, Some(link)),
            PathPart::Jitter(link) => (CauseKind::Jitter, Some(link)),
            PathPart::Wire(link) => (CauseKind::Loss, Some(link)),
            PathPart::Limit(link) => (CauseKind::Policing, Some(link)),
            PathPart::Access => (CauseKind::Access, None),
            PathPart::Sender => (CauseKind::Sender, None),
            PathPart::Distance => (CauseKind::Distance, None),
            PathPart::Unknown => (CauseKind::Unknown, None),
        };
        let queue = link.and_then(|link| self.queues.get(usize::from(link.0)));
        let usual = queue.and_then(QueuePast::usual_rate);
        if let (Some(carried), Some(usual)) = (finding.carried, usual)
            && carried < usual * DIP
        {
            kind = CauseKind::Dip;
        }
        let built = link.and_then(|link| self.links.get(usize::from(link.0)));
        let is_queue = matches!(kind, CauseKind::Queue | CauseKind::Dip);
        let mbps = |rate: f64| rate * 8e-6;
        Cause {
            kind,
            back: finding.back,
            queue: built.map(|built| built.name.clone()),
            discipline: built.map(|built| built.discipline.clone()),
            under_test: link.map(|link| self.is_under_test(link)),
            away_ms: link.and_then(|link| self.away(link, &finding.way)),
            waited_ms: finding.wait.as_millis_f64(),
            failed: finding.failed,
            room_packets: built
                .and_then(|built| built.buffer)
                .filter(|_| kind == CauseKind::Queue && finding.failed > 0 && !finding.back)
                .map(Limit::packets),
            behind: match kind {
                CauseKind::Queue => self.behind(finding),
                _ => Vec::new(),
            },
            carried_mbps: finding.carried.filter(|_| is_queue).map(mbps),
            usual_mbps: usual.filter(|_| is_queue).map(mbps),
        }
    }

    /// Whether the discipline on a queue is the one under test.
    fn is_under_test(&self, link: LinkId) -> bool {
        let (place, links) = (usize::from(link.0), &self.scenario.links);
        let mut uplinks = links.iter().rev().filter_map(|link| link.up.as_ref());
        match links.get(place) {
            Some(link) => link.discipline.is_none(),
            None => uplinks
                .nth(place - links.len())
                .is_some_and(|up| up.discipline.is_none()),
        }
    }

    /// The queue of a way that is nearest to the home.
    fn home(&self, way: &[LinkId]) -> Option<LinkId> {
        let up = way
            .first()
            .is_some_and(|first| usize::from(first.0) >= self.scenario.links.len());
        if up { way.first() } else { way.last() }.copied()
    }

    /// Time between a queue on a way and the one nearest to the home.
    fn away(&self, link: LinkId, way: &[LinkId]) -> Option<f64> {
        let place = way.iter().position(|of| *of == link)?;
        let home = way.iter().position(|of| Some(*of) == self.home(way))?;
        let between = &way[place.min(home)..place.max(home)];
        let sum = between.iter().fold(Duration::ZERO, |sum, link| {
            sum + self.of.trips.least(*link) + self.of.answers.least(*link)
        });
        (place != home).then(|| sum.as_millis_f64())
    }

    fn behind(&self, finding: &Finding) -> Vec<Behind> {
        let total: u64 = finding.parts.values().map(|(bytes, _)| bytes).sum();
        let share = |bytes: u64| bytes as f64 / total as f64;
        let mut parts: Vec<_> = finding.parts.iter().collect();
        parts.sort_by_key(|(_, (bytes, _))| core::cmp::Reverse(*bytes));
        let named = parts
            .into_iter()
            .filter(|(_, (bytes, _))| share(*bytes) >= NAMED);
        named
            .map(|(&of, &(bytes, flows))| {
                let entry = self.scenario.traffic.get(usize::from(of));
                Behind {
                    name: entry.map_or_else(|| "others".to_owned(), |entry| entry.name.clone()),
                    host: entry
                        .filter(|of| of.host != of.name)
                        .map(|of| of.host.clone()),
                    whose: self.whose(of, &finding.way),
                    flows: flows as u64,
                    share: share(bytes),
                }
            })
            .collect()
    }

    fn whose(&self, of: Entry, way: &[LinkId]) -> Whose {
        let host = |of: Entry| {
            self.scenario
                .traffic
                .get(usize::from(of))
                .map(|of| &of.host)
        };
        let home = self
            .home(way)
            .and_then(|home| self.queues.get(usize::from(home.0)));
        match home {
            _ if of == self.call => Whose::Own,
            _ if host(of).is_some() && host(of) == host(self.call) => Whose::Computer,
            Some(home) if !home.has_seen(of) => Whose::Elsewhere,
            _ => Whose::House,
        }
    }
}
