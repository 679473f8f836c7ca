//! Which packet is sent next: holds first, and then turns.

use super::aqm::{OfFlow, Telling};
use super::calm::{Cause, Wait};
use super::hold::Rivals;
use super::{Host, Mencius, Standing};
use crate::{Observer, Packet};
use units::{Duration, Instant};

/// At most so many packets of flows that are no longer established are skipped for a packet.
const SKIPS: u32 = 64;
/// Bytes that a host may owe for packets that went before those of other hosts.
const OWED: i32 = 30_000;
/// An established flow is signalled above this wait if packets of no other flow wait: a radio link
/// that pauses causes that much.
const ALONE: Duration = Duration::from_millis(250);

impl Host {
    const fn rivals(&self) -> Rivals {
        Rivals {
            own: self.own,
            others: self.others,
        }
    }
}

impl<P> Mencius<P> {
    /// The next packet, and its flow.
    pub(super) fn next(
        &mut self,
        now: Instant,
        observer: &mut dyn Observer<P>,
    ) -> Option<(usize, Packet<P>)> {
        if let Some((flow, kind)) = self.firsts.next() {
            let packet = self.send(now, flow, observer)?;
            let host = self.flows[flow].host;
            self.flow_turns.charge(flow, packet.len);
            self.host_turns.charge(host, packet.len);
            self.firsts.sent(packet.len, Some(kind));
            return Some((flow, packet));
        }
        let (flow, packet) = self.later(now, observer)?;
        self.firsts.sent(packet.len, None);
        Some((flow, packet))
    }

    /// The next packet if no first one goes, and its flow.
    fn later(
        &mut self,
        now: Instant,
        observer: &mut dyn Observer<P>,
    ) -> Option<(usize, Packet<P>)> {
        if let Some(flow) = self.of_held_hosts(now) {
            let packet = self.send(now, flow, observer)?;
            self.owe(now, self.flows[flow].host, packet.len);
            return Some((flow, packet));
        }
        let quantum = self.params.quantum;
        let host = self.turns.next(&mut self.host_turns, quantum)?;
        let held = self.of_held_flows(now, host);
        let turns = &mut self.hosts[host].turns;
        let flow = match held {
            Some(flow) => flow,
            None => turns.next(&mut self.flow_turns, quantum)?,
        };
        let packet = self.send(now, flow, observer)?;
        if held.is_none() {
            let turns = &mut self.hosts[host].turns;
            turns.sent(&mut self.flow_turns, flow, packet.len);
        }
        self.turns.sent(&mut self.host_turns, host, packet.len);
        Some((flow, packet))
    }

    /// `flow` may have run empty, and its host, too.
    pub(super) fn leave_if_empty(&mut self, flow: usize) {
        let state = &self.flows[flow];
        if !state.queue.is_empty() {
            return;
        }
        let quantum = self.params.quantum;
        let host = &mut self.hosts[state.host];
        host.turns.leave(&mut self.flow_turns, flow, quantum);
        if host.backlog.is_empty() {
            self.turns.leave(&mut self.host_turns, state.host, quantum);
        }
    }

    /// The flow that goes before those of all other hosts, if there is one.
    fn of_held_hosts(&mut self, now: Instant) -> Option<usize> {
        let flow = self.longest_waiting(now)?;
        let host = &self.hosts[self.flows[flow].host];
        // Other flows of its own host are no rivals of a host.
        let others = self.others - u32::from(host.others > 0);
        let wait = now.since(self.store.oldest(&self.flows[flow].queue)?);
        let rivals = Rivals {
            own: self.own,
            others: self.others,
        };
        if others == 0 {
            self.hold.rests(now);
            return None;
        }
        let held = self.hold.serves(now, wait, &self.between, rivals);
        held.then_some(flow)
    }

    /// A packet of `host` went before all others: it comes off the turns of its host, which would
    /// have them in addition otherwise, so that a call near its fair share would not notice that
    /// others came; and, beyond those, off its favour.
    fn owe(&mut self, now: Instant, host: usize, len: u32) {
        if self.is_slow() {
            return;
        }
        let unpaid = self.host_turns.owe(host, len, OWED);
        if unpaid > 0 {
            let time = self.pace.time_of(unpaid);
            self.hosts[host].favour.spend(now, time);
        }
    }

