//! `analects measure` against `analects probe serve` on this host, and what follows from it.

use crate::common::{Folder, text};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server with these limits; its address and pin.
fn served(folder: &Folder, limits: &[&str]) -> (Served, String, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_analects"))
        .current_dir(&folder.0)
        .args(["probe", "serve", "--listen", "127.0.0.1:0", "--key", "key"])
        .args(limits)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut behind = |word: &str| {
        let line = lines.next().unwrap().unwrap();
        line.strip_prefix(word).unwrap().to_owned()
    };
    let address = behind("listening on ");
    let pin = behind("pin ");
    (Served(server), address, pin)
}

#[test]
#[ignore = "half a minute: `make test OF=slow`"]
fn a_line_becomes_a_scenario_and_a_comparison() {
    let folder = Folder::new("measure");
    let (_server, address, pin) = served(&folder, &["--rate", "1mbit"]);
    let measured = folder.analects(&[
        "measure",
        &address,
        "--pin",
        &pin,
        "--metered",
        "--compare",
        "--queue",
        "cake",
        "-o",
        "my-line.toml",
    ]);
    let written = std::fs::read_to_string(folder.0.join("my-line.toml")).unwrap();
    assert!(
        written.contains("# cake was said to be its queue (--queue), and not found."),
        "{written}"
    );
    let (out, said) = (text(&measured.stdout), text(&measured.stderr));
    assert!(measured.status.success(), "{out}{said}");
    for part in [
        "(the server's limit, not the line's)",
        "calls: a call on this line",
        "a shaper with",
        "sudo analects tc apply --dev LINE --from my-line.toml --confirm 5m",
        "sudo analects gateway --in HOME --out LINE --from my-line.toml",
        "uci set sqm.SECTION.script=mencius.qos; uci set sqm.SECTION.enabled=1; uci commit sqm",
        "with `--queue mencius --before my-line.toml` for both beside each other",
        "the line as a scenario: my-line.toml",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    for part in [
        "for at most 10 s with at most 25MB of load",
        "down 1 s: ",
        "up 3 s: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let ran = folder.analects(&["run", "my-line.toml", "--repeat", "1", "--format", "csv"]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    assert!(text(&ran.stdout).contains("mencius,1,"));
    let from = [
        "tc",
        "apply",
        "--from",
        "my-line.toml",
        "--dev",
        "wan",
        "--dry-run",
        "--state",
        ".",
    ];
    let planned = folder.analects(&from);
    let (commands, said) = (text(&planned.stdout), text(&planned.stderr));
    assert!(planned.status.success(), "{said}");
    assert!(said.contains("my-line.toml: discipline mencius"), "{said}");
    let rates = out.split_once("The shaper's rates are --down ").unwrap().1;
    let (down, _) = rates.split_once(' ').unwrap();
    assert!(
        said.contains(&format!("down {down}, 90 % of")) && commands.contains(" mencius "),
        "{said}{commands}"
    );
}

#[test]
#[ignore = "half a minute: `make test OF=slow`"]
fn two_measurements_stand_beside_each_other() {
    let folder = Folder::new("measure-twice");
    let (_server, address, pin) = served(&folder, &["--rate", "1mbit"]);
    let measured = |more: &[&str]| {
        let measure = ["measure", &address, "--pin", &pin, "--metered"];
        let output = folder.analects(&[&measure[..], more].concat());
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (status, out, said) = measured(&["-o", "before.toml"]);
    assert_eq!(status, Some(0), "{out}{said}");
    let (status, _, said) = measured(&["--before", "before.toml", "-o", "before.toml"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("it would be lost"), "{said}");
    let (status, out, said) = measured(&["--before", "before.toml"]);
    assert_eq!(status, Some(0), "{out}{said}");
    let row = out
        .lines()
        .find(|line| line.trim().starts_with("down: Mbit/s"));
    // The server's limit is what both found.
    assert_eq!(row.map(|row| row.matches('*').count()), Some(2), "{out}");
    for part in [
        "* before, down: the rate is the server's limit, not the line's",
        "* after, down: the rate is the server's limit, not the line's",
        "a call stands still, s of 110",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

#[test]
fn what_cannot_be_measured_is_said() {
    let folder = Folder::new("measure-wrong");
    for (args, status, says) in [
        (
            &["measure"][..],
            2,
            "no server is named, and none is contacted unasked",
        ),
        (
            &["measure", "h", "--queue", "pfifo"],
            2,
            "possible values: fq_codel, cake, mencius",
        ),
        (&["measure", "h:0"], 2, "h:0: expected HOST or HOST:PORT"),
        (&["measure", "ftp://h"], 2, "ftp://h: expected https://"),
        (
            &["measure", "h", "--pin", "12"],
            2,
            "a pin is 64 hexadecimal digits",
        ),
        (
            &["measure", "h", "--max-bytes", "many"],
            2,
            "'--max-bytes <BYTES>': \"many\"",
        ),
        (
            &["measure", "h", "--metered", "--seconds", "9"],
            2,
            "cannot be used with",
        ),
        (
            &["measure", "127.0.0.1:1", "--trust-anyone"],
            1,
            "127.0.0.1:1: no connection",
        ),
        (
            &["measure", "no.such.host.invalid"],
            1,
            "no.such.host.invalid",
        ),
        (
            &["measure", "h", "-o", "no/such/folder"],
            2,
            "no/such/folder",
        ),
        (
            &["measure", "h", "--before", "none.toml"],
            2,
            "--before: none.toml: ",
        ),
    ] {
        let output = folder.analects(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?} {said}");
        assert!(said.contains(says), "{args:?} {said}");
        assert_eq!(text(&output.stdout), "");
    }
}
