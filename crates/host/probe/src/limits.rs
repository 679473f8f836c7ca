//! The limits of a server: they prevent its use as a weapon, and excessive use.
//!
//! Nothing but a handshake's answers goes to an address that has not proven itself (Retry, RFC 9000
//! section 8.1). Then the number of probes at once and the bytes an hour are limited for each
//! client address, and for all together. An IPv6 client is its /64, the prefix of one subscriber.

use crate::{Problem, locked};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use units::Rate;

/// The period after which usage is reset.
const PERIOD: Duration = Duration::from_secs(3600);
/// Clients that are remembered for their use; when there are more, new ones wait.
const REMEMBERED: usize = 4096;

/// The permissions of a server.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The clients that it answers; all if empty.
    pub allow: Vec<AddressPrefix>,
    /// Probes at once, in all.
    pub clients: usize,
    /// Probes at once from one address.
    pub clients_per_address: usize,
    /// Longest probe.
    pub longest: Duration,
    /// Highest rate of one probe.
    pub rate: Rate,
    /// Highest rate of all probes together.
    pub rate_in_all: Rate,
    /// Bytes that one address may use an hour.
    pub bytes: u64,
    /// Bytes that all may use an hour.
    pub bytes_in_all: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            allow: Vec::new(),
            clients: 4,
            clients_per_address: 1,
            longest: Duration::from_secs(60),
            rate: Rate::from_bits(200_000_000),
            rate_in_all: Rate::from_bits(400_000_000),
            bytes: 2_000_000_000,
            bytes_in_all: 20_000_000_000,
        }
    }
}

/// A network: addresses that begin alike, `192.0.2.0/24` or `2001:db8::/32`; a single address is one
/// too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressPrefix {
    address: IpAddr,
    prefix: u8,
}

impl AddressPrefix {
    /// Whether `address` is in it. An IPv4 address that comes as IPv6 (`::ffff:192.0.2.1`) counts
    /// as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (own, other) = match (self.address, address.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (
                u128::from(u32::from(a)) << 96,
                u128::from(u32::from(b)) << 96,
            ),
            (IpAddr::V6(a), IpAddr::V6(b)) => (u128::from(a), u128::from(b)),
            _ => return false,
        };
        self.prefix == 0 || (own ^ other) >> (128 - u32::from(self.prefix)) == 0
    }
}

impl FromStr for AddressPrefix {
    type Err = Problem;

    /// # Errors
    /// If the text is no address, or the prefix is longer than one.
    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::Refused(format!(
                "a network is an address and the bits that count, such as 192.0.2.0/24 or \
                 2001:db8::/32, not `{text}`"
            ))
        };
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address = address
            .parse::<IpAddr>()
            .map_err(|_| wrong())?
            .to_canonical();
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => prefix.parse().map_err(|_| wrong())?,
            None => most,
        };
        if prefix > most {
            return Err(wrong());
        }
        Ok(AddressPrefix { address, prefix })
    }
}

/// The grant of one probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// How long it may last.
    pub span: Duration,
    /// Its highest rate.
    pub rate: Rate,
    /// Its bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct Use {
    since: Instant,
    bytes: u64,
    now: usize,
}

/// The usage of each client. Its clones are the same one, so that several services keep one policy together.
#[derive(Debug, Clone)]
pub struct Ledger {
    policy: Arc<Policy>,
    usage: Arc<Mutex<Usage>>,
}

#[derive(Debug)]
struct Usage {
    uses: BTreeMap<IpAddr, Use>,
    all: Option<Use>,
    rate: Rate,
}

impl Ledger {
    /// A ledger without entries.
    pub fn new(policy: Policy) -> Self {
        Ledger {
            policy: Arc::new(policy),
            usage: Arc::new(Mutex::new(Usage {
                uses: BTreeMap::new(),
                all: None,
                rate: Rate::from_bits(0),
            })),
        }
    }

    /// What it is kept by.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether `address` may be answered at all.
    pub fn allows(&self, address: IpAddr) -> bool {
        let allow = &self.policy.allow;
        allow.is_empty() || allow.iter().any(|network| network.contains(address))
    }

