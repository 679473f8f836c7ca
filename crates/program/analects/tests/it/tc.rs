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

/// A line as `measure -o` writes it, but for what nobody reads here.
const LINE: &str = "disciplines = [\"pfifo\", \"cake\"]\n[link]\nrate = \"50mbit\"\noverhead = \"18B\"\n\
                    [link.up]\nrate = \"10mbit\"\n[measured]\nrtt_ms = 20.0\n";

#[test]
fn a_measured_line_says_what_options_do_not() {
    let folder = Folder::new("tc-from");
    folder.write("my-line.toml", LINE);
    let from = ["--from", "my-line.toml", "--dev", "wan"];
    let as_options = |options: &[&str]| planned(&folder, &[&["--dev", "wan"], options].concat());
    assert_eq!(
        planned(&folder, &from),
        as_options(&[
            "--up",
            "9500kbit",
            "--down",
            "45mbit",
            "--overhead",
            "18",
            "-d",
            "cake"
        ])
    );
    let more = [
        "--up",
        "8mbit",
        "--overhead",
        "docsis",
        "-d",
        "mencius",
        "--down-discipline",
        "codel",
    ];
    let options = [&["--down", "45mbit"][..], &more].concat();
    assert_eq!(
        planned(&folder, &[&from[..], &more].concat()),
        as_options(&options)
    );

    let fixed = ["tc", "apply", "--dry-run", "--state", "."];
    let output = folder.analects(&[&fixed[..], &from, &["--up", "8mbit"]].concat());
    let said = text(&output.stderr);
    for part in [
        "my-line.toml: --up 8mbit stands, whatever it says",
        "my-line.toml: down 45mbit, 90 % of the line's 50mbit",
        "my-line.toml: discipline cake, the last of its disciplines",
        "my-line.toml: overhead 18 bytes for each packet",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// What `tc apply` refuses.
fn refused(folder: &Folder, args: &[&str]) -> String {
    let fixed = ["tc", "apply", "--dry-run", "--dev", "wan", "--state", "."];
    let output = folder.analects(&[&fixed, args].concat());
    assert!(!output.status.success(), "{args:?}");
    text(&output.stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// It is that of the measured line, or the least that was named, and never made up.
#[test]
fn a_rate_that_finds_itself_begins_with_a_safe_one() {
    let folder = Folder::new("tc-auto");
    folder.write("my-line.toml", LINE);
    let wan = |options: &[&str]| planned(&folder, &[&["--dev", "wan"], options].concat());
    let from = ["--from", "my-line.toml"];
    assert_eq!(
        wan(&[&from[..], &["--up", "auto", "--down", "auto"]].concat()),
        wan(&from)
    );
    // Up 9.5, down 45 Mbit/s are in the file.
    assert_eq!(
        wan(&[&from[..], &["--up", "1mbit..8mbit", "--down", "5mbit.."]].concat()),
        wan(&[&from[..], &["--up", "8mbit"]].concat())
    );
    assert_eq!(
        wan(&[
            "--up",
            "2mbit..20mbit",
            "--down",
            "45mbit",
            "--favour",
            "calls"
        ]),
        wan(&["--up", "2mbit", "--down", "45mbit"])
    );
    for (args, part) in [
        (
            &["--up", "auto", "--down", "auto"][..],
            "--down: nothing says which rate the line carries at first",
        ),
        (&["--up", "auto"], "such as --up 5mbit.., or --from FILE"),
        (&["--up", "..9mbit"], "--up: nothing says"),
        (&["--up", "9mbit..5mbit"], "--up: 9mbit is more than 5mbit"),
        (&["--up", "AUTO"], "--up: "),
        (
            &["2lps", "--threshold", "auto", "--watch", "--up", "5mbit.."],
            "--watch follows the sizes of flows",
        ),
    ] {
        let said = refused(&folder, args);
        assert!(said.contains(part), "{args:?}: {said}");
    }
}
