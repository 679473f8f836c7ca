//! What senders are at, and what limits them.

use measure::{RunResult, SenderResult};
use scenario::{Document, Names};
use sim::Simulator;

/// One download under `control` over a link of `link`, with the settings `more`.
fn run(link: &str, control: &str, more: &str) -> RunResult {
    let text = format!(
        r#"
        disciplines = ["pfifo"]
        {more}
        link = {{ {link} }}
        traffic = [{{ name = "bulk", kind = "bulk", {control} }}]
        "#
    );
    measured(&text)
}

fn measured(text: &str) -> RunResult {
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let scenario = Document::parse("senders", text).and_then(|text| text.resolve(names));
    let scenario = scenario.unwrap();
    measure::run(&simulator, &scenario, &scenario.disciplines[0], 1, false).unwrap()
}

const LONG_FAT: &str = r#"rate = "1gbit", rtt = "100ms", buffer = "1bdp""#;

/// 6 MiB in 100 ms are 503 Mbit/s.
#[test]
fn a_window_that_is_less_than_the_path_holds_is_told() {
    for control in [
        r#"control = "cubic""#,
        r#"control = "cubic", carrier = "quic""#,
    ] {
        let result = run(LONG_FAT, control, "duration = \"4s\"\nwarmup = \"2s\"");
        let goodput = result.flows[0].goodput_mbps;
        assert!((400.0..504.0).contains(&goodput), "{goodput}");
        let [limit] = result.limits.as_slice() else {
            panic!("{control}: {:?}", result.limits);
        };
        assert_eq!(
            (limit.name.as_str(), limit.by.as_str()),
            ("bulk", "receiver")
        );
        assert!((0.5..=1.0).contains(&limit.share), "{limit:?}");
    }
}

#[test]
fn a_window_that_is_enough_limits_nothing() {
    let more = "duration = \"4s\"\nwarmup = \"2s\"\nreceive_window = \"40MB\"";
    let result = run(LONG_FAT, r#"control = "cubic""#, more);
    let goodput = result.flows[0].goodput_mbps;
    assert!(goodput > 600.0, "{goodput}");
    assert_eq!(result.limits, []);
}

/// A sender that its own computer holds back does not lack data: nothing is said of it, and its moments say what it is.
#[test]
fn a_sender_that_its_own_computer_holds_back_waits_for_no_application() {
    let link = r#"rate = "100mbit", rtt = "10ms", buffer = "1000p""#;
    let more = "duration = \"4s\"\nsmall_queues = true\nsenders = \"10ms\"";
    let result = run(link, r#"control = "cubic""#, more);
    assert_eq!(result.limits, []);
    let limits = &result.senders[0].limit[100..];
    let held = limits
        .iter()
        .filter(|by| by.as_deref() == Some("computer"))
        .count();
    assert!(2 * held > limits.len(), "{held} of {}", limits.len());
    // When all is sent, nothing is held back.
    let text = r#"
        duration = "4s"
        small_queues = true
        senders = "10ms"
        disciplines = ["pfifo"]
        link = { rate = "100mbit", rtt = "10ms", buffer = "1000p" }
        traffic = [{ name = "short", kind = "bulk", size = "100kB" }]
    "#;
    let short = measured(text);
    let last = short.senders[0].limit.last().unwrap();
    assert_eq!(last.as_deref(), Some("application"));
}

/// QUIC repairs for a round trip after a loss, as TCP does; BBR goes on.
#[test]
fn recovery_is_told_over_quic_too() {
    for (control, recovers) in [("reno", true), ("bbr", false)] {
        let flow = format!("control = \"{control}\", carrier = \"quic\"");
        let more = "duration = \"20s\"\nsenders = \"10ms\"";
        let result = run(USUAL, &flow, more);
        let told = result.senders[0].phase.iter().any(|of| of == "recovery");
        assert_eq!(told, recovers, "{control}");
    }
}

const USUAL: &str = r#"rate = "20mbit", rtt = "40ms", buffer = "1bdp""#;

/// The moments are in the results, and change nothing else in them.
#[test]
fn looking_changes_nothing() {
    let traffic = r#"
        disciplines = ["fq_codel"]
        link = { rate = "5mbit", rtt = "40ms" }
        traffic = [
            { name = "call", kind = "call" },
            { name = "bulk", kind = "bulk", control = "bbr" },
            { name = "page", kind = "page" },
        ]
    "#;
    let plain = measured(&format!("duration = \"10s\"\n{traffic}"));
    let mut looked = measured(&format!("duration = \"10s\"\nsenders = \"7ms\"\n{traffic}"));
    let has = |name: &str| looked.senders.iter().any(|of| of.name.starts_with(name));
    assert!(has("call") && has("bulk") && has("page"));
    looked.senders.clear();
    let json = |result: &RunResult| serde_json::to_string(result).unwrap();
    assert_eq!(json(&looked), json(&plain));
    assert!(plain.senders.is_empty());
}

fn course(control: &str, duration: &str) -> SenderResult {
    let more = format!("duration = \"{duration}\"\nsenders = \"10ms\"");
    let mut result = run(USUAL, &format!("control = \"{control}\""), &more);
    assert_eq!(result.senders.len(), 1);
    result.senders.remove(0)
}

/// A window of Reno, as the moments have it.
#[test]
fn moments_are_those_of_the_control() {
    let course = course("reno", "20s");
    assert_eq!(
        (course.name.as_str(), course.control.as_str()),
        ("bulk", "reno")
    );
    assert_eq!(course.time_s.len(), 2000);
    assert!((course.time_s[99] - 1.0).abs() < 1e-9);
    assert_eq!(course.phase[10], "slow_start");
    assert!(course.phase.iter().any(|phase| phase == "recovery"));
    assert_eq!(course.phase[1990], "avoidance");
    assert!(course.pacing_mbps.iter().all(Option::is_none));
    for (window, in_flight) in course
        .window_bytes
        .iter()
        .zip(&course.in_flight_bytes)
        .skip(1000)
    {
        // A recovery may begin with more than the window it leads to.
        assert!(*in_flight <= 2 * window.unwrap());
    }
    // The first round trip, then what the buffer adds.
    assert!(
        course
            .srtt_ms
            .iter()
            .flatten()
            .all(|ms| (39.0..85.0).contains(ms))
    );
    let late = &course.delivered_mbps[1000..];
    let mean = late.iter().flatten().sum::<f64>() / late.len() as f64;
    // 1448 of 1500 bytes are data.
    assert!((mean - 19.3).abs() < 0.3, "{mean}");
    assert!(course.limit[1990].as_deref() == Some("window"));
}

/// Start-up, draining and probing, in this order, and every ten seconds a look at the empty path.
#[test]
fn bbr_goes_through_its_phases() {
    for (control, known) in [
        ("bbr", &["startup", "drain", "probe_bw", "probe_rtt"][..]),
        (
            "bbr,version=3",
            &[
                "startup",
                "drain",
                "down",
                "cruise",
                "refill",
                "up",
                "probe_rtt",
            ][..],
        ),
    ] {
        let course = course(control, "25s");
        let mut phases: Vec<&str> = course.phase.iter().map(String::as_str).collect();
        phases.dedup();
        assert_eq!(phases[..2], known[..2], "{phases:?}");
        let mut seen = phases.clone();
        seen.sort_unstable();
        seen.dedup();
        let mut all = known.to_vec();
        all.sort_unstable();
        assert_eq!(seen, all);
        assert_eq!(
            phases.iter().filter(|phase| **phase == "startup").count(),
            1
        );
        assert!(course.pacing_mbps.iter().flatten().count() > 2000);
    }
}
