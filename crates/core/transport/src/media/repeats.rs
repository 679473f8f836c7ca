//! Repairs by the sender's own timer, without being asked: as the RTC library of the Confucius paper
//! repairs its calls over UDP (zhuge, `packet-sender-udp.cc`, `CheckRetransmission`; decisions/0023).
//!
//! Every part is acknowledged by itself. Every millisecond the sender looks for one that it has waited
//! for too long, and sends all of that frame that is not acknowledged again. A queue that rises fast
//! is therefore answered with duplicates.

use super::Fragment;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// How often the sender looks.
const TICK: Duration = Duration::from_millis(1);
/// Weight of a new round trip, and of a new gap, in the smoothed one.
const WEIGHT: f64 = 0.2;
/// Standard deviations that are allowed for.
const DEVIATIONS: f64 = 4.0;

/// Parts that were sent and not acknowledged.
#[derive(Debug)]
pub struct Repeats {
    /// A frame so many behind the newest is given up.
    most_behind: u64,
    newest: u64,
    /// RTP sequence number of the first of `parts`.
    base: u64,
    parts: VecDeque<WaitingRepeat>,
    times: RepeatTimes,
    last: Option<(u64, Instant)>,
    tick: Instant,
}

#[derive(Debug, Clone, Copy)]
struct WaitingRepeat {
    frame: u64,
    count: u32,
    sent: Instant,
    acknowledged: bool,
}

/// Times in seconds, once there is a sample.
#[derive(Debug, Default)]
struct RepeatTimes {
    samples: f64,
    smoothed: f64,
    /// Mean and sum of squared differences from it over all samples.
    mean: f64,
    squares: f64,
    /// Between the acknowledgements of one frame's parts.
    gap: f64,
}

impl RepeatTimes {
    fn round_trip(&mut self, sample: f64) {
        self.samples += 1.0;
        let before = sample - self.mean;
        self.mean += before / self.samples;
        self.squares += before * (sample - self.mean);
        self.smoothed = match self.samples {
            1.0 => sample,
            _ => self.smoothed + WEIGHT * (sample - self.smoothed),
        };
    }

    /// How long to wait for a part of a frame of `count`.
    fn timeout(&self, count: u32) -> Option<Duration> {
        let deviation = (self.squares / self.samples).sqrt();
        let wait = self.smoothed + DEVIATIONS * deviation + f64::from(count) * self.gap;
        (self.samples > 0.0).then(|| Duration::from_secs_f64(wait))
    }
}

impl Repeats {
    /// No frames were sent; frames `most_behind` the newest are given up.
    pub fn new(most_behind: u32) -> Self {
        Repeats {
            most_behind: u64::from(most_behind),
            newest: 0,
            base: 0,
            parts: VecDeque::new(),
            times: RepeatTimes::default(),
            last: None,
            tick: Instant::NEVER,
        }
    }

    /// A part leaves, for the first time or again.
    pub fn sent(&mut self, now: Instant, part: &Fragment) {
        self.newest = self.newest.max(part.frame);
        if self.parts.is_empty() {
            self.base = self.base.max(part.rtp);
        }
        let Some(place) = part.rtp.checked_sub(self.base) else {
            return;
        };
        match self.parts.get_mut(place as usize) {
            Some(waiting) => waiting.sent = now,
            None => self.parts.push_back(WaitingRepeat {
                frame: part.frame,
                count: part.count,
                sent: now,
                acknowledged: false,
            }),
        }
        self.tick = self.tick.min(now + TICK);
    }

    /// A part is acknowledged.
    pub fn acknowledged(&mut self, now: Instant, rtp: u64) {
        let place = rtp.checked_sub(self.base);
        let waiting = place.and_then(|place| self.parts.get_mut(place as usize));
        let Some(waiting) = waiting.filter(|waiting| !waiting.acknowledged) else {
            return;
        };
        waiting.acknowledged = true;
        let frame = waiting.frame;
        self.times.round_trip(now.since(waiting.sent).as_secs_f64());
        if let Some((_, at)) = self.last.filter(|(last, _)| *last == frame) {
            let gap = now.since(at).as_secs_f64();
            self.times.gap += WEIGHT * (gap - self.times.gap);
        }
        self.last = Some((frame, now));
    }

    /// When to call [`due`](Self::due).
    pub fn next_timer(&self) -> Instant {
        self.tick
    }

