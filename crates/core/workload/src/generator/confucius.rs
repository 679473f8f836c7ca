//! The home pages of the thousand most visited sites in November 2023: Confucius, section 2.3, figure
//! 3, tables 2 and 3, appendix A.

use super::{LogNormal, Population, within};
use crate::page::Protocol;
use units::random::Stream;

/// The sites of the Confucius paper. How rich a site is follows its ACTIVE flows: median 8, 90th
/// percentile 19 (section 2.3), so that the deviation is ln(19/8) / 1.2816; at most 50 (table 2).
pub static CONFUCIUS: Population = Population {
    name: "site",
    seed: 202_311,
    rich: (0.675, 0.675),
    ends: (1.0 / 8.0, 50.0 / 8.0),
    // Median 15 (appendix A); they grow with the flows as connections do in table 2.
    servers: (LogNormal(15.0, 0.25, 150.0), 1.1),
    // 204 a site on average (table 3: 204,298 at 1000 sites).
    requests: (LogNormal(150.0, 0.5, 1500.0), 0.9),
    burst: BURST,
    weight: (0.25, 0.2),
    protocols,
    size,
};

/// Set so that ACTIVE flows and connections come out as published when the sites are loaded.
const BURST: (f64, f64) = (11.0, 1.6);

/// Sizes of flows: 100 B to 100 kB, median 15 kB (appendix A). Four in five answers are objects, the
/// others beacons. An answer has its part of a flow.
const OBJECT: (f64, f64) = (10_500.0, 0.9);
const BEACON: (f64, f64) = (600.0, 0.8);
const BEACONS: f64 = 0.2;
const SIZES: (f64, f64) = (100.0, 100_000.0);

/// Websites without HTTP/1.1: all but 961 of 1000 (table 3).
const ONLY_H3: f64 = 0.039;
/// Other websites with some HTTP/3: 673 − 39 of 961 (table 3).
const SOME_H3: f64 = 0.66;
/// Share of such a website's further servers that speak it, so that 12.6 % of requests do.
const H3_SERVERS: f64 = 0.16;
/// Websites with some HTTP/2 (table 3).
const SOME_H2: f64 = 0.013;

fn size(stream: &mut Stream, carried: f64, scale: f64) -> u64 {
    let (median, sigma) = if stream.unit() < BEACONS {
        BEACON
    } else {
        OBJECT
    };
    let ends = (SIZES.0, (SIZES.1 / carried).max(2.0 * SIZES.0));
    within(stream, (median * scale / carried, sigma), ends)
}

fn protocols(stream: &mut Stream, servers: usize) -> Vec<Protocol> {
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
    protocols
}
