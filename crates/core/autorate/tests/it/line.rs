//! A line that is simple enough to know what is right: a modem with an endless queue, behind it the
//! shaper, and senders that fill the shaper with a round trip's delay, as windows do.

use autorate::{Controller, Decision, PingAnswer, Registry, SeenPacket, Signal, Stamps, Way};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Propagation, both ways.
const ROUND_TRIP_MS: u64 = 40;
/// How often a controller is asked.
const BEAT_MS: u64 = 5;
/// Senders send this much more than the shaper lets through, as they look for more.
const MORE: f64 = 1.03;
const PACKET: f64 = 1250.0;

/// Something over time, in s.
pub type Over = fn(f64) -> f64;

/// What happens on the line.
pub struct Line {
    pub way: Way,
    /// Mbit/s at a second.
    pub capacity: Over,
    /// Whether there is something to send.
    pub loaded: fn(f64) -> bool,
    /// Packets have time stamps.
    pub stamps: bool,
    /// The round trip of a ping beside the queue's, in ms, at a second; none if there is no answer.
    pub ping: fn(f64) -> Option<f64>,
    /// What is added to the propagation, in ms, and to the far clock, at a second.
    pub longer: Over,
    pub clock: Over,
    /// The line delivers every so many ms.
    pub grants: u64,
}

impl Default for Line {
    fn default() -> Self {
        Line {
            way: Way::Down,
            capacity: |_| 20.0,
            loaded: |_| true,
            stamps: true,
            ping: |_| Some(40.0),
            longer: |_| 0.0,
            clock: |_| 0.0,
            grants: 1,
        }
    }
}

/// A millisecond of a run.
#[derive(Clone, Copy)]
pub struct Moment {
    /// s
    pub at: f64,
    /// Mbit/s
    pub rate: f64,
    /// How long a packet that comes now waits in the modem, ms.
    pub queue: f64,
    pub decision: Decision,
}

pub fn controller(text: &str) -> Box<dyn Controller> {
    Registry::builtin().build(&text.parse().unwrap()).unwrap()
}

impl Line {
    /// `seconds` of it.
    pub fn run(&self, controller: &mut dyn Controller, seconds: u64) -> Vec<Moment> {
        let mut state = State::default();
        let mut moments = Vec::new();
        let mut decision = controller.decide(Instant::ZERO)[self.way];
        for ms in 0..seconds * 1000 {
            // Of an idle hour a moment in five suffices.
            if state.waiting == 0 && !(self.loaded)(ms as f64 / 1e3) && !ms.is_multiple_of(BEAT_MS)
            {
                continue;
            }
            let now = Instant::ZERO + Duration::from_millis(ms);
            if ms.is_multiple_of(BEAT_MS) {
                decision = controller.decide(now)[self.way];
            }
            let rate = decision.rate.as_mbit_f64();
            let at = ms as f64 / 1e3;
            state.rates.push_back(rate);
            self.send(&mut state, ms, at, controller);
            self.drain(&mut state, ms, at, controller);
            let queue = state.waiting as f64 * PACKET * 8e-3 / (self.capacity)(at);
            if ms % 50 == 0
                && let Some(round_trip) = (self.ping)(at)
            {
                controller.tell(
                    now,
                    &Signal::Answered(PingAnswer {
                        reflector: (ms / 50 % 6) as u8,
                        round_trip: Duration::from_secs_f64((round_trip + queue) / 1e3),
                    }),
                );
            }
            moments.push(Moment {
                at,
                rate,
                queue,
                decision,
            });
        }
        moments
    }

    /// Packets reach the modem: as many as the shaper let through a round trip ago.
    fn send(&self, state: &mut State, ms: u64, at: f64, controller: &mut dyn Controller) {
        if state.rates.len() as u64 <= ROUND_TRIP_MS {
            return;
        }
        let rate = state.rates.pop_front().unwrap_or(0.0);
        // A full queue is 1 s long.
        let room = (self.capacity)(at) * 1e6 / 8.0 / PACKET;
        if (self.loaded)(at) {
            state.sending += rate * MORE * 1e3 / 8.0;
        }
        while state.sending >= PACKET {
            state.sending -= PACKET;
            if (state.waiting as f64) < room {
                state.waiting += 1;
                state.number = state.number.wrapping_add(1);
                state.queue.push_back((ms, state.number));
                if self.way == Way::Up {
                    let now = Instant::ZERO + Duration::from_millis(ms);
                    let data = self.packet(1250, ms as u32, state.number);
                    controller.tell(now, &Signal::Shaped(Way::Up, data));
                }
            }
        }
    }

