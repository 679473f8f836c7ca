//! Twelve scenarios with one cause each: the explanation of a call's stall names it.

use crate::common::resolve;
use measure::why::{Cause, CauseKind, Whose, Why};
use measure::{BuiltLink, Engine, EngineError, Event, RunResult, Sink, Unsupported};
use scenario::{Choice, Scenario};
use units::Instant;

/// What all scenarios have in common; each adds its links and its traffic.
const COMMON: &str = r#"
    duration = "40s"
    warmup = "10s"
    disciplines = ["pfifo"]
"#;

/// The simulator as an engine that sees queues only, such as a kernel with its traces.
struct QueuesOnly(sim::Simulator);

/// A sink that hears nothing of packets' ends.
struct WithoutEnds<'a>(&'a mut dyn Sink);

impl Sink for WithoutEnds<'_> {
    fn event(&mut self, now: Instant, event: &Event) {
        self.0.event(now, event);
    }
}

impl Engine for QueuesOnly {
    fn name(&self) -> &'static str {
        "queues only"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        self.0.check(scenario)
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        let mut sink = WithoutEnds(sink);
        self.0.run(scenario, discipline, seed, &mut sink)
    }
}

fn run(engine: &dyn Engine, text: &str) -> RunResult {
    let scenario = resolve(&format!("{COMMON}{text}")).unwrap();
    let discipline = &scenario.disciplines[0];
    measure::run(engine, &scenario, discipline, 1, true).unwrap()
}

/// The explanation of the call `name`.
fn why(engine: &dyn Engine, text: &str, name: &str) -> Why {
    let result = run(engine, text);
    let mut calls = result.calls.into_iter();
    let call = calls.find(|call| call.name == name).unwrap();
    let why = call.why.unwrap();
    let sum: f64 = why.causes.iter().map(|cause| cause.stall_s).sum();
    assert!(
        (sum - call.stall_s).abs() < 1e-6,
        "all of the stall has a cause"
    );
    why
}

/// The cause of most of the stall of the call `name`, and the text. Where it is at a queue or on a wire,
/// an engine that sees no more than queues finds the same.
fn main_cause(text: &str, name: &str) -> (Cause, String) {
    let found = [true, false].map(|all| {
        let simulator = sim::Simulator::default();
        let why = if all {
            why(&simulator, text, name)
        } else {
            why(&QueuesOnly(simulator), text, name)
        };
        let first = why.causes.first().expect("the call stalls");
        assert!(first.share > 0.5, "{}", why.text);
        (first.cause.clone(), why.text)
    });
    let [(cause, text), (other, other_text)] = found;
    if !matches!(cause.kind, CauseKind::Access | CauseKind::Device) {
        let key = |cause: &Cause| (cause.kind, cause.queue.clone());
        assert_eq!(key(&cause), key(&other), "{other_text}");
        let name = |cause: &Cause| cause.behind.first().map(|of| of.name.clone());
        assert_eq!(name(&cause), name(&other), "{other_text}");
    }
    (cause, text)
}

/// That the cause is a queue, which one, and whose packets were before the call's.
fn is_queue(cause: &Cause, queue: &str, behind: &str, whose: Whose) {
    assert_eq!(cause.kind, CauseKind::Queue);
    assert_eq!(cause.queue.as_deref(), Some(queue));
    let first = &cause.behind[0];
    assert_eq!((first.name.as_str(), first.whose), (behind, whose));
    assert!(first.share > 0.5, "{first:?}");
}

const LINE: &str = r#"
    [link]
    rate = "20mbit"
    rtt = "40ms"
    buffer = "500p"
    [link.up]
    rate = "5mbit"
    buffer = "300p"
"#;

/// A call in each direction.
const CALLS: &str = r#"
    [[traffic]]
    name = "in"
    kind = "call"
    host = "laptop"
    [[traffic]]
    name = "out"
    kind = "call"
    host = "laptop"
    direction = "up"
    max_rate = "2mbit"
"#;

fn line(traffic: &str) -> String {
    format!("{LINE}{CALLS}{traffic}")
}

