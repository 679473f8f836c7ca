//! Sites that the project ships, drawn from published distributions: [`CONFUCIUS`], the thousand that
//! the Confucius paper measured, and [`WEB`], home pages as HTTP Archive sees them.
//!
//! The pages themselves were not published. These are drawn so that their distributions agree with
//! the published ones: a number is the same page everywhere, and nothing has to be stored.
//! Unpublished parts (think times, dependencies) are a choice, the same for both, written down in
//! `docs/decisions/0031-generated-sites.md` and `0032-pages-beside-the-web.md`.

mod confucius;
mod web;

pub use confucius::CONFUCIUS;
pub use web::WEB;

use crate::page::{After, Origin, Page, PagePlan, Protocol, Request};
use std::sync::Arc;
use units::random::Stream;
use units::{Bytes, Duration};

/// How many sites each population has.
pub const SITES: u32 = 1000;

/// Zipf's exponent of requests over a page's servers.
const ZIPF: f64 = 1.4;
/// Over how long requests that one parent causes are sent; and how long the parent takes to be parsed
/// or run, seconds.
const STAGGER: Duration = Duration::from_millis(30);
const WORK: LogNormal = LogNormal(0.060, 1.0, 5.0);
/// Server think time in seconds.
const THINK: LogNormal = LogNormal(0.025, 1.0, 2.0);
/// Length of a request.
const REQUEST: LogNormal = LogNormal(450.0, 0.4, 4_000.0);

/// A log-normal number, cut at the top: median, deviation of the logarithm, most.
#[derive(Debug, Clone, Copy)]
struct LogNormal(f64, f64, f64);

impl LogNormal {
    fn draw(self, stream: &mut Stream) -> f64 {
        stream.log_normal(self.0, self.1).min(self.2)
    }
}

/// The distributions from which sites are drawn. One number of a site, how rich it is, is
/// log-normal with median 1; others grow with its powers, and have a spread of their own.
#[derive(Debug)]
pub struct Population {
    /// The prefix of sites' names.
    name: &'static str,
    seed: u64,
    /// Deviation of the logarithm of a site's richness, below the median and above it; the least and
    /// the most.
    rich: (f64, f64),
    ends: (f64, f64),
    /// Servers, and the power of the richness that they grow with.
    servers: (LogNormal, f64),
    /// Requests, likewise.
    requests: (LogNormal, f64),
    /// Requests that one parent causes at a median site, and the power that they grow with.
    burst: (f64, f64),
    /// How far a site's sizes as a whole are from the others' (deviation of the logarithm), and the
    /// power of its richness that they grow with.
    weight: (f64, f64),
    /// The protocols of its servers, the site's own first.
    protocols: fn(&mut Stream, usize) -> Vec<Protocol>,
    /// The length of an answer, on a connection that is expected to carry so many requests, of a site
    /// whose sizes are so many times the usual.
    size: fn(&mut Stream, f64, f64) -> u64,
}

impl Population {
    /// All its sites, in order.
    pub fn sites(&'static self) -> Vec<Arc<Page>> {
        (0..SITES).map(|index| Arc::new(self.site(index))).collect()
    }

    /// Site number `index`; any number gives one. It is made when it is first looked into.
    pub fn site(&'static self, index: u32) -> Page {
        let name = format!("{}-{index:04}", self.name);
        Page::later(&name.clone(), move || self.plan(index, &name))
    }

