//! What each client has been granted, and what it has used of it.

use probe::limits::{Grant, Ledger};
use probe::locked;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use units::Rate;

/// Connections of one client at once: sixteen with load, and those of requests beside them, which some clients keep.
const CONNECTIONS: usize = 512;
/// Connections of all clients at once.
const CONNECTIONS_IN_ALL: usize = 1024;

/// What one client has been granted, and what it has of it.
#[derive(Debug)]
struct Client {
    grant: Grant,
    /// When its time is over.
    until: Instant,
    used: u64,
    /// Bytes of uploads that have come.
    uploaded: u64,
    connections: usize,
    /// Whether it has a call.
    calls: bool,
    /// When the next chunk may pass, for the rate's sake.
    next: Instant,
}

/// Those that have connections.
#[derive(Debug)]
pub struct Clients {
    ledger: Ledger,
    each: Vec<(IpAddr, Client)>,
}

impl Clients {
    /// None yet, within what `ledger` permits.
    pub fn within(ledger: Ledger) -> Shared {
        Arc::new(Mutex::new(Clients {
            ledger,
            each: Vec::new(),
        }))
    }
}

/// The clients of all of a server's services.
pub type Shared = Arc<Mutex<Clients>>;

/// One connection's place among those of its client; given back when it is dropped.
#[derive(Debug)]
pub struct GrantedPlace {
    clients: Shared,
    of: IpAddr,
    /// When the client's time is over.
    pub until: Instant,
}

impl GrantedPlace {
    /// A place for a connection of `of`; none if it has too many, or nothing is granted.
    pub fn taken(clients: &Shared, of: IpAddr) -> Option<Self> {
        let mut all = locked(clients);
        if !all.ledger.allows(of) {
            return None;
        }
        let open: usize = all.each.iter().map(|(_, client)| client.connections).sum();
        if open >= CONNECTIONS_IN_ALL {
            return None;
        }
        let now = Instant::now();
        let known = all.each.iter().position(|(address, _)| *address == of);
        let n = match known {
            Some(n) => n,
            None => {
                let grant = all.ledger.begin(now.into_std(), of).ok()?;
                let client = Client {
                    grant,
                    until: now + grant.span,
                    used: 0,
                    uploaded: 0,
                    connections: 0,
                    calls: false,
                    next: now,
                };
                all.each.push((of, client));
                all.each.len() - 1
            }
        };
        let client = &mut all.each[n].1;
        if client.connections >= CONNECTIONS {
            return None;
        }
        client.connections += 1;
        let until = client.until;
        drop(all);
        Some(GrantedPlace {
            clients: clients.clone(),
            of,
            until,
        })
    }

    /// What `change` makes of the client; none if its time is over.
    fn with<T>(&self, change: impl FnOnce(&mut Client, Instant) -> Option<T>) -> Option<T> {
        let mut all = locked(&self.clients);
        let (_, client) = all.each.iter_mut().find(|(of, _)| *of == self.of)?;
        let now = Instant::now();
        (now < client.until).then(|| change(client, now)).flatten()
    }

    /// Whether `bytes` may pass at once, as those of a call; if not, they exceed what was granted.
    pub fn count(&self, bytes: u64) -> bool {
        self.with(|client, _| client.counted(bytes)).is_some()
    }

    /// When `bytes` may pass; none if they exceed what was granted.
    pub fn pass(&self, bytes: u64) -> Option<Instant> {
        self.with(|client, now| {
            client.counted(bytes)?;
            let at = client.next.max(now);
            let span = bytes as f64 * 8.0 / client.grant.rate.as_bits() as f64;
            client.next = at + Duration::from_secs_f64(span);
            Some(at)
        })
    }

    /// As [`pass`](Self::pass), of an upload.
    pub fn upload(&self, bytes: u64) -> Option<Instant> {
        self.with(|client, _| {
            client.uploaded += bytes;
            Some(())
        })?;
        self.pass(bytes)
    }

    /// Bytes of its client's uploads that have come.
    pub fn uploaded(&self) -> u64 {
        self.with(|client, _| Some(client.uploaded)).unwrap_or(0)
    }

    /// The rate that its client was granted.
    pub fn rate(&self) -> Rate {
        self.with(|client, _| Some(client.grant.rate))
            .unwrap_or(Rate::from_bits(0))
    }

    /// The time that is left to its client.
    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// The only call of its client; none if it has one.
    pub fn calls(self: &Arc<Self>) -> Option<OnlyCall> {
        let other = self.with(|client, _| Some(std::mem::replace(&mut client.calls, true)));
        (other == Some(false)).then(|| OnlyCall(self.clone()))
    }
}

/// A client's only call, until it is dropped.
#[derive(Debug)]
pub struct OnlyCall(Arc<GrantedPlace>);

impl Drop for OnlyCall {
    fn drop(&mut self) {
        let mut all = locked(&self.0.clients);
        let own = all.each.iter_mut().find(|(of, _)| *of == self.0.of);
        if let Some((_, client)) = own {
            client.calls = false;
        }
    }
}

impl Client {
    /// Counts `bytes`; none if they exceed what was granted.
    fn counted(&mut self, bytes: u64) -> Option<()> {
        let used = self.used.checked_add(bytes)?;
        (used <= self.grant.bytes).then(|| self.used = used)
    }
}

impl Drop for GrantedPlace {
    fn drop(&mut self) {
        let mut all = locked(&self.clients);
        let Some(n) = all.each.iter().position(|(of, _)| *of == self.of) else {
            return;
        };
        let client = &mut all.each[n].1;
        client.connections -= 1;
        if client.connections == 0 {
            let (of, client) = all.each.swap_remove(n);
            all.ledger.end(of, client.grant, client.used);
        }
    }
}
