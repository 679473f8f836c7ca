//! The network that a rate was found out in: another one has another line.

use command::Refused;
use netcfg::{RouteBy, Routes};
use std::net::IpAddr;

/// Addresses that no host has (RFC 5737, RFC 3849): packets for them take the way to the internet.
const FAR: [&str; 2] = ["192.0.2.1", "2001:db8::1"];
/// Seconds between two looks.
const EVERY: f64 = 1.0;

/// The ways to the internet.
pub struct InternetWays {
    routes: Routes,
    ways: [Option<RouteBy>; 2],
    due: f64,
}

impl InternetWays {
    /// Those of now.
    pub fn of_now() -> Result<Self, Refused> {
        let mut routes = Routes::open()?;
        let ways = ways(&mut routes)?;
        Ok(InternetWays {
            routes,
            ways,
            due: 0.0,
        })
    }

    /// Whether there are others `now`, in seconds, than at the last look. That there is none for a while, as
    /// between two Wi-Fis, is no change.
    pub fn is_another(&mut self, now: f64) -> bool {
        if now < self.due {
            return false;
        }
        self.due = now + EVERY;
        // What the kernel does not answer now it answers in a second.
        let Ok(ways) = ways(&mut self.routes) else {
            return false;
        };
        follow(&mut self.ways, ways)
    }
}

fn ways(routes: &mut Routes) -> Result<[Option<RouteBy>; 2], netcfg::Error> {
    let mut ways = [None; 2];
    for (way, address) in ways.iter_mut().zip(FAR) {
        if let Ok(address) = address.parse::<IpAddr>() {
            *way = routes.way_towards(address)?;
        }
    }
    Ok(ways)
}

/// Takes over the ways that there are; whether one of them differs from the one before.
fn follow(known: &mut [Option<RouteBy>; 2], now: [Option<RouteBy>; 2]) -> bool {
    let mut another = false;
    for (known, now) in known.iter_mut().zip(now) {
        another |= matches!((&known, now), (Some(then), Some(now)) if *then != now);
        *known = now.or(*known);
    }
    another
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_device_or_router_is_another_network() {
        let way = |device, gateway: &str| {
            let gateway = Some(gateway.parse().unwrap());
            Some(RouteBy { device, gateway })
        };
        let mut known = [way(2, "10.0.0.1"), None];
        assert!(!follow(&mut known, [way(2, "10.0.0.1"), None]));
        assert!(!follow(&mut known, [None, None]), "no network is none");
        assert!(!follow(&mut known, [way(2, "10.0.0.1"), way(2, "fe80::1")]));
        assert!(follow(&mut known, [way(2, "10.0.1.1"), way(2, "fe80::1")]));
        assert!(follow(&mut known, [way(3, "10.0.1.1"), way(2, "fe80::1")]));
        assert!(!follow(&mut known, [None, way(2, "fe80::1")]));
        assert!(
            follow(&mut known, [way(2, "10.0.1.1"), None]),
            "after a pause"
        );
    }
}
