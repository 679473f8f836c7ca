//! Runs that are small enough to be worked out by hand, and invariants of larger ones.

use crate::common::{resolve, run, us};
use measure::{Event, LinkId};
use proptest::prelude::*;
use units::{Duration, Instant};
use workload::Event as Application;

#[test]
fn one_transfer_to_the_microsecond() {
    let (record, _) = run(
        r#"
        duration = "1s"
        disciplines = ["pfifo"]
        link = { rate = "8mbit", rtt = "40ms" }
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        size = "2000B"
        "#,
        1,
    );
    // At 8 Mbit/s a byte takes 1 µs; each way takes 20 ms. Headers have 52 bytes, with the options
    // of a SYN 60. There is no uplink: the other direction only delays.
    //   SYN, 60 B:             starts      0 µs, is sent     60 µs, arrives 20 060 µs
    //   SYN-ACK:               arrives 40 060 µs
    //   ACK, 52 B:             starts 40 060 µs, is sent 40 112 µs
    //   data, 1448 + 52 B:     starts 40 112 µs, is sent 41 612 µs, arrives 61 612 µs
    //   data, 552 + 52 B:      starts 41 612 µs, is sent 42 216 µs, arrives 62 216 µs
    let wire = [
        (us(0), 60),
        (us(40_060), 52),
        (us(40_112), 1500),
        (us(41_612), 604),
    ];
    assert_eq!(record.dequeued(0), wire);
    assert_eq!(record.delivered(0), [(us(61_612), 1448), (us(62_216), 552)]);
    let done = record
        .0
        .iter()
        .find(|(_, event)| matches!(event, Event::Traffic(Application::FlowDone { .. })));
    assert_eq!(done.unwrap().0, us(62_216));
}

#[test]
fn an_uplink_and_an_access_link_take_their_time() {
    let (record, _) = run(
        r#"
        duration = "1s"
        disciplines = ["pfifo"]
        [link]
        rate = "8mbit"
        rtt = "40ms"
        overhead = "48B"
        up = { rate = "800kbit" }
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        size = "1448B"
        access = "16mbit"
        rtt = "20ms"
        "#,
        1,
    );
    // Down a byte takes 1 µs and the access link before it half of that; up a byte takes 10 µs.
    // Each way takes 10 ms, as the entry has its own round trip. 48 bytes of overhead a packet.
    //   SYN, 60 B:         access until 30 µs, sent at 30 + 108 = 138 µs, arrives 10 138 µs
    //   SYN-ACK, 60 B:     sent at 10 138 + 1080 = 11 218 µs, arrives 21 218 µs
    //   ACK, 52 B:         access until 21 218 + 26 = 21 244 µs
    //   data, 1500 B:      access until 21 244 + 750 = 21 994 µs, sent at 21 994 + 1548 = 23 542 µs
    assert_eq!(
        record.dequeued(0),
        [(us(30), 60), (us(21_244), 52), (us(21_994), 1500)]
    );
    assert_eq!(record.delivered(0), [(us(33_542), 1448)]);
    // The acknowledgement of the data goes up when it arrives.
    assert_eq!(record.dequeued(1), [(us(10_138), 60), (us(33_542), 52)]);
}

#[test]
fn a_trace_holds_packets_back_while_it_carries_nothing() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pause.txt");
    std::fs::write(&path, "0 8\n1 0\n2 8\n").unwrap();
    let text = format!(
        "duration = \"3s\"\ndisciplines = [\"pfifo\"]\nlink = {{ trace = {path:?}, rtt = \"40ms\" }}\n\
         [[traffic]]\nname = \"bulk\"\nkind = \"bulk\"\n"
    );
    let (record, _) = run(&text, 1);
    let delivered = record.delivered(0);
    let (begin, end) = (us(1_020_000), us(2_020_000));
    let during = delivered.iter().filter(|(at, _)| (begin..end).contains(at));
    assert_eq!(
        during.count(),
        0,
        "nothing is sent from 1 s to 2 s; 20 ms later nothing arrives"
    );
    let before: u64 = delivered
        .iter()
        .filter(|(at, _)| *at < begin)
        .map(|(_, b)| b)
        .sum();
    assert!(
        (500_000..=1_000_000).contains(&before),
        "{before} of 1 MB that could be sent"
    );
    assert!(delivered.last().unwrap().0 > end);
}

