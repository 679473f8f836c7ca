//! The ECN field of packets, and the marks reported to a control.

use super::*;
use cca::{EcnMode, Signal};

/// A call of three seconds at a packet every 2 ms under a control of this mode, with the setting
/// `ecn`. All packets that leave from 1 s to 1.3 s meet congestion, and one in them is lost.
fn told(mode: EcnMode, ecn: bool) -> Told {
    let (mut control, told) = Fixed::new(FULL_PER_MS.scale(1, 2), cca::Feedback::Acks);
    control.ecn = mode;
    let params = MediaParams {
        ecn,
        ..MediaParams::default()
    };
    let mut bed = Bed::new(&params, Box::new(control));
    bed.mark = Box::new(|now, _| now >= ms(1000) && now < ms(1300));
    let mut dropped = false;
    bed.drop = Box::new(move |now, _| {
        now >= ms(1100) && !core::mem::replace(&mut dropped, now >= ms(1100))
    });
    bed.call(ms(3000));
    bed.run(ms(4000));
    drop(bed);
    Arc::into_inner(told).unwrap().into_inner().unwrap()
}

fn marked(told: &Told) -> u64 {
    told.acks.iter().map(|ack| ack.marked).sum()
}

fn signals(told: &Told, signal: Signal) -> usize {
    let same = |(_, congestion): &&(Instant, Congestion)| congestion.signal == signal;
    told.congestions.iter().filter(same).count()
}

#[test]
fn scalable_controls_are_always_capable_and_others_if_set() {
    assert_eq!(marked(&told(EcnMode::Classic, false)), 0);
    let classic = marked(&told(EcnMode::Classic, true));
    assert!(classic > 0);
    assert_eq!(marked(&told(EcnMode::Scalable, false)), classic);
}

/// 300 ms of marks are 7 round trips of 41 ms and a rest. The loss falls into one of them: RFC 9002
/// takes both for the same congestion, and reports only the first.
#[test]
fn a_scalable_control_hears_of_marks_and_losses_apart() {
    let classic = told(EcnMode::Classic, true);
    assert_eq!(signals(&classic, Signal::Loss), 0);
    let scalable = told(EcnMode::Scalable, true);
    assert_eq!(signals(&scalable, Signal::Loss), 1);
    for told in [&classic, &scalable] {
        let marks = signals(told, Signal::Mark);
        assert!((7..=8).contains(&marks), "{marks}");
    }
    let repairing = |ack: &&Ack| ack.in_recovery && ack.marked > 0;
    assert!(scalable.acks.iter().any(|ack| repairing(&ack)));
}
