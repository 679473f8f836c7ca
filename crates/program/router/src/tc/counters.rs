//! The counters of set-ups as Prometheus reads them, for node_exporter's folder of text files.

use super::computers;
use crate::prometheus::{Family, counter, gauge, written};
use netcfg::{Computer, Level, Queue, Status};
use std::cmp::Reverse;

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

/// Of the computers of a queue only those that sent most, so that a database is not filled by addresses
/// that come and go.
const MOST_HOSTS: usize = 32;

/// What there is of each computer. It begins anew when the computer was silent for 20 s.
const OF_HOSTS: [Counted<Computer>; 6] = [
    (
        counter("host_packets_total", "Packets of a computer that left."),
        |host| Some(host.packets.into()),
    ),
    (counter("host_bytes_total", "Their bytes."), |host| {
        Some(host.bytes)
    }),
    (
        counter(
            "host_ahead_bytes_total",
            "Of these, bytes of settled flows that went ahead of others.",
        ),
        |host| Some(host.ahead_bytes),
    ),
    (
        counter(
            "host_dropped_packets_total",
            "Packets of a computer that were dropped.",
        ),
        |host| Some(host.drops.into()),
    ),
    (
        counter(
            "host_marked_packets_total",
            "Packets of a computer that were marked.",
        ),
        |host| Some(host.marks.into()),
    ),
    (
        gauge(
            "host_wait_microseconds",
            "About one in twenty of its packets waited longer.",
        ),
        |host| Some(host.wait_us.into()),
    ),
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
        + &of_hosts(all)
}

/// The computers that sent most through each queue, by their addresses.
fn of_hosts(all: &[Status]) -> String {
    let queues = all
        .iter()
        .flat_map(|status| status.queues.iter().map(move |queue| (status, queue)));
    let hosts = queues.flat_map(|(status, queue)| {
        let known = queue.computers.iter().flatten();
        let mut known: Vec<&Computer> = known.filter(|host| host.address.is_some()).collect();
        known.sort_by_key(|host| (Reverse(host.bytes), host.class));
        known.truncate(MOST_HOSTS);
        let named = known.into_iter().map(|host| (computers::name(host), host));
        named.map(move |(name, host)| (labels_of(status, queue), name, host))
    });
    let hosts: Vec<_> = hosts.collect();
    let labelled = hosts.iter().map(|(of, name, host)| {
        let [setup, device, _, handle] = *of;
        ([setup, device, handle, ("host", name.as_str())], *host)
    });
    families(&OF_HOSTS, &labelled.collect::<Vec<_>>())
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
pub mod tests {
    use super::*;
    use netcfg::{Discipline, Rates, Settings};

    /// A queue that has counted.
    pub fn queue(device: &str, kind: &str, packets: Option<u64>) -> Queue {
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
            computers: None,
            details: serde_json::Map::new(),
        }
    }

    #[test]
    fn each_computer_has_its_lines_and_only_those_that_sent_most_do() {
        let host = |number: u8| Computer {
            class: number.into(),
            address: Some([192, 168, 1, number].into()),
            bytes: 1000 * u64::from(number),
            ahead_bytes: 10,
            drops: 3,
            wait_us: 2500,
            ..Computer::default()
        };
        let unnamed = Computer {
            address: None,
            bytes: 1 << 40,
            ..host(0)
        };
        let hosts = (1..=40).map(host).chain([unnamed]);
        let status = Status {
            device: "wan0".parse().unwrap(),
            settings: None,
            followed: None,
            complete: true,
            restored: 0,
            differences: Vec::new(),
            queues: vec![Queue {
                computers: Some(hosts.collect()),
                ..queue("wan0", "mencius", None)
            }],
            levels: Vec::new(),
        };
        let text = prometheus(&[status]);
        let of = "{setup=\"wan0\",device=\"wan0\",handle=\"a1:\",host=\"192.168.1.40\"}";
        for line in [
            format!("analects_tc_host_bytes_total{of} 40000"),
            format!("analects_tc_host_ahead_bytes_total{of} 10"),
            format!("analects_tc_host_dropped_packets_total{of} 3"),
            format!("analects_tc_host_wait_microseconds{of} 2500"),
            "# TYPE analects_tc_host_wait_microseconds gauge".to_owned(),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert_eq!(text.matches("host_bytes_total{").count(), MOST_HOSTS);
        assert!(!text.contains("192.168.1.8\""), "{text}");
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
