//! The flow and the host of a packet, and the class of the flow in the scheduler.

use super::settling::GAP;
use super::{
    MarkSchedule, Mencius, MenciusFlow, MenciusHost, SchedulerClass, Settling, SparseFlow,
    Translation,
};
use crate::exact_flows::Found;
use crate::{FlowId, Hosts, Packet};
use units::{Duration, Instant};

/// A flow without packets for so long is forgotten.
const FLOW_IDLE: Duration = Duration::from_secs(5);
/// And a host.
const HOST_IDLE: Duration = Duration::from_secs(20);
/// Number of idle flows and hosts examined per packet.
const BATCH: u32 = 8;

impl<P> Mencius<P> {
    /// The flow of `packet`, with its host.
    pub(super) fn flow_of(&mut self, now: Instant, packet: &Packet<P>) -> usize {
        if let Some(flow) = self.flow_table.lookup(packet.hash) {
            if self.has_host(flow) {
                if self.flows[flow].translation.is_due(now) {
                    self.look_up_again(now, flow, packet.hosts);
                }
                self.flow_table.touch(now, flow);
                self.host_table.touch(now, self.flows[flow].host);
                return flow;
            }
            self.forget(flow);
        }
        self.unknown(now, packet)
    }

    /// Whether the place of the flow's host is still that host's.
    fn has_host(&self, flow: usize) -> bool {
        let state = &self.flows[flow];
        self.hosts[state.host].term == state.term
    }

    /// The flow of `packet`, which is not known: a new one, or guests: flows for which there is no
    /// room.
    ///
    /// The guests of a set are one flow, of one host. Where they are another host's, there are the
    /// guests of the host. While either have packets waiting, flows that may be among them stay
    /// guests: they could overtake themselves.
    fn unknown(&mut self, now: Instant, packet: &Packet<P>) -> usize {
        let (hash, provisional) = self.params.hosts.host(packet.hosts);
        let host = self.host_of(now, hash);
        let [of_set, of_host] = [self.flow_table.guests_of(packet.hash), self.guests_of(host)];
        let waits = |flow: usize| !self.flows[flow].queue.is_empty();
        let set_waits = waits(of_set);
        if set_waits && self.flows[of_set].host == host {
            return of_set;
        }
        if waits(of_host) {
            return of_host;
        }
        self.hosts[host].hold.birth = now;
        self.hold.birth = now;
        if let Some(flow) = self.place_for(now, packet.hash, host) {
            let (hash, id) = (packet.hash, packet.flow);
            self.flow_table.insert(now, hash, id, flow);
            self.hosts[host].known += 1;
            self.begin(now, flow, host);
            self.flows[flow].translation.asked(now, provisional);
            flow
        } else if set_waits {
            of_host
        } else {
            self.begin(now, of_set, host);
            of_set
        }
    }

    /// The place of the guests of `host`.
    fn guests_of(&self, host: usize) -> usize {
        self.flow_table.len() + host
    }

    /// A place for the flow with `hash` of `host`, if there is one. In a full set it is that of the flow which
    /// has been inactive longest and has nothing waiting. A settled flow keeps its place unless
    /// it is silent, or its host has more than its part of all places and the newcomer is of another.
    fn place_for(&mut self, now: Instant, hash: u32, host: usize) -> Option<usize> {
        if let Some(flow) = self.flow_table.free_way(hash) {
            return Some(flow);
        }
        let (flows, hosts) = (&self.flows, &self.hosts);
        let part = self.flow_table.ways() / (self.host_table.active_count() + 1);
        let keeps = |flow: usize| {
            let MenciusFlow {
                queue, settling, ..
            } = &flows[flow];
            let of = flows[flow].host;
            let stays = || of == host || hosts[of].known as usize <= part;
            !queue.is_empty() || settling.is_settled(now) && !settling.is_silent(now) && stays()
        };
        let flow = self.flow_table.inactive_longest(hash, keeps)?;
        self.forget(flow);
        Some(flow)
    }

    /// `flow` is another one of `host` from now on.
    fn begin(&mut self, now: Instant, flow: usize, host: usize) {
        let MenciusHost { turns, term, .. } = &self.hosts[host];
        turns.introduce(&mut self.flow_turns, flow);
        let state = &mut self.flows[flow];
        state.signals = MarkSchedule::new();
        state.settling = Settling::new(now);
        state.sparse = SparseFlow::default();
        state.host = host;
        state.term = *term;
        state.translation = Translation::default();
    }

