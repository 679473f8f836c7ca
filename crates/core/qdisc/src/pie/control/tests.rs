use super::*;
use crate::testing::{self, ms as at};

const CONFIG: PieConfig = PieConfig {
    target: Duration::from_millis(15),
    alpha: 2,
    beta: 20,
    bytemode: false,
    dq_rate_estimator: false,
    mark_up_to: None,
};
const ESTIMATOR: PieConfig = PieConfig {
    dq_rate_estimator: true,
    ..CONFIG
};
const MS: u64 = ticks(Duration::from_millis(1));
const BACKLOG: u64 = 100_000;

fn packet(len: u32, ecn: Ecn, arrived: Instant) -> Packet<u32> {
    Packet {
        arrived,
        ..testing::packet(0, len, ecn)
    }
}

/// 2^56 - 1 over 15 625 000 ticks a second is 4 611 686 018; alpha is 2/16 of that, 576 460 752, and
/// beta 20/16, 5 764 607 522. Targets and delays in ticks: 15 ms are 234 375.
///
/// - 30 ms, before 0, at probability 0: alpha / 2 / 4^5 = 281 474, beta 2 814 749;
///   281 474 * 234 375 + 2 814 749 * 468 750 = 1 385 384 062 500, or 1.9e-5.
/// - 30 ms again, below 1e-4: alpha / 2 / 4^3 = 4 503 599; times 234 375 is 1 055 531 015 625.
/// - 40 ms, still below 1e-4: beta is 45 035 996;
///   4 503 599 * 390 625 + 45 035 996 * 156 250 = 8 796 092 734 375.
/// - 0 ms with packets waiting, now below 1e-3: alpha / 2 / 4^2 = 18 014 398, beta 180 143 985; minus
///   18 014 398 * 234 375 and minus 180 143 985 * 625 000: below zero.
#[test]
fn the_probability_follows_the_delay() {
    let mut pie = Pie::default();
    let mut after = |ms: u64| {
        pie.delay = ms * MS;
        pie.update(&CONFIG, BACKLOG);
        pie.probability
    };
    assert_eq!(after(30), 1_385_384_062_500);
    assert_eq!(after(30), 1_385_384_062_500 + 1_055_531_015_625);
    assert_eq!(after(40), 2_440_915_078_125 + 8_796_092_734_375);
    assert_eq!(after(0), 0);
}

/// At 20 %, 100 ms after 0 would add 5 764 607 522 * 1 562 500, an eighth of 1; it is 2 %. At 251 ms,
/// above 250, 2 % more. And 1 is where it ends.
#[test]
fn large_steps_are_bounded_and_high_delays_are_not() {
    let mut pie = Pie {
        probability: ONE / 5,
        ..Pie::default()
    };
    pie.delay = 100 * MS;
    pie.update(&CONFIG, BACKLOG);
    assert_eq!(pie.probability, ONE / 5 + ONE / 50);
    pie.delay = 251 * MS;
    pie.update(&CONFIG, BACKLOG);
    assert_eq!(pie.probability, ONE / 5 + 3 * (ONE / 50));
    for _ in 0..100 {
        pie.delay += 10 * MS;
        pie.update(&CONFIG, BACKLOG);
    }
    assert_eq!(pie.probability, ONE);
}

/// An empty queue: at 20 %, minus alpha times the target, 576 460 752 * 234 375, and of the rest
/// minus 1/64. In the end it is as new, and one update or a million more change nothing.
#[test]
fn an_empty_queue_forgets() {
    let mut pie = Pie {
        probability: ONE / 5,
        burst: 0,
        ..Pie::default()
    };
    pie.update(&CONFIG, 0);
    let less = ONE / 5 - 576_460_752 * 234_375;
    assert_eq!(pie.probability, less - less / 64);
    pie.probability = ONE;
    pie.catch_up(&CONFIG, 204, 0);
    assert_ne!(pie.probability, 0);
    pie.catch_up(&CONFIG, 206, 0);
    let new = Pie {
        updates: 206,
        ..Pie::default()
    };
    assert_eq!(pie, new);
    pie.catch_up(&CONFIG, 1 << 60, 0);
    pie.updates = new.updates;
    assert_eq!(pie, new);
}

/// 5 departures 40 ms apart: the time between them is 160 ms, 10 more than the allowance.
#[test]
fn a_burst_passes() {
    let (mut pie, mut random) = (Pie::default(), Stream::new(1, "test"));
    pie.probability = ONE;
    let full = packet(1500, Ecn::NotCapable, at(0));
    let mut verdicts = Vec::new();
    for n in 1..=5 {
        verdicts.push(pie.arrival(&CONFIG, &full, BACKLOG, &mut random));
        pie.departure(at(40 * n), &CONFIG, &full, BACKLOG);
    }
    verdicts.push(pie.arrival(&CONFIG, &full, BACKLOG, &mut random));
    assert_eq!(verdicts[..5], [PieVerdict::Pass; 5]);
    assert_eq!(verdicts[5], PieVerdict::Drop);
    let few = pie.arrival(&CONFIG, &full, 2 * MTU - 1, &mut random);
    assert_eq!(few, PieVerdict::Pass, "less than two packets wait");
}

