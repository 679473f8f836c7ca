//! The meaning of each exporter's fields.

use crate::samples::{
    ALL, BROWSERTIME, CHARLES, CHROME, FIDDLER, FIREFOX, MITMPROXY, PLAYWRIGHT, SAFARI, WEBPAGETEST,
};
use units::{Bytes, Duration};
use workload::har::{self, Har, Options, Reason};
use workload::page::{After, Page, Protocol};

fn read(text: &str) -> Har {
    har::read("sample.har", text.as_bytes(), &Options::default()).unwrap()
}

fn only(text: &str) -> Page {
    let mut har = read(text);
    assert_eq!((har.pages.len(), har.left_out.pages), (1, 0));
    har.pages.remove(0)
}

/// Which entries were left out, by index.
fn left_out(text: &str) -> Vec<(usize, Reason)> {
    let mut left: Vec<_> = read(text)
        .left_out
        .entries
        .iter()
        .map(|entry| (entry.index, entry.reason))
        .collect();
    left.sort_unstable();
    left
}

fn sizes(page: &Page) -> Vec<(u64, u64)> {
    let requests = page.requests().iter();
    requests
        .map(|r| (r.request.get(), r.response.get()))
        .collect()
}

fn waits(page: &Page) -> Vec<(After, Duration)> {
    let requests = page.requests().iter();
    requests.map(|r| (r.after, r.delay)).collect()
}

fn servers(page: &Page) -> Vec<(&str, u16, Protocol)> {
    let origins = page.origins().iter();
    origins
        .map(|o| (o.host.as_str(), o.port, o.protocol))
        .collect()
}

