//! Addresses of end hosts, if packets have any: computers at home in 10.2.0.0/16, servers in
//! 10.1.0.0/16. Both ends of flow `n` use port `FIRST + n`, so that a packet's port identifies its
//! flow.

use crate::model::Traffic;
use std::net::Ipv4Addr;
use units::FlowId;
use units::random::Stream;

/// The port of flow 0.
pub const FIRST: u16 = 1024;
/// How many flows there are ports for.
pub const FLOWS: u32 = 65_536 - FIRST as u32;

/// The port of both ends of a flow. Those of [`FLOWS`] flows differ; then they begin again.
pub const fn port(flow: FlowId) -> u16 {
    FIRST + (flow.0 % FLOWS) as u16
}

/// The flow whose packets have this port, if it is one of the first [`FLOWS`].
pub fn flow_of(port: u16) -> Option<FlowId> {
    port.checked_sub(FIRST).map(|flow| FlowId(u32::from(flow)))
}

/// The computer at home that `entry` runs on; entries with the same host share it.
pub fn home(traffic: &[Traffic], entry: u16) -> Ipv4Addr {
    let host = &traffic[usize::from(entry)].host;
    let first = traffic.iter().position(|other| other.host == *host);
    let [high, low] = (first.unwrap_or_default() as u16 + 1).to_be_bytes();
    Ipv4Addr::new(10, 2, high, low)
}

/// Server `number` of an entry. Sites are the same for every entry that visits them; calls and
/// transfers have their own.
pub fn server(traffic: &Traffic, number: u32) -> Ipv4Addr {
    let name = match traffic.kind.workload.shares_servers() {
        true => "site".to_owned(),
        false => format!("server {}", traffic.name),
    };
    let bits = Stream::new(u64::from(number), &name).bits();
    // Neither the network's own address nor its broadcast address.
    let [high, low] = ((bits % 65_534) as u16 + 1).to_be_bytes();
    Ipv4Addr::new(10, 1, high, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_tells_the_flow() {
        for flow in [0, 1, FLOWS - 1].map(FlowId) {
            assert_eq!(flow_of(port(flow)), Some(flow));
        }
        assert_eq!(port(FlowId(FLOWS)), FIRST);
        assert_eq!(flow_of(80), None);
    }
}
