//! Why a call stalled: each late frame is explained by the events of the packets that carried it.
//!
//! A frame is complete with one packet. The way of that packet has parts: its sender held it, its
//! sender's line, each queue and the wire behind it. The longest part is where the frame was late. In
//! a queue, what left it meanwhile says whom the call waited for; a queue that carried much less
//! than it usually does had no capacity. A frame that its sender held is explained by answers that
//! came late, by losses before it, or else by what slowed the control down. Answers are the call's
//! packets the other way: reports, acknowledgements, requests for packets and for key frames.
//!
//! Only what was observed counts, but for the names of things, the computers that entries run on
//! and which links are under test. It is for runs that somebody looks at: it follows each packet.

mod call;
mod judge;
mod named;
mod queue;
mod trip;
mod wires;

pub use crate::cause::words::time;
pub use crate::cause::{Behind, Cause, CauseKind, CauseShare, Stall, Tried, Whose, Why};

use crate::engine::BuiltLink;
use crate::event::{Event, LinkId, PacketId, Sink};
use crate::flows::Flows;
use crate::result::RunResult;
use call::JudgedCall;
use named::FindingNames;
use queue::{Entry, QueuePast, STRANGER};
use scenario::Scenario;
use std::collections::BTreeMap;
use trip::Fault;
use units::{Duration, Instant};
use workload::{Event as Application, Rows, TrafficId};

/// The past that is kept beside that of frames under way: what may hold up the next one.
const PAST: Duration = Duration::from_secs(3);
/// A frame that does not come for longer than this is explained by this much of the past.
const MOST_PAST: Duration = Duration::from_secs(30);

/// Follows the packets of a run's calls.
#[derive(Debug)]
pub struct Explainer {
    scenario: Scenario,
    from: Instant,
    end: Instant,
    flows: Flows<TrafficId>,
    queues: Vec<QueuePast>,
    /// By traffic entry.
    calls: BTreeMap<Entry, JudgedCall>,
    /// When the past was last forgotten.
    tidied: Instant,
}

impl Explainer {
    /// Follows a run of `scenario`; none if it has no call.
    pub fn new(scenario: &Scenario) -> Option<Self> {
        let from = Instant::ZERO + scenario.warmup;
        let entries = (0..).zip(&scenario.traffic);
        let calls = entries.filter(|(_, entry)| entry.kind.entry.rows == Rows::Call);
        let calls: BTreeMap<Entry, JudgedCall> = calls
            .map(|(place, entry)| (place, JudgedCall::new(scenario, entry, from)))
            .collect();
        (!calls.is_empty()).then(|| Explainer {
            from,
            end: Instant::ZERO + scenario.duration,
            flows: Flows::default(),
            queues: Vec::new(),
            calls,
            tidied: Instant::ZERO,
            scenario: scenario.clone(),
        })
    }

    fn entry(&mut self, packet: PacketId) -> Entry {
        let flow = packet.flow.and_then(|flow| self.flows.get_mut(flow));
        flow.map_or(STRANGER, |traffic| traffic.0)
    }

    fn queue(&mut self, link: LinkId) -> &mut QueuePast {
        let place = usize::from(link.0);
        if self.queues.len() <= place {
            self.queues.resize_with(place + 1, QueuePast::default);
        }
        &mut self.queues[place]
    }

    /// Whether a queue is on the way from the home.
    fn is_up(&self, link: LinkId) -> bool {
        usize::from(link.0) >= self.scenario.links.len()
    }

    fn entered(&mut self, now: Instant, link: LinkId, packet: PacketId) {
        let (entry, up) = (self.entry(packet), self.is_up(link));
        self.queue(link).entered(entry, packet.bytes);
        if let Some(call) = self.calls.get_mut(&entry) {
            if call.up == up && call.trips.is_first(packet.number) {
                call.sends(now, packet.bytes);
            }
            call.going(up).entered(now, packet.number, link);
        }
    }

    fn left(&mut self, now: Instant, link: LinkId, packet: PacketId) {
        let (entry, up) = (self.entry(packet), self.is_up(link));
        let flow = packet.flow.map_or(u32::MAX, |flow| flow.0);
        self.queue(link).left(now, entry, flow, packet.bytes);
        if let Some(call) = self.calls.get_mut(&entry) {
            call.going(up).left(now, packet.number);
        }
    }

    fn failed(
        &mut self,
        now: Instant,
        link: LinkId,
        packet: PacketId,
        reason: Option<qdisc::DropReason>,
    ) {
        let (entry, up) = (self.entry(packet), self.is_up(link));
        let queue = self.queue(link);
        if reason.is_some() {
            queue.gone(entry, packet.bytes);
        }
        if !self.calls.contains_key(&entry) {
            return;
        }
        let fault = Fault {
            at: now,
            link,
            reason,
            waiting: self.queue(link).around(now),
        };
        if let Some(call) = self.calls.get_mut(&entry) {
            call.going(up).failed(packet.number, fault);
        }
    }

