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

/// A file by `creator` with these pages and entries; an entry is its moment, and the rest of it.
fn file(creator: &str, pages: &str, entries: &[(&str, String)]) -> String {
    let entry = |(start, rest): &(&str, String)| {
        format!(r#"{{"startedDateTime":"2025-03-{start}Z",{rest}}}"#)
    };
    let entries: Vec<String> = entries.iter().map(entry).collect();
    format!(
        r#"{{"log":{{"creator":{{"name":{creator:?}}},{pages}"entries":[{}]}}}}"#,
        entries.join(",")
    )
}

const ONE_PAGE: &str = r#""pages":[{"id":"p"}],"#;
const CONNECTED: &str = r#","serverIPAddress":"192.0.2.1","connection":"443""#;

/// The rest of an entry: its response and what stands behind it.
fn rest(response: &str, behind: &str) -> String {
    format!(
        r#""request":{{"method":"GET","url":"https://a.example/"}},"response":{{{response}}}{behind}"#
    )
}

/// A second visit: a conditional request, pictures without times, scripts of which all times are zero.
#[test]
fn what_firefox_had_in_its_caches_is_marked_by_what_lacks() {
    let network = r#","timings":{"blocked":17,"dns":0,"connect":0,"send":0,"wait":6,"receive":0}"#;
    let zero = r#","time":0,"timings":{"blocked":0,"dns":0,"ssl":0,"connect":0,"send":0,"wait":0,"receive":0}"#;
    let read_back = r#","timings":{"blocked":2,"dns":0,"connect":0,"send":0,"wait":0,"receive":1}"#;
    let stored = r#""status":200,"headersSize":0,"bodySize":250000,"content":{"size":800000}"#;
    let picture = r#""status":200,"bodySize":-1,"content":{"mimeType":"image/png"}"#;
    let entries = |conditional: &str| {
        vec![
            (
                "01T10:00:00.000",
                rest(
                    r#""status":304,"headersSize":386,"bodySize":5509,"content":{"size":23866}"#,
                    conditional,
                ),
            ),
            (
                "01T10:00:00.100",
                rest(picture, r#","time":0,"timings":{}"#),
            ),
            ("01T10:00:00.101", rest(picture, r#","timings":{}"#)),
            ("01T10:00:00.150", rest(stored, zero)),
            ("01T10:00:00.151", rest(stored, read_back)),
        ]
    };
    let moved = format!("{network}{CONNECTED}");
    for creator in ["Firefox", "LibreWolf", "Firefox Developer Edition"] {
        let text = file(creator, ONE_PAGE, &entries(&moved));
        assert_eq!(
            sizes(&only(&text)),
            [(450, 386)],
            "{creator}: a 304 has no body"
        );
        assert_eq!(read(&text).left_out.reasons[&Reason::Cached], 4);
    }
    // Another exporter that names servers: what it says took no time at all.
    let text = file("Other", ONE_PAGE, &entries(&moved));
    assert_eq!(left_out(&text), [(1, Reason::Cached), (3, Reason::Cached)]);
    // One that names none may write no times.
    let text = file("Other", ONE_PAGE, &entries(network));
    assert_eq!(left_out(&text), []);
}

#[test]
fn answers_without_a_body_have_headers_only() {
    let size = |method: &str, response: &str| {
        let text = format!(
            r#"{{"log":{{"entries":[{{"startedDateTime":"2024-05-01T10:00:00Z","request":{{"method":{method:?},
            "url":"https://a.example/"}},"response":{{{response}}}}}]}}}}"#
        );
        sizes(&only(&text))[0].1
    };
    for (method, response, bytes) in [
        (
            "GET",
            r#""status":304,"headersSize":300,"bodySize":80000,"content":{"size":300000}"#,
            300,
        ),
        (
            "GET",
            r#""status":204,"headersSize":310,"bodySize":80000"#,
            310,
        ),
        (
            "GET",
            r#""status":205,"headersSize":-1,"bodySize":80000"#,
            360,
        ),
        (
            "GET",
            r#""status":103,"headersSize":200,"bodySize":900"#,
            200,
        ),
        (
            "HEAD",
            r#""status":200,"headersSize":250,"bodySize":-1,"content":{"size":70000}"#,
            250,
        ),
        // A stored copy of which nothing came: the headers did.
        (
            "GET",
            r#""status":304,"headersSize":180,"bodySize":0,"content":{"size":300000}"#,
            180,
        ),
        // Chrome counts what came; a stored copy's size in that place is none.
        (
            "GET",
            r#""status":304,"headersSize":-1,"bodySize":0,"_transferSize":512,"content":{"size":300000}"#,
            512,
        ),
        (
            "GET",
            r#""status":304,"headersSize":300,"bodySize":80000,"_transferSize":80300"#,
            300,
        ),
        (
            "GET",
            r#""status":200,"headersSize":300,"bodySize":80000"#,
            80_300,
        ),
        (
            "POST",
            r#""status":304,"headersSize":0,"bodySize":80000"#,
            360,
        ),
    ] {
        assert_eq!(size(method, response), bytes, "{method} {response}");
    }
}

