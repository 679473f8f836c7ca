//! Home pages as HTTP Archive's crawl of a dozen million sites finds them: the Web Almanac of 2025,
//! chapter "Page Weight" (home pages, desktop and mobile, June 2025), of 2024, chapter "HTTP", and of
//! 2020, chapter "HTTP/2". HTTP Archive counts kilobytes of 1024 bytes.

use super::{LogNormal, Population, within};
use crate::page::Protocol;
use units::random::Stream;

/// Home pages of today's web. How rich a site is follows its requests.
pub static WEB: Population = Population {
    name: "web",
    seed: 202_506,
    // Requests: 25, 78 and 190 at the 10th, 50th and 90th percentile (2025, Page Weight):
    // ln(78/25) / 1.2816 and ln(190/78) / 1.2816.
    rich: (0.888, 0.695),
    ends: (0.05, 20.0),
    // Set so that the number of connections is as published: 5, 13 and 33 (2020, HTTP/2, the last
    // year with percentiles; medians of 12 to 16 since).
    servers: (LogNormal(10.5, 0.3, 150.0), 0.9),
    requests: (LogNormal(78.0, 0.0, 1500.0), 1.0),
    burst: (10.0, 1.0),
    weight: (0.8, 0.0),
    protocols,
    size,
};

/// Answers: the median image of a home page has 8 kB, 75 % less than 48 kB, 90 % less than 183 kB;
/// scripts have 1 to 165 kB (10th to 90th percentile; 2025, Page Weight). Set so that pages have
/// their measured weight.
const ANSWER: (f64, f64) = (8_300.0, 1.75);
const SIZES: (f64, f64) = (100.0, 20_000_000.0);

/// Home pages over HTTP/1.1 and HTTP/3 (2024, HTTP: 21 to 22 and 7 to 9 %), and other servers over
/// HTTP/1.1, so that 15 % of requests are.
const SITE: (f64, f64) = (0.215, 0.08);
const OTHERS: (f64, f64) = (0.10, 0.08);

fn size(stream: &mut Stream, _: f64, scale: f64) -> u64 {
    within(stream, (ANSWER.0 * scale, ANSWER.1), SIZES)
}

fn protocols(stream: &mut Stream, servers: usize) -> Vec<Protocol> {
    let mut draw = |(h1, h3): (f64, f64)| match stream.unit() {
        point if point < h1 => Protocol::H1,
        point if point < h1 + h3 => Protocol::H3,
        _ => Protocol::H2,
    };
    let own = draw(SITE);
    let others = (1..servers).map(|_| draw(OTHERS));
    [own].into_iter().chain(others).collect()
}