fn in_trouble(probability: u64) -> Pie {
    Pie {
        probability,
        delay: 20 * MS,
        burst: 0,
        ..Pie::default()
    }
}

/// At 1 %: none of 84 packets after a drop, and one of 851 for certain (850 and a rounding).
/// Without these bounds the mean would be 100; the first 84 come on top.
#[test]
fn drops_are_derandomised() {
    let (mut pie, mut random) = (in_trouble(ONE / 100), Stream::new(1, "test"));
    let full = packet(1500, Ecn::NotCapable, at(0));
    let mut gaps = vec![0];
    for _ in 0..500_000 {
        *gaps.last_mut().unwrap() += 1;
        if pie.arrival(&CONFIG, &full, BACKLOG, &mut random) == PieVerdict::Drop {
            gaps.push(0);
        }
    }
    gaps.pop();
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert_eq!(gaps.iter().min(), Some(&85));
    assert!(gaps.iter().all(|&gap| gap <= 851));
    assert!((mean - 184.0).abs() < 6.0, "{mean}");
}

/// At the 8.5th part certain, marks included; and then from the start again.
#[test]
fn a_certain_mark_is_one_mark() {
    let (mut pie, mut random) = (in_trouble(ONE / 100), Stream::new(1, "test"));
    let config = PieConfig {
        mark_up_to: Some(10),
        ..CONFIG
    };
    pie.accumulated = ONE / 2 * 17;
    let capable = packet(1500, Ecn::Ect0, at(0));
    let mut verdict = || pie.arrival(&config, &capable, BACKLOG, &mut random);
    assert_eq!([verdict(), verdict()], [PieVerdict::Mark, PieVerdict::Pass]);
}

#[test]
fn marks_end_at_the_tenth() {
    let mut random = Stream::new(1, "test");
    let config = PieConfig {
        mark_up_to: Some(10),
        ..CONFIG
    };
    for (config, probability, ecn, expected) in [
        (config, ONE / 100 * 10, Ecn::Ect0, PieVerdict::Mark),
        (config, ONE / 100 * 10 + 1, Ecn::Ect0, PieVerdict::Drop),
        (config, ONE / 100 * 10, Ecn::NotCapable, PieVerdict::Drop),
        (CONFIG, ONE / 100 * 10, Ecn::Ect0, PieVerdict::Drop),
    ] {
        let mut pie = in_trouble(probability);
        pie.accumulated = ONE * 9;
        let packet = packet(1500, ecn, at(0));
        let verdict = pie.arrival(&config, &packet, BACKLOG, &mut random);
        assert_eq!(verdict, expected, "{probability} {ecn:?}");
    }
}

/// At 50 % of full packets, 151 B or a tenth of 1514 have 5 %: 17 of them come to 0.85.
#[test]
fn in_bytemode_small_packets_are_spared() {
    let mut random = Stream::new(1, "test");
    let config = PieConfig {
        bytemode: true,
        ..CONFIG
    };
    let mut pie = in_trouble(ONE / 2);
    let small = packet(151, Ecn::NotCapable, at(0));
    for _ in 0..17 {
        let verdict = pie.arrival(&config, &small, BACKLOG, &mut random);
        assert_eq!(verdict, PieVerdict::Pass);
    }
    assert_eq!(pie.accumulated / (ONE / 1000), 847, "17 * 0.5 * 151 / 1514");
}

/// 1500 B every millisecond, 15 625 ticks, with more than 16 384 B left: measuring starts with the
/// first departure, and after 11 of them (16 500 B, 10 ms) the rate is 16 500 * 256 / 156 250 =
/// 27.03. The backlog of 100 000 B is then 100 000 * 256 / 27 = 948 148 ticks, 60.7 ms, while the
/// link will need 66.7: the rate is a coarse number.
#[test]
fn the_departure_rate_is_measured() {
    let mut pie = Pie::default();
    for ms in 1..=11 {
        assert_eq!(pie.rate, 0);
        let full = packet(1500, Ecn::NotCapable, at(0));
        pie.departure(at(ms), &ESTIMATOR, &full, BACKLOG);
    }
    assert_eq!((pie.rate, pie.departed), (27, Some(0)));
    assert_eq!(pie.burst, 140 * MS);
    pie.update(&ESTIMATOR, BACKLOG);
    assert_eq!((pie.delay, pie.old_delay), (948_148, 0));
}
