//! The counters of set-ups as Prometheus reads them, for node_exporter's folder of text files.

use crate::prometheus::{Family, counter, gauge, written};
use netcfg::{Level, Queue, Status};

/// Before each name.
const PREFIX: &str = "analects_tc";
/// A counter, and where it stands.
type Counted<T> = (Family, fn(&T) -> Option<u64>);

/// What there is of each set-up.
const OF_SETUPS: [Counted<Status>; 4] = [
    (
        gauge(
            "as_applied",
            "1 if the set-up is as it was applied, 0 if not.",
        ),
        |status| {
            let known = status.settings.is_some();
            Some(u64::from(
                known && status.complete && status.differences.is_empty(),
            ))
        },
    ),
    (
        counter(
            "restored_total",
            "How often it was put back after other programs had taken parts of it away.",
        ),
        |status| Some(status.restored),
    ),
    (
        gauge("sends_bits_per_second", "The rate at which it sends now."),
        |status| Some(status.rates().up?.into()),
    ),
    (
        gauge(
            "receives_bits_per_second",
            "The rate at which it receives now.",
        ),
        |status| Some(status.rates().down?.into()),
    ),
];

/// What there is of each queue.
const OF_QUEUES: [Counted<Queue>; 6] = [
    (counter("packets_total", "Packets that left."), |queue| {
        queue.packets
    }),
    (counter("bytes_total", "Their bytes."), |queue| queue.bytes),
    (
        counter("dropped_packets_total", "Packets that were dropped."),
        |queue| queue.drops,
    ),
    (
        counter(
            "overlimits_total",
            "Times that a packet had to wait for the rate.",
        ),
        |queue| queue.overlimits,
    ),
    (gauge("backlog_packets", "Packets that wait."), |queue| {
        queue.qlen
    }),
    (gauge("backlog_bytes", "Their bytes."), |queue| {
        queue.backlog
    }),
];

/// What there is of each of two levels.
const OF_LEVELS: [Counted<Level>; 3] = [
    (
        counter("level_packets_total", "Packets of a level that left."),
        |level| level.packets,
    ),
    (counter("level_bytes_total", "Their bytes."), |level| {
        level.bytes
    }),
    (
        counter(
            "level_dropped_packets_total",
            "Packets of a level that were dropped.",
        ),
        |level| level.drops,
    ),
];

/// Something that is counted, with its labels.
type Labelled<'a, T, const N: usize> = ([(&'static str, &'a str); N], &'a T);

/// All set-ups.
pub fn prometheus(all: &[Status]) -> String {
    let setups = all
        .iter()
        .map(|status| ([("setup", status.device.as_str())], status));
    let queues = all.iter().flat_map(|status| {
        let of = |queue| (labels_of(status, queue), queue);
        status.queues.iter().map(of)
    });
    let levels = all.iter().flat_map(|status| {
        let setup = ("setup", status.device.as_str());
        let of = move |level: &'_ Level| [setup, ("level", level.name)];
        status.levels.iter().map(move |level| (of(level), level))
    });
    families(&OF_SETUPS, &setups.collect::<Vec<_>>())
        + &families(&OF_QUEUES, &queues.collect::<Vec<_>>())
        + &families(&OF_LEVELS, &levels.collect::<Vec<_>>())
}

/// A queue's labels: the device of the set-up, its own, its kind and its handle.
fn labels_of<'a>(status: &'a Status, queue: &'a Queue) -> [(&'static str, &'a str); 4] {
    [
        ("setup", status.device.as_str()),
        ("device", queue.device.as_str()),
        ("kind", &queue.kind),
        ("handle", &queue.handle),
    ]
}

fn families<T, const N: usize>(counted: &[Counted<T>], all: &[Labelled<'_, T, N>]) -> String {
    let family = |(family, stands): &Counted<T>| {
        let samples = all
            .iter()
            .map(|(labels, of)| (&labels[..], stands(of).map(|value| value as f64)));
        written(PREFIX, family, samples)
    };
    counted.iter().map(family).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcfg::{Discipline, Rates, Settings};

    fn queue(device: &str, kind: &str, packets: Option<u64>) -> Queue {
        Queue {
            device: device.parse().unwrap(),
            kind: kind.to_owned(),
            handle: "a1:".to_owned(),
            bytes: Some(1_500),
            packets,
            drops: Some(0),
            overlimits: None,
            backlog: Some(0),
            qlen: Some(0),
            details: serde_json::Map::new(),
        }
    }

    #[test]
    fn each_queue_and_level_has_its_lines_and_what_nobody_counts_has_none() {
        let status = Status {
            device: "wan0".parse().unwrap(),
            settings: Some(Settings {
                rate: None,
                ingress: None,
                overhead: None,
                discipline: Discipline::new(&"mencius".parse().unwrap()).unwrap(),
                received: None,
                threshold: None,
                follow: None,
            }),
            restored: 3,
            followed: None,
            complete: true,
            differences: Vec::new(),
            queues: vec![
                queue("wan0", "htb", Some(7)),
                queue("ifb-wan0", "mencius", None),
            ],
            levels: vec![Level {
                name: "young",
                packets: Some(5),
                bytes: None,
                drops: None,
            }],
        };
        let changed = Status {
            device: "wan1".parse().unwrap(),
            differences: vec!["another queue".to_owned()],
            followed: Some(Rates {
                up: Some(5_000_000.try_into().unwrap()),
                down: None,
            }),
            queues: Vec::new(),
            levels: Vec::new(),
            ..status.clone()
        };
        let text = prometheus(&[status, changed]);
        for line in [
            "analects_tc_as_applied{setup=\"wan0\"} 1",
            "analects_tc_as_applied{setup=\"wan1\"} 0",
            "analects_tc_sends_bits_per_second{setup=\"wan1\"} 5000000",
            "# TYPE analects_tc_packets_total counter",
            "analects_tc_packets_total{setup=\"wan0\",device=\"wan0\",kind=\"htb\",handle=\"a1:\"} 7",
            "analects_tc_level_packets_total{setup=\"wan0\",level=\"young\"} 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("overlimits"), "{text}");
        assert!(!text.contains("receives"), "{text}");
        assert_eq!(text.matches("analects_tc_packets_total{").count(), 1);
    }
}