#[test]
fn the_uplink() {
    let text = line(
        r#"
        [[traffic]]
        name = "backup"
        kind = "bulk"
        host = "desk"
        direction = "up"
        start = "20s"
        "#,
    );
    let (cause, text) = main_cause(&text, "out");
    is_queue(&cause, "link-up", "backup", Whose::House);
    assert!(cause.under_test == Some(true) && cause.away_ms.is_none());
    assert!(text.contains("in the queue of link-up (pfifo)"), "{text}");
    assert!(
        text.contains("from another computer in the house (desk)"),
        "{text}"
    );
}

#[test]
fn the_downlink() {
    let text = line(
        r#"
        [[traffic]]
        name = "console"
        kind = "bulk"
        start = "20s"
        "#,
    );
    let (cause, _) = main_cause(&text, "in");
    is_queue(&cause, "link", "console", Whose::House);
}

#[test]
fn a_dip_of_the_wifi() {
    let text = format!(
        r#"
        [link]
        name = "wifi"
        steps = ["0s 20mbit", "25s 300kbit", "28s 20mbit"]
        rtt = "40ms"
        buffer = "500p"
        {CALLS}
        [[traffic]]
        name = "page"
        kind = "page"
        source = "generated:5"
        start = "12s"
        interval = "8s"
        "#
    );
    let (cause, text) = main_cause(&text, "in");
    assert_eq!(
        (cause.kind, cause.queue.as_deref()),
        (CauseKind::Dip, Some("wifi"))
    );
    let (carried, usual) = (cause.carried_mbps.unwrap(), cause.usual_mbps.unwrap());
    assert!(
        carried < 1.0 && (15.0..25.0).contains(&usual),
        "{carried} {usual}"
    );
    assert!(
        text.contains("wifi, which carried 0.3 Mbit/s meanwhile"),
        "{text}"
    );
}

#[test]
fn the_hosts_own_upload() {
    let text = line(
        r#"
        [[traffic]]
        name = "photos"
        kind = "bulk"
        host = "laptop"
        direction = "up"
        start = "20s"
        "#,
    );
    let (cause, text) = main_cause(&text, "out");
    is_queue(&cause, "link-up", "photos", Whose::Computer);
    assert!(text.contains("from the same computer (laptop)"), "{text}");
}

/// A cable segment that a neighbour's traffic passes as well; the house's own line is behind it.
#[test]
fn a_neighbour() {
    let text = format!(
        r#"
        [[link]]
        name = "segment"
        rate = "30mbit"
        rtt = "40ms"
        buffer = "500p"
        discipline = "pfifo"
        [[link]]
        name = "house"
        rate = "25mbit"
        {CALLS}
        [[traffic]]
        name = "neighbour"
        kind = "bulk"
        via = "segment"
        start = "20s"
        "#
    );
    let (cause, text) = main_cause(&text, "in");
    is_queue(&cause, "segment", "neighbour", Whose::Elsewhere);
    assert_eq!(cause.under_test, Some(false));
    assert!(text.contains("which is not of this house"), "{text}");
}

/// The far end's own line is slower than what it has to send.
#[test]
fn a_slow_server() {
    let text = LINE.to_owned()
        + r#"
        [[traffic]]
        name = "in"
        kind = "call"
        min_rate = "1mbit"
        access = "900kbit"
        "#;
    let (cause, text) = main_cause(&text, "in");
    assert_eq!((cause.kind, cause.queue), (CauseKind::Access, None));
    assert!(text.contains("the line of their own sender"), "{text}");
}

#[test]
fn losses_of_the_wire() {
    let text = format!(
        r#"
        [link]
        name = "radio"
        rate = "20mbit"
        rtt = "120ms"
        loss = "4%"
        {CALLS}
        "#
    );
    let (cause, text) = main_cause(&text, "in");
    assert_eq!(
        (cause.kind, cause.queue.as_deref()),
        (CauseKind::Loss, Some("radio"))
    );
    assert!(
        cause.failed > 0 && text.contains("the wire behind radio lost"),
        "{text}"
    );
}

#[test]
fn policing() {
    let text = r#"
        [[link]]
        name = "provider"
        rate = "100mbit"
        rtt = "120ms"
        discipline = "policer,rate=1mbit,burst=10kB"
        [[link]]
        name = "house"
        rate = "50mbit"
        [[traffic]]
        name = "in"
        kind = "call"
        min_rate = "1.2mbit"
        "#;
    let (cause, text) = main_cause(text, "in");
    assert_eq!(
        (cause.kind, cause.queue.as_deref()),
        (CauseKind::Policing, Some("provider"))
    );
    assert!(
        text.contains("a limit on the rate at provider dropped"),
        "{text}"
    );
}

