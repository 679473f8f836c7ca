//! Addresses in the form of sockets.

use crate::error::Failure;
use nix::sys::socket::SockaddrIn;
use qdisc::FlowId;
use scenario::addresses::{FLOWS, ports};
use std::net::Ipv4Addr;

/// The addresses of a subflow's ends, at home and at its server.
pub fn addresses(
    [home, server]: [Ipv4Addr; 2],
    flow: FlowId,
    subflow: u8,
) -> Result<[SockaddrIn; 2], Failure> {
    if flow.0 >= FLOWS {
        let reason = format!("a run has at most {FLOWS} connections, one for each port");
        return Err(Failure::new("opening a connection", reason));
    }
    let address = |host: Ipv4Addr, port| {
        let [a, b, c, d] = host.octets();
        SockaddrIn::new(a, b, c, d, port)
    };
    let [at_home, at_server] = ports(flow, subflow);
    Ok([address(home, at_home), address(server, at_server)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_addresses_as_ports() {
        let hosts = [Ipv4Addr::new(10, 2, 0, 1), Ipv4Addr::new(10, 1, 0, 1)];
        let of = |flow| addresses(hosts, FlowId(flow), 0);
        for (host, last) in hosts.into_iter().zip(of(FLOWS - 1).unwrap()) {
            assert_eq!((last.ip(), last.port()), (host, u16::MAX));
        }
        assert!(of(FLOWS).is_err());
    }
}