    fn plan(&self, index: u32, name: &str) -> PagePlan {
        let stream = &mut Stream::new(self.seed, &format!("site {index}"));
        let z = stream.normal();
        let deviation = if z < 0.0 { self.rich.0 } else { self.rich.1 };
        let rich = libm::exp(deviation * z).clamp(self.ends.0, self.ends.1);
        let grown = |power| libm::pow(rich, power);
        let (servers, power) = self.servers;
        let count = servers.draw(stream) * grown(power);
        let servers = count.clamp(1.0, servers.2).round() as usize;
        let (requests, power) = self.requests;
        let count = requests.draw(stream) * grown(power);
        let requests = count.clamp(servers as f64, requests.2).round() as usize;
        let scale = libm::exp(self.weight.0 * stream.normal()) * grown(self.weight.1);
        let protocols = (self.protocols)(stream, servers);
        let usual = self.burst.0 * grown(self.burst.1);
        let waits = waits(stream, usual, requests);
        let choice = origin_choice(stream, servers, requests);
        let carried = carried(&protocols, &choice);
        let requests = waits.into_iter().zip(choice);
        let requests = requests.map(|((after, delay), origin)| Request {
            origin,
            request: Bytes::new(REQUEST.draw(stream) as u64),
            response: Bytes::new((self.size)(stream, carried[origin as usize], scale)),
            think: Duration::from_secs_f64(THINK.draw(stream)),
            after,
            delay,
        });
        PagePlan {
            requests: requests.collect(),
            origins: origins(name, protocols),
        }
    }
}

/// How many requests a connection to each server is expected to carry.
fn carried(protocols: &[Protocol], choice: &[u32]) -> Vec<f64> {
    let requests = |server: usize| choice.iter().filter(|&&of| of as usize == server).count();
    let servers = protocols.iter().enumerate();
    let carried = servers.map(|(server, protocol)| {
        let requests = requests(server);
        requests as f64 / requests.clamp(1, protocol.most_connections()) as f64
    });
    carried.collect()
}

fn origins(site: &str, protocols: Vec<Protocol>) -> Vec<Origin> {
    let origin = |(number, protocol)| Origin {
        secure: true,
        host: format!("host-{number}.{site}.example"),
        port: 443,
        protocol,
    };
    protocols.into_iter().enumerate().map(origin).collect()
}

/// Draws a number of bytes until it is within the ends, so that sizes do not pile up there.
fn within(stream: &mut Stream, (median, sigma): (f64, f64), (least, most): (f64, f64)) -> u64 {
    for _ in 0..100 {
        let bytes = stream.log_normal(median, sigma);
        if (least..=most).contains(&bytes) {
            return bytes as u64;
        }
    }
    median.clamp(least, most) as u64
}

/// The server of each request: the document's is the site's own, each gets at least one, the others
/// follow Zipf's law.
fn origin_choice(stream: &mut Stream, servers: usize, requests: usize) -> Vec<u32> {
    let mut sums = Vec::with_capacity(servers);
    let mut sum = 0.0;
    for rank in 1..=servers {
        sum += libm::pow(rank as f64, -ZIPF);
        sums.push(sum);
    }
    let every = (requests - 1) / (servers - 1).max(1);
    let choose = |id: usize| {
        let turn = (id + every - 1) / every.max(1);
        if id == 0 {
            0
        } else if (id - 1).is_multiple_of(every) && turn < servers {
            turn
        } else {
            let point = stream.unit() * sum;
            sums.partition_point(|&sum| sum <= point).min(servers - 1)
        }
    };
    (0..requests)
        .map(choose)
        .map(|origin| origin as u32)
        .collect()
}

/// The dependencies of requests. The document's first part causes the first burst; an answer of an
/// earlier burst, one of the last few, causes each further one. A burst has `usual` requests.
fn waits(stream: &mut Stream, usual: f64, requests: usize) -> Vec<(After, Duration)> {
    let mut waits = vec![(After::Navigation, Duration::ZERO)];
    while waits.len() < requests {
        let recent = (2.0 * usual).ceil() as u64;
        let count = waits.len() as u64;
        let parent = count - 1 - stream.below(recent.min(count));
        let after = match parent {
            0 => After::FirstPart(0),
            _ => After::Done(parent as u32),
        };
        let work = Duration::from_secs_f64(WORK.draw(stream));
        let burst = stream.log_normal(usual, 0.5).max(1.0) as usize;
        for _ in 0..burst.min(requests - waits.len()) {
            let stagger = Duration::from_nanos(stream.below(STAGGER.as_nanos()));
            waits.push((after, work + stagger));
        }
    }
    waits
}
