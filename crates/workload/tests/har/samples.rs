//! Small recordings of an invented page, written by hand as each exporter would write them. The fuzz
//! target begins with them as well.

/// Chrome's developer tools: `_transferSize`, an initiator with a stack, `ssl` within `connect`.
pub const CHROME: &str = include_str!("samples/chrome.har");

/// Firefox: no `time`, empty `timings` for what failed, times of another zone.
pub const FIREFOX: &str = include_str!("samples/firefox.har");

/// WebPageTest: `_bytesIn` as text, protocol names cut out of HTTP/2 headers, http.
pub const WEBPAGETEST: &str = include_str!("samples/webpagetest.har");

/// Browsertime through chrome-har: several pages, sizes of -1, an initiator as text.
pub const BROWSERTIME: &str = include_str!("samples/browsertime.har");

pub const ALL: [&str; 4] = [CHROME, FIREFOX, WEBPAGETEST, BROWSERTIME];