#[test]
fn only_the_bottleneck_s_queue_fills() {
    // Three links in a row, each of them once the slowest (figure 28 of the Confucius paper).
    for bottleneck in 0..3 {
        let links = (0..3).map(|link| {
            let rate = if link == bottleneck { 10 } else { 100 };
            format!("[[link]]\nrate = \"{rate}mbit\"\nrtt = \"10ms\"\nbuffer = \"100p\"\n")
        });
        let text = format!(
            "duration = \"5s\"\ndisciplines = [\"pfifo\"]\n{}\
             [[traffic]]\nname = \"bulk\"\nkind = \"bulk\"\n",
            links.collect::<String>()
        );
        let (record, built) = run(&text, 1);
        assert_eq!(built.len(), 3);
        for link in 0..3 {
            let wait = record.longest_wait(link);
            // 100 packets of 1500 bytes at 10 Mbit/s are 120 ms.
            if link == bottleneck {
                assert!(wait > Duration::from_millis(60), "link {link}: {wait}");
                assert!(wait <= Duration::from_millis(120), "link {link}: {wait}");
            } else {
                assert!(wait < Duration::from_millis(5), "link {link}: {wait}");
            }
            if link > bottleneck {
                // Packets come 1.2 ms apart and take 0.12 ms.
                assert_eq!(wait, Duration::ZERO, "link {link}");
            }
        }
    }
}

#[test]
fn an_uplink_has_its_own_discipline() {
    let (record, built) = run(
        r#"
        duration = "3s"
        disciplines = ["fq_codel"]
        [link]
        rate = "20mbit"
        rtt = "40ms"
        up = { rate = "2mbit", discipline = "pfifo,limit=5" }
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        direction = "up"
        "#,
        1,
    );
    let names: Vec<_> = built
        .iter()
        .map(|link| (link.name.as_str(), link.discipline.as_str()))
        .collect();
    assert_eq!(names, [("link", "fq_codel"), ("link-up", "pfifo,limit=5")]);
    let mut waiting = 0;
    let mut most = 0;
    for (_, event) in &record.0 {
        match event {
            Event::Enqueued {
                link: LinkId(1), ..
            } => waiting += 1,
            Event::Dequeued {
                link: LinkId(1), ..
            }
            | Event::Dropped {
                link: LinkId(1), ..
            } => {
                waiting -= 1;
            }
            _ => {}
        }
        // An arrival that is about to be dropped is counted until it is.
        most = most.max(waiting);
    }
    assert_eq!(most, 6);
    assert!(record.counts(1).2 > 0, "it drops");
    assert_eq!(record.counts(0).2, 0, "acknowledgements fit");
    let up: u64 = record.delivered(0).iter().map(|(_, bytes)| bytes).sum();
    // 2 Mbit/s over 3 s are 750 kB.
    assert!((300_000..750_000).contains(&up), "{up}");
}

