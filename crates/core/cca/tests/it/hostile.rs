//! With any behaviour of the peer, a control neither panics nor stops the sender permanently.

use cca::{Ack, Choice, Congestion, Control, RateSample, Registry, Setup, Signal};
use proptest::prelude::*;
use units::{Duration, Instant};

/// One call of the transport: which, after how long, and three numbers that it is made from.
type Call = (u8, u64, u64, u64, u64);

/// Times up to a minute and sizes up to 4 GB, extremes among them.
fn calls() -> impl Strategy<Value = Vec<Call>> {
    let span = prop_oneof![Just(0), 1..60_000_000_000u64, 1..10_000_000u64];
    let size = || prop_oneof![Just(0), 1..20_000u64, Just(u64::from(u32::MAX))];
    prop::collection::vec((0..8u8, span, size(), size(), size()), 1..200)
}

fn play(control: &mut dyn Control, calls: &[Call]) {
    let (mut now, mut delivered) = (Instant::ZERO, 0u64);
    for &(kind, span, a, b, c) in calls {
        let span = Duration::from_nanos(span);
        now += span;
        match kind {
            0 => control.on_sent(now, a, a.max(b)),
            1 => control.on_congestion(
                now,
                &Congestion {
                    signal: if a > b { Signal::Loss } else { Signal::Mark },
                    lost: a,
                    in_flight: b,
                    min_rtt: Duration::from_nanos(c),
                },
            ),
            2 => control.on_recovered(now),
            3 => control.on_timeout(now, a),
            4 => control.on_idle_restart(now, span),
            5 => {
                control.take_probe(now);
                control.on_timer(now);
            }
            _ => {
                delivered += a;
                control.on_ack(
                    now,
                    &Ack {
                        bytes: a,
                        lost: b / 2,
                        rtt: (c % 5 > 0).then_some(Duration::from_nanos(c)),
                        srtt: Duration::from_nanos(c),
                        min_rtt: Duration::from_nanos(c / 2),
                        prior_in_flight: a.max(b),
                        in_flight: b,
                        delivered,
                        rate: (b % 3 > 0).then_some(RateSample {
                            delivered: a,
                            interval: Duration::from_nanos(c),
                            prior_delivered: delivered - a,
                            app_limited: c % 2 == 0,
                        }),
                        round_start: b % 2 == 0,
                        newest_sent: now - span,
                        in_recovery: kind == 7,
                        window_limited: c % 3 > 0,
                        marked: if b % 7 > 4 { a } else { a / 3 },
                    },
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_control_panics_or_closes_its_window(calls in calls()) {
        let setup = Setup::default();
        let registry = Registry::builtin();
        let defaults = registry.iter().map(|entry| Choice::plain(entry.name));
        for choice in defaults.chain(["bbr,version=3".parse().unwrap()]) {
            let mut control = registry.build(&choice, &setup).unwrap();
            let mut controls = match control.split() {
                Some(halves) => Vec::from(halves),
                None => vec![control],
            };
            let (first, second) = calls.split_at(calls.len() / 2);
            for part in [first, second, first] {
                for control in &mut controls {
                    play(control.as_mut(), part);
                }
            }
            if controls.len() > 1 {
                // The bytes that one subflow has in flight are not available to the other.
                for control in &mut controls {
                    control.on_timeout(Instant::NEVER - Duration::from_secs(1), 0);
                }
            }
            let window = controls.iter().map(|control| control.window()).max();
            prop_assert!(window >= Some(setup.mss), "{choice}: {window:?}");
            for control in &controls {
                control.media_rate(Duration::from_millis(40));
                control.pacing_rate();
            }
        }
    }
}
