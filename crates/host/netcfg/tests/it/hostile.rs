//! A journal written by another program: a clear error, and only commands of the known shapes.

use core::time::Duration;
use netcfg::{Command, Device, Output, Runner, Store, clear};
use proptest::prelude::*;
use std::io;
use std::path::PathBuf;

/// Records the commands it is given; every device is there, with our queues.
#[derive(Default)]
struct Recorder(Vec<String>);

impl Runner for Recorder {
    fn run(&mut self, command: &Command) -> io::Result<Output> {
        let text = command.to_string();
        let stdout = if text.contains("qdisc show") {
            r#"[{"kind":"htb","handle":"a1:","root":true},
                {"kind":"pfifo","handle":"b1:","parent":"a1:1"},
                {"kind":"ingress","handle":"ffff:","parent":"ffff:fff1"}]"#
        } else if text.contains("class show") {
            "class htb a1:1 root rate 1Mbit"
        } else if text.contains("list tables") {
            "table inet filter\ntable inet analects-2lps-eth0\ntable inet analects-2lps-$(x)\n"
        } else if text.contains("sysctl -n") {
            "1"
        } else if text.contains("filter show") {
            r#"[{"options":{"actions":[{"to_dev":"ifb-eth0"}]}}]"#
        } else {
            ""
        };
        self.0.push(text);
        Ok(Output {
            success: true,
            stdout: stdout.to_owned(),
            stderr: String::new(),
        })
    }
}

fn eth0() -> Device {
    "eth0".parse().unwrap()
}

/// The result of `clear` for a journal, and the commands it ran.
fn cleared(name: &str, journal: &[u8]) -> (Result<bool, String>, Vec<String>) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let namespace = std::fs::read_link("/proc/self/ns/net").unwrap();
    let namespace = namespace
        .to_str()
        .unwrap()
        .replace(|c: char| !c.is_ascii_digit(), "");
    std::fs::write(folder.join(format!("tc-{namespace}-eth0.json")), journal).unwrap();
    let mut recorder = Recorder::default();
    let store = Store::open(&folder, Duration::ZERO, &recorder).unwrap();
    assert_eq!(store.devices().unwrap(), [eth0()]);
    let result = clear(&mut recorder, &store, &eth0());
    std::fs::remove_dir_all(&folder).unwrap();
    (result.map_err(|error| error.message), recorder.0)
}

/// Whether it makes no changes.
fn looks(command: &str) -> bool {
    let looks = [" show dev ", "nft 'list ", "sysctl -n "];
    looks.iter().any(|words| command.contains(words))
}

const GOOD: &str = r#"{"version":1,"device":"eth0","settings":{"rate":9000000,"ingress":45000000,"threshold":9,
    "overhead":{"bytes":18,"mpu":64,"cells":"no"},
    "discipline":{"name":"pfifo","settings":[["limit","100"]]}},"complete":true,"changes":[
    {"accounting":{"device":"eth0","before":null}},
    {"ages":{"device":"eth0","table":{"threshold":5,"split":"class"},"before":null}},
    {"add_ifb":{"name":"ifb-eth0"}},{"set_up":{"name":"ifb-eth0"}},
    {"root":{"device":"eth0","root":{"htb":{}},
        "before":{"simple":{"major":32769,"kind":{"pfifo":{"limit":7}}}}}},
    {"class":{"device":"eth0","class":{"rate":9000000,"overhead":4,"mpu":64,"atm":false},
        "before":null}},
    {"leaf":{"device":"eth0","before":null,
        "leaf":{"slot":"first","discipline":{"name":"pfifo","settings":[["limit","100"]]}}}},
    {"ingress":{"device":"eth0"}},{"redirect":{"device":"eth0","through":"ifb-eth0"}}]}"#;

#[test]
fn a_good_one_is_undone() {
    let (result, ran) = cleared("good", GOOD.as_bytes());
    assert_eq!(result, Ok(true));
    let changes: Vec<_> = ran.iter().filter(|command| !looks(command)).collect();
    assert_eq!(
        changes,
        [
            "tc filter del dev eth0 ingress protocol all pref 10 u32",
            "tc qdisc del dev eth0 ingress",
            "tc qdisc replace dev eth0 root handle 8001: pfifo limit 7",
            "ip link del dev ifb-eth0",
            "nft 'delete table inet analects-2lps-eth0'",
            "sysctl -w net.netfilter.nf_conntrack_acct=0",
        ]
    );
}

