//! Which packet is sent next: that of the turn, unless a settled flow has it instead.
//!
//! A hold does not go before turns. It takes the turn of a flow or a host that stands: the packet that would
//! go is of no settled flow, and has waited for a while itself. So who stays below its share is
//! served as if nobody were held back.

use super::aqm::{OfFlow, Telling};
use super::hold::Backlogged;
use super::settling::{Wait, WaitCause};
use super::{Mencius, MenciusHost, SchedulerClass};
use crate::{Observer, Packet};
use units::{Duration, Instant};

/// At most so many packets of flows that are no longer settled are skipped for a packet.
const SKIPS: u32 = 16;
/// Hosts that are considered for a packet that goes before other hosts.
const HOSTS: u32 = 4;
/// Bytes that a host may owe for packets that went before its turns, and all together for those that went
/// before other hosts: eight full packets.
pub(super) const OWED: u32 = 8 * 1514;
/// A settled flow is signalled above this wait if packets of no other flow wait: a radio link
/// that pauses causes that much. Behind the bottleneck nothing does.
const ALONE: Duration = Duration::from_millis(250);
/// L4S packets are marked above this wait, or the time of two full packets (Linux sch_dualpi2.c: step_thresh).
const STEP: Duration = Duration::from_millis(1);

/// How a host lets a packet of another one go in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lends {
    /// It keeps its turn. The packet comes off the turns of the other host, which would have them in
    /// addition otherwise, so that a call near its fair share would not notice that others came.
    Passage,
    /// It loses its turn, and so much of its allowance.
    Allowance,
    /// It loses its turn.
    Turn,
}

