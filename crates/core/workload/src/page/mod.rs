//! Web pages as plans: the requests and their servers, the lengths of answers, and dependencies.
//!
//! A [`Page`] comes from a HAR file ([`crate::har`]) or from the generator ([`crate::generator`]), or
//! is a [`document`].
//! [`PageClient`] replays it as a browser would, [`PageServer`] answers. Sizes and think times are
//! those of the recording; when a request is sent depends on the network it is replayed over.

mod active;
mod client;
mod connections;
mod document;
mod ideal;
mod load;
mod server;

pub use active::ActiveFlows;
pub use client::{PageClient, PageParams, PageSetup};
pub use document::document;
pub use server::PageServer;

use crate::Carrier;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};
use units::random::Stream;
use units::{Bytes, Duration};

/// Most requests that a page may have.
pub const MAX_REQUESTS: usize = 20_000;
/// Longest request or answer.
pub const MAX_BYTES: Bytes = Bytes::new(10_000_000_000);
/// Longest think time or delay.
pub const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);
/// A server gives an answer in parts of this many bytes: a TLS record (RFC 8446, section 5.1), and
/// the default of HTTP/2's `SETTINGS_MAX_FRAME_SIZE` (RFC 9113, section 6.5.2).
pub const PART: u64 = 16_384;
/// Largest extra round trip that [`Page::extra_rtts`] draws.
const MAX_EXTRA_RTT: Duration = Duration::from_secs(1);

/// A page to load. Its invariants are checked by [`Page::new`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "WrittenPage", into = "WrittenPage")]
pub struct Page {
    name: String,
    plan: Arc<LazyLock<PagePlan, Make>>,
    addresses: Option<u32>,
}

/// What a page consists of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PagePlan {
    pub origins: Vec<Origin>,
    pub requests: Vec<Request>,
}

/// Makes a plan when it is first asked for: of a thousand sites of the generator a run loads a few.
type Make = Box<dyn FnOnce() -> PagePlan + Send>;

/// A server, as browsers distinguish servers (RFC 6454).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// Whether the scheme is https (or wss).
    pub secure: bool,
    /// Host name in lower case.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Its protocol.
    pub protocol: Protocol,
}

impl Origin {
    /// Its server's number: the same for the same host name, on any page.
    fn server(&self) -> u32 {
        (Stream::new(0, &self.host).bits() >> 32) as u32
    }

    /// The carrier of its connections.
    fn carrier(&self) -> Carrier {
        match self.protocol {
            Protocol::H3 => Carrier::Quic,
            Protocol::H1 | Protocol::H2 => Carrier::Tcp,
        }
    }

    /// Whether TLS has a handshake of its own; over QUIC the transport's includes it.
    fn tls(&self) -> bool {
        self.secure && self.carrier() == Carrier::Tcp
    }
}

/// How requests share connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.x: up to six TCP connections, one request at a time on each.
    H1,
    /// HTTP/2: one TCP connection, answers interleaved on it.
    H2,
    /// HTTP/3: one QUIC connection, a stream for each request.
    H3,
}

impl Protocol {
    /// How many connections a browser opens to one origin at most: six for HTTP/1 (Chrome, Firefox),
    /// one where requests share it.
    pub const fn most_connections(self) -> usize {
        match self {
            Protocol::H1 => 6,
            Protocol::H2 | Protocol::H3 => 1,
        }
    }
}

/// One request; its number is its index in [`Page::requests`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Index into [`Page::origins`].
    pub origin: u32,
    /// Length of the request, headers included.
    pub request: Bytes,
    /// Length of the answer, headers included.
    pub response: Bytes,
    /// How long the server thinks before the first byte.
    pub think: Duration,
    /// Its dependency.
    pub after: After,
    /// How long after that it is sent.
    pub delay: Duration,
}

/// The dependency of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum After {
    /// The start of the page.
    Navigation,
    /// The first [`PART`] of this earlier request's answer: a parser reads data as it arrives.
    FirstPart(u32),
    /// All of this earlier request's answer.
    Done(u32),
}

/// Why a plan cannot be a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// It has no requests, or too many.
    #[error("a page has 1 to {MAX_REQUESTS} requests, not {0}")]
    Requests(usize),
    /// A request breaks a rule.
    #[error("request {0}: {1}")]
    Request(usize, &'static str),
}

impl Page {
    /// A page.
    ///
    /// # Errors
    /// If there are no requests or more than [`MAX_REQUESTS`]; if a request names an origin that
    /// there is not, waits for itself or a later one, or exceeds [`MAX_BYTES`] or [`MAX_WAIT`].
    pub fn new(
        name: &str,
        origins: Vec<Origin>,
        requests: Vec<Request>,
    ) -> Result<Self, PageError> {
        if requests.is_empty() || requests.len() > MAX_REQUESTS {
            return Err(PageError::Requests(requests.len()));
        }
        for (id, request) in requests.iter().enumerate() {
            let rule = |holds: bool, text| {
                if holds {
                    Ok(())
                } else {
                    Err(PageError::Request(id, text))
                }
            };
            rule((request.origin as usize) < origins.len(), "no such origin")?;
            rule(
                request.request.max(request.response) <= MAX_BYTES,
                "more than 10 GB",
            )?;
            rule(
                request.think.max(request.delay) <= MAX_WAIT,
                "waits for more than a day",
            )?;
            rule(
                request.parent().is_none_or(|parent| (parent as usize) < id),
                "waits for itself or a later one",
            )?;
        }
        Ok(Page::later(name, || PagePlan { origins, requests }))
    }

