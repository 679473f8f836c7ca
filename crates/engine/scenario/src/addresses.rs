//! Addresses of end hosts, if packets have any: computers at home in 10.2.0.0/16, servers in
//! 10.1.0.0/16. Both ends of flow `n` use port `FIRST + n`; for a second subflow the server has another
//! port, a third of all ports further. So a packet's ports identify its flow.

use crate::model::Traffic;
use std::net::Ipv4Addr;
use units::FlowId;
use units::random::Stream;

/// The port of flow 0.
pub const FIRST: u16 = 1024;
/// How many flows there are ports for.
pub const FLOWS: u32 = 65_536 - FIRST as u32;

/// The port of both ends of a flow's first subflow. Those of [`FLOWS`] flows differ; then they begin
/// again.
pub const fn port(flow: FlowId) -> u16 {
    FIRST + (flow.0 % FLOWS) as u16
}

/// The ports of a subflow's ends, at home and at the server: 0 is the flow itself or its first subflow,
/// anything else its second.
pub const fn ports(flow: FlowId, subflow: u8) -> [u16; 2] {
    let home = port(flow);
    match subflow {
        0 => [home, home],
        _ => [home, second(home)],
    }
}

/// The server's port for the second subflow of the flow that has `home` as its port at home. By a third of
/// all ports no two are each other's, so that a pair of ports names one flow in both directions.
const fn second(home: u16) -> u16 {
    FIRST + (((home - FIRST) as u32 + FLOWS / 3) % FLOWS) as u16
}

/// The flow whose packets have these two ports, in any order, if it is one of the first [`FLOWS`], and
/// which of its subflows they belong to.
pub fn flow_of((source, destination): (u16, u16)) -> Option<(FlowId, u8)> {
    if source.min(destination) < FIRST {
        return None;
    }
    let (home, subflow) = match () {
        () if source == destination => (source, 0),
        () if second(source) == destination => (source, 1),
        () if second(destination) == source => (destination, 1),
        () => return None,
    };
    Some((FlowId(u32::from(home - FIRST)), subflow))
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
    let name = if traffic.kind.workload.shares_servers() {
        "site".to_owned()
    } else {
        format!("server {}", traffic.name)
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
    fn ports_tell_the_flow_in_both_directions() {
        let two_thirds = 2 * FLOWS / 3;
        for flow in [0, 1, two_thirds, two_thirds + 1, FLOWS - 1].map(FlowId) {
            for subflow in [0, 1] {
                let [home, server] = ports(flow, subflow);
                assert_eq!(flow_of((home, server)), Some((flow, subflow)));
                assert_eq!(flow_of((server, home)), Some((flow, subflow)));
            }
            assert_ne!(ports(flow, 0)[1], ports(flow, 1)[1]);
        }
        assert_eq!(port(FlowId(FLOWS)), FIRST);
        for other in [(80, 80), (80, FIRST), (FIRST, 80), (FIRST, FIRST + 1)] {
            assert_eq!(flow_of(other), None, "{other:?}");
        }
    }
}