#[test]
fn two_calls_both_get_through() {
    let (record, _) = run(
        r#"
        duration = "10s"
        disciplines = ["fq_codel"]
        link = { rate = "20mbit", rtt = "40ms" }
        [[traffic]]
        name = "call"
        kind = "call"
        count = 2
        stagger = "1s"
        max_rate = "2mbit"
        "#,
        1,
    );
    for call in 0..2 {
        let count = |is: fn(&Event) -> Option<u16>| {
            let events = record.0.iter().filter_map(|(_, event)| is(event));
            events.filter(|number| *number == call).count()
        };
        let sent = count(|event| match event {
            Event::Traffic(Application::FrameSent { call, .. }) => Some(call.0),
            _ => None,
        });
        let shown = count(|event| match event {
            Event::Traffic(Application::FrameShown { call, .. }) => Some(call.0),
            _ => None,
        });
        // 30 a second for 10 s, and for 9 s: the first at once, the last at the very end.
        assert_eq!(sent, 301 - 30 * usize::from(call));
        assert!(
            sent - shown < 4,
            "{shown} of {sent}: the last are on their way"
        );
        let bytes: u64 = record
            .delivered(u32::from(call))
            .iter()
            .map(|(_, b)| b)
            .sum();
        // At most 2 Mbit/s over 10 s, 2.5 MB, and chance.
        assert!((500_000..2_750_000).contains(&bytes), "{bytes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Packets in are packets out, dropped, or still there; and when all transfers are over, none
    /// are still there.
    #[test]
    fn packets_are_conserved(
        discipline in prop_oneof![
            Just("pfifo"), Just("bfifo"), Just("codel"), Just("fq_fifo"), Just("fq_codel"), Just("confucius"),
        ],
        rate in 1u32..50,
        packets in 2u32..100,
        flows in 1u32..8,
        up in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let direction = if up { "up" } else { "down" };
        let (record, _) = run(&format!(
            r#"
            duration = "60s"
            disciplines = ["{discipline}"]
            [link]
            rate = "{rate}mbit"
            rtt = "20ms"
            buffer = "{packets}p"
            up = {{ rate = "{rate}mbit", buffer = "{packets}p" }}
            [[traffic]]
            name = "bulk"
            kind = "bulk"
            size = "60kB"
            count = {flows}
            stagger = "1ms"
            direction = "{direction}"
            "#
        ), seed);
        for link in 0..2 {
            let (came, left, dropped) = record.counts(link);
            prop_assert_eq!(came, left + dropped, "link {}", link);
        }
        for flow in 0..flows {
            let bytes: u64 = record.delivered(flow).iter().map(|(_, bytes)| bytes).sum();
            prop_assert_eq!(bytes, 60_000, "flow {}", flow);
        }
    }
}

#[test]
fn jitter_moves_starts_by_the_seed_and_no_further() {
    let text = "disciplines = [\"pfifo\"]\nlink.rate = \"100mbit\"\nlink.rtt = \"20ms\"\n\
                [[traffic]]\nname = \"a\"\nkind = \"bulk\"\nsize = \"1kB\"\ncount = 30\n\
                start = \"1s\"\nstagger = \"100ms\"\njitter = \"50ms\"\n";
    let scenario = resolve(text).unwrap();
    let of = |seed| scenario.traffic[0].starts(seed).collect::<Vec<_>>();
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
    let ms = Duration::from_millis;
    let drawn = |(number, at): (u64, Duration)| at.saturating_sub(ms(1000) + ms(100) * number);
    let late: Vec<_> = (0..).zip(of(7)).map(drawn).collect();
    assert!(late.iter().all(|&late| late < ms(50)), "{late:?}");
    assert!(late.iter().any(|&late| late < ms(15)) && late.iter().any(|&late| late > ms(35)));
    // And that is when they start: data delivered by them comes a round trip and a half later.
    let (record, _) = run(text, 7);
    for (flow, start) in (0..).zip(of(7)) {
        let first = record.delivered(flow)[0].0;
        let after = first.since(Instant::ZERO + start);
        assert!(after > ms(20) && after < ms(40), "{flow}: {after}");
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let text = "disciplines = [\"pfifo\"]\nlink.rate = \"1mbit\"\n[[traffic]]\nname = \"a\"\n\
                kind = \"bulk\"\ncontrol = \"gcc\"\n";
    let scenario = resolve(text).unwrap();
    use measure::Engine;
    let refused = sim::Simulator::default().check(&scenario);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].entry, "traffic.a.control");
    assert!(
        refused[0]
            .refusal
            .to_string()
            .contains("only a call can use it")
    );
}

#[test]
fn with_ecn_an_aqm_marks_and_does_not_drop() {
    let marks_and_drops = |ecn: &str| {
        let text = format!(
            r#"
            disciplines = ["fq_codel"]
            duration = "10s"
            ecn = {ecn}
            [link]
            rate = "10mbit"
            rtt = "40ms"
            [[traffic]]
            name = "bulk"
            kind = "bulk"
            control = "reno"
            "#
        );
        let (record, _) = run(&text, 1);
        let count =
            |wanted: fn(&Event) -> bool| record.0.iter().filter(|(_, event)| wanted(event)).count();
        let marks = count(|event| matches!(event, Event::Marked { .. }));
        let drops = count(|event| matches!(event, Event::Dropped { .. }));
        (marks, drops)
    };
    let (marks, drops) = marks_and_drops("true");
    assert!(marks > 0 && drops == 0, "{marks} {drops}");
    let (marks, drops) = marks_and_drops("false");
    assert!(marks == 0 && drops > 0, "{marks} {drops}");
}

#[test]
fn a_flow_is_moved_from_one_link_to_another() {
    let (record, _) = run(
        r#"
        duration = "4s"
        disciplines = ["pfifo"]
        [[link]]
        name = "dsl"
        rate = "8mbit"
        rtt = "40ms"
        [[link]]
        name = "lte"
        rate = "4mbit"
        rtt = "60ms"
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        via = "0s dsl; 2s lte"
        "#,
        1,
    );
    let (dsl, lte) = (record.dequeued(0), record.dequeued(1));
    let came = |link: u16| {
        let events = record.0.iter().filter_map(move |(now, event)| match event {
            Event::Enqueued {
                link: LinkId(number),
                ..
            } if *number == link => Some(*now),
            _ => None,
        });
        events.collect::<Vec<_>>()
    };
    let moved = us(2_000_000);
    assert!(came(0).iter().all(|at| *at <= moved) && !dsl.is_empty());
    assert!(came(1).iter().all(|at| *at >= moved));
    // The bytes sent in the last second fill the slower link: 500 kB.
    let late = lte.iter().filter(|(at, _)| *at > us(3_000_000));
    let bytes: u32 = late.map(|(_, bytes)| bytes).sum();
    assert!((480_000..=501_500).contains(&bytes), "{bytes}");
}
