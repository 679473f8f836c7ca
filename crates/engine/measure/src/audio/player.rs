//! How audio is played: turns of 20 ms, each with a frame or concealed (libwebrtc `DecisionLogic`).
//!
//! The frame that is next is played if it is there. If it is not, the turn is concealed. A frame that
//! comes after the turns concealed for it is still played, and all after it later by as much; one that
//! a newer one was played for is of no use any more. Where frames are played sooner than the target
//! says, turns are stretched; where later than the target and the spread together, they are shortened.
//! NetEq's faster shortening beyond four times that is left out.

use super::delays::Delays;
use std::collections::BTreeMap;
use units::{Duration, Instant};
use workload::audio::FRAME;

/// By how much a turn is stretched or shortened: 100 ms a second (`kMinTimescaleInterval`).
const STRETCH: Duration = Duration::from_millis(2);
/// `kDelayAdjustmentGranularityMs`.
const GRANULARITY: Duration = Duration::from_millis(20);

/// A player of one stream.
#[derive(Debug)]
pub struct Player {
    delays: Delays,
    /// Packets that arrived and were not played: the time each was sent, by number.
    waiting: BTreeMap<u64, Instant>,
    /// The number of the frame that is next.
    next: u64,
    /// The time of its turn; none before the first arrival.
    turn: Option<Instant>,
    /// Turns concealed since the last frame that was played.
    concealed: u64,
}

/// A turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerTurn {
    /// When.
    pub at: Instant,
    /// When the frame that was played was sent; none if the turn was concealed.
    pub played: Option<Instant>,
}

impl Player {
    /// Nothing has arrived. With `ticks`, delays are in NetEq's time.
    pub fn new(ticks: bool) -> Self {
        Player {
            delays: Delays::new(ticks),
            waiting: BTreeMap::new(),
            next: 0,
            turn: None,
            concealed: 0,
        }
    }

    /// A frame that was sent at `sent` arrived. Turns before `now` have to be over.
    pub fn arrived(&mut self, now: Instant, number: u64, sent: Instant) {
        self.delays.arrived(now, now.since(sent));
        if self.turn.is_none() {
            (self.turn, self.next) = (Some(now), number);
        }
        self.keep(number, sent);
    }

    /// A frame that was sent at `sent` came with a later one. Turns before `now` have to be over.
    pub fn restored(&mut self, now: Instant, number: u64, sent: Instant) {
        self.delays.restored(now, now.since(sent));
        self.keep(number, sent);
    }

    fn keep(&mut self, number: u64, sent: Instant) {
        if number >= self.next {
            self.waiting.insert(number, sent);
        }
    }

    /// The next turn, if it is before `now`.
    pub fn turn(&mut self, now: Instant) -> Option<PlayerTurn> {
        let at = self.turn.filter(|at| *at < now)?;
        let ready = self.waiting.first_key_value();
        // Packets missing before it have been concealed.
        let ready = ready.filter(|(number, _)| **number <= self.next + self.concealed);
        let ready = ready.map(|(number, sent)| (*number, *sent));
        let mut length = FRAME;
        match ready {
            Some((number, sent)) => {
                self.waiting.pop_first();
                length = self.length(at.since(sent));
                (self.next, self.concealed) = (number + 1, 0);
            }
            None => self.concealed += 1,
        }
        self.turn = Some(at + length);
        let played = ready.map(|(_, sent)| sent);
        Some(PlayerTurn { at, played })
    }

