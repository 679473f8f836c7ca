//! Addresses: computers at home in 10.2.0.0/16, servers in 10.1.0.0/16. Both ends of flow `n` use
//! port `FIRST + n`, so that a packet's port tells its flow.

use crate::error::Failure;
use nix::sys::socket::SockaddrIn;
use qdisc::FlowId;
use scenario::Traffic;
use std::net::Ipv4Addr;
use units::random::Stream;

/// The port of flow 0.
pub const FIRST: u16 = 1024;
/// How many flows there are ports for.
pub const FLOWS: u32 = 65_536 - FIRST as u32;

/// The flow whose packets have this port, if it is one of ours.
pub fn flow_of(port: u16) -> Option<FlowId> {
    port.checked_sub(FIRST).map(|flow| FlowId(u32::from(flow)))
}

/// The address of a flow at `host`.
pub fn address(host: Ipv4Addr, flow: FlowId) -> Result<SockaddrIn, Failure> {
    if flow.0 >= FLOWS {
        let reason = format!("a run has at most {FLOWS} connections, one for each port");
        return Err(Failure::new("opening a connection", reason));
    }
    let [a, b, c, d] = host.octets();
    Ok(SockaddrIn::new(a, b, c, d, FIRST + flow.0 as u16))
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
        for flow in [0, 1, FLOWS - 1] {
            let address = address(Ipv4Addr::new(10, 2, 0, 1), FlowId(flow)).unwrap();
            assert_eq!(flow_of(address.port()), Some(FlowId(flow)));
        }
        assert!(address(Ipv4Addr::new(10, 2, 0, 1), FlowId(FLOWS)).is_err());
        assert_eq!(flow_of(80), None);
    }
}
