//! The score by itself, from intervals made by hand: a packet takes 1 ms, pairs scatter by 0.1 ms.

use super::*;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A score that is told of intervals of 100 ms, in which the roles swap.
struct Told {
    score: Score,
    number: u64,
}

impl Told {
    fn new() -> Self {
        Told {
            score: Score::new(),
            number: 0,
        }
    }

    fn now(&self) -> Instant {
        at(100 * self.number)
    }

    /// The next interval: the delay of the dominant subflow, that of the other one, by its place.
    fn interval(&mut self, delays: impl Fn(usize) -> [f64; 2]) -> bool {
        let dominant = (self.number as usize + 1) % 2;
        self.halves([delays(dominant); 2])
    }

    /// The same, with other delays in each half.
    fn halves(&mut self, delays: [[f64; 2]; 2]) -> bool {
        self.number += 1;
        let dominant = self.number as usize % 2;
        let halves = delays.map(|[dominant, lesser]| IntervalHalf {
            n: 8,
            dominant,
            lesser,
        });
        let interval = ScoredInterval {
            number: self.number,
            dominant,
            packet: 1.0,
            swing: 20.0,
            neighbours: Neighbours { halves, noise: 0.1 },
        };
        self.score.interval(self.now(), &interval)
    }

    fn intervals(&mut self, n: u32, delays: [f64; 2]) {
        for _ in 0..n {
            self.interval(|_| delays);
        }
    }
}

#[test]
fn a_difference_that_follows_the_roles_is_fair_queuing() {
    let mut told = Told::new();
    assert!(!told.interval(|_| [30.0, 20.0]), "one role is not enough");
    assert!(told.interval(|_| [30.0, 20.0]));
    let seen = told.score.last();
    assert_eq!((seen.difference, seen.queue), (10.0, 10.0));
    assert_eq!(
        told.score.kind(),
        NoticeKind::Unknown,
        "one observation moves it by two"
    );
    told.intervals(1, [30.0, 20.0]);
    assert_eq!(told.score.kind(), NoticeKind::Fair);
    assert_eq!(told.score.last_fair(), told.now());
}

#[test]
fn paths_of_unlike_length_say_nothing() {
    let mut told = Told::new();
    for _ in 0..50 {
        // The first subflow's way is longer by 10 ms, in both roles.
        let says = told.interval(|dominant| match dominant {
            0 => [30.0, 20.0],
            _ => [20.0, 30.0],
        });
        assert!(!says);
    }
    assert_eq!(told.score.kind(), NoticeKind::Unknown);
}

#[test]
fn equal_delays_in_a_queue_that_stands_are_one_queue() {
    let mut told = Told::new();
    told.intervals(2, [20.0, 20.0]);
    assert_eq!(
        told.score.confidence(),
        0.0,
        "without a queue nothing is seen"
    );
    told.intervals(2, [50.0, 50.0]);
    assert_eq!(told.score.kind(), NoticeKind::Unknown);
    told.intervals(2, [50.0, 50.0]);
    assert_eq!(told.score.kind(), NoticeKind::Shared);
}

#[test]
fn a_queue_of_few_packets_is_one_queue_only_if_it_is_marked() {
    for (marked, kind) in [(false, NoticeKind::Unknown), (true, NoticeKind::Shared)] {
        let mut told = Told::new();
        told.intervals(2, [20.0, 20.0]);
        for _ in 0..20 {
            if marked {
                told.score.marked(told.number);
            }
            told.intervals(1, [28.0, 28.0]);
        }
        assert_eq!(told.score.kind(), kind, "marked: {marked}");
    }
}

#[test]
fn delays_that_jump_are_no_queue() {
    let mut told = Told::new();
    let jumps = [0.0, 9.0, 3.0, 12.0, 1.0, 7.0, 14.0, 2.0];
    for pair in jumps.chunks(2).cycle().take(80) {
        told.halves([[20.0 + pair[0]; 2], [20.0 + pair[1]; 2]]);
    }
    assert_eq!(told.score.kind(), NoticeKind::Unknown);
}

#[test]
fn a_train_outweighs_equal_delays_for_ten_seconds() {
    let mut told = Told::new();
    told.intervals(2, [20.0, 20.0]);
    told.score.train(told.now());
    assert_eq!(told.score.kind(), NoticeKind::Fair);
    told.intervals(90, [50.0, 50.0]);
    assert_eq!(told.score.kind(), NoticeKind::Fair);
    told.intervals(20, [50.0, 50.0]);
    assert_eq!(told.score.kind(), NoticeKind::Shared);
}

#[test]
fn only_evidence_that_agrees_renews_a_verdict() {
    let mut told = Told::new();
    told.intervals(5, [30.0, 20.0]);
    let renewed = told.score.renewed();
    assert_eq!(renewed, told.now());
    told.intervals(2, [50.0, 50.0]);
    assert_eq!(told.score.kind(), NoticeKind::Fair);
    assert_eq!(told.score.renewed(), renewed);
    told.intervals(6, [50.0, 50.0]);
    assert_eq!(
        told.score.kind(),
        NoticeKind::Unknown,
        "a verdict is given up at zero"
    );
}
