//! A call that is followed: its frames, its packets, and its stalls so far.

use crate::video::{Turn, Video};
use crate::why::judge::{Evidence, Finding};
use crate::why::queue::QueuePast;
use crate::why::trip::{Trip, Trips};
use crate::why::wires::Wires;
use scenario::{Scenario, Traffic};
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// Late frames with less than this between them are one stall.
const APART: Duration = Duration::from_millis(500);
/// Width of a bin of a call's rate.
const BIN: Duration = Duration::from_millis(100);

/// A call.
#[derive(Debug)]
pub struct JudgedCall {
    /// Its frames go away from the home.
    pub up: bool,
    /// Its frames' turns.
    pub video: Video,
    /// Frames later than this are late.
    pub threshold: Duration,
    /// When frames under way were handed over, by number.
    pub sent: BTreeMap<u64, Instant>,
    /// Its packets with frames.
    pub trips: Trips,
    /// The answers to them.
    pub answers: Trips,
    /// The shortest delay of a frame.
    pub quickest: Option<Duration>,
    /// Findings on late frames whose turn is open, by number.
    pub found: BTreeMap<u64, Finding>,
    /// Bytes that it sent, by bin.
    pub rate: Vec<u64>,
    /// Its stalls, in order.
    pub stalls: Vec<Spell>,
}

/// A stall in the making: late frames in a row, with the stall of each place.
#[derive(Debug)]
pub struct Spell {
    /// When the first late frame was handed over.
    pub from: Instant,
    /// The end of the last one's turn.
    pub to: Instant,
    /// Time for which frames were late.
    pub stall: Duration,
    /// The longest delay.
    pub worst: Option<Duration>,
    /// By place: stall, and the frame that waited longest.
    pub findings: Vec<(Duration, Finding)>,
}

impl JudgedCall {
    /// A call of which nothing has happened; frames from `from` on are measured.
    pub fn new(scenario: &Scenario, entry: &Traffic, from: Instant) -> Self {
        let trips = |up| Trips::new(Wires::of(scenario, entry, up));
        let threshold = entry.stall_threshold;
        JudgedCall {
            up: entry.up,
            video: Video::new(from, threshold, entry.session.buffers()),
            threshold,
            sent: BTreeMap::new(),
            trips: trips(entry.up),
            answers: trips(!entry.up),
            quickest: None,
            found: BTreeMap::new(),
            rate: Vec::new(),
            stalls: Vec::new(),
        }
    }

    /// Its packets in one direction.
    pub fn going(&mut self, up: bool) -> &mut Trips {
        if up == self.up {
            &mut self.trips
        } else {
            &mut self.answers
        }
    }

    /// It sends a packet.
    pub fn sends(&mut self, now: Instant, bytes: u32) {
        *crate::series::bin(&mut self.rate, bin(now)) += u64::from(bytes);
    }

    /// The finding on a frame that was handed over at `from`, and at `to` `arrived` or was skipped.
    pub fn judge(
        &self,
        queues: &[QueuePast],
        from: Instant,
        to: Instant,
        arrived: bool,
    ) -> Finding {
        let evidence = Evidence {
            trips: &self.trips,
            answers: &self.answers,
            queues,
        };
        let quickest = self.quickest.unwrap_or_default();
        let last = self.trips.completing(to, quickest);
        let last: Option<&Trip> = last.filter(|_| arrived);
        evidence.judge(from, to, last)
    }

    /// A frame's turn is over.
    pub fn turned(&mut self, turn: &Turn, from: Instant) {
        self.sent.remove(&turn.frame);
        let finding = self.found.remove(&turn.frame);
        let Some(finding) = finding.filter(|_| turn.stall > Duration::ZERO && turn.sent >= from)
        else {
            return;
        };
        let to = turn.sent + turn.stall;
        let goes_on = |last: &&mut Spell| turn.sent <= last.to + APART;
        let spell = match self.stalls.last_mut().filter(goes_on) {
            Some(last) => last,
            None => {
                self.stalls.push(Spell {
                    from: turn.sent,
                    to,
                    stall: Duration::ZERO,
                    worst: None,
                    findings: Vec::new(),
                });
                let last = self.stalls.len() - 1;
                &mut self.stalls[last]
            }
        };
        spell.to = to;
        spell.stall += turn.stall;
        spell.worst = spell.worst.max(turn.delay);
        add(&mut spell.findings, turn.stall, finding);
    }

    /// Explains the frames that are still under way at the end of the run.
    pub fn finish(&mut self, queues: &[QueuePast], from: Instant, end: Instant) {
        while let Some(turn) = self.video.last_turn(end) {
            if turn.stall > Duration::ZERO && !self.found.contains_key(&turn.frame) {
                let finding = self.judge(queues, turn.sent, end, false);
                self.found.insert(turn.frame, finding);
            }
            self.turned(&turn, from);
        }
    }

    /// Its mean rate over bins, Mbit/s.
    pub fn mbps(&self, from: usize, to: usize) -> f64 {
        let bytes: u64 = self.rate.iter().take(to).skip(from).sum();
        bytes as f64 * 8e-6 / (to.saturating_sub(from).max(1) as f64 * BIN.as_secs_f64())
    }
}

/// Adds a finding to those of the same place and the same entry; the figures are those of the frame
/// that waited longest.
pub fn add(findings: &mut Vec<(Duration, Finding)>, stall: Duration, finding: Finding) {
    let same = |other: &Finding| {
        (other.place, other.back) == (finding.place, finding.back) && other.most() == finding.most()
    };
    match findings.iter_mut().find(|(_, other)| same(other)) {
        Some((sum, other)) => {
            *sum += stall;
            let failed = other.failed.max(finding.failed);
            if finding.wait > other.wait {
                *other = finding;
            }
            other.failed = failed;
        }
        None => findings.push((stall, finding)),
    }
}

/// The bin of a moment.
pub fn bin(at: Instant) -> usize {
    (at.as_nanos() / BIN.as_nanos()) as usize
}