    fn application(&mut self, now: Instant, event: Application) {
        match event {
            Application::FlowStarted { flow, traffic, .. } => {
                self.flows.insert(flow, traffic);
            }
            Application::FrameSent { call, frame } => {
                if let Some(call) = self.calls.get_mut(&call.0) {
                    call.video.sent(now, frame);
                    call.sent.insert(frame, now);
                }
                self.tidy(now);
            }
            Application::FrameArrived { call, frame } => self.frame(now, call, frame, true),
            Application::FrameLost { call, frame } => self.frame(now, call, frame, false),
            Application::FrameShown { call, frame, held } => {
                if let Some(call) = self.calls.get_mut(&call.0) {
                    call.video.shown(now, frame, held);
                }
            }
            _ => {}
        }
        if let Application::FrameShown { call, .. }
        | Application::FrameLost { call, .. }
        | Application::FrameSent { call, .. } = event
            && let Some(call) = self.calls.get_mut(&call.0)
        {
            while let Some(turn) = call.video.turn() {
                call.turned(&turn, self.from);
            }
        }
    }

    /// A frame arrived, or was skipped.
    fn frame(&mut self, now: Instant, call: TrafficId, frame: u64, arrived: bool) {
        let Some(call) = self.calls.get_mut(&call.0) else {
            return;
        };
        if arrived {
            call.video.arrived(now, frame);
        } else {
            call.video.lost(now, frame);
        }
        let Some(&sent) = call.sent.get(&frame) else {
            return;
        };
        let delay = now.since(sent);
        if arrived {
            let quickest = call.quickest.get_or_insert(delay);
            *quickest = (*quickest).min(delay);
        }
        // A frame that had arrived before it was skipped has its finding.
        if delay > call.threshold && !call.found.contains_key(&frame) {
            let finding = call.judge(&self.queues, sent, now, arrived);
            call.found.insert(frame, finding);
        }
    }

    /// Forgets the past that no frame needs.
    fn tidy(&mut self, now: Instant) {
        if now.since(self.tidied) < PAST {
            return;
        }
        self.tidied = now;
        let oldest = self.calls.values().filter_map(|call| call.video.oldest());
        let oldest = oldest.min().unwrap_or(now).max(now - MOST_PAST);
        for queue in &mut self.queues {
            queue.forget(oldest - PAST);
        }
        for call in self.calls.values_mut() {
            call.trips.forget(oldest - PAST);
            call.answers.forget(oldest - PAST);
        }
    }

    /// Adds to `result` why its calls stalled. `links` are the queues as the engine built them.
    pub fn explain(mut self, result: &mut RunResult, links: &[BuiltLink]) {
        let mut calls = core::mem::take(&mut self.calls);
        for call in calls.values_mut() {
            call.finish(&self.queues, self.from, self.end);
        }
        for (place, call) in &calls {
            let entry = &self.scenario.traffic[usize::from(*place)];
            let of = result.calls.iter_mut().find(|of| of.name == entry.name);
            if let Some(of) = of {
                let named = FindingNames {
                    scenario: &self.scenario,
                    queues: &self.queues,
                    links,
                    call: *place,
                    of: call,
                };
                of.why = Some(named.why(&of.control, of.frame_delay_ms.max));
            }
        }
    }
}

impl Sink for Explainer {
    fn event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { packet, up } => {
                let entry = self.entry(packet);
                if let Some(call) = self.calls.get_mut(&entry) {
                    if call.up == up {
                        call.sends(now, packet.bytes);
                    }
                    call.going(up).sent(now, packet.number);
                }
            }
            Event::Arrived { packet } => {
                let entry = self.entry(packet);
                if let Some(call) = self.calls.get_mut(&entry) {
                    call.trips.arrived(now, packet.number);
                    call.answers.arrived(now, packet.number);
                }
            }
            Event::Enqueued { link, packet } => self.entered(now, link, packet),
            Event::Dequeued { link, packet, .. } => self.left(now, link, packet),
            Event::Dropped {
                link,
                packet,
                reason,
            } => self.failed(now, link, packet, Some(reason)),
            Event::Lost { link, packet } => self.failed(now, link, packet, None),
            Event::Traffic(event) => self.application(now, event),
            Event::Marked { .. }
            | Event::Moved { .. }
            | Event::Noticed { .. }
            | Event::Sender { .. }
            | Event::Limited { .. }
            | Event::Rated { .. }
            | Event::Media { .. } => {}
        }
    }

    fn wants_ends(&self) -> bool {
        true
    }
}