    /// Begins a probe for `address`.
    ///
    /// # Errors
    /// If a limit is reached; the text is for the client.
    pub fn begin(&self, now: Instant, address: IpAddr) -> Result<Grant, &'static str> {
        let mut usage = locked(&self.usage);
        let client = client(address);
        let fresh = Use {
            since: now,
            bytes: 0,
            now: 0,
        };
        let all = renewed(usage.all.unwrap_or(fresh), now);
        if all.now >= self.policy.clients {
            return Err("the server is busy with other clients; try again in a minute");
        }
        if usage.uses.len() >= REMEMBERED && !usage.uses.contains_key(&client) {
            usage
                .uses
                .retain(|_, own| own.now > 0 || now.duration_since(own.since) < PERIOD);
            if usage.uses.len() >= REMEMBERED {
                return Err("the server had too many clients within the hour");
            }
        }
        let own = renewed(usage.uses.get(&client).copied().unwrap_or(fresh), now);
        if own.now >= self.policy.clients_per_address {
            return Err("a probe from this address is under way");
        }
        let rate = self
            .policy
            .rate_in_all
            .as_bits()
            .saturating_sub(usage.rate.as_bits());
        let grant = Grant {
            span: self.policy.longest,
            rate: self.policy.rate.min(Rate::from_bits(rate)),
            bytes: (self.policy.bytes.saturating_sub(own.bytes))
                .min(self.policy.bytes_in_all.saturating_sub(all.bytes)),
        };
        if grant.rate.as_bits() == 0 {
            return Err("the server's rate is used up by other clients; try again in a minute");
        }
        if grant.bytes == 0 {
            return Err("the bytes for this hour are used up");
        }
        usage.rate = Rate::from_bits(usage.rate.as_bits() + grant.rate.as_bits());
        usage.all = Some(Use {
            now: all.now + 1,
            bytes: all.bytes + grant.bytes,
            ..all
        });
        let used = Use {
            now: own.now + 1,
            bytes: own.bytes + grant.bytes,
            ..own
        };
        usage.uses.insert(client, used);
        Ok(grant)
    }

    /// Ends the probe of `address` that was given `grant` and used `bytes` of it.
    pub fn end(&self, address: IpAddr, grant: Grant, bytes: u64) {
        let mut usage = locked(&self.usage);
        let usage = &mut *usage;
        let left = grant.bytes.saturating_sub(bytes);
        usage.rate = Rate::from_bits(usage.rate.as_bits().saturating_sub(grant.rate.as_bits()));
        let uses = usage.uses.get_mut(&client(address));
        for entry in uses.into_iter().chain(usage.all.as_mut()) {
            entry.now = entry.now.saturating_sub(1);
            entry.bytes = entry.bytes.saturating_sub(left);
        }
    }
}

fn renewed(entry: Use, now: Instant) -> Use {
    if now.saturating_duration_since(entry.since) >= PERIOD {
        Use {
            since: now,
            bytes: 0,
            ..entry
        }
    } else {
        entry
    }
}

fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6) >> 64 << 64).into(),
        v4 => v4,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "any moment does")]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn networks_contain_what_begins_alike() {
        let n: AddressPrefix = "192.0.2.0/24".parse().unwrap();
        assert!(n.contains(ip("192.0.2.255")) && n.contains(ip("::ffff:192.0.2.1")));
        assert!(!n.contains(ip("192.0.3.0")) && !n.contains(ip("::1")));
        let one: AddressPrefix = "2001:db8::1".parse().unwrap();
        assert!(one.contains(ip("2001:db8::1")) && !one.contains(ip("2001:db8::2")));
        let all: AddressPrefix = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains(ip("203.0.113.9")) && !all.contains(ip("::1")));
        for wrong in ["", "192.0.2.0/33", "192.0.2/24", "::/129", "host", "::/-1"] {
            assert!(wrong.parse::<AddressPrefix>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_client_has_one_probe_at_once_and_its_bytes() {
        let now = Instant::now();
        let ledger = Ledger::new(Policy {
            bytes: 1000,
            ..Policy::default()
        });
        let grant = ledger.begin(now, ip("2001:db8::1")).unwrap();
        assert_eq!(grant.bytes, 1000);
        assert!(
            ledger.begin(now, ip("2001:db8::2")).is_err(),
            "the same /64"
        );
        ledger.end(ip("2001:db8::1"), grant, 600);
        let grant = ledger.begin(now, ip("2001:db8::2")).unwrap();
        assert_eq!(grant.bytes, 400);
        ledger.end(ip("2001:db8::2"), grant, 400);
        assert!(ledger.begin(now, ip("2001:db8::1")).is_err());
        assert!(ledger.begin(now + PERIOD, ip("2001:db8::1")).is_ok());
    }

    #[test]
    fn all_clients_share_a_number_a_rate_and_bytes() {
        let now = Instant::now();
        let policy = Policy {
            clients: 2,
            rate: Rate::from_bits(60),
            rate_in_all: Rate::from_bits(100),
            bytes_in_all: u64::MAX,
            ..Policy::default()
        };
        let ledger = Ledger::new(policy);
        let first = ledger.begin(now, ip("192.0.2.1")).unwrap();
        let second = ledger.begin(now, ip("192.0.2.2")).unwrap();
        assert_eq!((first.rate.as_bits(), second.rate.as_bits()), (60, 40));
        assert!(ledger.begin(now, ip("192.0.2.3")).is_err());
        ledger.end(ip("192.0.2.1"), first, 0);
        assert_eq!(
            ledger.begin(now, ip("192.0.2.3")).unwrap().rate.as_bits(),
            60
        );
    }

    #[test]
    fn the_ledger_does_not_grow_without_bound() {
        let now = Instant::now();
        let policy = Policy {
            bytes_in_all: u64::MAX,
            ..Policy::default()
        };
        let ledger = Ledger::new(policy);
        for i in 0..2 * REMEMBERED as u32 {
            let address = IpAddr::from(std::net::Ipv4Addr::from(i));
            if let Ok(grant) = ledger.begin(now, address) {
                ledger.end(address, grant, 1);
            }
        }
        assert_eq!(locked(&ledger.usage).uses.len(), REMEMBERED);
        assert!(ledger.begin(now + PERIOD, ip("203.0.113.1")).is_ok());
    }
}
