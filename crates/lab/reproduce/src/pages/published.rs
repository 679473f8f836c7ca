//! The Confucius paper's figures of the thousand websites that it measured in November 2023, and
//! HTTP Archive's of home pages.

/// Figures by the names that [`Survey::figure`](super::Survey::figure) knows.
pub const PUBLISHED: &[(&str, f64)] = &[
    // Section 1: "nine concurrent Internet connections (on average)".
    ("active.mean", 9.0),
    // Section 2.3.
    ("active.p50", 8.0),
    ("active.p90", 19.0),
    // Table 2, which is about the first 200 websites.
    ("active.max", 50.0),
    // Appendix A: 15 unique IP addresses, and twice as many connections.
    ("addresses.p50", 15.0),
    ("connections.p50", 30.0),
    // Table 3: 49 + 178341 + 75 + 25833 requests of 1000 websites.
    ("requests.mean", 204.298),
    // Appendix A: "flow sizes range from 100 bytes to 100KBytes with a median number of 15KB".
    ("flow_bytes.min", 100.0),
    ("flow_bytes.p50", 15_000.0),
    ("flow_bytes.max", 100_000.0),
    // Table 3, in percent of the 1687 pairs of website and version, and of requests. HTTP/1.0,
    // 2.37 and 0.02 %, is not counted with HTTP/1.1 there.
    ("protocol.website.h1", 56.97),
    ("protocol.website.h2", 0.77),
    ("protocol.website.h3", 39.89),
    ("protocol.request.h1", 87.29),
    ("protocol.request.h2", 0.04),
    ("protocol.request.h3", 12.64),
];

/// HTTP Archive's percentiles over home pages, by the same names. Its kilobytes have 1024 bytes.
pub const ARCHIVE: &[(&str, f64)] = &[
    // Web Almanac 2025, Page Weight, "Distribution of request volume by page type".
    ("requests.p10", 25.0),
    ("requests.p50", 78.0),
    ("requests.p90", 190.0),
    // The same, "Page weight distribution by page type": 589, 2,710 and 11,406 KB.
    ("page_bytes.p10", 589.0 * 1024.0),
    ("page_bytes.p50", 2_710.0 * 1024.0),
    ("page_bytes.p90", 11_406.0 * 1024.0),
    // Web Almanac 2020, HTTP/2, "Distribution of total number of connections per page"; later ones
    // have medians only, of 12 to 16.
    ("connections.p10", 5.0),
    ("connections.p50", 13.0),
    ("connections.p90", 33.0),
];

/// The paper's value of the figure called `name`.
pub fn published(name: &str) -> Option<f64> {
    find(PUBLISHED, name)
}

/// HTTP Archive's value of the figure called `name`.
pub fn archived(name: &str) -> Option<f64> {
    find(ARCHIVE, name)
}

fn find(figures: &[(&str, f64)], name: &str) -> Option<f64> {
    let found = figures.iter().find(|(other, _)| *other == name);
    found.map(|&(_, value)| value)
}

/// Table 2: the websites among the first 200 with the most ACTIVE flows, and their ACTIVE, IN_USE
/// and OPEN ones.
pub const TABLE_2: [(&str, [u64; 3]); 10] = [
    ("dailymail.co.uk", [50, 134, 250]),
    ("tumblr.com", [39, 82, 153]),
    ("w3schools.com", [32, 95, 176]),
    ("speedtest.net", [28, 87, 137]),
    ("cnn.com", [27, 118, 194]),
    ("namu.wiki", [27, 112, 192]),
    ("indiatimes.com", [22, 99, 136]),
    ("rakuten.co.jp", [20, 68, 97]),
    ("fandom.com", [19, 68, 97]),
    ("yahoo.com", [19, 42, 63]),
];