#[test]
fn bad_ones_are_refused_and_nothing_runs() {
    let cases = [
        ("\"version\":1", "\"version\":2", "version 2"),
        (
            "\"version\":1",
            "\"version\":1,\"index\":-1",
            "invalid value",
        ),
        (
            "\"device\":\"eth0\",\"settings\"",
            "\"device\":\"eth1\",\"settings\"",
            "about eth1",
        ),
        (
            "{\"add_ifb\":{\"name\":\"ifb-eth0\"}}",
            "{\"add_ifb\":{\"name\":\"eth1\"}}",
            "changes eth1",
        ),
        (
            "{\"add_ifb\":{\"name\":\"ifb-eth0\"}}",
            "{\"add_ifb\":{\"name\":\"eth0\"}}",
            "itself is an ifb",
        ),
        (
            "{\"add_ifb\":{\"name\":\"ifb-eth0\"}}",
            "{\"run\":{\"argv\":[\"reboot\"]}}",
            "unknown variant",
        ),
        (
            "{\"name\":\"ifb-eth0\"}",
            "{\"name\":\"ifb-eth0; reboot\"}",
            "not a name of a network device",
        ),
        (
            "{\"name\":\"ifb-eth0\"}",
            "{\"name\":\"ifb-eth0\",\"netns\":\"1\"}",
            "unknown field",
        ),
        (
            "[[\"limit\",\"100\"]]",
            "[[\"limit\",\"100 root\"]]",
            "limit",
        ),
        ("[[\"limit\",\"100\"]]", "[[\"limit\",\"0\"]]", "outside"),
        (
            "\"pfifo\",\"settings\"",
            "\"rm\",\"settings\"",
            "no discipline",
        ),
        ("\"rate\":9000000", "\"rate\":-1", "-1"),
        ("\"threshold\":5", "\"threshold\":0", "outside 1 to"),
        (
            "\"split\":\"class\"",
            "\"split\":\"b1:1; }\"",
            "unknown variant",
        ),
        ("\"rate\":9000000", "\"rate\":1", "outside 64kbit"),
        ("\"bytes\":18", "\"bytes\":1800", "1800"),
        ("\"limit\":7", "\"limit\":4294967296", "4294967296"),
        ("\"changes\":[", "\"changes\":[[", "expected"),
        ("]}", "]", "EOF"),
    ];
    for (from, to, says) in cases {
        let journal = GOOD.replacen(from, to, 1);
        let journal = if to == "]" {
            GOOD.strip_suffix('}').unwrap().to_owned()
        } else {
            journal
        };
        assert_ne!(journal, GOOD, "{from}");
        let (result, ran) = cleared("bad", journal.as_bytes());
        let error = result.unwrap_err();
        assert!(error.contains(says), "{to}: {error}");
        assert!(error.contains("eth0.json"), "{error}");
        assert_eq!(ran, [""; 0], "{to}");
    }
}

#[test]
fn giant_deep_and_binary_ones_are_refused() {
    let many = "{\"ingress\":{\"device\":\"eth0\"}},".repeat(101);
    let many = GOOD.replacen("\"changes\":[", &format!("\"changes\":[{many}"), 1);
    let giant = format!("{GOOD}{}", " ".repeat(70_000));
    let deep = format!("{{\"version\":1,\"x\":{}", "[".repeat(60_000));
    for (journal, says) in [
        (many.as_bytes(), "changes, where at most 100"),
        (giant.as_bytes(), "more than 65536 bytes"),
        (deep.as_bytes(), "EOF"),
        (&[0xff, 0xfe, 0], "not text"),
        (b"", "EOF"),
    ] {
        let (result, ran) = cleared("giant", journal);
        let error = result.unwrap_err();
        assert!(error.contains(says), "{says}: {error}");
        assert!(ran.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// With any bytes changed, every command has one of the known shapes and names eth0 or its ifb.
    #[test]
    fn only_known_commands_come_of_it(
        edits in prop::collection::vec((0..GOOD.len(), any::<u8>()), 1..4),
    ) {
        let mut journal = GOOD.as_bytes().to_vec();
        for (at, byte) in edits {
            journal[at] = byte;
        }
        let (_, ran) = cleared("edited", &journal);
        for command in ran {
            let shapes = ["tc filter del dev eth0 ingress protocol all pref 10 u32",
                "tc qdisc del dev eth0 ", "ip link del dev ifb-eth0", "tc qdisc replace dev eth0 ",
                "nft 'delete table inet analects-2lps-eth0'", "sysctl -w net.netfilter.nf_conntrack_acct=0"];
            let known = looks(&command)
                || shapes.iter().any(|shape| command.starts_with(shape));
            prop_assert!(known, "{command}");
            let harmless = |c: char| c.is_ascii_alphanumeric() || " -_.:/'=".contains(c);
            prop_assert!(command.chars().all(harmless), "{command}");
        }
    }
}