fn thinks(page: &Page) -> Vec<u64> {
    let requests = page.requests().iter();
    requests.map(|r| r.think.as_millis()).collect()
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn chrome() {
    let page = only(CHROME);
    assert_eq!(
        servers(&page),
        [
            ("shop.example", 443, Protocol::H1),
            ("cdn.example", 443, Protocol::H3)
        ]
    );
    // The cached image and the data: URL are not requested; 450 if no size is given.
    assert_eq!(sizes(&page), [(512, 8_000), (450, 21_000), (500, 180)]);
    // The page's first byte came at 0.5 + 60 + 80 = 140.5 ms and its last at 160.5: the script,
    // at 150 ms, was caused 9.5 ms into it. The script ended at 220, the image began 40 ms after
    // that, took 5 and caused the last request 10 ms later, which so waits 55 ms for the script.
    assert_eq!(
        waits(&page),
        [
            (After::Navigation, ms(0)),
            (After::FirstPart(0), Duration::from_micros(9_500)),
            (After::Done(1), ms(55)),
        ]
    );
    assert_eq!(left_out(CHROME), [(2, Reason::Cached), (4, Reason::Data)]);
    // shop.example's TCP took 60 − 40 = 20 ms: 80 − 20 and 25 − 20. cdn.example's, all of it
    // counted as TLS, a third of 20 ms: 39 − 6.67.
    assert_eq!(thinks(&page), [60, 32, 5]);
}

#[test]
fn what_was_cached_can_be_fetched() {
    let options = Options {
        fetch_cached: true,
        ..Options::default()
    };
    let har = har::read("x", CHROME.as_bytes(), &options).unwrap();
    // Its headers are not known, 360 are assumed; 1500 bytes of content.
    assert_eq!(sizes(&har.pages[0])[2], (450, 1_860));
    assert_eq!(waits(&har.pages[0])[2], (After::Done(1), ms(40)));
    assert_eq!(waits(&har.pages[0])[3], (After::Done(2), ms(10)));
}

#[test]
fn firefox() {
    let page = only(FIREFOX);
    assert_eq!(servers(&page), [("shop.example", 443, Protocol::H2)]);
    // The redirect has headers only; the advertisement never arrived.
    assert_eq!(sizes(&page), [(340, 250), (344, 7_000)]);
    assert_eq!(left_out(FIREFOX), [(2, Reason::Unanswered)]);
    // The redirect ended at 80 ms.
    assert_eq!(
        waits(&page),
        [(After::Navigation, ms(0)), (After::Done(0), ms(10))]
    );
    // Connecting took 30 ms.
    assert_eq!(thinks(&page), [20, 10]);
}

#[test]
fn webpagetest() {
    let page = only(WEBPAGETEST);
    assert_eq!(
        servers(&page),
        [
            ("shop.example", 80, Protocol::H1),
            ("cdn.example", 443, Protocol::H2)
        ]
    );
    assert_eq!(sizes(&page), [(402, 9_352), (450, 760)]);
    assert_eq!(
        waits(&page),
        [(After::Navigation, ms(0)), (After::Done(0), ms(10))]
    );
    // If no connection was opened, the least wait is the round trip.
    assert_eq!(thinks(&page), [20, 0]);
}

#[test]
fn browsertime() {
    let har = read(BROWSERTIME);
    assert_eq!(
        har.left_out.page_names,
        ["page_3"],
        "it is all from the cache"
    );
    assert_eq!(har.left_out.pages, 1);
    assert_eq!(left_out(BROWSERTIME), [(3, Reason::Cached)]);
    let names: Vec<&str> = har.pages.iter().map(Page::name).collect();
    assert_eq!(names, ["page_1", "page_2"]);
    // `unknown` is taken for HTTP/2.
    assert_eq!(
        servers(&har.pages[0]),
        [("shop.example", 443, Protocol::H2)]
    );
    assert_eq!(sizes(&har.pages[0]), [(450, 3_558)]);
    // Not modified: headers only. Then 360 of headers and 4000 − 3000 of packed content.
    assert_eq!(sizes(&har.pages[1]), [(450, 170), (450, 1_360)]);
    // An initiator's fragment does not matter; each page has its own clock.
    assert_eq!(
        waits(&har.pages[1]),
        [(After::Navigation, ms(0)), (After::Done(0), ms(100))]
    );
    let options = Options {
        unknown: Protocol::H1,
        ..Options::default()
    };
    let har = har::read("x", BROWSERTIME.as_bytes(), &options).unwrap();
    assert_eq!(har.pages[0].origins()[0].protocol, Protocol::H1);
}

#[test]
fn safari() {
    let page = only(SAFARI);
    assert_eq!(servers(&page), [("shop.example", 443, Protocol::H2)]);
    assert_eq!(sizes(&page), [(300, 5_200), (310, 900)]);
    // The image from memory began 3 ms after the page's first byte, at 2 + 10 + 40 + 80 = 132 ms, and
    // took no time; the style sheet began 5 ms after it.
    assert_eq!(
        waits(&page),
        [(After::Navigation, ms(0)), (After::FirstPart(0), ms(8))]
    );
    // TCP took 40 − 20 = 20 ms.
    assert_eq!(thinks(&page), [60, 10]);
    assert_eq!(page.addresses(), Some(1));
    assert_eq!(
        left_out(SAFARI),
        [(1, Reason::Cached), (2, Reason::NoStart)]
    );
}

#[test]
fn playwright() {
    let page = only(PLAYWRIGHT);
    // Aborted entries say nothing about the protocol; a WebSocket is no request whose answer is replayed.
    assert_eq!(
        servers(&page),
        [("shop.example", 443, Protocol::H2)],
        "the entry without a page belongs to the only one"
    );
    assert_eq!(sizes(&page), [(420, 3_000), (560, 120)]);
    // The page ended at 100 ms, after the entry aborted at 90; the next at 155.
    assert_eq!(
        waits(&page),
        [(After::Navigation, ms(0)), (After::Done(0), ms(10))]
    );
    assert_eq!(thinks(&page), [40, 30]);
    assert_eq!(
        left_out(PLAYWRIGHT),
        [(1, Reason::Unanswered), (3, Reason::Socket)]
    );
}

#[test]
fn fiddler() {
    let page = only(FIDDLER);
    assert_eq!(servers(&page), [("shop.example", 443, Protocol::H1)]);
    assert_eq!(sizes(&page), [(410, 6_300), (400, 1_310)]);
    assert_eq!(
        waits(&page),
        [(After::Navigation, ms(0)), (After::Done(0), ms(10))]
    );
    assert_eq!(thinks(&page), [40, 0]);
    assert_eq!(
        left_out(FIDDLER),
        [(0, Reason::Tunnel), (2, Reason::FarStart)]
    );
}

#[test]
fn charles() {
    let page = only(CHARLES);
    assert_eq!(servers(&page), [("shop.example", 443, Protocol::H2)]);
    assert_eq!(sizes(&page), [(150, 80), (150, 2_090)]);
    // The redirect led to /de and took 4 + 50 + 1 + 40 + 5 ms.
    assert_eq!(
        waits(&page),
        [(After::Navigation, ms(0)), (After::Done(0), ms(10))]
    );
    assert_eq!(left_out(CHARLES), [(2, Reason::NoResponse)]);
}

#[test]
fn mitmproxy() {
    let page = only(MITMPROXY);
    assert_eq!(servers(&page), [("shop.example", 443, Protocol::H2)]);
    assert_eq!(sizes(&page), [(640, 4_500), (600, 1_300)]);
    assert_eq!(
        waits(&page),
        [
            (After::Navigation, ms(0)),
            (After::Done(0), Duration::from_micros(15_500))
        ]
    );
    // Here TLS is not within `connect`: a third of 20 ms is the least that the round trip can be.
    assert_eq!(thinks(&page), [43, 18]);
    assert_eq!(left_out(MITMPROXY), [(2, Reason::Unanswered)]);
}

#[test]
fn a_redirect_leads_to_one_request() {
    // Another spelling of a URL is the same one; the second request for it has no redirect to wait
    // for, but what ended last.
    let entry = |start: u32, url: &str, to: &str| {
        format!(
            r#"{{"startedDateTime":"2024-05-01T10:00:00.{start:03}Z","time":20,
            "request":{{"url":"{url}"}},
            "response":{{"status":301,"bodySize":9,"redirectURL":"{to}"}}}}"#
        )
    };
    let entries = [
        entry(0, "http://a.example/", "HTTPS://A.example:443"),
        entry(10, "http://b.example/", ""),
        entry(100, "https://a.example/#top", ""),
        entry(200, "https://a.example/", ""),
    ];
    let page = only(&format!(
        r#"{{"log":{{"entries":[{}]}}}}"#,
        entries.join(",")
    ));
    assert_eq!(
        waits(&page)[2..],
        [(After::Done(0), ms(80)), (After::Done(2), ms(80))]
    );
}

