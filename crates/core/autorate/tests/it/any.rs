//! Whatever is told, a rate comes out.

use crate::line::controller;
use autorate::{PingAnswer, Registry, SeenPacket, Signal, Stamps, Way};
use proptest::prelude::*;
use units::{Duration, Instant, Rate};

fn signal() -> impl Strategy<Value = Signal> {
    let stamps = proptest::array::uniform5(any::<u32>());
    let stamps = stamps.prop_map(|[flow, value, echo, end, has]| Stamps {
        flow: flow % 5,
        value,
        echo,
        end,
        has,
    });
    let packet = (any::<u32>(), proptest::option::of(stamps));
    let packet = packet.prop_map(|(bytes, stamps)| SeenPacket {
        bytes: bytes % 70_000,
        stamps,
    });
    let way = prop_oneof![Just(Way::Down), Just(Way::Up)];
    let answer = (any::<u8>(), any::<u64>()).prop_map(|(reflector, ns)| {
        let round_trip = Duration::from_nanos(ns >> (ns % 60));
        Signal::Answered(PingAnswer {
            reflector,
            round_trip,
        })
    });
    prop_oneof![
        packet.clone().prop_map(Signal::Came),
        (way, packet).prop_map(|(way, packet)| Signal::Shaped(way, packet)),
        answer,
    ]
}

proptest! {
    /// Steps of time from nothing to days.
    #[test]
    fn rates_stay_within_bounds(
        told in proptest::collection::vec((0u64..48, any::<u64>(), signal()), 1..400),
    ) {
        for entry in Registry::builtin().iter() {
            let mut controller = controller(entry.name);
            let mut now = Instant::ZERO;
            for (scale, step, signal) in &told {
                now += Duration::from_nanos(step % (1 << scale));
                controller.tell(now, signal);
                let decision = controller.decide(now);
                for way in Way::BOTH {
                    let rate = decision[way].rate;
                    prop_assert!(rate >= Rate::from_bits(300_000), "{}: {}", entry.name, rate);
                    prop_assert!(rate <= Rate::from_bits(10_000_000_000), "{}: {}", entry.name, rate);
                    prop_assert!(!decision[way].why.to_string().is_empty());
                }
            }
        }
    }
}

#[test]
fn names_and_settings_are_checked() {
    let refused = |text: &str| {
        let built = Registry::builtin().build(&text.parse().unwrap());
        let refusal = built.err().expect("refused");
        format!("{}: {}", refusal.message, refusal.help.unwrap_or_default())
    };
    assert!(refused("dran").contains("did you mean drain"));
    assert!(refused("drain(constant)").contains("contains no other"));
    assert!(refused("drain,favour=games").contains("calls, both or downloads"));
    assert!(refused("cake-autorate,min_up=50mbit").contains("min_up ≤ base_up"));
    assert!(refused("cake-autorate,late=5ms").contains("grow_below ≤ late"));
}
