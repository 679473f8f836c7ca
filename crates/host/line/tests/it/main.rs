//! A client and a server of `line`, each against one that keeps to nothing.

mod hostile_clients;
mod hostile_servers;
mod measured;
mod page;

use line::client::{Described, Wish};
use line::config::WELL_KNOWN;
use line::server::Server;
use line::{Trust, Trusted};
use probe::Identity;
use probe::limits::{Ledger, Policy};
use std::net::SocketAddr;
use std::time::Duration;

/// A short look at the server at `address`.
pub fn wish(address: SocketAddr, trust: Trust) -> Wish {
    Wish {
        host: address.ip().to_string(),
        port: address.port(),
        config: Described::At(WELL_KNOWN.to_owned()),
        trusted: Trusted::Own(trust),
        span: Duration::from_secs(1),
        bytes: 1_000_000_000,
    }
}

/// A server with limits that serves as long as the test runs.
pub fn served(policy: Policy) -> (SocketAddr, Identity) {
    let identity = Identity::new().unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let tls = Server::own(&identity).unwrap();
    let server = Server::bind(any, tls, Ledger::new(policy)).unwrap();
    let address = server.address().unwrap();
    std::thread::spawn(|| server.run().unwrap());
    (address, identity)
}
