//! The call beside the load, over the project's disciplines: its waits are its own.

use super::probe;
use probe::Report;
use probe::report::DataDirection;

const BOTH: [DataDirection; 2] = [DataDirection::Down, DataDirection::Up];

/// How much longer the call's round trips were beside the load, and what a report says of a call.
fn waits(report: &Report) -> (f64, String) {
    let call = report.call.expect("a load has a call beside it");
    let wait = call
        .wait_ms()
        .unwrap_or_else(|| panic!("{}", report.text()));
    (wait, report.for_a_call())
}

#[test]
fn in_one_queue_a_call_waits_as_the_load_does() {
    for direction in BOTH {
        let report = probe("pfifo", 10, 40, direction);
        let (wait, says) = waits(&report);
        let deep = report.queue_p95_ms.unwrap();
        assert!((wait - deep).abs() < 5.0, "{wait} and {deep} ms");
        assert!(says.contains("It would be noticed."), "{says}");
        let call = report.call.unwrap();
        let alone = call.alone_ms.unwrap();
        // Two packets of 1.2 kB in all take a millisecond.
        assert!((40.5..42.5).contains(&alone), "{alone}");
        assert!((240..=256).contains(&call.frames), "{}", call.frames);
    }
}

#[test]
fn a_deep_queue_stalls_it() {
    let report = probe("pfifo,limit=400", 10, 40, DataDirection::Down);
    let (wait, says) = waits(&report);
    assert!(wait > 150.0 && says.contains("It would stall."), "{says}");
}

/// Two equal subflows wait in one queue of `confucius`, up to a second, and a call does not.
#[test]
fn queues_that_keep_a_call_apart_are_said_to() {
    for discipline in ["fq", "fq_codel", "cake", "mencius", "confucius"] {
        for direction in BOTH {
            let report = probe(discipline, 10, 20, direction);
            let (wait, says) = waits(&report);
            let cell = format!("{discipline}, {direction:?}: {}", report.text());
            assert!(wait < 20.0, "{cell}");
            assert!(says.contains("hardly be noticed"), "{cell}");
        }
    }
}

/// Three tenths of the rate are less than its share.
#[test]
fn a_slow_link_with_fair_queues_keeps_it_apart() {
    let report = probe("fq_codel", 1, 20, DataDirection::Down);
    let (wait, _) = waits(&report);
    // A packet of each of the others and its own take 30 ms.
    assert!(wait < 60.0, "{}", report.text());
}

#[test]
fn the_report_of_a_call_is_json() {
    let report = probe("fq_codel", 10, 20, DataDirection::Down);
    let json = serde_json::to_value(&report).unwrap();
    let call = &json["call"];
    assert_eq!(call["filled"], true);
    for key in ["alone_ms", "beside_ms", "beside_p95_ms", "frames", "lost"] {
        assert!(call[key].is_number(), "{key}: {json}");
    }
    assert_eq!(serde_json::from_value::<Report>(json).unwrap(), report);
}