    /// Whether `low` is the time of packets. Nothing is owed then: a call stalls on such a link if a
    /// few packets have to wait.
    fn is_slow(&self) -> bool {
        self.between.low > self.params.low
    }

    /// The flow that goes before all others of its host, if there is one.
    fn of_held_flows(&mut self, now: Instant, at: usize) -> Option<usize> {
        let flow = self.longest_waiting_in(at)?;
        let wait = now.since(self.store.oldest(&self.flows[flow].queue)?);
        let host = &mut self.hosts[at];
        let rivals = host.rivals();
        if rivals.others == 0 {
            host.hold.rests(now);
            return None;
        }
        let held = host.hold.serves(now, wait, &self.within, rivals);
        held.then_some(flow)
    }

    /// The established flow of a host that has waited longest; none where too many packets of flows
    /// that no longer are would have to be skipped.
    fn longest_waiting_in(&mut self, host: usize) -> Option<usize> {
        for _ in 0..SKIPS {
            let (packet, flow) = self.store.front(&self.hosts[host].listed)?;
            if self.flows[flow].standing == Standing::Established {
                return Some(flow);
            }
            self.store.unlist(packet, &mut self.hosts[host].listed);
        }
        None
    }

    /// The established flow that has waited longest of those whose hosts have favour left; none where
    /// too many packets of others would have to be skipped.
    fn longest_waiting(&mut self, now: Instant) -> Option<usize> {
        let slow = self.is_slow();
        for _ in 0..SKIPS {
            let (packet, flow) = self.store.front_of_all()?;
            let state = &self.flows[flow];
            let host = &mut self.hosts[state.host];
            if state.standing != Standing::Established {
                self.store.unlist(packet, &mut host.listed);
            } else if !slow && host.favour.is_spent(now) {
                self.store.unlist_from_all(packet);
            } else {
                return Some(flow);
            }
        }
        None
    }

    /// Takes the next packet of `flow`, which has one, through its AQM, which never drops a flow's
    /// last.
    fn send(
        &mut self,
        now: Instant,
        flow: usize,
        observer: &mut dyn Observer<P>,
    ) -> Option<Packet<P>> {
        let state = &mut self.flows[flow];
        let host = &mut self.hosts[state.host];
        let before = state.queue.backlog();
        let established = state.standing == Standing::Established;
        let cause = match established {
            true if host.hold.is_on() || self.hold.is_on() => Cause::Others,
            true if before.packets == self.store.backlog().packets => Cause::Link,
            _ => Cause::Flow,
        };
        let waited = self.store.oldest(&state.queue).map(|came| now.since(came));
        // Slightly above the hold's highest wait, above which even established flows are signalled
        // by drops.
        let spared_below = self.within.high * 5 / 4;
        let spared = cause == Cause::Others && waited.is_some_and(|wait| wait < spared_below);
        let mut queue = OfFlow {
            store: &mut self.store,
            queue: &mut state.queue,
            listed: &mut host.listed,
        };
        let target = match established {
            _ if spared => Duration::MAX,
            true if cause == Cause::Link => self.patient.max(ALONE),
            true => self.patient,
            false => self.plain,
        };
        let mut telling = Telling {
            target,
            interval: self.params.interval,
            marked_below: match self.params.ecn {
                true => spared_below.max(target * 2),
                false => Duration::ZERO,
            },
            charged: (self.params.ingress).then_some((&mut self.shaper, self.params.framing())),
        };
        let (packet, told) = telling.next(now, &mut state.signals, &mut queue, observer);
        if told && cause != Cause::Others {
            state.calm.dropped(now);
        }
        if let Some(packet) = &packet {
            let wait = Wait {
                waited: now.since(packet.arrived),
                low: self.within.low,
                high: self.within.high,
                cause,
            };
            state.calm.left(now, wait);
        }
        if let Some(packet) = &packet {
            self.account(flow, packet.len, established);
        }
        self.resize(flow, before);
        self.judge(now, flow);
        packet
    }

    /// Reports a packet that leaves to the holds.
    fn account(&mut self, flow: usize, len: u32, established: bool) {
        let host = &mut self.hosts[self.flows[flow].host];
        if host.others > 0 || !established {
            host.hold.sent(len, established, &self.within);
        }
        self.hold.sent(len, established, &self.between);
    }
}
