//! TCP small queues: packets waiting on a sender's own computer.

use measure::RunResult;
use scenario::{Choice, Document, Names, Scenario};
use sim::Simulator;

fn run(flags: &str, flows: u32) -> RunResult {
    let text = format!(
        r#"
        duration = "10s"
        warmup = "2s"
        {flags}
        disciplines = ["pfifo"]
        link = {{ rate = "100mbit", rtt = "10ms", buffer = "1000p" }}
        traffic = [{{ name = "bulk", kind = "bulk", control = "cubic", count = {flows} }}]
        "#
    );
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let scenario: Scenario = Document::parse("small", &text)
        .and_then(|text| text.resolve(names))
        .unwrap();
    measure::run(&simulator, &scenario, &Choice::plain("pfifo"), 1, false).unwrap()
}

/// One flow of 100 Mbit/s may have 1.2 times a 1024th of a second of its rate waiting, some 15 kB,
/// with a round trip of 10 ms and no more: no packets are dropped, the link stays full, and the
/// backlog takes about a millisecond. Without, Cubic fills the buffer of 1000 packets, 120 ms.
#[test]
fn one_flow_keeps_a_millisecond() {
    let (small, large) = (run("small_queues = true", 1), run("", 1));
    let wait = |run: &RunResult| run.links[0].sojourn_ms.mean.unwrap();
    assert!(wait(&small) < 2.5, "{}", wait(&small));
    assert!(wait(&large) > 20.0, "{}", wait(&large));
    assert_eq!(small.links[0].drops, 0);
    assert!(large.links[0].drops > 0);
    let utilization = small.links[0].utilization.unwrap();
    assert!(utilization > 0.97, "{utilization}");
}

/// Fifty flows have two packets each at least, and all of them continue.
#[test]
fn many_flows_have_two_packets_each() {
    let result = run("small_queues = true", 50);
    let wait = result.links[0].sojourn_ms.mean.unwrap();
    // A hundred packets of 1500 bytes take 12 ms.
    assert!((5.0..20.0).contains(&wait), "{wait}");
    assert!(result.flows.iter().all(|flow| flow.goodput_mbps > 0.5));
}
