//! Two subflows over queues that are worked out packet by packet.

use super::*;
use std::collections::BTreeSet;

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

/// Packets that leave one after another, each `gap` after the one before, trains at once, over a link
/// that takes `service` for each packet, and come back after `rtt`.
struct Trial {
    path: Path,
    gap: u64,
    service: u64,
    rtt: u64,
    /// The difference in length between the subflows' paths.
    detour: u64,
    /// After half of the time it is the other path.
    changes: bool,
}

/// What happens, in this order if at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Left(usize),
    Acked(usize),
    Send,
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
            changes: false,
        }
    }

    /// The detector after `seconds`.
    fn run(&self, settings: Settings, seconds: u64) -> Detector {
        let mut detector = Detector::new(settings);
        let mut events = BTreeSet::from([(0, Happens::Send)]);
        let mut packets: Vec<(u64, Subflow)> = Vec::new();
        let mut waiting: [VecDeque<usize>; 2] = Default::default();
        let (mut busy, mut turn, mut rtt) = (false, 0, ms(40));
        while let Some((now, happens)) = events.pop_first() {
            if now > seconds * 1000 * MS {
                break;
            }
            match happens {
                Happens::Send => {
                    detector.advance(at(now), rtt);
                    // Until both have sent, each may.
                    let first = packets.is_empty() || !detector.permits(Subflow::B);
                    let subflow = if first { Subflow::A } else { Subflow::B };
                    detector.sent(at(now), subflow, 1250);
                    let changed = self.changes && now > seconds * 500 * MS;
                    let path = match (self.path, changed) {
                        (path, false) => path,
                        (Path::One, true) => Path::Each,
                        (Path::Each, true) => Path::One,
                    };
                    let queue = match path {
                        Path::One => 0,
                        Path::Each => subflow as usize,
                    };
                    waiting[queue].push_back(packets.len());
                    packets.push((now, subflow));
                    let gap = if detector.is_train() { 1 } else { self.gap };
                    events.insert((now + gap, Happens::Send));
                }
                Happens::Left(number) => {
                    busy = false;
                    let detour = self.detour * packets[number].1 as u64;
                    events.insert((now + self.rtt + detour, Happens::Acked(number)));
                }
                Happens::Acked(number) => {
                    let (sent, subflow) = packets[number];
                    detector.acked(at(now), subflow, 1250, at(sent));
                    rtt = at(now).since(at(sent));
                    detector.delayed(subflow, at(sent), rtt);
                    detector.room(at(now), 100, false);
                }
            }
            if !busy {
                turn = if waiting[1 - turn].is_empty() {
                    turn
                } else {
                    1 - turn
                };
                if let Some(first) = waiting[turn].pop_front() {
                    busy = true;
                    events.insert((now + self.service, Happens::Left(first)));
                }
            }
        }
        detector
    }

    fn verdict(&self, settings: Settings) -> Verdict {
        self.run(settings, 4).verdict(at(4000 * MS))
    }
}

#[test]
fn both_rules_tell_one_queue_from_two() {
    for settings in [Settings::paper(), Settings::fixed(), Settings::default()] {
        let one = Trial::over(Path::One).verdict(settings.clone());
        assert_eq!(one.kind, NoticeKind::Shared, "{one:?}");
        let two = Trial::over(Path::Each).verdict(settings);
        assert_eq!(two.kind, NoticeKind::Fair, "{two:?}");
        assert!(two.confidence > 0.5, "{two:?}");
    }
}

#[test]
fn the_paper_goes_by_the_shares_of_the_rates() {
    let shares = |path| match Trial::over(path).verdict(Settings::paper()).evidence {
        Evidence::Shares { sent, delivered } => (sent, delivered),
        other => panic!("{other:?}"),
    };
    let (sent, delivered) = shares(Path::One);
    assert!((sent - 0.6).abs() < 0.02 && (delivered - 0.6).abs() < 0.02);
    let (sent, delivered) = shares(Path::Each);
    assert!((sent - 0.6).abs() < 0.02 && (delivered - 0.5).abs() < 0.02);
}

#[test]
fn a_verdict_gives_its_reason() {
    let reason = |path| {
        Trial::over(path)
            .verdict(Settings::default())
            .evidence
            .to_string()
    };
    let fair = reason(Path::Each);
    assert!(fair.starts_with("packets of one subflow waited "), "{fair}");
    assert!(
        fair.ends_with(" ms longer, and the other's when roles were swapped"),
        "{fair}"
    );
    let shared = reason(Path::One);
    assert!(
        shared.starts_with("packets of both subflows waited equally long"),
        "{shared}"
    );
    assert_eq!(
        Verdict::none(at(0)).evidence.to_string(),
        "nothing was seen"
    );
}

