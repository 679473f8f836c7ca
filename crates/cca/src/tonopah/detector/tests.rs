//! Two subflows over queues that are worked out by hand, packet by packet.

use super::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The path between sender and receiver.
#[derive(Clone, Copy, PartialEq)]
enum Path {
    /// One queue for both.
    One,
    /// A queue each, which take turns.
    Each,
}

/// Packets that leave one after another, each `gap` after the one before, 6 of 10 of the dominant
/// subflow, over a link that takes `service` for each packet, and come back after `rtt`.
struct Trial {
    path: Path,
    gap: u64,
    service: u64,
    rtt: u64,
    /// The difference in length between the subflows' paths.
    detour: u64,
}

impl Trial {
    const fn over(path: Path) -> Self {
        Trial {
            path,
            // 10 Mbit/s of 1250 B, a tenth more than the link carries.
            gap: MS * 10 / 11,
            service: MS,
            rtt: 40 * MS,
            detour: 0,
        }
    }

    /// When each of `packets` of two subflows leaves the link.
    fn leaves(&self, packets: &[(u64, Subflow)]) -> Vec<u64> {
        let mut left = vec![0; packets.len()];
        let mut waiting: [VecDeque<usize>; 2] = Default::default();
        let (mut next, mut free, mut turn) = (0, 0, 0);
        while next < packets.len() || waiting.iter().any(|queue| !queue.is_empty()) {
            if waiting.iter().all(VecDeque::is_empty) {
                free = free.max(packets[next].0);
            }
            while next < packets.len() && packets[next].0 <= free {
                let queue = if self.path == Path::One {
                    0
                } else {
                    packets[next].1 as usize
                };
                waiting[queue].push_back(next);
                next += 1;
            }
            turn = if waiting[1 - turn].is_empty() {
                turn
            } else {
                1 - turn
            };
            if let Some(first) = waiting[turn].pop_front() {
                free += self.service;
                left[first] = free;
            }
        }
        left
    }

    /// The detector after `seconds`.
    fn run(&self, settings: Settings, seconds: u64) -> Detector {
        let mut plan = Detector::new(settings.clone());
        let (mut packets, mut sent) = (Vec::new(), [0.0, 0.0]);
        for number in 0..seconds * 1_000_000_000 / self.gap {
            let now = number * self.gap;
            if plan.advance(at(now), ms(40)) {
                sent = [0.0, 0.0];
            }
            let ahead = |s: Subflow| sent[s as usize] / plan.share(s);
            let subflow = if ahead(Subflow::A) <= ahead(Subflow::B) {
                Subflow::A
            } else {
                Subflow::B
            };
            sent[subflow as usize] += 1.0;
            packets.push((now, subflow));
        }
        let mut events: BTreeMap<(u64, u8, usize), ()> = BTreeMap::new();
        for (number, left) in self.leaves(&packets).into_iter().enumerate() {
            let detour = if packets[number].1 == Subflow::B {
                self.detour
            } else {
                0
            };
            events.insert((packets[number].0, 0, number), ());
            events.insert((left + self.rtt + detour, 1, number), ());
        }
        let mut detector = Detector::new(settings);
        for (now, what, number) in events.into_keys() {
            let (sent_at, subflow) = packets[number];
            if now > seconds * 1_000_000_000 {
                break;
            }
            if what == 0 {
                detector.advance(at(now), ms(40));
                detector.sent(subflow, 1250);
            } else {
                detector.acked(at(now), subflow, 1250, at(sent_at));
                detector.delayed(subflow, at(sent_at), at(now).since(at(sent_at)));
            }
        }
        detector
    }

    fn verdict(&self, settings: Settings) -> Verdict {
        self.run(settings, 3).verdict(at(3_000_000_000))
    }
}

