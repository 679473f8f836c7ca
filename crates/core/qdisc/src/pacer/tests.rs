//! The pacer as a whole.

use super::*;
use crate::testing::{letters, ms, packets, put, take, us};
use crate::{Ignore, Registry};

fn built(choice: &str) -> Box<dyn Qdisc<u32>> {
    let choice = choice.parse().unwrap();
    Registry::builtin().build(&choice, &Env::default()).unwrap()
}

/// By hand: 8 Mbit/s are a packet of 1000 B a millisecond, and ten of them in 10 ms.
#[test]
fn a_rate_and_a_queue_of_so_much_time() {
    let mut pacer = built("pacer,rate=8mbit,queue=10ms");
    let mut log = letters();
    put(&mut *pacer, ms(0), "ABCDEFGHIJKLM", 1000, &mut log);
    assert_eq!(log.who(), "KLM");
    assert_eq!(take(&mut *pacer, ms(0), 9), "A");
    assert_eq!(pacer.next_wake(ms(0)), Some(ms(1)));
    assert_eq!(take(&mut *pacer, ms(1), 9), "B");
    assert_eq!(take(&mut *pacer, ms(4), 9), "CDE", "late, and not less");
    assert_eq!(take(&mut *pacer, ms(20), 9), "FGHIJ");
    put(&mut *pacer, ms(20), "AB", 1000, &mut log);
    assert_eq!(take(&mut *pacer, ms(20), 9), "A", "a pause is not saved");
}

#[test]
fn a_packet_longer_than_the_queue_passes_alone() {
    let mut pacer = built("pacer,rate=8mbit,queue=1ms");
    put(&mut *pacer, ms(0), "A", 1500, &mut Ignore);
    assert_eq!(take(&mut *pacer, ms(0), 1), "A");
}

/// A frame of 2 Mbit/s every 10 ms beside a download that arrives at 50: 20 pass.
#[test]
fn a_call_is_not_paced_and_what_is_beside_it_is() {
    let mut pacer = built("pacer,rate=20mbit");
    let (mut call, mut paced) = (Vec::new(), 0u64);
    let mut log = letters();
    for at in 0..100_000u64 {
        let now = us(at * 100);
        if at % 100 == 0 {
            put(&mut *pacer, now, "A", 2500, &mut log);
        }
        if at > 30_000 {
            put(&mut *pacer, now, "B", 625, &mut log);
        }
        for packet in packets(&mut *pacer, now, 9) {
            match packet.len {
                2500 => call.push(now.since(packet.arrived)),
                len => paced += u64::from(len),
            }
        }
    }
    assert_eq!(call.len(), 1000);
    assert_eq!(call.into_iter().max(), Some(Duration::ZERO));
    assert!(log.who().chars().all(|letter| letter == 'B'));
    let mbit = paced as f64 * 8.0 / 7.0 / 1e6;
    assert!((19.8..20.2).contains(&mbit), "{mbit}");
}

/// Sent at so many Mbit/s for 8 s; the Mbit/s that pass in each of its times.
fn adaptive(sent: u64, times: &[(u64, u64)]) -> Vec<f64> {
    let gap = 10_000 / sent;
    let mut pacer = built("pacer,rate=adaptive,calls=no");
    let mut bytes = vec![0u64; times.len()];
    for at in 0..8_000_000 / gap {
        let now = us(at * gap);
        put(&mut *pacer, now, "A", 1250, &mut Ignore);
        for packet in packets(&mut *pacer, now, 99) {
            for ((from, to), bytes) in times.iter().zip(&mut bytes) {
                if (ms(*from)..ms(*to)).contains(&now) {
                    *bytes += u64::from(packet.len);
                }
            }
        }
    }
    let rate = |((from, to), bytes): (&(u64, u64), u64)| bytes as f64 * 8e-3 / (to - from) as f64;
    times.iter().zip(bytes).map(rate).collect()
}

/// By hand, of the 46 that are left of 50, and of the 8 that a fifth leaves of 10: 1/2, 2/3, 4/5, 8/9; and
/// 5/4 of 50 as a probe, in which what waited leaves as well.
#[test]
fn an_adaptive_pacer_gives_as_confucius_would() {
    let times = [
        (50, 250),
        (250, 500),
        (500, 750),
        (1000, 2000),
        (2050, 2200),
    ];
    let near = |sent: u64, expected: &[f64]| {
        for (mbit, expected) in adaptive(sent, &times).into_iter().zip(expected) {
            assert!(
                (mbit - expected).abs() < 0.05 * expected,
                "{mbit} {expected}"
            );
        }
    };
    near(50, &[23.0, 30.7, 36.8, 40.9, 62.5]);
    near(10, &[4.0, 5.33, 6.4, 7.11]);
}

