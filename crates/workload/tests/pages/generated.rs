//! The generated sites against what was published of the measured ones: Confucius, section 2.3,
//! figure 3, table 3 and appendix A.

use crate::toy::{Run, Toy};
use std::sync::Arc;
use units::{Duration, Rate};
use workload::generator;
use workload::page::{Page, PageClient, PageParams, PageSetup, Protocol, Request};

/// Near and with room: the measurement says nothing of its access, and a campus has such.
const RTT: Duration = Duration::from_millis(20);
const RATE: Rate = Rate::from_bits(100_000_000);

fn quantile(values: impl Iterator<Item = usize>, q: f64) -> f64 {
    let mut sorted: Vec<usize> = values.collect();
    sorted.sort_unstable();
    sorted[((sorted.len() - 1) as f64 * q).round() as usize] as f64
}

/// Within 15 % of the published figure.
fn near(what: &str, is: f64, published: f64) {
    println!("{what}: {is}, published {published}");
    let off = is / published - 1.0;
    assert!(off.abs() <= 0.15, "{what}: {is}, published {published}");
}

fn load(page: &Arc<Page>) -> Run {
    let params = PageParams {
        loads: 1,
        ..PageParams::default()
    };
    let setup = PageSetup { seed: 1, rtt: RTT };
    let client = PageClient::new(vec![Arc::clone(page)], params, setup);
    Toy::new(RTT, RATE).run(client, Duration::from_secs(120))
}

#[test]
fn flows_and_connections_are_as_many_as_published() {
    let runs: Vec<Run> = generator::sites().iter().map(load).collect();
    let active = || runs.iter().map(|run| run.active.peak());
    near("ACTIVE, median", quantile(active(), 0.5), 8.0);
    near("ACTIVE, 90th percentile", quantile(active(), 0.9), 19.0);
    // The published ones go to 50 at one site, and 39 at the next.
    assert!((30.0..=50.0).contains(&quantile(active(), 1.0)));
    let connections = runs.iter().map(|run| run.opened.len());
    near("connections, median", quantile(connections, 0.5), 30.0);
    assert!(runs.iter().all(|run| run.closed.len() == run.opened.len()));
}

#[test]
fn plans_are_as_published() {
    let sites = generator::sites();
    let servers = sites.iter().map(|site| site.origins().len());
    near("servers, median", quantile(servers, 0.5), 15.0);
    let requests: usize = sites.iter().map(|site| site.requests().len()).sum();
    near("requests, all", requests as f64, 204_298.0);
    let all = || sites.iter().flat_map(|site| site.requests());
    let sizes = || all().map(|request| request.response.get() as usize);
    near("size, median", quantile(sizes(), 0.5), 15_000.0);
    assert!(sizes().all(|size| (100..=100_000).contains(&size)));

    let speak = |site: &Page, protocol| site.origins().iter().any(|o| o.protocol == protocol);
    let by_site = |protocol| sites.iter().filter(|site| speak(site, protocol)).count() as f64;
    near("sites with HTTP/1", by_site(Protocol::H1), 961.0);
    near("sites with HTTP/3", by_site(Protocol::H3), 673.0);
    // 13 of 1000 are too few for 15 %.
    assert!((8.0..=18.0).contains(&by_site(Protocol::H2)));
    let count = |site: &Page, protocol| {
        let spoken = |request: &&Request| site.origins()[request.origin as usize].protocol;
        let requests = site.requests().iter();
        requests
            .filter(|request| spoken(request) == protocol)
            .count()
    };
    let by_request = |protocol| {
        let count: usize = sites.iter().map(|site| count(site, protocol)).sum();
        count as f64 / requests as f64
    };
    near("requests over HTTP/1", by_request(Protocol::H1), 0.873);
    near("requests over HTTP/3", by_request(Protocol::H3), 0.126);
    assert!(by_request(Protocol::H2) < 0.001);
}

#[test]
fn more_servers_more_requests_and_larger_ones() {
    let mut sites = generator::sites();
    sites.sort_by_key(|site| site.origins().len());
    let (small, large) = sites.split_at(500);
    let mean = |half: &[Arc<Page>]| {
        let requests: usize = half.iter().map(|site| site.requests().len()).sum();
        let bytes: u64 = half.iter().map(|site| site.total_response().get()).sum();
        (requests as f64, bytes as f64 / requests as f64)
    };
    let (few, small) = mean(small);
    let (many, large) = mean(large);
    assert!(many > 1.5 * few, "{few} {many}");
    assert!(large > 1.05 * small, "{small} {large}");
}

#[test]
fn a_number_is_always_the_same_site() {
    assert_eq!(generator::site(17), generator::site(17));
    assert_ne!(generator::site(17), generator::site(18));
    assert_eq!(generator::site(17).name(), "site-0017");
    generator::site(u32::MAX);
}