    /// The packets to send again at `now`, by RTP sequence number.
    pub fn due(&mut self, now: Instant) -> Vec<u64> {
        if now < self.tick {
            return Vec::new();
        }
        let oldest = self.newest.saturating_sub(self.most_behind);
        let over = |waiting: &WaitingRepeat| waiting.acknowledged || waiting.frame < oldest;
        while self.parts.front().is_some_and(over) {
            self.parts.pop_front();
            self.base += 1;
        }
        self.tick = if self.parts.is_empty() {
            Instant::NEVER
        } else {
            now + TICK
        };
        let times = &self.times;
        let late = |waiting: &WaitingRepeat| {
            // Most are acknowledged, and the timeout is later.
            !waiting.acknowledged
                && times
                    .timeout(waiting.count)
                    .is_some_and(|timeout| now.since(waiting.sent) > timeout)
        };
        let mut frames: Vec<u64> = self
            .parts
            .iter()
            .filter(|w| late(w))
            .map(|w| w.frame)
            .collect();
        if frames.is_empty() {
            return Vec::new();
        }
        frames.dedup();
        let again =
            |waiting: &WaitingRepeat| !waiting.acknowledged && frames.contains(&waiting.frame);
        let parts = (self.base..).zip(&mut self.parts);
        let again = parts.filter(|(_, waiting)| again(waiting));
        let sent = |(rtp, waiting): (u64, &mut WaitingRepeat)| {
            waiting.sent = now;
            rtp
        };
        again.map(sent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tests::part;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Frames have two parts each.
    fn send(repeats: &mut Repeats, at: u64, rtp: u64) {
        repeats.sent(ms(at), &part(rtp, 2));
    }

    #[test]
    fn the_whole_of_a_frame_is_repeated_after_round_trip_deviation_and_gaps() {
        let mut repeats = Repeats::new(25);
        for (at, rtp) in [(0, 0), (0, 1), (40, 2), (40, 3)] {
            send(&mut repeats, at, rtp);
        }
        assert_eq!(repeats.due(ms(39)), [], "nothing is known of round trips");
        repeats.acknowledged(ms(40), 0);
        repeats.acknowledged(ms(50), 1);
        repeats.acknowledged(ms(51), 1);
        // Smoothed 40 + 0.2·10 = 42; deviation of 40 and 50: 5; gap 0.2·10 = 2, for two parts:
        // 42 + 20 + 4 = 66 ms after 40.
        assert_eq!(repeats.due(ms(105)), []);
        repeats.acknowledged(ms(106), 3);
        // A third sample of 66: smoothed 42 + 0.2·24 = 46.8, deviation of 40, 50 and 66: √(344/3) =
        // 10.7; 46.8 + 42.8 + 4 = 93.6 ms after 40.
        assert_eq!(repeats.due(ms(133)), []);
        assert_eq!(repeats.due(ms(134)), [2]);
        assert_eq!(repeats.due(ms(136)), [], "it was sent again");
        repeats.acknowledged(ms(137), 2);
        repeats.due(ms(138));
        assert_eq!(repeats.next_timer(), Instant::NEVER, "nothing is missing");
    }

    #[test]
    fn one_late_part_takes_the_rest_of_its_frame_with_it() {
        let mut repeats = Repeats::new(25);
        send(&mut repeats, 0, 0);
        repeats.acknowledged(ms(40), 0);
        send(&mut repeats, 50, 1);
        send(&mut repeats, 60, 2);
        send(&mut repeats, 90, 3);
        // 40 ms without deviation: after 100, part 2 is due, and 3 with it; 1 was due before.
        assert_eq!(repeats.due(ms(91)), [1]);
        assert_eq!(repeats.due(ms(101)), [2, 3]);
    }

    #[test]
    fn what_is_far_behind_is_given_up() {
        let mut repeats = Repeats::new(2);
        send(&mut repeats, 0, 0);
        send(&mut repeats, 0, 1);
        repeats.acknowledged(ms(10), 0);
        for rtp in 2..8 {
            send(&mut repeats, 100, rtp);
        }
        // Frame 0 is three behind frame 3.
        assert_eq!(repeats.due(ms(101)), []);
        assert_eq!(repeats.due(ms(111)), [2, 3, 4, 5, 6, 7]);
    }
}