/// The share begins anew after a second without web traffic, and the estimate stays.
#[test]
fn a_pause_makes_traffic_new() {
    let mut pacer = built("pacer,rate=adaptive,calls=no");
    let mut passed = |from: u64| {
        let mut bytes = 0;
        // What waited has left by then.
        packets(&mut *pacer, ms(from), usize::MAX);
        for at in 0..1000u64 {
            let now = ms(from) + Duration::from_micros(at * 200);
            put(&mut *pacer, now, "A", 1250, &mut Ignore);
            bytes += packets(&mut *pacer, now, 99).len() * 1250;
        }
        bytes * 8 / 200_000
    };
    passed(0);
    assert!((22..=23).contains(&passed(3000)));
    assert!((22..=23).contains(&passed(3000 + 1700)));
    assert!(passed(3000 + 1700 + 900) > 36);
}

#[test]
fn the_policy_decides_who_waits() {
    let mut pacer = built("pacer(fq_fifo),rate=8mbit,queue=50ms");
    put(&mut *pacer, ms(0), "AAAAAAB", 1000, &mut Ignore);
    let order: String = (0..7).map(|at| take(&mut *pacer, ms(at), 1)).collect();
    assert!(order.find('B') < Some(3), "{order}");
}

#[test]
fn a_change_of_the_rate_holds_at_once_and_loses_nothing() {
    let mut pacer = built("pacer,rate=8mbit");
    put(&mut *pacer, ms(0), "ABCDEFGH", 1000, &mut Ignore);
    assert_eq!(take(&mut *pacer, ms(0), 9), "A");
    let settings = [("rate".to_owned(), "80mbit".to_owned())];
    pacer.change(ms(0), &settings, &mut Ignore).unwrap();
    assert_eq!(take(&mut *pacer, us(950), 9), "BCDEFGH");
    let refused = pacer.change(ms(1), &[("rate".to_owned(), "0".to_owned())], &mut Ignore);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("adaptive, or a rate from 8kbit"),
        "{refused}"
    );
}

/// Packets of 1250 B at so many Mbit/s, from one time to another (ms); the share of them that passed as a
/// call's.
fn passed(pacer: &mut dyn Qdisc<u32>, who: &str, sent: u64, (from, to): (u64, u64)) -> f64 {
    let bytes = |pacer: &dyn Qdisc<u32>| {
        let parts = pacer.children();
        let part = parts.iter().find(|part| part.name == "passed");
        part.map_or(0, |part| part.bytes)
    };
    let (before, mut all) = (bytes(pacer), 0);
    for at in (from * 1000..to * 1000).step_by((10_000 / sent) as usize) {
        put(pacer, us(at), who, 1250, &mut Ignore);
        packets(pacer, us(at), 99);
        all += 1250;
    }
    (bytes(pacer) - before) as f64 / f64::from(all)
}

/// A download that takes all of a line which fell to less than half, while nothing came, is no call.
#[test]
fn a_download_on_a_line_that_fell_is_paced() {
    for sent in [5, 10, 15, 20, 24] {
        let mut pacer = built("pacer,rate=adaptive");
        passed(&mut *pacer, "A", 50, (1000, 4000));
        let share = passed(&mut *pacer, "B", sent, (9000, 15_000));
        assert!(share < 0.01, "{sent}: {share}");
    }
}

/// It passed while it took less than half of the line, and then the line fell.
#[test]
fn a_download_that_passes_lowers_the_estimate_and_then_is_paced() {
    let mut pacer = built("pacer,rate=adaptive");
    passed(&mut *pacer, "A", 50, (1000, 4000));
    // Beside what shows that the estimate holds, a stream of 10 Mbit/s is known as one that adapts.
    for at in (4000..8000).step_by(100) {
        passed(&mut *pacer, "A", 50, (at, at + 50));
        passed(&mut *pacer, "B", 10, (at + 50, at + 100));
    }
    assert!(passed(&mut *pacer, "B", 10, (8000, 8200)) > 0.5);
    passed(&mut *pacer, "B", 20, (8200, 10_000));
    assert!(passed(&mut *pacer, "B", 20, (10_000, 15_000)) < 0.01);
}

/// What is known of one network says nothing of another.
#[test]
fn a_rate_that_is_set_anew_begins_without_an_estimate() {
    let mut pacer = built("pacer,rate=adaptive,calls=no");
    passed(&mut *pacer, "A", 10, (1000, 4000));
    let again = [("rate".to_owned(), "adaptive".to_owned())];
    pacer.change(ms(6000), &again, &mut Ignore).unwrap();
    // What waited has left, and nothing holds the first packets of a faster line up.
    packets(&mut *pacer, ms(6500), usize::MAX);
    for at in 0..50 {
        put(
            &mut *pacer,
            us(7_000_000 + at * 100),
            "A",
            1250,
            &mut Ignore,
        );
        assert_eq!(packets(&mut *pacer, us(7_000_000 + at * 100), 99).len(), 1);
    }
}
