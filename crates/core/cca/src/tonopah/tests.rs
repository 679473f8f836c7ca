//! Both subflows of one control.

use crate::{Ack, Congestion, Control, Notice, Registry, Setup, Signal};
use units::{Duration, Instant, Rate};

const MSS: u64 = 1000;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn halves(choice: &str) -> [Box<dyn Control>; 2] {
    let setup = Setup {
        mss: MSS,
        initial_window: 20 * MSS,
        ..Setup::default()
    };
    let choice = choice.parse().unwrap();
    let mut control = Registry::builtin().build(&choice, &setup).unwrap();
    assert!(control.needs_subflows());
    control.split().unwrap()
}

fn refusal(choice: &str) -> String {
    let built = Registry::builtin().build(&choice.parse().unwrap(), &Setup::default());
    built.err().unwrap().to_string()
}

fn congestion(in_flight: u64) -> Congestion {
    Congestion {
        signal: Signal::Loss,
        lost: MSS,
        in_flight,
        min_rtt: Duration::from_millis(40),
    }
}

fn ack(in_flight: u64, newest_sent: Instant) -> Ack {
    Ack {
        bytes: MSS,
        prior_in_flight: in_flight + MSS,
        in_flight,
        srtt: Duration::from_millis(40),
        min_rtt: Duration::from_millis(40),
        rtt: Some(Duration::from_millis(40)),
        newest_sent,
        ..Ack::default()
    }
}

/// Both send as long as they may; how much each sent.
fn fill(halves: &mut [Box<dyn Control>; 2], now: Instant) -> [u64; 2] {
    let mut sent = [0; 2];
    loop {
        let before = sent;
        for (half, sent) in halves.iter_mut().zip(&mut sent) {
            if *sent + MSS <= half.window() {
                *sent += MSS;
                half.on_sent(now, MSS, *sent);
            }
        }
        if sent == before {
            return sent;
        }
    }
}

#[test]
fn one_window_is_shared_six_to_four() {
    let mut halves = halves("tonopah");
    let [a, b] = fill(&mut halves, at(0));
    assert_eq!(a + b, 20 * MSS, "the window of both");
    assert!((11 * MSS..=14 * MSS).contains(&a), "{a} of 20 segments");
}

#[test]
fn it_begins_in_slow_start() {
    for choice in ["tonopah", "tonopah,reduction=0.125,rule=paper"] {
        assert!(halves(choice)[0].in_slow_start(), "{choice}");
    }
}

#[test]
fn a_subflow_alone_has_the_whole_window() {
    let mut halves = halves("tonopah");
    let mut sent = 0;
    while sent + MSS <= halves[0].window() {
        sent += MSS;
        halves[0].on_sent(at(0), MSS, sent);
    }
    assert_eq!(sent, 20 * MSS);
}

#[test]
fn the_rate_is_shared_too() {
    let mut halves = halves("tonopah");
    assert_eq!(halves[0].pacing_rate(), None, "no round trip is known");
    fill(&mut halves, at(0));
    halves[0].on_ack(at(40), &ack(11 * MSS, at(0)));
    let [a, b] = [0, 1].map(|half: usize| halves[half].pacing_rate().unwrap());
    // Slow start: twice 21 segments each 40 ms.
    let whole = Rate::from_bytes_over(21 * MSS, Duration::from_millis(40)).scale(2, 1);
    assert_eq!((a, b), (whole.scale(600, 1000), whole.scale(400, 1000)));
}

#[test]
fn a_loss_on_each_is_one_loss() {
    let mut halves = halves("tonopah");
    fill(&mut halves, at(0));
    for half in &mut halves {
        half.on_ack(at(40), &ack(9 * MSS, at(0)));
    }
    halves[0].on_congestion(at(41), &congestion(8 * MSS));
    // The other subflow may report more than a round trip later: no data sent since has arrived.
    halves[1].on_congestion(at(95), &congestion(8 * MSS));
    let window = halves[0].window() + 8 * MSS;
    assert_eq!(window, 11 * MSS, "half of 22, once");
    halves[1].on_ack(at(100), &ack(0, at(60)));
    halves[1].on_congestion(at(100), &congestion(0));
    assert!(
        halves[0].window() < 8 * MSS,
        "another round trip, another loss"
    );
    let noticed: Vec<Notice> = core::iter::from_fn(|| halves[0].take_notice()).collect();
    let losses = noticed
        .iter()
        .filter(|notice| **notice == Notice::Congested);
    assert_eq!(losses.count(), 2);
}

#[test]
fn what_a_base_cannot_do_is_refused() {
    let part = refusal("tonopah(bbr),reduction=0.125");
    assert!(part.contains("tonopah: its base cannot go on from a part of its window"));
    for arrivals in [
        "tonopah(gcc)",
        "tonopah_switch(gcc)",
        "tonopah_switch(cubic;gcc)",
    ] {
        assert!(
            refusal(arrivals).contains("its base needs arrival times"),
            "{arrivals}"
        );
    }
    assert!(refusal("tonopah,rule=guess").contains("delays, paper or paper50"));
    halves("tonopah(bbr)");
    halves("tonopah(bbr),reduction=0");
    halves("tonopah(cubic),rule=paper50");
    halves("tonopah_switch(cubic;vegas)");
}

#[test]
fn whoever_needs_subflows_rules_nothing_without() {
    let choice = "tonopah".parse().unwrap();
    let control = Registry::builtin()
        .build(&choice, &Setup::default())
        .unwrap();
    assert_eq!(control.window(), 0);
}
