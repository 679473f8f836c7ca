//! The demands of pages on a network, from their plans alone.
//!
//! The figures are those that the Confucius paper gives of its thousand websites (appendix A:
//! figure 18 and table 3). How many flows there are at the same time (figure 3, table 2) depends on
//! the network, and takes a load to find out.

use crate::page::{Page, Protocol};
use serde::Serialize;

/// The statistics of one page's plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    /// Requests that go over the network.
    pub requests: u64,
    /// Distinct origins: scheme, host and port.
    pub origins: u64,
    /// Distinct IP addresses of the origins, if the recording has that of each.
    pub addresses: Option<u64>,
    /// The most connections that a browser may open: six for an HTTP/1 origin or as many as it has
    /// requests, one for any other. How many it does open depends on when requests are ready.
    pub connection_limit: u64,
    /// All answers together, headers included.
    pub bytes: u64,
    /// Requests by the HTTP version of their origin.
    pub versions: ByVersion,
}

impl Statistics {
    /// The statistics of `page`.
    pub fn of(page: &Page) -> Self {
        let mut requests = vec![0; page.origins().len()];
        for request in page.requests() {
            requests[request.origin as usize] += 1;
        }
        let mut statistics = Statistics {
            requests: page.requests().len() as u64,
            origins: 0,
            addresses: page.addresses().map(u64::from),
            connection_limit: 0,
            bytes: page.total_response().get(),
            versions: ByVersion::default(),
        };
        let asked = page.origins().iter().zip(requests);
        for (origin, requests) in asked.filter(|&(_, requests)| requests > 0) {
            let most = origin.protocol.most_connections() as u64;
            statistics.origins += 1;
            statistics.connection_limit += most.min(requests);
            *statistics.versions.of(origin.protocol) += requests;
        }
        statistics
    }
}

/// A number for each version of HTTP. HTTP/1.0 is counted with HTTP/1.1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ByVersion {
    /// HTTP/1.0 and HTTP/1.1.
    pub h1: u64,
    /// HTTP/2.
    pub h2: u64,
    /// HTTP/3.
    pub h3: u64,
}

impl ByVersion {
    fn of(&mut self, protocol: Protocol) -> &mut u64 {
        match protocol {
            Protocol::H1 => &mut self.h1,
            Protocol::H2 => &mut self.h2,
            Protocol::H3 => &mut self.h3,
        }
    }

    /// The numbers in the order of versions, with their names in figures.
    pub fn named(self) -> [(&'static str, u64); 3] {
        [("h1", self.h1), ("h2", self.h2), ("h3", self.h3)]
    }

    /// The share of the version called `name` in percent of all three; none without requests, or
    /// for an unknown name.
    pub fn percent(self, name: &str) -> Option<f64> {
        let sum = self.h1 + self.h2 + self.h3;
        let (_, count) = self.named().into_iter().find(|&(other, _)| other == name)?;
        (sum > 0).then(|| 100.0 * count as f64 / sum as f64)
    }
}

/// Versions of HTTP as table 3 counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Versions {
    /// Websites with at least one request over a version. One website counts once for each that it
    /// uses, and shares are of that sum.
    pub websites: ByVersion,
    /// Requests.
    pub requests: ByVersion,
}

impl Versions {
    /// Counts one more page's.
    pub fn add(&mut self, page: ByVersion) {
        let Versions { websites, requests } = self;
        for protocol in [Protocol::H1, Protocol::H2, Protocol::H3] {
            let count = *page.clone().of(protocol);
            *websites.of(protocol) += u64::from(count > 0);
            *requests.of(protocol) += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{After, Origin, Request};
    use units::{Bytes, Duration};

    /// A page with these origins, each with so many requests of 1000 bytes.
    fn page(origins: &[(Protocol, u32)]) -> Page {
        let origin = |(number, &(protocol, _))| Origin {
            secure: true,
            host: format!("{number}.example"),
            port: 443,
            protocol,
        };
        let request = |origin| Request {
            origin,
            request: Bytes::new(400),
            response: Bytes::new(1_000),
            think: Duration::ZERO,
            after: After::Navigation,
            delay: Duration::ZERO,
        };
        let counts = (0..).zip(origins.iter().map(|&(_, count)| count));
        let requests = counts.flat_map(|(index, count)| (0..count).map(move |_| request(index)));
        let origins = origins.iter().enumerate().map(origin).collect();
        Page::new("test", origins, requests.collect()).unwrap()
    }

    #[test]
    fn a_plan_counted_by_hand() {
        let page = page(&[
            (Protocol::H1, 9),
            (Protocol::H1, 2),
            (Protocol::H3, 5),
            (Protocol::H2, 0),
        ]);
        let statistics = Statistics::of(&page.with_addresses(Some(2)));
        // Six for nine requests, two for two, one over HTTP/3; the fourth origin has no requests.
        let expected = Statistics {
            requests: 16,
            origins: 3,
            addresses: Some(2),
            connection_limit: 6 + 2 + 1,
            bytes: 16_000,
            versions: ByVersion {
                h1: 11,
                h2: 0,
                h3: 5,
            },
        };
        assert_eq!(statistics, expected);
    }

    #[test]
    fn websites_count_once_for_each_version() {
        let mut versions = Versions::default();
        assert_eq!(versions.websites.percent("h1"), None);
        for counts in [
            [(Protocol::H1, 90), (Protocol::H3, 10)],
            [(Protocol::H1, 60), (Protocol::H2, 40)],
        ] {
            versions.add(Statistics::of(&page(&counts)).versions);
        }
        // Two of four, one, one; 150, 40 and 10 of 200.
        let percent = |by: ByVersion| ["h1", "h2", "h3"].map(|name| by.percent(name).unwrap());
        assert_eq!(percent(versions.websites), [50.0, 25.0, 25.0]);
        assert_eq!(percent(versions.requests), [75.0, 20.0, 5.0]);
        assert_eq!(versions.requests.percent("h4"), None);
    }
}
