//! `analects tc` on a host that has no such device: the commands that it would run.

use crate::common::{Folder, text};

/// The commands of `tc apply --dry-run`.
fn planned(folder: &Folder, args: &[&str]) -> Vec<String> {
    let fixed = ["tc", "apply", "--dry-run", "--state", "."];
    let output = folder.analects(&[&fixed, args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn every_name_that_a_device_can_have_is_taken_with_ingress() {
    let folder = Folder::new("tc-names");
    for name in [
        "enx78e7d1ea46da",
        "wlx00e04c3b16d2",
        "enp129s0f1np1",
        "enp0s31f6.1000",
        "abcdefghijkl",
        "x--------------",
    ] {
        let args = ["--dev", name, "--rate", "45mbit", "--ingress", "90mbit"];
        let commands = planned(&folder, &args);
        let ifb = commands[0].strip_prefix("ip link add name ").unwrap();
        let ifb = ifb.strip_suffix(" type ifb").unwrap();
        assert!(ifb.len() <= 15 && ifb.starts_with("ifb-"), "{ifb}");
        let filter = commands.last().unwrap();
        assert!(filter.starts_with(&format!("tc filter add dev {name} ingress ")));
        assert!(
            filter.ends_with(&format!(" redirect dev {ifb}")),
            "{filter}"
        );
    }
}

#[test]
fn cake_is_set_up_as_its_users_have_it() {
    let folder = Folder::new("tc-cake");
    let line = ["--dev", "wan", "--rate", "9mbit", "--ingress", "45mbit"];
    let cakes = |more: &[&str]| {
        let commands = planned(&folder, &[&line, more].concat()).into_iter();
        commands
            .filter_map(|line| Some(line.split_once(" cake ")?.1.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        cakes(&["-d", "cake"]),
        [
            "bandwidth 45mbit diffserv3 dual-dsthost rtt 100ms nat ingress raw",
            "bandwidth 9mbit diffserv3 dual-srchost rtt 100ms nat egress raw",
        ]
    );
    let up = "cake,ack-filter=yes,memlimit=4MB";
    assert_eq!(
        cakes(&["--up-discipline", up]),
        [
            "bandwidth 9mbit diffserv3 dual-srchost rtt 100ms memlimit 4000000 nat ack-filter egress raw"
        ]
    );
    let down = "cake,flowmode=triple-isolate,nat=no";
    assert_eq!(
        cakes(&["-d", "fq_codel", "--down-discipline", down]),
        ["bandwidth 45mbit diffserv3 triple-isolate rtt 100ms nonat ingress raw"]
    );
}
