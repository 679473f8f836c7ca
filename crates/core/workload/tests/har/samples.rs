//! Small recordings of an invented page, written by hand as each exporter would write them. The fuzz
//! target begins with them as well.

/// Chrome's developer tools: `_transferSize`, an initiator with a stack, `ssl` within `connect`.
pub const CHROME: &str = include_str!("samples/chrome.har");

/// Firefox: no `time`, empty `timings` for failed requests, times of another zone.
pub const FIREFOX: &str = include_str!("samples/firefox.har");

/// WebPageTest: `_bytesIn` as text, protocol names cut out of HTTP/2 headers, http.
pub const WEBPAGETEST: &str = include_str!("samples/webpagetest.har");

/// Browsertime through chrome-har: several pages, sizes of -1, an initiator as text.
pub const BROWSERTIME: &str = include_str!("samples/browsertime.har");

/// Safari's Web Inspector: `_fetchType`, times below zero, no moment if no request was sent.
pub const SAFARI: &str = include_str!("samples/safari.har");

/// Playwright: a status, sizes and times of -1 for aborted entries, web sockets, entries of no
/// page.
pub const PLAYWRIGHT: &str = include_str!("samples/playwright.har");

/// Fiddler: `pages` is null, moments have seven decimals, tunnels are entries.
pub const FIDDLER: &str = include_str!("samples/fiddler.har");

/// Charles: no `pages`, relative redirects.
pub const CHARLES: &str = include_str!("samples/charles.har");

/// mitmproxy: an empty `pages`, times of null.
pub const MITMPROXY: &str = include_str!("samples/mitmproxy.har");

pub const ALL: [&str; 9] = [
    CHROME,
    FIREFOX,
    WEBPAGETEST,
    BROWSERTIME,
    SAFARI,
    PLAYWRIGHT,
    FIDDLER,
    CHARLES,
    MITMPROXY,
];
