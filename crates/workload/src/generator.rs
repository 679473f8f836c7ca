//! The thousand sites that the project ships, drawn from published distributions.
//!
//! Confucius (section 2.3, figure 3, tables 2 and 3, appendix A) measured the home pages of the
//! thousand most visited sites in November 2023: flows that receive bytes at the same time, servers,
//! connections, requests, sizes, HTTP versions. The pages themselves were not published. These are
//! drawn so that their distributions agree with what was: [`site`] gives the same page for the same
//! number everywhere, and nothing has to be stored. What is not published (think times, what waits
//! for what) is a choice, written down in `docs/decisions/0031-generated-sites.md`.

use crate::page::{After, Origin, Page, Protocol, Request};
use std::sync::Arc;
use units::random::Stream;
use units::{Bytes, Duration};

/// How many sites there are.
pub const SITES: u32 = 1000;

const SEED: u64 = 202_311;

/// Flows that are ACTIVE at the same time: median 8, 90th percentile 19 (section 2.3), so that the
/// logarithm's deviation is ln(19/8) / 1.2816; at most 50 (table 2).
const ACTIVE: (f64, f64, f64) = (8.0, 0.675, 50.0);
/// Servers: median 15 (appendix A), and the deviation of the logarithm that is not due to the flows.
/// They grow with the flows to this power, as connections do in table 2.
const SERVERS: (f64, f64, f64) = (15.0, 0.25, 150.0);
const SERVERS_POWER: f64 = 1.1;
/// Requests: 204 a site on average (table 3: 204,298 at 1000 sites), more where there are more flows.
const REQUESTS: (f64, f64, f64) = (150.0, 0.5, 1500.0);
const REQUESTS_POWER: f64 = 0.9;
/// Sizes: 100 B to 100 kB, median 15 kB (appendix A): four in five are objects, the others beacons.
const OBJECT: (f64, f64) = (21_500.0, 1.0);
const BEACON: (f64, f64) = (600.0, 0.8);
const BEACONS: f64 = 0.2;
const SIZES: (f64, f64) = (100.0, 100_000.0);
/// How far a page's sizes as a whole are from the others', and how much of it follows its flows.
const PAGE_SIZE: (f64, f64) = (0.25, 0.15);

/// Websites without HTTP/1.1: all but 961 of 1000 (table 3).
const ONLY_H3: f64 = 0.039;
/// Other websites with some HTTP/3: 673 − 39 of 961 (table 3).
const SOME_H3: f64 = 0.66;
/// Share of such a website's further servers that speak it, so that 12.6 % of requests do.
const H3_SERVERS: f64 = 0.16;
/// Websites with some HTTP/2 (table 3).
const SOME_H2: f64 = 0.013;

/// Zipf's exponent of requests over a page's servers.
const ZIPF: f64 = 1.4;

/// Requests that one parent causes at a median site, and the power of the flows that they grow
/// with; over how long they are sent; and how long the parent takes to be parsed or run, seconds.
/// Set so that ACTIVE flows and connections come out as published when the sites are loaded.
const BURST: (f64, f64) = (10.0, 1.6);
const STAGGER: Duration = Duration::from_millis(30);
const WORK: (f64, f64, f64) = (0.060, 1.0, 5.0);
/// Server think time in seconds.
const THINK: (f64, f64, f64) = (0.025, 1.0, 2.0);
/// Length of a request.
const REQUEST: (f64, f64, f64) = (450.0, 0.4, 4_000.0);

/// A log-normal number, cut at the top.
fn draw(stream: &mut Stream, (median, sigma, most): (f64, f64, f64)) -> f64 {
    stream.log_normal(median, sigma).min(most)
}

/// All sites, in order.
pub fn sites() -> Vec<Arc<Page>> {
    (0..SITES).map(|index| Arc::new(site(index))).collect()
}

