//! Dependencies if only start times are known.

use units::Duration;
use workload::har::{self, Options};
use workload::page::{After, MAX_REQUESTS, Page};

/// Entries that start and last so many milliseconds, without initiators; half of the time is wait.
fn file(entries: &[(u32, u32)]) -> String {
    let entries: Vec<String> = entries
        .iter()
        .enumerate()
        .map(|(number, (start, time))| {
            let (seconds, ms, half) = (start / 1000, start % 1000, time / 2);
            format!(
                r#"{{"startedDateTime":"2024-05-01T10:00:{seconds:02}.{ms:03}Z","time":{time},
                "request":{{"url":"http://a.example/{number}"}},
                "response":{{"status":200,"bodySize":100}},
                "timings":{{"wait":{half},"receive":{half}}}}}"#
            )
        })
        .collect();
    format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","))
}

fn page(entries: &[(u32, u32)]) -> Page {
    let text = file(entries);
    har::read("x", text.as_bytes(), &Options::default())
        .unwrap()
        .pages
        .remove(0)
}

fn waits(entries: &[(u32, u32)]) -> Vec<(After, u64)> {
    let page = page(entries);
    let requests = page.requests().iter();
    requests.map(|r| (r.after, r.delay.as_millis())).collect()
}

#[test]
fn the_parent_is_the_request_that_completed_last() {
    let waits = waits(&[(0, 100), (120, 100), (130, 40), (180, 20), (230, 10)]);
    assert_eq!(
        waits,
        [
            (After::Navigation, 0),
            (After::Done(0), 20),
            (After::Done(0), 30),
            // The third ended at 170, the second not before 220.
            (After::Done(2), 10),
            (After::Done(1), 10),
        ]
    );
}

#[test]
fn before_anything_completed_a_first_part_is_the_parent() {
    // The first byte arrived at 50 ms; before that only the navigation can be the cause.
    assert_eq!(
        waits(&[(0, 100), (40, 100), (60, 10)]),
        [
            (After::Navigation, 0),
            (After::Navigation, 40),
            (After::FirstPart(0), 10),
        ]
    );
}

#[test]
fn order_in_the_file_does_not_matter() {
    assert_eq!(waits(&[(0, 100), (120, 10)]), waits(&[(120, 10), (0, 100)]));
}

#[test]
fn requests_without_length_in_time_do_not_wait_for_each_other_in_circles() {
    let waits = waits(&[(0, 0), (0, 0), (0, 0)]);
    assert_eq!(
        waits,
        [
            (After::Navigation, 0),
            (After::Done(0), 0),
            (After::Done(1), 0),
        ]
    );
}

#[test]
fn many_requests_take_no_long() {
    let entries: Vec<(u32, u32)> = (0..MAX_REQUESTS as u32).map(|n| (n, n % 97)).collect();
    let page = page(&entries);
    assert_eq!(page.requests().len(), MAX_REQUESTS);
    let last = &page.requests()[MAX_REQUESTS - 1];
    assert!(last.delay < Duration::from_millis(97));
}

#[test]
fn one_request_too_many_is_refused() {
    let entries = vec![(0, 1); MAX_REQUESTS + 1];
    let text = file(&entries);
    let error = har::read("x", text.as_bytes(), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("more than 20000"), "{error}");
}