    /// The modem sends what it can.
    fn drain(&self, state: &mut State, ms: u64, at: f64, controller: &mut dyn Controller) {
        state.credit += (self.capacity)(at) * 1e3 / 8.0;
        while state.credit >= PACKET {
            let Some((came, number)) = state.queue.pop_front() else {
                state.credit = state.credit.min(PACKET);
                break;
            };
            state.credit -= PACKET;
            state.waiting -= 1;
            state.delivered.push_back((came, ms, number));
        }
        if ms.is_multiple_of(self.grants) {
            while let Some((came, sent, number)) = state.delivered.pop_front() {
                let value = match self.way {
                    Way::Down => came,
                    Way::Up => sent.max(ms),
                };
                self.deliver(value, number, ms, at, controller);
            }
        }
    }

    /// What was stamped at `value` ms arrives.
    fn deliver(&self, value: u64, number: u32, ms: u64, at: f64, controller: &mut dyn Controller) {
        let now = Instant::ZERO + Duration::from_millis(ms);
        let longer = (self.longer)(at);
        let clock = |ms: f64| (ms + (self.clock)(at)) as i64 as u32;
        match self.way {
            Way::Down => {
                let data = self.packet(1250, clock(value as f64 - longer), number);
                controller.tell(now, &Signal::Came(data));
                controller.tell(now, &Signal::Shaped(Way::Down, data));
            }
            Way::Up => {
                let bare = self.packet(52, clock(value as f64 + longer), number);
                controller.tell(now, &Signal::Came(bare));
            }
        }
    }

    fn packet(&self, bytes: u32, value: u32, number: u32) -> SeenPacket {
        let stamps = Stamps {
            flow: 1,
            value,
            echo: 0,
            end: number.wrapping_mul(1250),
            has: number.wrapping_mul(1250),
        };
        let stamps = self.stamps.then_some(stamps);
        SeenPacket { bytes, stamps }
    }
}

#[derive(Default)]
struct State {
    rates: VecDeque<f64>,
    sending: f64,
    waiting: u64,
    /// When they came, ms, and their numbers.
    queue: VecDeque<(u64, u32)>,
    number: u32,
    credit: f64,
    /// Sent, until the line delivers.
    delivered: VecDeque<(u64, u64, u32)>,
}

/// The mean rate from a second on until another.
pub fn mean(moments: &[Moment], from: f64, until: f64) -> f64 {
    let inside = moments.iter().filter(|m| m.at >= from && m.at < until);
    let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), m| (sum + m.rate, count + 1.0));
    sum / count
}

/// The 95th percentile of the queue from a second on until another, ms.
pub fn queue(moments: &[Moment], from: f64, until: f64) -> f64 {
    let inside = moments.iter().filter(|m| m.at >= from && m.at < until);
    let mut waits: Vec<f64> = inside.map(|m| m.queue).collect();
    waits.sort_by(f64::total_cmp);
    waits[waits.len() * 95 / 100]
}

/// Whether a controller follows a constant line: neither far below it, nor with a queue of more than
/// `most` ms. One that is
/// stuck at its least or greatest rate does not.
pub fn follows(
    moments: &[Moment],
    mbit: f64,
    most: f64,
    (from, until): (f64, f64),
) -> Result<(), String> {
    let (rate, wait) = (mean(moments, from, until), queue(moments, from, until));
    if (0.8..1.15).contains(&(rate / mbit)) && wait < most {
        Ok(())
    } else {
        Err(format!("{rate:.2} of {mbit} Mbit/s, {wait:.0} ms"))
    }
}