    /// How long the turn of a frame is that is played so long after it was sent.
    fn length(&self, delay: Duration) -> Duration {
        let later = delay.saturating_sub(self.delays.least());
        let target = self.delays.target();
        if later < target {
            FRAME + STRETCH
        } else if later >= target + self.delays.spread() + GRANULARITY {
            FRAME.saturating_sub(STRETCH)
        } else {
            FRAME
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Plays frames sent every 20 ms with these delays; the turns until `end`, as the moment and the
    /// number of the frame played. `None` is lost.
    fn play(delays: &[Option<u64>], end: u64) -> Vec<(u64, Option<u64>)> {
        let mut player = Player::new(false);
        let mut turns = Vec::new();
        let sent = (0..).map(|number| 20 * number);
        let mut came: Vec<(u64, u64, u64)> = (0..)
            .zip(sent.zip(delays))
            .filter_map(|(number, (sent, delay))| Some((sent + (*delay)?, number, sent)))
            .collect();
        came.sort_unstable();
        let mut over = |player: &mut Player, now| {
            while let Some(turn) = player.turn(at(now)) {
                let number = turn.played.map(|sent| sent.as_nanos() / 20_000_000);
                turns.push((turn.at.as_nanos() / 1_000_000, number));
            }
        };
        for (now, number, sent) in came {
            over(&mut player, now);
            player.arrived(at(now), number, at(sent));
        }
        over(&mut player, end);
        turns
    }

    #[test]
    fn the_first_frames_are_stretched_towards_the_target() {
        // Each frame takes 30 ms; the first is played at once, and 22 ms later the second has waited
        // 2 ms.
        let turns = play(&[Some(30); 4], 100);
        assert_eq!(
            turns,
            [(30, Some(0)), (52, Some(1)), (74, Some(2)), (96, Some(3))]
        );
    }

    #[test]
    fn what_comes_first_is_played_first() {
        let turns = play(&[None, None, Some(30), Some(30)], 100);
        assert_eq!(turns, [(70, Some(2)), (92, Some(3))]);
    }

    #[test]
    fn a_lost_frame_costs_its_own_turn() {
        let turns = play(&[Some(30), None, Some(30), Some(30)], 120);
        // At 52 ms neither 1 nor 2 is there; at 72 ms frame 2 has been there for 2 ms, and the gap of
        // one frame is concealed.
        assert_eq!(
            turns,
            [
                (30, Some(0)),
                (52, None),
                (72, Some(2)),
                (94, Some(3)),
                (116, None)
            ]
        );
    }

    #[test]
    fn a_lost_frame_that_comes_with_the_next_one_is_played() {
        let mut player = Player::new(false);
        player.arrived(at(30), 0, at(0));
        let mut turns = Vec::new();
        let mut over = |player: &mut Player, now| turns.extend(player.turn(at(now)));
        over(&mut player, 50);
        over(&mut player, 70);
        // The second turn is concealed; with frame 2 comes frame 1, and both are played.
        player.arrived(at(70), 2, at(40));
        player.restored(at(70), 1, at(20));
        over(&mut player, 80);
        over(&mut player, 100);
        let played: Vec<_> = turns.iter().map(|turn| turn.played).collect();
        assert_eq!(played, [Some(at(0)), None, Some(at(20)), Some(at(40))]);
    }

    #[test]
    fn a_late_frame_is_played_and_all_after_it_later() {
        let turns = play(&[Some(30), Some(75), Some(55), Some(35)], 160);
        // Frame 1 arrives at 95 ms instead of 50: the turns at 52, 72 and 92 ms are concealed. It
        // is played at 112 ms, and then each 22 ms.
        let expected = [(30, Some(0)), (52, None), (72, None), (92, None)];
        assert_eq!(turns[..4], expected);
        assert_eq!(turns[4..], [(112, Some(1)), (134, Some(2)), (156, Some(3))]);
    }

    #[test]
    fn what_was_passed_over_is_of_no_use() {
        let turns = play(&[Some(30), Some(90), Some(30), Some(30)], 120);
        // Frame 1 arrives at 110 ms; frame 2 was played for it at 72 ms.
        let numbers: Vec<_> = turns.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, [Some(0), None, Some(2), Some(3), None]);
    }

    #[test]
    fn after_an_outage_the_delay_is_taken_back_by_a_tenth() {
        // A second without delay, 400 ms at once, then none: the target is 20 ms after half a second,
        // the turns come 2 ms sooner each while the spread is forgotten.
        let mut delays = vec![Some(0); 50];
        delays.extend((0..20).map(|i| Some(400 - 20 * i)));
        delays.extend([Some(0); 400]);
        let turns = play(&delays, 9_000);
        let concealed = turns.iter().filter(|(_, number)| number.is_none()).count();
        assert!((18..=21).contains(&concealed), "{concealed}");
        let (when, number) = turns.last().unwrap();
        let delay = when - 20 * number.unwrap();
        assert!((20..450).contains(&delay), "{delay}");
        let lengths = turns.windows(2).map(|pair| pair[1].0 - pair[0].0);
        assert!(lengths.clone().all(|length| (18..=22).contains(&length)));
        assert!(lengths.filter(|length| *length == 18).count() > 50);
    }
}