    /// A page whose plan is made when it is first asked for, and keeps the rules of [`Page::new`].
    pub(crate) fn later(name: &str, make: impl FnOnce() -> PagePlan + Send + 'static) -> Self {
        Page {
            name: name.chars().take(60).collect(),
            plan: Arc::new(LazyLock::new(Box::new(make))),
            addresses: None,
        }
    }

    /// Its name, at most 60 characters.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same page under another name, cut to its first 60 characters.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.chars().take(60).collect();
        self
    }

    /// The same page, whose origins have so many IP addresses together.
    #[must_use]
    pub fn with_addresses(mut self, addresses: Option<u32>) -> Self {
        self.addresses = addresses;
        self
    }

    /// Number of IP addresses of its origins together, if the recording has that of each.
    pub fn addresses(&self) -> Option<u32> {
        self.addresses
    }

    /// The servers.
    pub fn origins(&self) -> &[Origin] {
        &self.plan.origins
    }

    /// The requests; each waits only for earlier ones.
    pub fn requests(&self) -> &[Request] {
        &self.plan.requests
    }

    /// All answers together.
    pub fn total_response(&self) -> Bytes {
        Bytes::new(self.requests().iter().map(|r| r.response.get()).sum())
    }

    /// Bytes received on a connection to `server` before any answer: the handshake of TLS. If
    /// several origins have the server and the carrier, that of the first.
    pub fn handshake_bytes(&self, server: u32, carrier: Carrier) -> Bytes {
        let mut origins = self.origins().iter();
        let origin = origins.find(|of| (of.server(), of.carrier()) == (server, carrier));
        let tls = origin.is_some_and(Origin::tls);
        Bytes::new(if tls { connections::SERVER_HELLO } else { 0 })
    }

    /// How much longer than `rtt` the round trip to each origin is. Origins' round trips are
    /// log-normal around `rtt` with standard deviation `spread` of the logarithm, and never below
    /// it: `rtt · max(0, exp(spread · z) − 1)`, at most one second. So half of the origins have the
    /// scenario's round trip, as content delivery networks are, and the others farther. With a
    /// spread of 0 none is.
    pub fn extra_rtts(&self, stream: &mut Stream, rtt: Duration, spread: f64) -> Vec<Duration> {
        let draw = |_| {
            let far = stream.log_normal(1.0, spread) - 1.0;
            Duration::from_secs_f64(rtt.as_secs_f64() * far.max(0.0)).min(MAX_EXTRA_RTT)
        };
        self.origins().iter().map(draw).collect()
    }
}

/// A page as it is written and read; its invariants are checked then.
#[derive(Serialize, Deserialize)]
struct WrittenPage {
    name: String,
    origins: Vec<Origin>,
    requests: Vec<Request>,
    addresses: Option<u32>,
}

impl TryFrom<WrittenPage> for Page {
    type Error = PageError;
    fn try_from(written: WrittenPage) -> Result<Page, PageError> {
        let page = Page::new(&written.name, written.origins, written.requests)?;
        Ok(page.with_addresses(written.addresses))
    }
}

impl From<Page> for WrittenPage {
    fn from(page: Page) -> WrittenPage {
        WrittenPage {
            origins: page.origins().to_vec(),
            requests: page.requests().to_vec(),
            name: page.name,
            addresses: page.addresses,
        }
    }
}

impl PartialEq for Page {
    fn eq(&self, other: &Page) -> bool {
        let same_plan = || Arc::ptr_eq(&self.plan, &other.plan) || **self.plan == **other.plan;
        self.name == other.name && self.addresses == other.addresses && same_plan()
    }
}

impl Eq for Page {}

impl Request {
    /// The earlier request that it waits for.
    pub fn parent(&self) -> Option<u32> {
        match self.after {
            After::Navigation => None,
            After::FirstPart(parent) | After::Done(parent) => Some(parent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(after: After, origin: u32) -> Result<Page, PageError> {
        let home = Origin {
            secure: true,
            host: "a.example".into(),
            port: 443,
            protocol: Protocol::H1,
        };
        let request = Request {
            origin,
            request: Bytes::new(400),
            response: Bytes::new(1_000),
            think: Duration::ZERO,
            after,
            delay: Duration::ZERO,
        };
        Page::new("test", vec![home; 200], vec![request])
    }

    #[test]
    fn a_plan_that_cannot_be_is_refused() {
        assert!(page(After::Navigation, 0).is_ok());
        let error = page(After::Done(0), 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "request 0: waits for itself or a later one"
        );
        assert!(page(After::Navigation, 200).is_err());
        assert!(Page::new("none", vec![], vec![]).is_err());
    }

    #[test]
    fn round_trips_spread_above_the_scenarios() {
        let page = page(After::Navigation, 0).unwrap();
        let rtt = Duration::from_millis(40);
        let mut stream = Stream::new(1, "test");
        let none = page.extra_rtts(&mut stream, rtt, 0.0);
        assert!(none.iter().all(|&extra| extra == Duration::ZERO));
        let some = page.extra_rtts(&mut stream, rtt, 0.5);
        // Half have none; 84 % have less than one standard deviation: 40 ms · (e^0.5 − 1) = 26 ms.
        let near = some.iter().filter(|&&extra| extra == Duration::ZERO);
        assert!((80..=120).contains(&near.count()));
        let below = some
            .iter()
            .filter(|&&extra| extra < Duration::from_millis(26));
        assert!((155..=185).contains(&below.count()));
        let again = page.extra_rtts(&mut Stream::new(1, "test"), rtt, 9.0);
        assert!(again.iter().all(|&extra| extra <= MAX_EXTRA_RTT));
    }
}
