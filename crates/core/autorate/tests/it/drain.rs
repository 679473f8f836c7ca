//! The rule that measures the drain rate.

use crate::line::{Line, Moment, Over, controller, follows, mean, queue};
use autorate::{Told, Way};

const FAVOURS: [&str; 3] = ["drain,favour=calls", "drain", "drain,favour=downloads"];

fn run(line: &Line, seconds: u64) -> Vec<Moment> {
    line.run(&mut *controller("drain"), seconds)
}

#[test]
fn a_constant_line_is_found_both_ways_with_and_without_jitter() {
    let lines: [(f64, Over); 3] = [(5.0, |_| 5.0), (20.0, |_| 20.0), (100.0, |_| 100.0)];
    for (mbit, capacity) in lines {
        for (way, grants, favour) in [Way::Down, Way::Up]
            .into_iter()
            .flat_map(|way| [1, 20].map(|grants| (way, grants)))
            .flat_map(|(way, grants)| FAVOURS.map(|favour| (way, grants, favour)))
        {
            let line = Line {
                way,
                capacity,
                grants,
                ..Line::default()
            };
            let moments = line.run(&mut *controller(favour), 40);
            let found = follows(&moments, mbit, 60.0, (20.0, 40.0));
            found.unwrap_or_else(|is| panic!("{favour} {way} {grants}: {is}"));
        }
    }
}

/// At least nine tenths of what a fixed rate of 95 % carries, half a minute after nothing was known.
#[test]
fn a_constant_line_is_used() {
    let lines: [(f64, Over); 3] = [(5.0, |_| 5.0), (20.0, |_| 20.0), (100.0, |_| 100.0)];
    for (mbit, capacity) in lines {
        for way in Way::BOTH {
            let line = Line {
                way,
                capacity,
                ..Line::default()
            };
            let moments = run(&line, 60);
            let carried = moments.iter().filter(|m| m.at >= 30.0);
            let carried: f64 = carried.map(|m| m.rate.min(mbit)).sum::<f64>() / 30_000.0;
            assert!(carried > 0.9 * 0.95 * mbit, "{mbit} {way}: {carried}");
        }
    }
}

/// The faults that look good from one side.
#[test]
fn what_is_stuck_does_not_follow() {
    let line = Line::default();
    for stuck in ["constant,down=300kbit", "constant,down=10gbit"] {
        let moments = line.run(&mut *controller(stuck), 60);
        assert!(
            follows(&moments, 20.0, 60.0, (30.0, 60.0)).is_err(),
            "{stuck}"
        );
    }
}

#[test]
fn a_step_down_is_followed_within_a_second() {
    let steps: [(f64, Over); 3] = [
        (15.0, |at| if at < 40.0 { 50.0 } else { 15.0 }),
        (5.0, |at| if at < 40.0 { 50.0 } else { 5.0 }),
        (20.0, |at| if at < 40.0 { 300.0 } else { 20.0 }),
    ];
    for (mbit, capacity) in steps {
        for way in Way::BOTH {
            let line = Line {
                way,
                capacity,
                ..Line::default()
            };
            let moments = run(&line, 60);
            let late = moments.iter().position(|m| m.at >= 40.0 && m.rate < mbit);
            let late = late.map(|place| moments[place].at - 40.0).unwrap_or(20.0);
            assert!(late < 1.0, "{mbit} {way}: {late}");
            let wait = queue(&moments, 45.0, 60.0);
            assert!(wait < 50.0, "{mbit} {way}: {wait}");
        }
    }
}

#[test]
fn a_step_up_is_followed_within_15_s() {
    let line = Line {
        capacity: |at| if at < 40.0 { 4.0 } else { 40.0 },
        ..Line::default()
    };
    let moments = run(&line, 70);
    assert!(mean(&moments, 30.0, 40.0) < 4.4);
    let found = mean(&moments, 55.0, 70.0);
    assert!(found > 0.9 * 0.85 * 40.0, "{found}");
}

/// A high plateau with deep dips, where dips are all that is measured.
#[test]
fn rare_dips_do_not_trap_it_low() {
    let line = Line {
        capacity: |at| if at % 5.0 < 0.5 { 3.0 } else { 50.0 },
        ..Line::default()
    };
    let moments = run(&line, 120);
    let found = mean(&moments, 40.0, 120.0);
    assert!(found > 20.0, "{found}");
    // For half of the time they are the line.
    let often = Line {
        capacity: |at| if at % 2.0 < 1.0 { 3.0 } else { 50.0 },
        ..Line::default()
    };
    let found = mean(&run(&often, 120), 40.0, 120.0);
    assert!(found < 15.0, "{found}");
}

#[test]
fn an_idle_hour_changes_nothing() {
    let line = Line {
        loaded: |at| !(30.0..3630.0).contains(&at),
        ..Line::default()
    };
    let moments = run(&line, 3690);
    let before = mean(&moments, 20.0, 30.0);
    let idle = mean(&moments, 3600.0, 3630.0);
    assert!((idle / before - 1.0).abs() < 0.2, "{before} {idle}");
    let (first, again) = (queue(&moments, 20.0, 30.0), queue(&moments, 3630.0, 3640.0));
    assert!(again < first + 10.0, "{first} {again}");
}

#[test]
fn pings_neither_add_to_stamps_nor_veto_them() {
    let honest = run(&Line::default(), 60);
    let pings: [fn(f64) -> Option<f64>; 3] =
        [|_| None, |at| Some(40.0 + at % 7.0 * 100.0), |_| Some(1.0)];
    for ping in pings {
        let moments = run(
            &Line {
                ping,
                ..Line::default()
            },
            60,
        );
        let rates = |moments: &[Moment]| moments.iter().map(|m| m.rate).collect::<Vec<_>>();
        assert_eq!(rates(&moments), rates(&honest));
    }
}

#[test]
fn without_stamps_pings_are_followed_and_without_both_the_rate_holds() {
    let line = Line {
        stamps: false,
        ping: |at| (at < 60.0).then_some(40.0),
        ..Line::default()
    };
    let moments = run(&line, 90);
    follows(&moments, 20.0, 100.0, (30.0, 60.0)).unwrap();
    assert_eq!(moments[59_000].decision.told, Told::Pings);
    let (before, last) = (mean(&moments, 61.5, 62.0), moments.last().unwrap());
    assert_eq!(last.decision.told, Told::Nothing);
    assert!((last.rate - before).abs() < 1e-6);
    // Away from the home, too, where no acknowledgement tells what passed.
    let up = Line {
        way: Way::Up,
        stamps: false,
        ..Line::default()
    };
    let moments = run(&up, 60);
    follows(&moments, 20.0, 100.0, (30.0, 60.0)).unwrap();
}

#[test]
fn a_clock_that_is_set_and_a_longer_path_pass() {
    // The far clock goes forward by an hour, back by two, and drifts by 100 ppm.
    let line = Line {
        clock: |at| match at {
            ..40.0 => at * 0.1,
            40.0..50.0 => 3_600_000.0 + at * 0.1,
            _ => -3_600_000.0 + at * 0.1,
        },
        ..Line::default()
    };
    let moments = run(&line, 80);
    follows(&moments, 20.0, 60.0, (30.0, 80.0)).unwrap();
    // A handover: 30 ms more, for good.
    let line = Line {
        longer: |at| if at < 40.0 { 0.0 } else { 30.0 },
        ..Line::default()
    };
    let moments = run(&line, 120);
    let found = mean(&moments, 60.0, 120.0);
    assert!((16.0..23.0).contains(&found), "{found}");
}
