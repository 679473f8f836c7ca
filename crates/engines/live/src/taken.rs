//! Addresses that a link must not take: those of this host's own networks. Carriers' NAT gives a line an address
//! of the very space that links use, often with the gateway 100.64.0.1.

use crate::devices::Addresses;
use std::net::Ipv4Addr;

/// What the kernel knows of IPv4, in this thread's network namespace.
#[derive(Debug, Default)]
pub struct Known {
    /// Networks that routes lead to, and their masks.
    routes: Vec<(u32, u32)>,
    /// Gateways, and this host's own addresses.
    hosts: Vec<u32>,
}

impl Known {
    /// As it is now. What cannot be read has nothing in it.
    pub fn now() -> Self {
        let read = |name: &str| {
            let path = format!("/proc/thread-self/net/{name}");
            std::fs::read_to_string(path).unwrap_or_default()
        };
        Known::of(&read("route"), &read("fib_trie"))
    }

    /// Of the texts of `/proc/net/route` and `/proc/net/fib_trie`.
    fn of(routes: &str, trie: &str) -> Self {
        let mut known = Known::default();
        for line in routes.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            // The bytes of an address, read as a number of this host's.
            let number = |place: usize| {
                let word = u32::from_str_radix(words.get(place)?, 16).ok()?;
                Some(u32::from_be_bytes(word.to_ne_bytes()))
            };
            let (Some(network), Some(gateway), Some(mask)) = (number(1), number(2), number(7))
            else {
                continue;
            };
            known.hosts.extend((gateway != 0).then_some(gateway));
            known.routes.extend((mask != 0).then_some((network, mask)));
        }
        let mut address = None;
        for line in trie.lines().map(str::trim) {
            match line.strip_prefix("|-- ") {
                Some(text) => address = text.parse::<Ipv4Addr>().ok(),
                None if line.starts_with("/32 host LOCAL") => {
                    known.hosts.extend(address.map(u32::from));
                }
                None => (),
            }
        }
        known
    }

    /// Whether one of a pair's addresses is a gateway's or this host's own.
    pub fn has(&self, pair: u8) -> bool {
        let mut both = both(pair);
        both.any(|address| self.hosts.contains(&address))
    }

    /// Whether a route leads to one of them.
    pub fn covers(&self, pair: u8) -> bool {
        let mut both = both(pair);
        both.any(|address| (self.routes.iter()).any(|(network, mask)| address & mask == *network))
    }
}

/// The IPv4 addresses of a pair.
fn both(pair: u8) -> impl Iterator<Item = u32> {
    let of = move |inside| {
        let [v4, _] = Addresses { pair, inside }.both();
        v4.parse::<Ipv4Addr>().ok().map(u32::from)
    };
    [false, true].into_iter().filter_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";

    /// A line of `/proc/net/route`, as a host of little-endian words has it.
    fn route(network: [u8; 4], gateway: [u8; 4], mask: [u8; 4]) -> String {
        let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
        let [network, gateway, mask] = [network, gateway, mask].map(word);
        format!("w0\t{network}\t{gateway}\t0003\t0\t0\t0\t{mask}\t0\t0\t0\n")
    }

    #[test]
    fn a_line_behind_carriers_nat_keeps_its_gateway() {
        // As Starlink has it: 100.90.1.2/10 with the gateway 100.64.0.1.
        let routes = HEAD.to_owned()
            + &route([0; 4], [100, 64, 0, 1], [0; 4])
            + &route([100, 64, 0, 0], [0; 4], [255, 192, 0, 0]);
        let known = Known::of(
            &routes,
            "  |-- 100.64.0.6\n     /32 host LOCAL\n  |-- 100.64.0.9\n     /32 link UNICAST\n",
        );
        assert!(known.has(0) && known.has(1) && !known.has(2));
        assert!((0..64).all(|pair| known.covers(pair)));
    }

    #[test]
    fn an_ordinary_host_has_none_of_them() {
        let routes = HEAD.to_owned()
            + &route([0; 4], [192, 168, 1, 1], [0; 4])
            + &route([192, 168, 1, 0], [0; 4], [255, 255, 255, 0])
            + &route([100, 64, 0, 4], [0; 4], [255, 255, 255, 252]);
        let known = Known::of(&routes, "");
        assert!((0..64).all(|pair| !known.has(pair) && known.covers(pair) == (pair == 1)));
        let none = Known::of("", "");
        assert!(!none.has(0) && !none.covers(0));
    }
}
