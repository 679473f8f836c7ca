//! Whether a server listens at a port: looked up, since a connection would be taken for a client's.

use std::fs::read_to_string;
use std::net::Ipv4Addr;

/// TCP_LISTEN, and TCP_CLOSE for a UDP socket that is connected to nobody: include/net/tcp_states.h.
const TABLES: [(&str, &str); 4] = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];

/// What listens at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listens {
    /// Nothing.
    No,
    /// Something that packets to the address do not reach.
    Elsewhere,
    /// Something that they reach.
    There,
}

/// What listens at `port` for packets to the IPv4 address `far` or to the IPv6 address beside it, in this thread's
/// network.
pub fn listens(port: u16, far: &str) -> Listens {
    let found = TABLES.map(|(name, state)| {
        let table = read_to_string(format!("/proc/thread-self/net/{name}"));
        of(&table.unwrap_or_default(), state, port, far)
    });
    found.into_iter().max().unwrap_or(Listens::No)
}

/// Of the text of such a table: proc(5), /proc/net/tcp.
fn of(table: &str, state: &str, port: u16, far: &str) -> Listens {
    let far: Option<Ipv4Addr> = far.parse().ok();
    // Each word of an address is a number of this host's.
    let far = far.map(|far| format!("{:08X}", u32::from_ne_bytes(far.octets())));
    let found = table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (address, number) = fields.next()?.split_once(':')?;
        let here = u16::from_str_radix(number, 16).ok()? == port && fields.nth(1)? == state;
        here.then(|| match address.len() {
            _ if address.bytes().all(|digit| digit == b'0') => Listens::There,
            // ::1 is the only one of the loopback device.
            32 if !address.starts_with("000000000000000000000000") => Listens::There,
            8 if far.as_deref() == Some(address) => Listens::There,
            _ => Listens::Elsewhere,
        })
    });
    found.max().unwrap_or(Listens::No)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn a_server_counts_where_packets_reach_it() {
        let far = "127.0.0.9";
        let at = |address: &str| TcpListener::bind((address, 0)).unwrap();
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        for (address, expected) in [
            ("0.0.0.0", Listens::There),
            (far, Listens::There),
            ("127.0.0.1", Listens::Elsewhere),
        ] {
            let server = at(address);
            assert_eq!(listens(port(&server), far), expected, "{address}");
            let free = port(&server);
            drop(server);
            assert_eq!(listens(free, far), Listens::No);
        }
        let udp = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
        assert_eq!(
            listens(udp.local_addr().unwrap().port(), far),
            Listens::There
        );
        // One that is connected is a client.
        udp.connect((far, 9)).unwrap();
        assert_eq!(listens(udp.local_addr().unwrap().port(), far), Listens::No);
    }

    #[test]
    fn servers_of_ipv6_count_but_at_its_loopback() {
        let table = |address: &str| format!("  sl  local_address\n   0: {address}:1451 0:0 0A\n");
        let zero = "0".repeat(32);
        for (address, expected) in [
            (zero.as_str(), Listens::There),
            ("616E61FD746365 6C0000000001000000", Listens::No),
            ("61 ", Listens::No),
            ("616E61FD7463656C0000000001000000", Listens::There),
            ("00000000000000000000000001000000", Listens::Elsewhere),
        ] {
            assert_eq!(
                of(&table(address), "0A", 0x1451, "100.64.0.1"),
                expected,
                "{address}"
            );
        }
        assert_eq!(of(&table(&zero), "07", 0x1451, ""), Listens::No);
        assert_eq!(of(&table(&zero), "0A", 0x1450, ""), Listens::No);
    }
}