/// The router believes in 25 Mbit/s, and the modem behind it has 20: its queue is the one that fills.
#[test]
fn bufferbloat_in_the_modem() {
    let text = format!(
        r#"
        [[link]]
        name = "modem"
        rate = "20mbit"
        rtt = "40ms"
        buffer = "500p"
        discipline = "pfifo"
        [[link]]
        name = "router"
        rate = "25mbit"
        {CALLS}
        [[traffic]]
        name = "downloads"
        kind = "bulk"
        host = "pc"
        start = "20s"
        count = 4
        "#
    );
    let (cause, text) = main_cause(&text, "in");
    is_queue(&cause, "modem", "downloads", Whose::House);
    assert_eq!(cause.under_test, Some(false));
    assert!(
        text.contains("not managed by the discipline under test"),
        "{text}"
    );
    assert!(text.contains("downloads (4 flows,"), "{text}");
}

/// The same where the modem's buffer is the device's own, behind the router's discipline.
#[test]
fn bufferbloat_in_the_device() {
    let text = line(
        r#"
        [[traffic]]
        name = "console"
        kind = "bulk"
        start = "20s"
        "#,
    );
    // With more room than the device the discipline's own queue has half of the stall.
    let text = text.replacen("buffer = \"500p\"", "buffer = \"200p\"\n device = 400", 1);
    let (cause, text) = main_cause(&text, "in");
    assert_eq!(
        (cause.kind, cause.queue.as_deref()),
        (CauseKind::Device, Some("link"))
    );
    assert!(text.contains("no discipline manages packets"), "{text}");
}

#[test]
fn a_far_queue() {
    let text = format!(
        r#"
        [[link]]
        name = "peering"
        rate = "50mbit"
        rtt = "20ms"
        delay = "30ms"
        buffer = "1000p"
        discipline = "pfifo"
        [[link]]
        name = "house"
        rate = "25mbit"
        {CALLS}
        [[traffic]]
        name = "crowd"
        kind = "bulk"
        via = "peering"
        count = 20
        start = "20s"
        "#
    );
    let (cause, text) = main_cause(&text, "in");
    is_queue(&cause, "peering", "crowd", Whose::Elsewhere);
    let away = cause.away_ms.unwrap();
    assert!((30.0..31.0).contains(&away), "{away}");
    assert!(text.contains("30 ms away from the home"), "{text}");
}

/// Nobody else sends; a control that looks for more by filling the queue.
#[test]
fn the_controls_own_probing() {
    let text = r#"
        [link]
        rate = "3mbit"
        rtt = "40ms"
        buffer = "300p"
        [[traffic]]
        name = "in"
        kind = "call"
        control = "cubic"
        max_rate = "6mbit"
        "#;
    let (cause, text) = main_cause(text, "in");
    is_queue(&cause, "link", "in", Whose::Own);
    assert!(
        text.contains("the call’s own packets: its control (cubic)"),
        "{text}"
    );
}

#[test]
fn none() {
    let why = why(&sim::Simulator::default(), &line(""), "out");
    assert!(why.causes.is_empty() && why.stalls.is_empty());
    assert!(
        why.text
            .starts_with("out did not stall; its longest frame delay was"),
        "{}",
        why.text
    );
}

/// What a call sends after the run is nothing, and no low rate.
#[test]
fn a_stall_that_ends_with_the_run_has_no_rate_behind_it() {
    let text = r#"
        link = { rate = "20mbit", rtt = "40ms", buffer = "100p", up = { rate = "5mbit", buffer = "1000p" } }
        traffic = [
            { name = "call", kind = "call", direction = "up", max_rate = "2.5mbit" },
            { name = "uploads", kind = "bulk", direction = "up", count = 8, start = "30s" },
        ]
    "#;
    let why = why(&sim::Simulator::default(), text, "call");
    let last = why.stalls.last().expect("the call stalls");
    assert!(last.to_s > 39.0, "{}", why.text);
    assert!(last.rate_lowest_mbps > 0.0, "{}", why.text);
    assert!(!why.text.contains("down to 0.00"), "{}", why.text);
}
