//! The flow and the host of a packet, and the class of the flow in the scheduler.

use super::{Begun, Calm, Host, Mencius, Signals, Standing};
use crate::exact_flows::Found;
use crate::{FlowId, Packet};
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
        let flows = &self.flows;
        let waits = |flow: usize| !flows[flow].queue.is_empty();
        let found = self.flow_table.find(now, packet.hash, packet.flow, waits);
        match found {
            Found::Known(flow) | Found::Shared(flow) => {
                let host = self.flows[flow].host;
                self.host_table.touch(now, host);
                flow
            }
            Found::Fresh(flow) | Found::FirstShared(flow) => {
                self.sides.note(now, packet.hosts);
                let host = self.host_of(now, packet);
                self.hosts[host].known += 1;
                self.hosts[host].hold.birth = now;
                let turns = &self.hosts[host].turns;
                turns.introduce(&mut self.flow_turns, flow);
                self.hold.birth = now;
                let state = &mut self.flows[flow];
                state.signals = Signals::new();
                state.calm = Calm::new(now);
                state.begun = Begun::default();
                state.host = host;
                flow
            }
        }
    }

    fn host_of(&mut self, now: Instant, packet: &Packet<P>) -> usize {
        let hash = self.sides.host(self.params.hosts, packet.hosts);
        let hosts = &self.hosts;
        let waits = |host: usize| !hosts[host].backlog.is_empty();
        match self.host_table.find(now, hash, FlowId(hash), waits) {
            Found::Known(host) | Found::Shared(host) => host,
            Found::Fresh(host) | Found::FirstShared(host) => {
                debug_assert!(self.hosts[host].backlog.is_empty());
                self.hosts[host] = Host::new(now);
                self.turns.introduce(&mut self.host_turns, host);
                host
            }
        }
    }

    /// Forgets flows and hosts that have fallen idle.
    pub(super) fn forget_idle(&mut self, now: Instant) {
        for _ in 0..BATCH {
            let Some(flow) = self.flow_table.idle(now, FLOW_IDLE) else {
                break;
            };
            // While packets wait, or in a round: the scheduler still refers to it.
            match self.flow_turns.is_idle(flow) {
                true => {
                    self.hosts[self.flows[flow].host].known -= 1;
                    self.flow_table.forget(flow);
                }
                false => self.flow_table.touch(now, flow),
            }
        }
        for _ in 0..BATCH {
            let Some(host) = self.host_table.idle(now, HOST_IDLE) else {
                break;
            };
            // Its flows are forgotten first: they refer to it by its place.
            match self.hosts[host].known == 0 && self.host_turns.is_idle(host) {
                true => self.host_table.forget(host),
                false => self.host_table.touch(now, host),
            }
        }
    }

    /// Counts `flow` under its current class.
    pub(super) fn judge(&mut self, now: Instant, flow: usize) {
        let guests = self.flow_table.are_guests(flow);
        let state = &mut self.flows[flow];
        let standing = match state.queue.is_empty() {
            true => Standing::Idle,
            false if !guests && state.calm.established(now) => Standing::Established,
            false => Standing::Stranger,
        };
        let before = std::mem::replace(&mut state.standing, standing);
        if before == standing {
            return;
        }
        let host = &mut self.hosts[state.host];
        match before {
            Standing::Idle => {}
            Standing::Stranger => left(&mut host.others, &mut self.others),
            Standing::Established => left(&mut host.own, &mut self.own),
        }
        match standing {
            Standing::Idle => {}
            Standing::Stranger => joined(&mut host.others, &mut self.others),
            Standing::Established => joined(&mut host.own, &mut self.own),
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