/// One entry with this in its response, and one that is a request in any case.
fn kind_of(response: &str, rest: &str) -> Vec<(usize, Reason)> {
    let entry = |response: &str, rest: &str| {
        format!(
            r#"{{"startedDateTime":"2024-05-01T10:00:00Z","request":{{"url":"https://a.example/"}},
            "response":{{{response}}}{rest}}}"#
        )
    };
    let entries = [entry(response, rest), entry(r#""status":200"#, "")].join(",");
    left_out(&format!(r#"{{"log":{{"entries":[{entries}]}}}}"#))
}

#[test]
fn what_the_browser_answers_is_not_sent() {
    let cached = [(0, Reason::Cached)];
    // A redirect to https that the browser made up: Chrome takes its 197 bytes from the 0 that came.
    let redirect = r#""status":307,"headersSize":197,"bodySize":-197,"_transferSize":0,
        "content":{"size":0,"compression":197}"#;
    assert_eq!(kind_of(redirect, ""), cached);
    let worker = r#""status":200,"_transferSize":700,"_fetchedViaServiceWorker":true"#;
    assert_eq!(kind_of(worker, ""), cached);
    let network = worker.replace("true", "false");
    assert_eq!(kind_of(&network, ""), []);
    for (kept, expected) in [
        ("Disk Cache", &cached[..]),
        ("Service Worker", &cached),
        ("Network Load", &[]),
    ] {
        let rest = format!(r#","_fetchType":"{kept}""#);
        assert_eq!(kind_of(r#""status":200"#, &rest), expected, "{kept}");
    }
}

#[test]
fn an_error_of_the_exporter_is_no_answer() {
    let unanswered = [(0, Reason::Unanswered)];
    for status in ["0", "-1", "-2", "12029", "null", "\"\"", "[]"] {
        let response = format!(r#""status":{status}"#);
        assert_eq!(kind_of(&response, ""), unanswered, "{status}");
        // Bytes arrived: there was an answer.
        let response = format!(r#""status":{status},"bodySize":900"#);
        assert_eq!(kind_of(&response, ""), [], "{status}");
    }
    assert_eq!(kind_of(r#""status":"404""#, ""), []);
}

/// The pages of entries with these `pageref`s, declared as `pages`: name and requests.
fn pages(pages: &str, refs: &[&str]) -> Vec<(String, usize)> {
    let entry = |page: &&str| {
        format!(
            r#"{{"startedDateTime":"2024-05-01T10:00:00Z","pageref":{page},
            "request":{{"url":"https://a.example/"}},"response":{{"status":200,"bodySize":9}}}}"#
        )
    };
    let entries: Vec<String> = refs.iter().map(entry).collect();
    let text = format!(
        r#"{{"log":{{"pages":{pages},"entries":[{}]}}}}"#,
        entries.join(",")
    );
    let pages = read(&text).pages;
    let pages = pages.iter();
    pages
        .map(|page| (page.name().to_owned(), page.requests().len()))
        .collect()
}

#[test]
fn entries_without_a_page_belong_to_the_first() {
    let is = |name: &str, requests| (name.to_owned(), requests);
    let (a, b, none) = ("\"a\"", "\"b\"", "null");
    for (declared, refs, expected) in [
        (
            r#"[{"id":"a"},{"id":"b"}]"#,
            vec![b, none, a],
            vec![is("a", 2), is("b", 1)],
        ),
        // Not listed: a page of its own.
        (
            r#"[{"id":"a"}]"#,
            vec![b, a, b],
            vec![is("a", 1), is("b", 2)],
        ),
        ("null", vec![none, none], vec![is("page", 2)]),
        ("[]", vec![none, b, none], vec![is("b", 3)]),
        ("{}", vec!["[]", "\"\""], vec![is("page", 2)]),
        // Numbers as names; declarations without names.
        (
            r#"[{"id":1},{"id":[]},7,{"id":"b","id":"c"}]"#,
            vec!["1", none],
            vec![is("1", 2)],
        ),
    ] {
        assert_eq!(pages(declared, &refs), expected, "{declared} {refs:?}");
    }
}

#[test]
fn a_wait_of_zero_is_no_round_trip() {
    // The redirect's wait is not known, and no connection was opened: the other's 40 ms decide.
    let text = FIREFOX.replace("\"connect\": 30", "\"connect\": 0");
    let text = text.replace("\"wait\": 50", "\"wait\": 0");
    assert_eq!(thinks(&only(&text)), [0, 0]);
}

#[test]
fn what_stands_around_the_json_is_skipped() {
    for text in ALL {
        assert_eq!(read(&format!("\u{feff}{text}")), read(text));
        assert_eq!(read(&format!("{text}\r\n\0\0\0")), read(text));
    }
}

#[test]
fn totals_add_up() {
    assert_eq!(only(CHROME).total_response(), Bytes::new(29_180));
}

/// How many addresses the origins of a page have, one entry for each pair of origin and address.
fn addresses(entries: &[(&str, &str)]) -> Option<u32> {
    let entry = |(host, address): &(&str, &str)| {
        format!(
            r#"{{"startedDateTime":"2024-05-01T10:00:00Z","request":{{"url":"https://{host}/"}},
            "response":{{"status":200,"bodySize":100}},"serverIPAddress":{address}}}"#
        )
    };
    let entries: Vec<String> = entries.iter().map(entry).collect();
    let text = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
    only(&text).addresses()
}

#[test]
fn addresses_count_where_that_of_each_origin_is_told() {
    let (one, two) = (r#""192.0.2.1""#, r#""192.0.2.2""#);
    assert_eq!(
        addresses(&[
            ("a", one),
            ("b", two),
            ("b", one),
            ("c", "null"),
            ("c", two)
        ]),
        Some(2)
    );
    // IPv6 with brackets, as Chrome writes it, and without.
    assert_eq!(
        addresses(&[("a", r#""[2001:db8::1]""#), ("b", r#""2001:DB8:0::1""#)]),
        Some(1)
    );
    for odd in ["null", "17", r#""""#, r#""localhost""#, "[]", "{}"] {
        assert_eq!(addresses(&[("a", one), ("b", odd)]), None, "{odd}");
    }
    assert_eq!(only(CHROME).addresses(), None);
}
