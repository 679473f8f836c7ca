//! The conference of `scenarios/conference.toml`: layers step down when a page comes, and up again.

use crate::common::Record;
use measure::Event;
use units::{Duration, Instant};
use workload::{Event as Application, TrafficId};

const SCENARIO: &str = include_str!("../../../../../scenarios/conference.toml");

/// The traffic entry, and the figures that it declares.
const CONFERENCE: TrafficId = TrafficId(0);
const LARGE_RATE: u8 = 0;
const SWITCHES: u8 = 1;

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn run(discipline: &str, seed: u64) -> Record {
    let all = SCENARIO
        .lines()
        .find(|line| line.starts_with("disciplines"));
    let one = format!("disciplines = [\"{discipline}\"]");
    crate::common::run(&SCENARIO.replace(all.unwrap(), &one), seed).0
}

/// The values of a figure of the conference, with their times.
fn observed(record: &Record, wanted: u8) -> Vec<(Instant, f64)> {
    let of = |&(now, event): &(Instant, Event)| match event {
        Event::Traffic(Application::Observed {
            traffic: CONFERENCE,
            figure,
            value,
            ..
        }) if figure == wanted => Some((now, value)),
        _ => None,
    };
    record.0.iter().filter_map(of).collect()
}

/// The least and the greatest rate of the large picture's layer from `from` until `until`, Mbit/s.
fn layers(record: &Record, from: Instant, until: Instant) -> (f64, f64) {
    let rates = observed(record, LARGE_RATE);
    let within = rates.iter().filter(|(now, _)| (from..until).contains(now));
    within.fold((f64::MAX, f64::MIN), |(least, most), &(_, rate)| {
        (least.min(rate), most.max(rate))
    })
}

#[test]
fn layers_step_down_when_the_page_comes_and_up_again_after_it() {
    for discipline in ["pfifo", "fq_codel", "confucius"] {
        for seed in 1..4 {
            let record = run(discipline, seed);
            assert_eq!(layers(&record, at(5), at(30)), (2.5, 2.5), "{discipline}");
            let (least, _) = layers(&record, at(30), at(33));
            assert!(least <= 0.5, "{discipline} {seed}: {least}");
            assert_eq!(layers(&record, at(65), at(70)), (2.5, 2.5), "{discipline}");
            // Down at least once and up again; not with every frame.
            let switches = observed(&record, SWITCHES).len();
            assert!(
                (3..20).contains(&switches),
                "{discipline} {seed}: {switches}"
            );
        }
    }
}

#[test]
fn frames_are_the_large_pictures_and_bytes_are_everybodys() {
    let record = run("pfifo", 1);
    let (mut sent, mut delivered) = (0, 0);
    for &(now, event) in &record.0 {
        match event {
            Event::Traffic(Application::FrameSent {
                call: CONFERENCE, ..
            }) => sent += 1,
            Event::Traffic(Application::Delivered { bytes, .. })
                if now >= at(10) && now < at(30) =>
            {
                delivered += bytes;
            }
            _ => {}
        }
    }
    assert_eq!(sent, 70 * 30);
    // Before the page comes: 2.5 Mbit/s and four times 150 kbit/s.
    let rate = 8e-6 * delivered as f64 / 20.0;
    assert!((rate / 3.1 - 1.0).abs() < 0.03, "{rate} Mbit/s");
}
