//! cake-autorate's rule does what its documentation says.

use crate::line::{Line, controller, follows, mean};
use autorate::{Told, Way, Why};

const TOLD: &str = "cake-autorate,min_down=2mbit,base_down=10mbit,max_down=100mbit";

#[test]
fn it_finds_a_constant_line_by_pings() {
    for mbit in [5.0, 20.0, 50.0] {
        let line = Line {
            capacity: match mbit {
                5.0 => |_| 5.0,
                20.0 => |_| 20.0,
                _ => |_| 50.0,
            },
            ..Line::default()
        };
        let moments = line.run(&mut *controller(TOLD), 60);
        follows(&moments, mbit, 300.0, (30.0, 60.0)).unwrap();
    }
}

#[test]
fn bounds_base_and_silence() {
    let idle = Line {
        loaded: |at| at < 20.0,
        ping: |at| (at < 120.0).then_some(40.0),
        ..Line::default()
    };
    let moments = idle.run(&mut *controller(TOLD), 150);
    // Back to its base by 1 % a second.
    assert!((mean(&moments, 115.0, 120.0) / 10.0 - 1.0).abs() < 0.01);
    let last = moments.last().unwrap();
    assert_eq!((last.rate, last.decision.why), (2.0, Why::Silent));
    assert_eq!(last.decision.told, Told::Nothing);
    // Faster than its greatest rate.
    let fast = Line {
        capacity: |_| 500.0,
        ..Line::default()
    };
    let moments = fast.run(&mut *controller(TOLD), 20);
    assert_eq!(moments.last().unwrap().rate, 100.0);
    // A lie of 100 ms from the middle on holds it down until the baseline has followed.
    let lie = Line {
        ping: |at| Some(if at < 20.0 { 40.0 } else { 240.0 }),
        ..Line::default()
    };
    let moments = lie.run(&mut *controller(TOLD), 40);
    assert!(mean(&moments, 30.0, 40.0) < 5.0);
}

#[test]
fn both_ways_are_followed() {
    let up = Line {
        way: Way::Up,
        capacity: |_| 8.0,
        ..Line::default()
    };
    let moments = up.run(
        &mut *controller("cake-autorate,min_up=1mbit,base_up=5mbit"),
        60,
    );
    follows(&moments, 8.0, 300.0, (30.0, 60.0)).unwrap();
}
