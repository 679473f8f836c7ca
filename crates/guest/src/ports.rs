//! Addresses in the form of sockets.

use crate::error::Failure;
use nix::sys::socket::SockaddrIn;
use qdisc::FlowId;
use scenario::addresses::{FLOWS, port};
use std::net::Ipv4Addr;

/// The address of a flow at `host`.
pub fn address(host: Ipv4Addr, flow: FlowId) -> Result<SockaddrIn, Failure> {
    if flow.0 >= FLOWS {
        let reason = format!("a run has at most {FLOWS} connections, one for each port");
        return Err(Failure::new("opening a connection", reason));
    }
    let [a, b, c, d] = host.octets();
    Ok(SockaddrIn::new(a, b, c, d, port(flow)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_addresses_as_ports() {
        let host = Ipv4Addr::new(10, 2, 0, 1);
        let last = address(host, FlowId(FLOWS - 1)).unwrap();
        assert_eq!((last.ip(), last.port()), (host, u16::MAX));
        assert!(address(host, FlowId(FLOWS)).is_err());
    }
}