impl MenciusHost {
    const fn backlogged(&self) -> Backlogged {
        Backlogged {
            settled: self.settled,
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
        if let Some((flow, kind)) = self.sparse.next() {
            let packet = self.send(now, flow, observer)?;
            let host = self.flows[flow].host;
            self.flow_turns.charge(flow, packet.len);
            self.host_turns.charge(host, packet.len);
            self.sparse.sent(packet.len, Some(kind));
            return Some((flow, packet));
        }
        let (flow, packet) = self.later(now, observer)?;
        self.sparse.sent(packet.len, None);
        Some((flow, packet))
    }

    /// The next packet if no first one goes, and its flow.
    fn later(
        &mut self,
        now: Instant,
        observer: &mut dyn Observer<P>,
    ) -> Option<(usize, Packet<P>)> {
        let held = self.ahead_of_hosts(now);
        let host = self.turns.next(&mut self.host_turns, self.params.quantum)?;
        let (turn, flow) = self.of_host(now, host)?;
        if let Some(other) = held
            && self.flows[other].host != host
            && self.stands(now, flow, self.between.stands)
            && let Some(lends) = self.lends(now, host, self.flows[other].host)
        {
            let packet = self.send(now, other, observer)?;
            self.lent(now, lends, (host, self.flows[other].host), packet.len);
            return Some((other, packet));
        }
        let packet = self.send(now, flow, observer)?;
        let turns = &mut self.hosts[host].turns;
        let more = !self.flows[turn].queue.is_empty();
        turns.sent(&mut self.flow_turns, turn, packet.len, more);
        self.turn_of_host(host, packet.len);
        Some((flow, packet))
    }

    /// The flow of `host` whose turn it is, and the one that has it.
    fn of_host(&mut self, now: Instant, host: usize) -> Option<(usize, usize)> {
        let held = self.ahead_of_flows(now, host);
        let turns = &mut self.hosts[host].turns;
        let turn = turns.next(&mut self.flow_turns, self.params.quantum)?;
        let flow = held.filter(|_| self.stands(now, turn, self.within.stands));
        Some((turn, flow.unwrap_or(turn)))
    }

    /// Whether `flow`, whose turn it is, is held back for settled ones.
    fn stands(&self, now: Instant, flow: usize, least: Duration) -> bool {
        let state = &self.flows[flow];
        let came = self.store.oldest(&state.queue);
        state.standing != SchedulerClass::Settled
            && came.is_some_and(|came| now.since(came) >= least)
    }

    /// How `host`, whose turn it is, lets a packet of `other` go, if it does.
    fn lends(&mut self, now: Instant, host: usize, other: usize) -> Option<Lends> {
        if self.is_slow() {
            return Some(Lends::Turn);
        }
        if self.before_turns < OWED && self.may_owe(other) {
            return Some(Lends::Passage);
        }
        let spent = self.hosts[host].allowance.is_spent(now);
        (!spent).then_some(Lends::Allowance)
    }

    /// Whether packets of `host` may go before its turns.
    pub(super) fn may_owe(&self, host: usize) -> bool {
        let quantum = self.params.quantum;
        self.turns.debt(&self.host_turns, host, quantum) < OWED
    }

    /// `host` let a packet of `len` bytes of `other` go.
    fn lent(&mut self, now: Instant, lends: Lends, (host, other): (usize, usize), len: u32) {
        if lends == Lends::Passage {
            self.before_turns += len;
            return self.host_turns.charge(other, len);
        }
        self.turn_of_host(host, len);
        if lends == Lends::Allowance {
            let time = self.pace.time_of(len) * u64::from(self.settled + self.others);
            self.hosts[host].allowance.spend(now, time);
        }
    }

    /// A packet of `len` bytes was sent in the turn of `host`.
    fn turn_of_host(&mut self, host: usize, len: u32) {
        let more = !self.hosts[host].backlog.is_empty();
        self.turns.sent(&mut self.host_turns, host, len, more);
        self.before_turns = self.before_turns.saturating_sub(len);
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

    /// The flow that other hosts are held back for, if there is one.
    fn ahead_of_hosts(&mut self, now: Instant) -> Option<usize> {
        let (flow, wait) = self.considered(now)?;
        let host = &self.hosts[self.flows[flow].host];
        // Other flows of its own host are no competitors of it.
        let others = self.others - u32::from(host.others > 0);
        let backlogged = Backlogged {
            settled: self.settled,
            others: self.others,
        };
        if others == 0 {
            self.hold.rests(now);
            return None;
        }
        let held = self.hold.serves(now, wait, &self.between, backlogged);
        held.then_some(flow)
    }

    /// Whether `min_wait` is the time of packets. Turns are lent without a limit then, but for the hold's own:
    /// a call stalls on such a link if a few packets have to wait.
    fn is_slow(&self) -> bool {
        self.between.min_wait > self.params.min_wait
    }

    /// The flow that goes before all others of its host, if there is one.
    fn ahead_of_flows(&mut self, now: Instant, at: usize) -> Option<usize> {
        let flow = self.longest_waiting_in(at)?;
        let wait = now.since(self.store.oldest(&self.flows[flow].queue)?);
        let host = &mut self.hosts[at];
        let backlogged = host.backlogged();
        if backlogged.others == 0 {
            host.hold.rests(now);
            return None;
        }
        let held = host.hold.serves(now, wait, &self.within, backlogged);
        held.then_some(flow)
    }

    /// The settled flow of a host that has waited longest; none where too many packets of flows
    /// that no longer are would have to be skipped.
    fn longest_waiting_in(&mut self, host: usize) -> Option<usize> {
        for _ in 0..SKIPS {
            let (packet, flow) = self.store.front(&self.hosts[host].listed)?;
            if self.flows[flow].standing == SchedulerClass::Settled {
                return Some(flow);
            }
            self.store.unlist(packet, &mut self.hosts[host].listed);
        }
        None
    }

    /// The settled flow of the next host in turn that has waited for `min_wait`, and its wait; or of the
    /// last host considered.
    fn considered(&mut self, now: Instant) -> Option<(usize, Duration)> {
        let mut found = None;
        for _ in 0..HOSTS {
            let host = self.settled_hosts.first()?;
            let flow = self.longest_waiting_in(host);
            let listed = self.store.front(&self.hosts[host].listed).is_some();
            self.settled_hosts.considered(host, listed);
            let Some(flow) = flow else { continue };
            let wait = now.since(self.store.oldest(&self.flows[flow].queue)?);
            found = Some((flow, wait));
            if wait >= self.between.min_wait {
                break;
            }
        }
        found
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
        let settled = state.standing == SchedulerClass::Settled;
        let cause = match settled {
            true if host.hold.is_on() || self.hold.is_on() => WaitCause::Others,
            true if before.packets == self.store.backlog().packets => WaitCause::Link,
            _ => WaitCause::Flow,
        };
        let waited = self.store.oldest(&state.queue).map(|came| now.since(came));
        // Slightly above the hold's highest wait, above which even settled flows are signalled
        // by drops.
        let spared_below = self.within.max_wait * 5 / 4;
        let spared = cause == WaitCause::Others && waited.is_some_and(|wait| wait < spared_below);
        let mut queue = OfFlow {
            store: &mut self.store,
            queue: &mut state.queue,
            listed: &mut host.listed,
        };
        let target = match settled {
            _ if spared => Duration::MAX,
            true if cause == WaitCause::Link && !self.params.ingress => self.patient.max(ALONE),
            true => self.patient,
            false => self.plain,
        };
        let mut telling = Telling {
            target,
            interval: self.params.interval,
            marked_below: if self.params.ecn {
                spared_below.max(target * 2)
            } else {
                Duration::ZERO
            },
            step: STEP.max(self.pace.full() * 2),
            charged: (self.params.ingress).then_some((&mut self.shaper, self.params.framing())),
        };
        let (packet, told) = telling.next(now, &mut state.signals, &mut queue, observer);
        if told && cause != WaitCause::Others {
            state.settling.dropped(now);
        }
        if let Some(packet) = &packet {
            let wait = Wait {
                waited: now.since(packet.arrived),
                min_wait: self.within.min_wait,
                max_wait: self.within.max_wait,
                cause,
            };
            state.settling.left(now, wait);
        }
        if let Some(packet) = &packet {
            self.account(flow, packet.len, settled);
        }
        self.resize(flow, before);
        self.judge(now, flow);
        packet
    }

    /// Reports a packet that leaves to the holds.
    fn account(&mut self, flow: usize, len: u32, settled: bool) {
        let host = &mut self.hosts[self.flows[flow].host];
        if host.others > 0 || !settled {
            host.hold.sent(len, settled, &self.within);
        }
        self.hold.sent(len, settled, &self.between);
    }
}