/// How many requests each page has.
fn pages_of(text: &str) -> Vec<(String, usize)> {
    let har = read(text);
    let pages = har.pages.iter();
    pages
        .map(|page| (page.name().to_owned(), page.requests().len()))
        .collect()
}

fn visits(all: &[(&str, usize)]) -> Vec<(String, usize)> {
    all.iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

#[test]
fn pauses_divide_a_recording_without_pages() {
    let answer = || rest(r#""status":200,"bodySize":1000"#, r#","time":50"#);
    let slow = || rest(r#""status":200,"bodySize":1000"#, r#","time":15000"#);
    let poll = || rest(r#""status":200,"bodySize":1000"#, r#","time":600000"#);
    let three = [
        ("01T10:00:00.000", answer()),
        ("01T10:00:09.000", answer()),
        ("01T10:10:00.000", answer()),
        ("01T10:20:00.000", answer()),
        ("01T10:20:00.100", answer()),
    ];
    for (creator, pages) in [
        ("mitmproxy", r#""pages":[],"#),
        ("Charles Proxy", ""),
        ("Fiddler", r#""pages":null,"#),
    ] {
        let text = file(creator, pages, &three);
        assert!(read(&text).by_pauses);
        assert_eq!(
            pages_of(&text),
            visits(&[("page", 2), ("page", 1), ("page", 2)]),
            "{creator}"
        );
    }
    // What is named a page is one, however long.
    let text = file("WebInspector", ONE_PAGE, &three);
    assert!(!read(&text).by_pauses);
    assert_eq!(pages_of(&text), visits(&[("p", 5)]));
    // A long answer is no pause; one that never ends holds nothing together.
    let long = [("01T10:00:00", slow()), ("01T10:00:20", answer())];
    assert_eq!(
        pages_of(&file("Insomnia", "", &long)),
        visits(&[("page", 2)])
    );
    let endless = [("01T10:00:00", poll()), ("01T10:05:00", answer())];
    assert_eq!(pages_of(&file("Insomnia", "", &endless)).len(), 2);
    // Not in the order of time, and days apart.
    let days = [
        ("05T10:00:00", answer()),
        ("01T10:00:00.100", answer()),
        ("01T10:00:00.000", answer()),
    ];
    assert_eq!(
        pages_of(&file("Burp", "", &days)),
        visits(&[("page", 2), ("page", 1)])
    );
}

/// A tab that stayed open: its document is of a page of its own, and is not lost beside a majority of
/// later requests.
#[test]
fn visits_under_one_name_more_than_a_day_apart_are_pages() {
    let answer = || rest(r#""status":200,"bodySize":1000"#, r#","time":50"#);
    let visit = |day: &'static str, count: usize| vec![(day, answer()); count];
    let later = [visit("01T10:00:00", 2), visit("03T10:00:00", 5)].concat();
    assert_eq!(
        pages_of(&file("WebInspector", ONE_PAGE, &later)),
        visits(&[("p", 2), ("p#2", 5)])
    );
    let document = [visit("01T10:00:00", 1), visit("03T10:00:00", 5)].concat();
    let text = file("WebInspector", ONE_PAGE, &document);
    assert_eq!(pages_of(&text), visits(&[("p", 1), ("p#2", 5)]));
    assert!(read(&text).left_out.is_empty());
    // Three days of requests, none of them far from the next.
    let days = ["01T10:00:00", "02T09:00:00", "03T08:00:00", "04T07:00:00"];
    let days: Vec<_> = days.into_iter().map(|day| (day, answer())).collect();
    let text = file("WebInspector", ONE_PAGE, &days);
    assert_eq!(pages_of(&text), visits(&[("p", 2), ("p#2", 2)]));
    // What was never answered moves nothing: the document is the page.
    let unanswered = || rest(r#""status":0,"bodySize":0"#, r#","time":0"#);
    let days = [("01T10:00:00", answer()), ("03T10:00:00", unanswered())];
    let text = file("WebInspector", ONE_PAGE, &days);
    assert_eq!(pages_of(&text), visits(&[("p", 1)]));
}
