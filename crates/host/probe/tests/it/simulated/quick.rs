//! The quick form over the project's disciplines: its verdict, its bytes and its time.

use super::world::World;
use probe::Report;
use probe::node::ProbeForm;
use probe::report::{DataDirection, Management};
use probe::trains::TrainsFinding;
use units::Duration;

const BOTH: [DataDirection; 2] = [DataDirection::Down, DataDirection::Up];

/// Probes a cell both ways, and checks the promises of bytes and time.
fn quick(discipline: &str, mbit: u64, rtt_ms: u64) -> [Report; 2] {
    BOTH.map(|direction| {
        let mut world = World::new(discipline, mbit, rtt_ms, direction, ProbeForm::Quick);
        let report = world.run().unwrap();
        let cell = format!("{discipline}, {mbit} Mbit/s, {rtt_ms} ms, {direction:?}");
        let bytes = world.bytes;
        assert!(
            bytes.iter().all(|&b| b < 150_000),
            "{cell}: {bytes:?} bytes"
        );
        let within = Duration::from_millis(if rtt_ms <= 50 { 1000 } else { 2000 });
        let took = world.elapsed();
        assert!(took < within, "{cell}: {} ms", took.as_millis_f64());
        report
    })
}

fn expect(disciplines: &[&str], rates: &[u64], finding: TrainsFinding, verdict: Management) {
    for discipline in disciplines {
        for &mbit in rates {
            for rtt in [10, 50, 100] {
                for report in quick(discipline, mbit, rtt) {
                    let text = format!("{discipline}, {mbit} Mbit/s, {rtt} ms: {report:?}");
                    assert_eq!(report.trains.unwrap().finding, finding, "{text}");
                    assert_eq!(report.verdict, verdict, "{text}");
                    assert_eq!(
                        report.confidence > 0.0,
                        verdict != Management::Unknown,
                        "{text}"
                    );
                }
            }
        }
    }
}

#[test]
#[ignore = "prints the shares of pairs that overtook"]
fn shares() {
    for discipline in [
        "pfifo",
        "codel",
        "pie",
        "confucius",
        "mencius",
        "fq",
        "fq_fifo",
        "fq_codel",
        "fq_pie",
        "cake",
    ] {
        for mbit in [5, 10, 20, 50, 100] {
            for rtt in [10, 50, 100] {
                let shares = quick(discipline, mbit, rtt).map(|r| r.trains.unwrap().shares);
                let shares = shares.map(|pair| pair.map(|share| share.unwrap_or(f64::NAN)));
                println!("{discipline:10} {mbit:3} Mbit/s {rtt:3} ms {shares:.2?}");
            }
        }
    }
}

#[test]
fn queues_of_their_own_let_packets_overtake() {
    expect(
        &["fq", "fq_fifo", "fq_codel", "fq_pie", "cake", "mencius"],
        &[3, 5, 10, 50, 100],
        TrainsFinding::Overtaken,
        Management::FairQueuing,
    );
}

#[test]
fn one_queue_keeps_the_order_and_is_not_named() {
    expect(
        &["pfifo", "bfifo", "codel", "pie", "red"],
        &[3, 5, 10, 50, 100],
        TrainsFinding::InOrder,
        Management::Unknown,
    );
}

#[test]
fn a_link_that_is_too_slow_for_two_trains_ends_in_time_too() {
    for report in quick("fq_codel", 1, 50) {
        assert_eq!(report.verdict, Management::Unknown);
        assert_eq!(
            report.trains.unwrap().finding,
            TrainsFinding::Few,
            "{report:?}"
        );
    }
}

#[test]
fn the_rate_is_the_links() {
    for report in quick("pfifo", 10, 20) {
        assert!(
            (9.0..10.0).contains(&report.rate_mbit),
            "{}",
            report.rate_mbit
        );
        assert_eq!(
            (report.queue_ms, report.aqm),
            (None, None),
            "its own trains"
        );
        let base = report.base_rtt_ms.unwrap();
        assert!((20.0..21.5).contains(&base), "{base}");
    }
}

#[test]
fn beside_a_busy_flow_one_queue_is_not_said_to_be_anything() {
    for direction in BOTH {
        let mut world = World::new("pfifo", 10, 20, direction, ProbeForm::Quick);
        world.fill(40);
        let report = world.run().unwrap();
        assert_eq!(report.verdict, Management::Unknown, "{}", report.text());
        assert!(world.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn paths_of_different_length_are_no_fair_queues() {
    let mut world = World::new("pfifo", 10, 20, DataDirection::Down, ProbeForm::Quick);
    world.hold = Box::new(|_, second| Duration::from_millis(if second { 30 } else { 0 }));
    let report = world.run().unwrap();
    assert_eq!(
        report.trains.unwrap().finding,
        TrainsFinding::OneWay,
        "{}",
        report.text()
    );
    assert_eq!(report.verdict, Management::Unknown);
}

#[test]
fn the_report_is_json_that_names_the_finding() {
    let [down, _] = quick("cake", 10, 20);
    assert!(down.for_a_call().starts_with("unknown"), "{}", down.text());
    let json = serde_json::to_value(&down).unwrap();
    assert!(json.get("call").is_none());
    assert_eq!(json["verdict"], "fair-queuing");
    assert_eq!(json["trains"]["finding"], "overtaken");
    assert!(json["trains"]["shares"][1].as_f64().unwrap() >= 0.1);
    let load = super::probe("cake", 10, 20, DataDirection::Down);
    assert!(serde_json::to_value(&load).unwrap().get("trains").is_none());
}