    /// Looks up the host of `flow`, which had provisional addresses. A flow with packets waiting stays
    /// where it is, so that it cannot overtake itself.
    fn look_up_again(&mut self, now: Instant, flow: usize, hosts: Hosts) {
        if !self.flows[flow].queue.is_empty() {
            return;
        }
        let (hash, provisional) = self.params.hosts.host(hosts);
        self.flows[flow].translation.asked(now, provisional);
        let host = self.host_of(now, hash);
        let had_host = self.has_host(flow);
        let state = &mut self.flows[flow];
        let before = std::mem::replace(&mut state.host, host);
        state.term = self.hosts[host].term;
        if had_host && before == host {
            return;
        }
        if had_host {
            self.hosts[before].known -= 1;
        }
        let host = &mut self.hosts[host];
        host.known += 1;
        host.turns.introduce(&mut self.flow_turns, flow);
    }

    fn host_of(&mut self, now: Instant, hash: u32) -> usize {
        if let Some(host) = self.host_table.lookup(hash) {
            self.host_table.touch(now, host);
            return host;
        }
        self.make_room_for_host(now, hash);
        let hosts = &self.hosts;
        let waits = |host: usize| !hosts[host].backlog.is_empty();
        match self.host_table.find(now, hash, FlowId(hash), waits) {
            Found::Known(host) | Found::Shared(host) => host,
            Found::Fresh(host) | Found::FirstShared(host) => {
                debug_assert!(self.hosts[host].backlog.is_empty());
                self.hosts[host] = MenciusHost::new(now, self.hosts[host].term);
                self.turns.introduce(&mut self.host_turns, host);
                self.begin(now, self.guests_of(host), host);
                host
            }
        }
    }

    /// Where the set of `hash` is full, the host that has been inactive longest gives up its place, if
    /// it is silent and has nothing waiting.
    fn make_room_for_host(&mut self, now: Instant, hash: u32) {
        let table = &self.host_table;
        let guests = table.guests_of(hash);
        if table.free_way(hash).is_some() || !self.hosts[guests].backlog.is_empty() {
            return;
        }
        let keeps =
            |host: usize| !self.hosts[host].backlog.is_empty() || table.silence(now, host) <= GAP;
        if let Some(host) = table.inactive_longest(hash, keeps) {
            self.forget_host(host);
        }
    }

    fn forget(&mut self, flow: usize) {
        if self.has_host(flow) {
            self.hosts[self.flows[flow].host].known -= 1;
        }
        self.flow_table.forget(flow);
    }

    /// Its flows find out when their next packet comes.
    fn forget_host(&mut self, host: usize) {
        let term = &mut self.hosts[host].term;
        *term = term.wrapping_add(1);
        self.host_table.forget(host);
    }

    /// Forgets flows and hosts that have fallen idle.
    pub(super) fn forget_idle(&mut self, now: Instant) {
        for _ in 0..BATCH {
            let Some(flow) = self.flow_table.idle(now, FLOW_IDLE) else {
                break;
            };
            // While packets wait, or in a round: the scheduler still refers to it.
            if self.flow_turns.is_idle(flow) {
                self.forget(flow)
            } else {
                self.flow_table.touch(now, flow)
            }
        }
        for _ in 0..BATCH {
            let Some(host) = self.host_table.idle(now, HOST_IDLE) else {
                break;
            };
            if self.host_turns.is_idle(host) {
                self.forget_host(host)
            } else {
                self.host_table.touch(now, host)
            }
        }
    }

    /// Counts `flow` under its current class.
    #[inline]
    pub(super) fn judge(&mut self, now: Instant, flow: usize) {
        let guests = self.flow_table.are_guests(flow);
        let state = &mut self.flows[flow];
        let standing = match state.queue.is_empty() {
            true => SchedulerClass::Idle,
            false if !guests && state.settling.is_settled(now) => SchedulerClass::Settled,
            false => SchedulerClass::Other,
        };
        let before = std::mem::replace(&mut state.standing, standing);
        if before != standing {
            self.move_standing(flow, before, standing);
        }
    }

    #[inline(never)]
    fn move_standing(&mut self, flow: usize, before: SchedulerClass, standing: SchedulerClass) {
        let state = &self.flows[flow];
        let host = &mut self.hosts[state.host];
        match before {
            SchedulerClass::Idle => {}
            SchedulerClass::Other => left(&mut host.others, &mut self.others),
            SchedulerClass::Settled => left(&mut host.settled, &mut self.settled),
        }
        match standing {
            SchedulerClass::Idle => {}
            SchedulerClass::Other => joined(&mut host.others, &mut self.others),
            SchedulerClass::Settled => joined(&mut host.settled, &mut self.settled),
        }
    }
}

/// One flow more in a host; `hosts` have any.
fn joined(flows: &mut u32, hosts: &mut u32) {
    *hosts += u32::from(*flows == 0);
    *flows += 1;
}

/// One flow less.
fn left(flows: &mut u32, hosts: &mut u32) {
    *flows -= 1;
    *hosts -= u32::from(*flows == 0);
}
