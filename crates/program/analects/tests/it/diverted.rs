//! `analects gateway` and `analects pace` with devices by which no packet of theirs comes, and a pacer on a
//! line that fell.

use crate::common::{Folder, text};

#[test]
fn devices_that_carry_nothing_for_it_are_refused() {
    let folder = Folder::new("diverted-devices");
    let gateway = |inside, outside| ["gateway", "--in", inside, "--out", outside].to_vec();
    let pace = |device| ["pace", "--dev", device].to_vec();
    for (args, finding) in [
        (gateway("eth1", "lo"), "--out: nothing is forwarded by lo"),
        (gateway("lo", "eth1"), "--in: nothing is forwarded by lo"),
        (gateway("nosuch", "nosuch2"), "there is no device nosuch"),
        (gateway("eth1", "eth1"), "--in and --out are both eth1"),
        (pace("nosuch"), "there is no device nosuch"),
        (
            pace("enx78e7d1ea46da"),
            "there is no device enx78e7d1ea46da",
        ),
    ] {
        let output = folder.analects(&[&args[..], &["--state", "."]].concat());
        let message = text(&output.stderr);
        assert!(
            !output.status.success() && message.contains(finding),
            "{message}"
        );
        assert_eq!(text(&output.stdout), "");
    }
}

/// The line falls while nothing runs, and a download begins beside a call that does not pass the pacer.
#[test]
fn a_stale_estimate_does_not_switch_the_pacer_off() {
    let folder = Folder::new("pacer-fell");
    let scenario = |steps: &str| {
        format!(
            r#"
            name = "fell"
            duration = "100s"
            warmup = "60s"
            [[link]]
            name = "router"
            steps = "{steps}"
            rtt = "40ms"
            buffer = "1000p"
            discipline = "pfifo"
            [[link]]
            name = "computer"
            rate = "1gbit"
            [[traffic]]
            name = "call"
            kind = "call"
            via = "router"
            host = "computer"
            [[traffic]]
            name = "first"
            kind = "bulk"
            start = "5s"
            size = "100MB"
            host = "computer"
            [[traffic]]
            name = "download"
            kind = "bulk"
            start = "45s"
            host = "computer"
            "#
        )
    };
    for steps in [
        "0s 50mbit; 35s 15mbit",
        "0s 50mbit; 35s 5mbit",
        "0s 100mbit; 30s 20mbit",
    ] {
        folder.write("fell.toml", scenario(steps));
        for pacer in ["pacer,rate=adaptive", "pacer(fq_codel),rate=adaptive"] {
            let args = [
                "run",
                "fell.toml",
                "-d",
                "pfifo",
                "-d",
                pacer,
                "--format",
                "csv",
            ];
            let output = folder.analects(&args);
            assert!(output.status.success(), "{}", text(&output.stderr));
            let table = text(&output.stdout);
            let stalls = table.lines().filter(|line| line.contains(",stall_s,"));
            let stalls: Vec<f64> = stalls
                .filter(|line| line.contains(",call,"))
                .map(|line| line.rsplit(',').nth(1).unwrap().parse().unwrap())
                .collect();
            assert_eq!(stalls.len(), 2, "{table}");
            assert!(
                stalls[0] > 30.0 && stalls[1] < 0.5,
                "{steps} {pacer}: {stalls:?}"
            );
        }
    }
}