#[test]
fn both_rules_tell_one_queue_from_two() {
    for settings in [Settings::paper(), Settings::fixed(), Settings::default()] {
        let one = Trial::over(Path::One).verdict(settings.clone());
        assert_eq!(one.kind, Kind::Shared, "{one:?}");
        assert!(
            (one.sent - 0.6).abs() < 0.01 && (one.delivered - 0.6).abs() < 0.01,
            "{one:?}"
        );
        assert!(one.spread < ms(1), "{one:?}");
        let two = Trial::over(Path::Each).verdict(settings);
        assert_eq!(two.kind, Kind::Fair, "{two:?}");
        assert!((two.delivered - 0.5).abs() < 0.02, "{two:?}");
        assert!(two.confidence > 0.5, "{two:?}");
    }
}

#[test]
fn a_longer_way_of_one_subflow_is_no_fair_queue() {
    let trial = Trial {
        detour: 20 * MS,
        ..Trial::over(Path::One)
    };
    for settings in [Settings::paper(), Settings::default()] {
        let verdict = trial.verdict(settings);
        assert_eq!(verdict.kind, Kind::Shared, "{verdict:?}");
    }
}

#[test]
fn without_a_queue_delays_say_nothing() {
    for path in [Path::One, Path::Each] {
        let idle = Trial {
            gap: 2 * MS,
            ..Trial::over(path)
        };
        assert_eq!(idle.verdict(Settings::default()).kind, Kind::Unknown);
    }
}

#[test]
fn nothing_is_said_before_enough_is_known() {
    let detector = Trial::over(Path::Each).run(Settings::default(), 0);
    let verdict = detector.verdict(at(0));
    assert_eq!((verdict.kind, verdict.confidence), (Kind::Unknown, 0.0));
    assert_eq!(detector.evaluation().0, 0);
}

#[test]
fn a_dominant_subflow_that_sent_too_little_tells_the_paper_nothing() {
    assert_eq!(by_shares(0.56, 0.5, 0.575, 0.55, 0.6).0, Kind::Unknown);
    assert_eq!(by_shares(0.6, 0.549, 0.575, 0.55, 0.6).0, Kind::Fair);
    assert_eq!(by_shares(0.6, 0.551, 0.575, 0.55, 0.6).0, Kind::Shared);
    assert_eq!(by_shares(0.6, 0.5, 0.575, 0.55, 0.6), (Kind::Fair, 1.0));
}

#[test]
fn a_verdict_holds_for_its_time_and_no_longer() {
    let mut detector = Trial::over(Path::Each).run(Settings::default(), 3);
    let found = detector.verdict(at(3_000_000_000)).at;
    detector.forget();
    assert_eq!(detector.verdict(found + ms(10_000)).kind, Kind::Fair);
    assert_eq!(detector.verdict(found + ms(10_001)).kind, Kind::Unknown);
}

#[test]
fn the_subflows_swap_when_the_interval_is_over() {
    let mut detector = Detector::new(Settings::paper());
    assert!(detector.advance(at(0), ms(10)));
    assert!(!detector.advance(at(49 * MS), ms(10)));
    assert_eq!(detector.dominant(), Subflow::A);
    assert_eq!(detector.share(Subflow::A), 0.6);
    assert_eq!(detector.share(Subflow::B), 0.4);
    assert!(detector.advance(at(50 * MS), ms(1000)));
    assert_eq!(detector.dominant(), Subflow::B);
    assert!(!detector.advance(at(149 * MS), ms(1000)));
    detector.forget();
    assert!(detector.advance(at(150 * MS), ms(1000)));
    assert_eq!(detector.dominant(), Subflow::A);
}

#[test]
fn memory_is_bounded_whatever_is_sent_and_never_acknowledged() {
    let mut detector = Detector::new(Settings::default());
    for number in 0..100_000 {
        detector.advance(at(number * 10 * MS), ms(1));
        detector.sent(Subflow::A, 1500);
    }
    assert_eq!(detector.intervals.len(), KEPT);
    detector.acked(at(MS), Subflow::B, 1500, at(0));
    assert_eq!(detector.verdict(at(MS)).kind, Kind::Unknown);
}
