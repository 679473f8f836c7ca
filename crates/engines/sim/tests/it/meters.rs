//! Figures of a run that is small enough to be worked out by hand.

use crate::common::resolve;
use measure::RunResult;

/// The first discipline's results.
fn measure(text: &str) -> RunResult {
    let scenario = resolve(text).unwrap();
    let discipline = &scenario.disciplines[0];
    measure::run(&sim::Simulator::default(), &scenario, discipline, 1, false).unwrap()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

/// Three full segments. At 8 Mbit/s a byte takes 1 µs. The SYN goes at once; at 40 060 µs an
/// acknowledgement of 52 B and three packets of 1500 B come together:
///   ACK      starts 40 060 µs
///   data 1   starts 40 112 µs, has waited    52 µs
///   data 2   starts 41 612 µs, has waited 1 552 µs
///   data 3   starts 43 112 µs, has waited 3 052 µs
/// That are 4656 µs of packets' waiting in a run of one second.
const THREE: &str = r#"
    duration = "1s"
    disciplines = ["pfifo"]
    [link]
    rate = "8mbit"
    rtt = "40ms"
    buffer = "10p"
    [[traffic]]
    name = "bulk"
    kind = "bulk"
    size = "4344B"
"#;

#[test]
fn backlog_and_occupancy() {
    let link = &measure(THREE).links[0];
    close(link.backlog.mean_packets, 4656e-6);
    close(link.backlog.mean_bytes, 1500.0 * 4656e-6);
    assert_eq!(link.backlog.max_packets, 3);
    close(link.occupancy.unwrap(), 4656e-7);
    let late = THREE.replace("duration", "warmup = \"42ms\"\nduration");
    let link = &measure(&late).links[0];
    // From 42 ms on one packet waits for 1112 µs.
    close(link.backlog.mean_packets, 1112e-6 / 0.958);
    assert_eq!(link.backlog.max_packets, 1);
}

#[test]
fn occupancy_is_in_the_unit_of_the_buffer() {
    let link = &measure(&THREE.replace("10p", "1bdp")).links[0];
    // 8 Mbit/s times 40 ms are 40 kB.
    close(link.occupancy.unwrap(), 1500.0 * 4656e-6 / 40_000.0);
    let result = measure(&THREE.replace("buffer = \"10p\"", ""));
    assert_eq!(result.links[0].occupancy, None);
    let note = result
        .notes
        .iter()
        .find(|n| n.about == "links.link.occupancy");
    assert!(note.unwrap().text.contains("no buffer"));
}

#[test]
fn residence_of_what_lasts() {
    let result = measure(
        r#"
        duration = "8s"
        warmup = "2s"
        disciplines = ["confucius"]
        link = { rate = "10mbit", rtt = "40ms", buffer = "100p" }
        [[traffic]]
        name = "call"
        kind = "call"
        max_rate = "1mbit"
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        start = "5s"
        count = 2
        [[traffic]]
        name = "short"
        kind = "bulk"
        size = "100kB"
        "#,
    );
    let link = &result.links[0];
    let classes = ["new", "1", "2", "3"];
    let listed: Vec<(&str, &str)> = link
        .residence
        .iter()
        .map(|stay| (stay.flow.as_str(), stay.class.as_str()))
        .collect();
    // Calls and transfers in the order in which they start; not the one that ends.
    let expected: Vec<(&str, &str)> = ["call", "bulk-1", "bulk-2"]
        .into_iter()
        .flat_map(|flow| classes.map(|class| (flow, class)))
        .collect();
    assert_eq!(listed, expected);
    let sum = |flow: &str| -> f64 {
        let of = link.residence.iter().filter(|stay| stay.flow == flow);
        of.map(|stay| stay.share).sum()
    };
    close(sum("call"), 1.0);
    // The transfers come for the second half, after a round trip for the handshake at most.
    assert!((0.48..=0.5).contains(&sum("bulk-1")), "{}", sum("bulk-1"));
    assert!(link.moves.is_some());
    assert_eq!(measure(THREE).links[0].moves, None);
}

#[test]
fn a_move_is_what_confucius_changes_its_mind_about() {
    use measure::Event;
    let text = r#"
        duration = "10s"
        disciplines = ["confucius"]
        link = { rate = "10mbit", rtt = "40ms", buffer = "100p" }
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        count = 4
        stagger = "1s"
    "#;
    let (record, _) = crate::common::run(text, 1);
    let moved = |(_, event): &(_, Event)| match event {
        Event::Moved { from, .. } => Some(*from),
        _ => None,
    };
    // Class 0 is "new".
    let out_of: Vec<Option<qdisc::Class>> = record.0.iter().filter_map(moved).collect();
    let judged = out_of.iter().filter(|from| from.is_some_and(|c| c.0 > 0));
    let moves = judged.count() as u64;
    assert!(moves > 0 && moves < out_of.len() as u64);
    assert_eq!(measure(text).links[0].moves, Some(moves));
}

/// A lasting transfer away from the home. At 800 kbit/s a byte takes 10 µs; 10 ms each way.
///   SYN, 60 B:     leaves at once, sent at 600 µs, arrives 10 600 µs
///   SYN-ACK:       arrives 20 600 µs
///   ACK, 52 B:     starts 20 600 µs, and ten packets of 1500 B come with it
///   data n:        starts 21 120 + 15 000 (n - 1) µs
/// Data 3 starts at 51 120 µs, data 4 after the 60 ms that the run lasts.
const UP: &str = r#"
    duration = "60ms"
    disciplines = ["pfifo"]
    [link]
    rate = "8mbit"
    rtt = "20ms"
    up = { rate = "800kbit" }
    [[traffic]]
    name = "bulk"
    kind = "bulk"
    direction = "up"
"#;

#[test]
fn sojourn_of_a_transfer_in_the_queue_that_it_fills() {
    let flow = &measure(UP).flows[0];
    let sojourn = flow.sojourn_ms.unwrap();
    // SYN and ACK do not wait; data waits for 0.52, 15.52 and 30.52 ms.
    close(sojourn.mean.unwrap(), (0.52 + 15.52 + 30.52) / 5.0);
    close(sojourn.max.unwrap(), 30.52);
    close(sojourn.p95.unwrap(), 30.52);
    let late = measure(&UP.replace("duration", "warmup = \"40ms\"\nduration"));
    close(late.flows[0].sojourn_ms.unwrap().mean.unwrap(), 30.52);
}

#[test]
fn no_queue_no_sojourn() {
    let result = measure(&UP.replace("up = { rate = \"800kbit\" }", ""));
    assert_eq!(result.flows[0].sojourn_ms.unwrap().mean, None);
    let ends = measure(&UP.replace("direction", "size = \"1MB\"\ndirection"));
    assert!(ends.flows[0].sojourn_ms.is_none());
    for (result, text) in [
        (result, "first queue of its direction"),
        (ends, "without an end"),
    ] {
        let mut notes = result.notes.iter();
        let note = notes.find(|note| note.about == "flows.bulk.sojourn_ms");
        assert!(note.unwrap().text.contains(text));
    }
}

#[test]
fn a_call_alone_has_the_queue_s_sojourn() {
    let call = r#"
        duration = "5s"
        disciplines = ["pfifo"]
        link = { rate = "3mbit", rtt = "40ms" }
        [[traffic]]
        name = "call"
        kind = "call"
    "#;
    let result = measure(call);
    let (own, all) = (result.calls[0].sojourn_ms, result.links[0].sojourn_ms);
    assert!(all.p95.is_some_and(|p95| p95 > 0.0));
    assert_eq!((own.p95, own.max), (all.p95, all.max));
    // In parallel with a transfer in a queue of its own, it is not.
    let both = format!("{call}\n[[traffic]]\nname = \"bulk\"\nkind = \"bulk\"\n");
    let result = measure(&both.replace("pfifo", "fq_fifo"));
    let (own, all) = (result.calls[0].sojourn_ms, result.links[0].sojourn_ms);
    assert!(own.p95 < all.p95, "{own:?} {all:?}");
}

#[test]
fn a_page_s_worst_frame_is_late_where_the_page_stalls() {
    let result = measure(
        r#"
        duration = "20s"
        disciplines = ["fq_codel"]
        link = { rate = "5mbit", rtt = "40ms" }
        [[traffic]]
        name = "call"
        kind = "call"
        [[traffic]]
        name = "page"
        kind = "page"
        source = "generated:3"
        start = "3s"
        interval = "4s"
        "#,
    );
    let worst = result.calls[0].frame_delay_ms.max.unwrap();
    let of_page = |page: &measure::PageResult| page.frame_max_ms.unwrap();
    for page in &result.pages {
        assert!(of_page(page) <= worst);
        assert_eq!(page.stall_s > 0.0, of_page(page) > 190.0, "{page:?}");
    }
    let late = |page: &&measure::PageResult| page.stall_s > 0.0;
    let late = result.pages.iter().filter(late).count();
    assert!(
        (1..result.pages.len()).contains(&late),
        "both kinds are there"
    );
}

#[test]
fn a_link_that_steps_down_and_then_goes_away() {
    let text = r#"
        duration = "4s"
        disciplines = ["pfifo"]
        [link]
        steps = ["0s 16mbit", "1s 8mbit", "2s 0mbit"]
        rtt = "10ms"
        buffer = "2bdp"
        [[traffic]]
        name = "bulk"
        kind = "bulk"
    "#;
    let (record, built) = crate::common::run(text, 1);
    // Twice 16 Mbit/s times 10 ms are 40 kB.
    assert_eq!(built[0].buffer, Some(qdisc::Limit::Bytes(40_000)));
    // 2 MB in the first second, 1 MB in the second one, and nothing after that.
    assert_eq!(built[0].capacity_bytes, 3_000_000.0);
    let left = record.dequeued(0);
    let within = |from: u64, to: u64| -> u32 {
        let (from, to) = (crate::common::us(from * 1000), crate::common::us(to * 1000));
        let of = left.iter().filter(|(at, _)| (from..to).contains(at));
        of.map(|(_, bytes)| bytes).sum()
    };
    assert!((1_500_000..=2_001_500).contains(&within(0, 1000)));
    let second = within(1000, 2000);
    assert!(
        (998_500..=1_001_500).contains(&second),
        "{second}: it is never idle"
    );
    assert_eq!(within(2000, 4000), 0);
    let result = measure(text);
    assert!(result.links[0].utilization.unwrap() < 1.001);
    // Packets waiting at 2 s wait until the end.
    assert!(result.links[0].backlog.mean_packets > 2.0);
}

#[test]
fn what_a_composite_contains_has_counts_of_its_own() {
    let result = measure(
        r#"
        duration = "5s"
        disciplines = ["2lps(fq_codel),threshold=100kB"]
        link = { rate = "8mbit", rtt = "20ms" }
        traffic = [{ name = "bulk", kind = "bulk" }]
        "#,
    );
    let link = &result.links[0];
    let [young, old] = &link.children[..] else {
        panic!("{:?}", link.children)
    };
    assert_eq!((young.name.as_str(), old.name.as_str()), ("young", "old"));
    assert!((98_000..=100_000).contains(&young.bytes), "{young:?}");
    assert_eq!(young.packets + old.packets, link.packets);
}

#[test]
fn datagrams_that_the_wire_loses_are_missing() {
    let result = measure(
        r#"
        duration = "20s"
        disciplines = ["pfifo"]
        link = { rate = "20mbit", rtt = "20ms", delay = "5ms", loss = "10%" }
        traffic = [{ name = "game", kind = "udp", rate = "9.6mbit" }]
        "#,
    );
    let figure = |name: &str| {
        let mut rows = result.figures.iter();
        rows.find(|row| row.figure == name).unwrap()
    };
    // 1200 B a millisecond for 20 s; one way takes 10 + 5 ms, and 0.48 ms on the wire.
    assert_eq!(figure("udp_sent").value, Some(20_001.0));
    let lost = figure("udp_lost").value.unwrap();
    assert!((9.0..11.0).contains(&lost), "{lost}");
    assert_eq!(figure("udp_delay").p50, Some(15.48));
    let on_the_wire = 100.0 * result.links[0].lost as f64 / 20_001.0;
    // The last few are under way when the run ends.
    assert!((lost - on_the_wire).abs() < 0.1, "{lost} {on_the_wire}");
}

/// A flood of 12 Mbit/s on 10. Whoever claims ECN is marked and goes on; the others are dropped from.
#[test]
fn datagrams_may_claim_ecn_and_ignore_marks() {
    let link = |ecn: &str| {
        let result = measure(&format!(
            r#"
            duration = "5s"
            disciplines = ["fq_codel"]
            link = {{ rate = "10mbit", rtt = "20ms" }}
            traffic = [{{ name = "flood", kind = "udp", rate = "12mbit", ecn = {ecn} }}]
            "#,
        ));
        result.links[0].clone()
    };
    let (claims, plain) = (link("true"), link("false"));
    assert!(claims.marks > 500, "{claims:?}");
    assert_eq!(plain.marks, 0);
    assert!(plain.drops > 500, "{plain:?}");
}

#[test]
fn actors_fetch_what_they_ask_for() {
    let result = measure(
        r#"
        duration = "60s"
        disciplines = ["pfifo"]
        link = { rate = "80mbit", rtt = "20ms" }
        metrics = ["fct_by_size", "lorenz", "loss_by_index"]
        traffic = [{ name = "one", kind = "actors", size = "10kB", think = "100ms" }]
        "#,
    );
    let figure = |name: &str| {
        let mut rows = result.figures.iter();
        rows.find(|row| row.figure == name).unwrap()
    };
    let fct = figure("actors_fct");
    // A handshake and a request take two round trips and a half of it is the answer's: ten segments
    // fit into the initial window.
    let mean = fct.value.unwrap();
    assert!((40.0..43.0).contains(&mean), "{mean}");
    // 60 s over 100 ms of thinking and some 41 ms of fetching.
    assert!((380..470).contains(&fct.count), "{}", fct.count);
    assert_eq!(
        figure("actors_bytes").value,
        Some(10_000.0 * fct.count as f64)
    );
    let by_size = &result.measured["fct_by_size"];
    assert_eq!((by_size.len(), by_size[0].at), (1, Some(10_000.0)));
    assert!((by_size[0].value - mean).abs() < 1e-6);
    let lorenz = &result.measured["lorenz"];
    assert_eq!(lorenz.last().unwrap().at, Some(100.0));
    let loss = &result.measured["loss_by_index"];
    assert!(loss.len() > 5 && loss.iter().all(|point| point.value == 0.0));
}

/// Where a small window follows a deep queue, one subflow has nothing to send for longer than the
/// other waits for it, and comes back all the same.
#[test]
fn no_subflow_takes_all_of_the_window() {
    let scenario = resolve(
        r#"
        duration = "12s"
        warmup = "5s"
        disciplines = ["pfifo"]
        noise = "1p"
        metrics = ["subflows_sent"]
        link = { rate = "2mbit", rtt = "5ms", buffer = "100p" }
        [[traffic]]
        name = "flow"
        kind = "bulk"
        carrier = "quic"
        control = "tonopah"
    "#,
    )
    .unwrap();
    for seed in 1..=8 {
        let engine = sim::Simulator::default();
        let discipline = &scenario.disciplines[0];
        let result = measure::run(&engine, &scenario, discipline, seed, false).unwrap();
        let values = result.measured["subflows_sent"].iter();
        let sent: Vec<f64> = values
            .filter(|value| value.of == "sent")
            .map(|value| value.value)
            .collect();
        let mean = sent.iter().sum::<f64>() / sent.len() as f64;
        // A packet takes 6 ms: windows of 10 ms have one or two.
        assert!(mean < 95.0, "seed {seed}: {mean} % by the subflow ahead");
    }
}
