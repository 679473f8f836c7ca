//! Which RTP packets are missing, and when to ask for them (libwebrtc's `NackRequester`).
//!
//! A gap is asked for as soon as it shows, and again whenever a round trip has passed, looked at
//! every 20 ms. A packet that was asked for too often is given up, but still counts as missing, so
//! that a late arrival is known from a duplicate.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// libwebrtc `NackPeriodicProcessor::kUpdateInterval`.
const TICK: Duration = Duration::from_millis(20);
/// libwebrtc `kMaxNackPackets`: with more missing, only a key frame helps.
const MOST_ASKED: usize = 1_000;
/// libwebrtc `kMaxPacketAge`: a gap that is longer is not looked into. Ours: what is farther behind is
/// a stream that begins anew, so that a nonsense number does not end it.
const LONGEST_GAP: u64 = 10_000;

/// The missing packets of one stream.
#[derive(Debug)]
pub struct Missing {
    retries: u32,
    /// One more than the newest that arrived.
    next: u64,
    /// In order of `rtp`.
    list: VecDeque<NackEntry>,
    /// How many of the list are still asked for.
    wanted: usize,
    /// Some entry may have to be asked for now.
    look: bool,
    tick: Instant,
}

#[derive(Debug, Clone, Copy)]
struct NackEntry {
    rtp: u64,
    /// How often it was asked for; more than `retries` once it is given up.
    asked: u32,
    last: Instant,
}

/// The meaning of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// It was not here before.
    New,
    /// Nor was this, and it has been asked for.
    Repaired,
    /// It was, or is no longer of interest.
    Old,
    /// It is new, and the packets missing before it cannot be repaired, or the stream begins anew.
    Hopeless,
}

impl Missing {
    /// No packets have arrived; each packet is asked for `retries` times, never with 0.
    pub fn new(retries: u32) -> Self {
        Missing {
            retries,
            next: 0,
            list: VecDeque::new(),
            wanted: 0,
            look: false,
            tick: Instant::NEVER,
        }
    }

    /// A packet arrived `now`.
    pub fn arrived(&mut self, now: Instant, rtp: u64) -> Arrived {
        if rtp < self.next {
            return match self.list.binary_search_by_key(&rtp, |entry| entry.rtp) {
                Ok(index) => {
                    let asked = self.list[index].asked;
                    self.wanted -= usize::from(asked <= self.retries);
                    self.list.remove(index);
                    if asked > 0 {
                        Arrived::Repaired
                    } else {
                        Arrived::New
                    }
                }
                Err(_) if self.next - rtp > LONGEST_GAP => self.begin_anew(rtp),
                Err(_) => Arrived::Old,
            };
        }
        let gap = rtp - self.next;
        if gap > LONGEST_GAP {
            return self.begin_anew(rtp);
        }
        let first = core::mem::replace(&mut self.next, rtp.saturating_add(1));
        if gap == 0 {
            return Arrived::New;
        }
        self.list.extend((first..rtp).map(|rtp| NackEntry {
            rtp,
            asked: 0,
            last: now,
        }));
        if self.retries == 0 || self.wanted + gap as usize > MOST_ASKED {
            self.give_up_all();
            return Arrived::Hopeless;
        }
        self.wanted += gap as usize;
        self.look = true;
        self.tick = self.tick.min(now + TICK);
        Arrived::New
    }

    /// What was missing is of no interest; `rtp` is the newest.
    fn begin_anew(&mut self, rtp: u64) -> Arrived {
        self.list.clear();
        self.wanted = 0;
        self.next = rtp.saturating_add(1);
        Arrived::Hopeless
    }

    fn give_up_all(&mut self) {
        for entry in &mut self.list {
            entry.asked = self.retries + 1;
        }
        self.wanted = 0;
        self.look = false;
        self.tick = Instant::NEVER;
    }

    /// Packets before `rtp` are no longer of interest.
    pub fn forget_before(&mut self, rtp: u64) {
        while self.list.front().is_some_and(|entry| entry.rtp < rtp) {
            if let Some(entry) = self.list.pop_front() {
                self.wanted -= usize::from(entry.asked <= self.retries);
            }
        }
    }

    /// When to call [`on_timer`](Self::on_timer).
    pub fn next_timer(&self) -> Instant {
        self.tick
    }

    /// Time has passed.
    pub fn on_timer(&mut self, now: Instant) {
        if now >= self.tick {
            self.look = self.wanted > 0;
            self.tick = if self.look {
                now + TICK
            } else {
                Instant::NEVER
            };
        }
    }

    /// The packets to ask for at `now`, and whether any was given up.
    pub fn ask(&mut self, now: Instant, rtt: Duration) -> (Vec<u64>, bool) {
        let mut asked = Vec::new();
        let mut gave_up = false;
        if !core::mem::take(&mut self.look) {
            return (asked, gave_up);
        }
        for entry in &mut self.list {
            let due = entry.asked == 0 || now.since(entry.last) >= rtt;
            if entry.asked > self.retries || !due {
                continue;
            }
            entry.asked += 1;
            entry.last = now;
            if entry.asked > self.retries {
                self.wanted -= 1;
                gave_up = true;
            } else {
                asked.push(entry.rtp);
            }
        }
        (asked, gave_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(30);

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_gap_is_asked_for_at_once_then_at_the_first_tick_after_a_round_trip() {
        let mut missing = Missing::new(2);
        assert_eq!(missing.arrived(ms(0), 0), Arrived::New);
        assert_eq!(missing.arrived(ms(1), 3), Arrived::New);
        assert_eq!(missing.ask(ms(1), RTT), (vec![1, 2], false));
        assert_eq!(missing.arrived(ms(5), 2), Arrived::Repaired);
        assert_eq!(missing.arrived(ms(5), 2), Arrived::Old);
        // Ticks at 21, 41, 61, ...: 20 ms after asking is too early, 40 ms is not.
        let mut asked = Vec::new();
        while missing.next_timer() < Instant::NEVER {
            let now = missing.next_timer();
            missing.on_timer(now);
            let (packets, gave_up) = missing.ask(now, RTT);
            if !packets.is_empty() || gave_up {
                asked.push((now, packets, gave_up));
            }
        }
        assert_eq!(asked, [(ms(41), vec![1], false), (ms(81), vec![], true)]);
        assert_eq!(
            missing.arrived(ms(200), 1),
            Arrived::Repaired,
            "late, but new"
        );
        assert_eq!(missing.arrived(ms(200), 1), Arrived::Old);
    }

    #[test]
    fn gaps_too_long_to_repair() {
        let mut missing = Missing::new(10);
        assert_eq!(missing.arrived(ms(0), 1_001), Arrived::Hopeless);
        assert_eq!(missing.ask(ms(0), RTT), (vec![], false));
        assert_eq!(missing.arrived(ms(0), u64::MAX), Arrived::Hopeless);
        assert_eq!(missing.arrived(ms(0), 1_002), Arrived::Hopeless);
        assert_eq!(missing.arrived(ms(0), 1_003), Arrived::New);
        assert_eq!(missing.arrived(ms(0), 1_001), Arrived::Old);
    }

    #[test]
    fn what_is_forgotten_is_not_asked_for() {
        let mut missing = Missing::new(10);
        missing.arrived(ms(0), 5);
        missing.forget_before(4);
        assert_eq!(missing.ask(ms(0), RTT).0, [4]);
        missing.forget_before(6);
        missing.on_timer(ms(20));
        assert_eq!(missing.next_timer(), Instant::NEVER);
    }
}
