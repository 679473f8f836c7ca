//! The whole probe, QUIC and TLS included, over the project's disciplines in virtual time.

mod calls;
mod quick;
pub(crate) mod world;

use probe::Report;
use probe::node::ProbeForm;
use probe::report::{DataDirection, Management};
use std::collections::BTreeMap;
use std::time::Duration;
use world::World;

const LOAD: ProbeForm = ProbeForm::Load(Duration::from_secs(10));

fn probe(discipline: &str, mbit: u64, rtt_ms: u64, direction: DataDirection) -> Report {
    World::new(discipline, mbit, rtt_ms, direction, LOAD)
        .run()
        .unwrap()
}

/// Probes cells, both ways, and expects `verdict` everywhere.
fn expect(verdict: Management, cells: &[(&str, u64, u64)]) {
    for &(discipline, mbit, rtt) in cells {
        for direction in [DataDirection::Down, DataDirection::Up] {
            let report = probe(discipline, mbit, rtt, direction);
            let cell = format!("{discipline}, {mbit} Mbit/s, {rtt} ms, {direction:?}");
            assert_eq!(report.verdict, verdict, "{cell}\n{}", report.text());
            assert!(report.confidence > 0.3, "{cell}\n{}", report.text());
        }
    }
}

#[test]
fn one_queue_for_all_is_seen() {
    expect(
        Management::SharedFifo,
        &[
            ("pfifo", 10, 20),
            ("pfifo", 10, 100),
            ("pfifo", 50, 20),
            ("bfifo", 10, 50),
        ],
    );
}

#[test]
fn fair_queues_are_seen() {
    expect(
        Management::FairQueuing,
        &[
            ("fq", 10, 20),
            ("fq", 10, 100),
            ("fq", 50, 20),
            ("fq_fifo", 10, 20),
            ("fq_fifo", 50, 20),
        ],
    );
}

#[test]
fn fair_queues_with_an_aqm_are_seen_where_they_fill() {
    expect(
        Management::FairQueuing,
        &[
            ("fq_codel", 10, 20),
            ("fq_codel", 50, 20),
            ("cake", 10, 20),
            ("mencius", 50, 20),
        ],
    );
}

/// At the median no packets wait there, and trains tell.
#[test]
fn fair_queues_that_are_nearly_empty_are_seen() {
    expect(
        Management::FairQueuing,
        &[
            ("fq_codel", 50, 100),
            ("mencius", 50, 100),
            ("cake", 50, 100),
        ],
    );
}

/// Delays say nothing there: if losses do not show an AQM, it is unknown, and never a FIFO.
#[test]
fn one_queue_that_is_nearly_always_empty_is_no_fifo() {
    for direction in [DataDirection::Down, DataDirection::Up] {
        let report = probe("red", 50, 100, direction);
        let right = [Management::Aqm, Management::Unknown];
        assert!(right.contains(&report.verdict), "{}", report.text());
    }
}

#[test]
fn an_aqm_is_seen() {
    expect(
        Management::Aqm,
        &[("codel", 10, 20), ("codel", 50, 20), ("pie", 10, 20)],
    );
}

#[test]
fn figures_are_those_of_the_link() {
    let report = probe("pfifo", 10, 40, DataDirection::Down);
    // 1191 of 1219 bytes are counted, and NewReno leaves little of a full buffer's link unused.
    assert!(
        (9.2..9.9).contains(&report.rate_mbit),
        "{}",
        report.rate_mbit
    );
    let base = report.base_rtt_ms.unwrap();
    assert!((40.0..42.0).contains(&base), "{base}");
    // 100 packets of 1219 bytes are 97 ms.
    let deep = report.queue_p95_ms.unwrap();
    assert!((60.0..100.0).contains(&deep), "{deep}");
    let lost = report.lost_bytes as f64 / report.sent_bytes as f64;
    assert!((0.0001..0.03).contains(&lost), "{lost}");
    assert_eq!(report.aqm, Some(false));
}

/// A second of buffer: slow start would lose hundreds of packets at its end.
#[test]
fn a_bloated_buffer_is_not_filled() {
    let report = probe("pfifo,limit=1000", 10, 50, DataDirection::Down);
    assert_eq!(report.verdict, Management::SharedFifo, "{}", report.text());
    assert_eq!(report.lost_bytes, 0, "{}", report.text());
    let deep = report.queue_p95_ms.unwrap();
    assert!((200.0..600.0).contains(&deep), "{deep}");
}

#[test]
fn reports_come_four_times_a_second_and_age() {
    let mut world = World::new("fq", 10, 20, DataDirection::Down, LOAD);
    let last = world.run().unwrap();
    assert!(
        (35..=40).contains(&world.reports.len()),
        "{}",
        world.reports.len()
    );
    assert!(
        world
            .reports
            .windows(2)
            .all(|pair| pair[0].at_ms < pair[1].at_ms)
    );
    assert!((10_000.0..10_010.0).contains(&last.at_ms), "{}", last.at_ms);
}

#[test]
#[ignore = "takes a minute: prints what the probe says of each discipline"]
fn matrix() {
    let disciplines = [
        "pfifo",
        "fq",
        "fq_fifo",
        "fq_codel",
        "fq_codel,target=10ms",
        "cake",
        "codel",
        "pie",
    ];
    let mut matrix: BTreeMap<&str, BTreeMap<String, u32>> = BTreeMap::new();
    for discipline in disciplines
        .into_iter()
        .chain(["fq_pie", "confucius", "mencius"])
    {
        for (mbit, rtt) in [(10, 20), (10, 100), (50, 20), (50, 100)] {
            for direction in [DataDirection::Down, DataDirection::Up] {
                let r = probe(discipline, mbit, rtt, direction);
                println!(
                    "{discipline:20} {mbit:3} Mbit/s {rtt:3} ms {direction:4?} {:12} {:.2} \
                     rate {:5.1} queue {:5.1} ms lost {:.2} % marks {}",
                    format!("{:?}", r.verdict),
                    r.confidence,
                    r.rate_mbit,
                    r.queue_ms.unwrap_or_default(),
                    100.0 * r.lost_bytes as f64 / r.sent_bytes as f64,
                    r.marks
                );
                let verdicts = matrix.entry(discipline).or_default();
                *verdicts.entry(format!("{:?}", r.verdict)).or_default() += 1;
            }
        }
    }
    for (discipline, verdicts) in matrix {
        println!("{discipline:20} {verdicts:?}");
    }
}
