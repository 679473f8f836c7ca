//! What each exporter's fields mean.

use crate::samples::{ALL, BROWSERTIME, CHROME, FIREFOX, WEBPAGETEST};
use units::{Bytes, Duration};
use workload::har::{self, Har, Options};
use workload::page::{After, Page, Protocol};

fn read(text: &str) -> Har {
    har::read("sample.har", text.as_bytes(), &Options::default()).unwrap()
}

fn only(text: &str) -> Page {
    let mut har = read(text);
    assert_eq!((har.pages.len(), har.left_out.len()), (1, 0));
    har.pages.remove(0)
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
    // The cached image and the data: URL are not requested; 450 where no size is given.
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
    // The redirect has headers only; the advertisement never came.
    assert_eq!(sizes(&page), [(340, 250), (344, 7_000)]);
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
    // Where no connection was opened, the least wait is the round trip.
    assert_eq!(thinks(&page), [20, 0]);
}

#[test]
fn browsertime() {
    let har = read(BROWSERTIME);
    assert_eq!(har.left_out, ["page_3"], "it is all from the cache");
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
fn a_wait_of_zero_is_no_round_trip() {
    // The redirect's wait is not known, and no connection was opened: the other's 40 ms decide.
    let text = FIREFOX.replace("\"connect\": 30", "\"connect\": 0");
    let text = text.replace("\"wait\": 50", "\"wait\": 0");
    assert_eq!(thinks(&only(&text)), [0, 0]);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    for text in ALL {
        assert_eq!(read(&format!("\u{feff}{text}")), read(text));
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