#[test]
fn a_longer_way_of_one_subflow_is_no_fair_queue() {
    let trial = Trial {
        detour: 20 * MS,
        ..Trial::over(Path::One)
    };
    for settings in [Settings::paper(), Settings::default()] {
        let verdict = trial.verdict(settings);
        assert_eq!(verdict.kind, NoticeKind::Shared, "{verdict:?}");
    }
}

#[test]
fn without_a_queue_only_trains_tell() {
    let idle = |path, train| {
        let trial = Trial {
            gap: 2 * MS,
            ..Trial::over(path)
        };
        let settings = Settings {
            rule: Rule::Delays { train },
            ..Settings::default()
        };
        trial.verdict(settings)
    };
    for path in [Path::One, Path::Each] {
        assert_eq!(idle(path, 0).kind, NoticeKind::Unknown);
    }
    assert_eq!(idle(Path::One, 12).kind, NoticeKind::Unknown);
    let two = idle(Path::Each, 12);
    assert_eq!(
        (two.kind, two.evidence),
        (NoticeKind::Fair, Evidence::Train)
    );
}

#[test]
fn nothing_is_said_before_enough_is_known() {
    let detector = Trial::over(Path::Each).run(Settings::default(), 0);
    let verdict = detector.verdict(at(0));
    assert_eq!(
        (verdict.kind, verdict.confidence),
        (NoticeKind::Unknown, 0.0)
    );
    assert_eq!(detector.evaluation().0, 0);
}

#[test]
fn a_verdict_holds_for_its_time_and_no_longer() {
    let detector = Trial::over(Path::Each).run(Settings::default(), 4);
    let found = detector.verdict(at(4000 * MS)).at;
    assert_eq!(detector.verdict(found + ms(10_000)).kind, NoticeKind::Fair);
    assert_eq!(
        detector.verdict(found + ms(10_001)).kind,
        NoticeKind::Unknown
    );
}

#[test]
fn a_path_that_changes_is_noticed() {
    for (path, kind) in [
        (Path::Each, NoticeKind::Shared),
        (Path::One, NoticeKind::Fair),
    ] {
        let trial = Trial {
            changes: true,
            ..Trial::over(path)
        };
        let verdict = trial.run(Settings::default(), 24).verdict(at(24_000 * MS));
        assert_eq!(verdict.kind, kind, "{verdict:?}");
    }
}

#[test]
fn the_papers_subflows_swap_when_a_round_trip_is_over() {
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
fn ours_swap_after_thirty_round_trips_within_bounds() {
    let mut detector = Detector::new(Settings::default());
    assert!(detector.advance(at(0), ms(10)));
    let timed = |detector: &mut Detector, n: u64| {
        (0..n).for_each(|_| detector.delayed(Subflow::A, at(0), ms(10)));
    };
    timed(&mut detector, 30);
    assert!(!detector.advance(at(50 * MS - 1), ms(10)), "too early");
    assert!(detector.advance(at(50 * MS), ms(10)));
    timed(&mut detector, 29);
    assert!(!detector.advance(at(450 * MS - 1), ms(10)), "too few");
    assert!(
        detector.advance(at(450 * MS), ms(10)),
        "as long as it may be"
    );
}

#[test]
fn three_and_two_are_dealt_out() {
    let mut detector = Detector::new(Settings::default());
    detector.advance(at(0), ms(10));
    let mut dealt = String::new();
    for number in 0..11 {
        let subflow = if detector.permits(Subflow::A) {
            Subflow::A
        } else {
            Subflow::B
        };
        // Both are permitted until both have sent.
        let subflow = if number == 0 { Subflow::B } else { subflow };
        detector.sent(at(number), subflow, 1000);
        dealt += if subflow == Subflow::A { "A" } else { "B" };
    }
    assert_eq!(dealt, "BAABBAAABBA");
}

#[test]
fn a_silent_subflow_does_not_hold_the_other_back() {
    let mut detector = Detector::new(Settings::default());
    detector.advance(at(0), ms(10));
    detector.sent(at(0), Subflow::A, 1000);
    detector.sent(at(0), Subflow::B, 1000);
    detector.sent(at(199 * MS), Subflow::A, 1000);
    assert!(!detector.permits(Subflow::A));
    detector.sent(at(200 * MS), Subflow::A, 1000);
    assert!(detector.permits(Subflow::A));
}

#[test]
fn memory_is_bounded_whatever_is_sent_and_never_acknowledged() {
    let mut detector = Detector::new(Settings::default());
    for number in 0..100_000 {
        detector.advance(at(number * 10 * MS), ms(1));
        detector.sent(at(number * 10 * MS), Subflow::A, 1500);
    }
    assert!(detector.intervals.len() <= KEPT);
    detector.acked(at(MS), Subflow::B, 1500, at(0));
    assert_eq!(detector.verdict(at(MS)).kind, NoticeKind::Unknown);
}