/// Site number `index`; any number gives one.
pub fn site(index: u32) -> Page {
    let stream = &mut Stream::new(SEED, &format!("site {index}"));
    let z = stream.normal();
    let active = (ACTIVE.0 * libm::exp(ACTIVE.1 * z)).clamp(1.0, ACTIVE.2);
    let grown = |power| libm::pow(active / ACTIVE.0, power);
    let servers = draw(stream, SERVERS) * grown(SERVERS_POWER);
    let servers = servers.clamp(1.0, SERVERS.2).round() as usize;
    let requests = draw(stream, REQUESTS) * grown(REQUESTS_POWER);
    let requests = requests.clamp(servers as f64, REQUESTS.2).round() as usize;
    let scale = libm::exp(PAGE_SIZE.0 * stream.normal() + PAGE_SIZE.1 * z);
    let origins = origins(stream, index, servers);
    let waits = waits(stream, active, requests);
    let choice = origin_choice(stream, servers, requests);
    let requests = waits
        .into_iter()
        .zip(choice)
        .map(|((after, delay), origin)| Request {
            origin,
            request: Bytes::new(draw(stream, REQUEST) as u64),
            response: Bytes::new(size(stream, scale)),
            think: Duration::from_secs_f64(draw(stream, THINK)),
            after,
            delay,
        });
    let requests = requests.collect();
    Page::new(&format!("site-{index:04}"), origins, requests)
        .expect("parents come before their children, and every number is bounded above")
}

fn size(stream: &mut Stream, scale: f64) -> u64 {
    let (median, sigma) = match stream.unit() < BEACONS {
        true => BEACON,
        false => OBJECT,
    };
    // Drawn again rather than cut, so that sizes do not pile up at the ends.
    for _ in 0..100 {
        let bytes = stream.log_normal(median * scale, sigma);
        if (SIZES.0..=SIZES.1).contains(&bytes) {
            return bytes as u64;
        }
    }
    median as u64
}

/// The site's own server first, then others.
fn origins(stream: &mut Stream, site: u32, servers: usize) -> Vec<Origin> {
    let only_h3 = stream.unit() < ONLY_H3;
    let some_h3 = stream.unit() < SOME_H3;
    let some_h2 = stream.unit() < SOME_H2;
    let mut protocols = vec![if only_h3 { Protocol::H3 } else { Protocol::H1 }; servers];
    for (number, protocol) in protocols.iter_mut().enumerate().skip(1) {
        let h3 = stream.unit() < H3_SERVERS;
        if some_h3 && (h3 || number + 1 == servers) {
            *protocol = Protocol::H3;
        }
        if some_h2 && !only_h3 && number == servers / 2 {
            *protocol = Protocol::H2;
        }
    }
    let origin = |(number, protocol)| Origin {
        secure: true,
        host: format!("host-{number}.site-{site:04}.example"),
        port: 443,
        protocol,
    };
    protocols.into_iter().enumerate().map(origin).collect()
}

/// Which server each request goes to: the document to the site's own, at least one to each, the
/// others by Zipf's law.
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

/// What each request waits for. The document's first part causes the first burst; an answer of an
/// earlier burst, one of the last few, causes each further one.
fn waits(stream: &mut Stream, active: f64, requests: usize) -> Vec<(After, Duration)> {
    let mut waits = vec![(After::Navigation, Duration::ZERO)];
    while waits.len() < requests {
        let usual = BURST.0 * libm::pow(active / ACTIVE.0, BURST.1);
        let recent = (2.0 * usual).ceil() as u64;
        let count = waits.len() as u64;
        let parent = count - 1 - stream.below(recent.min(count));
        let after = match parent {
            0 => After::FirstPart(0),
            _ => After::Done(parent as u32),
        };
        let work = Duration::from_secs_f64(draw(stream, WORK));
        let burst = stream.log_normal(usual, 0.5).max(1.0) as usize;
        for _ in 0..burst.min(requests - waits.len()) {
            let stagger = Duration::from_nanos(stream.below(STAGGER.as_nanos()));
            waits.push((after, work + stagger));
        }
    }
    waits
}
