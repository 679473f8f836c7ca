//! The parts of FLOQ's evaluation: pages that are one answer, a video in segments, and how often a
//! flow's first packets are dropped.

use crate::common::resolve;
use measure::RunResult;
use measure::metric::{Observed, Registry};

/// The results of the scenario's first discipline.
fn measure(text: &str) -> RunResult {
    let scenario = resolve(text).unwrap();
    let discipline = &scenario.disciplines[0];
    measure::run(&sim::Simulator::default(), &scenario, discipline, 1, false).unwrap()
}

/// The only value of a metric.
fn value(run: &RunResult, metric: &str) -> f64 {
    let metric = Registry::builtin().select(metric).unwrap();
    let values = metric.of(&Observed { run, control: None });
    let [value] = values[..] else {
        panic!("{metric}: {values:?}")
    };
    value
}

/// Over TCP a document takes a round trip each for the connection, for TLS and for the request, over
/// QUIC one less. 15 kB are more than the ten segments of the first window hold, so one more for the rest.
#[test]
fn documents_are_fetched_again_after_a_pause() {
    let result = measure(
        r#"
        duration = "63s"
        disciplines = ["pfifo"]
        link = { rate = "1gbit", rtt = "20ms" }
        traffic = [
            { name = "tcp", kind = "page", source = "document:15kB:h2", pause = "6s" },
            { name = "quic", kind = "page", source = "document:15kB:h3", pause = "6s" },
            { name = "small", kind = "page", source = "document:9kB:h2", pause = "6s" },
        ]
        "#,
    );
    for (name, least) in [("tcp", 80.0), ("quic", 60.0), ("small", 60.0)] {
        let loads = result.pages.iter().filter(|page| page.name == name);
        let times: Vec<f64> = loads.filter_map(|page| page.plt_ms).collect();
        // Every 6 s and a response.
        assert_eq!(times.len(), 11, "{name}");
        assert!(
            times.iter().all(|time| (least..least + 2.0).contains(time)),
            "{name}: {times:?}"
        );
        assert_eq!(value(&result, &format!("loads:{name}")), times.len() as f64);
    }
}

#[test]
fn a_video_takes_the_bitrate_that_fits() {
    let video = |rate: &str, more: &str| {
        measure(&format!(
            r#"
            duration = "300s"
            warmup = "60s"
            disciplines = ["pfifo"]
            link = {{ rate = "{rate}", rtt = "20ms", buffer = "50p" }}
            traffic = [{{ name = "video", kind = "video"{more} }}]
            "#
        ))
    };
    let wide = video("50mbit", "");
    assert_eq!(value(&wide, "video_rate"), 8.0);
    assert_eq!(value(&wide, "segments_failed"), 0.0);
    // Of 2 Mbit/s some 1.9 are the video's; 90 % of that are 1.7: the ladder has 1.5.
    let narrow = video("2mbit", "");
    assert_eq!(value(&narrow, "video_rate"), 1.5);
    assert_eq!(value(&narrow, "rebuffering"), 0.0);
    // Half of the rate it needs: the picture stands still half of the time.
    let hopeless = video("500kbit", ", ladder = \"1mbit\"");
    let still = value(&hopeless, "rebuffering") / 240.0;
    assert!((0.5..0.6).contains(&still), "{still}");
    let failed = value(&hopeless, "segments_failed");
    assert!(
        (18.0..=20.0).contains(&failed),
        "{failed} of 240 s / 12.5 s"
    );
}

/// The mechanism, on the paper's link with 30 transfers.
#[test]
fn floq_spares_first_packets_and_pfifo_does_not() {
    let run = |discipline: &str| {
        measure(&format!(
            r#"
            duration = "40s"
            disciplines = ["{discipline}"]
            metrics = ["loss_by_index"]
            link = {{ rate = "100mbit", rtt = "20ms", buffer = "200p" }}
            traffic = [
                {{ name = "udp", kind = "udp", share = 0.3, pattern = "bursts" }},
                {{ name = "pages", kind = "page", source = "document:15kB:h2", pause = "1s" }},
                {{ name = "files", kind = "bulk", count = "30", stagger = "100ms", control = "reno" }},
            ]
            "#
        ))
    };
    let (floq, pfifo) = (run("floq"), run("pfifo"));
    assert!(value(&floq, "loss_ratio") <= 0.5);
    assert!(value(&pfifo, "loss_ratio") >= 1.0);
    assert!(value(&floq, "loss_first") < value(&pfifo, "loss_first") / 2.0);
    // UDP is taken for the type that it is.
    let unresponsive = |run: &RunResult, flow: &str| {
        let mut stays = run.links[0].residence.iter();
        let stay = stays.find(|stay| stay.flow == flow && stay.class == "unresponsive");
        stay.map(|stay| stay.share)
    };
    assert!(unresponsive(&floq, "udp") > Some(0.8));
    assert!(unresponsive(&floq, "files-1") < Some(0.05));
}
