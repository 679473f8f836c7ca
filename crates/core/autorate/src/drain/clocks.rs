//! How long packets waited in the line, by their time stamps (RFC 7323) and the clocks behind those.

use super::base::Base;

/// More connections at a time are told apart by chance only.
const FLOWS: usize = 128;
/// A clock that was silent so long, in s, may have drifted (a quartz clock by 0.1 ms a second): it is
/// a new one.
const SILENT: f64 = 30.0;
/// More than this, in s, no packet waits: the clock was set.
const ABSURD: f64 = 8.0;
/// A tick of a clock, in s (Linux since 4.13; RFC 7323, 5.4, allows 1 ms to 1 s).
pub const TICK: f64 = 0.001;

/// What stamps are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// Stamped when it was sent, and seen here later.
    Came,
    /// Seen here, and stamped later, when it arrived.
    Went,
}

/// The clocks of many connections' far ends.
#[derive(Debug)]
pub struct Clocks {
    sense: Sense,
    flows: [PeerClock; FLOWS],
}

#[derive(Debug, Clone, Copy, Default)]
struct PeerClock {
    flow: u32,
    /// What its clock said when, by ours, in s.
    origin: (u32, f64),
    used: Option<f64>,
    base: Base,
}

impl Clocks {
    /// Of no connections yet.
    pub fn new(sense: Sense) -> Self {
        Clocks {
            sense,
            flows: [PeerClock::default(); FLOWS],
        }
    }

    /// How long a packet of `flow` waited, in s: its stamp is `stamp`, and it was here `at`. `known` is
    /// how long packets of others wait now: a connection that begins in a queue has no other base.
    pub fn wait(&mut self, flow: u32, stamp: u32, at: f64, known: Option<f64>) -> f64 {
        let sense = self.sense;
        let clock = &mut self.flows[flow as usize % FLOWS];
        let fresh = clock.used.is_some_and(|used| at - used < SILENT) && clock.flow == flow;
        if fresh {
            let late = clock.late(sense, stamp, at);
            let wait = clock.base.above(at, late);
            if wait.abs() < ABSURD {
                clock.used = Some(at);
                return wait;
            }
        }
        let wait = known.unwrap_or(0.0);
        *clock = PeerClock {
            flow,
            origin: (stamp, at),
            used: Some(at),
            base: Base::at(at, -wait),
        };
        wait
    }
}

impl PeerClock {
    /// By how much the way took longer than that of the first packet, in s.
    fn late(&self, sense: Sense, stamp: u32, at: f64) -> f64 {
        let (first, when) = self.origin;
        let there = f64::from(stamp.wrapping_sub(first) as i32) * TICK;
        let here = at - when;
        match sense {
            Sense::Came => here - there,
            Sense::Went => there - here,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_differences_and_clocks_wrap() {
        let mut clocks = Clocks::new(Sense::Came);
        let start = u32::MAX - 5;
        let mut wait = |ms: u32, late: f64| {
            let at = 10.0 + f64::from(ms) * 1e-3 + late;
            clocks.wait(7, start.wrapping_add(ms), at, None)
        };
        assert_eq!(wait(0, 0.02), 0.0);
        assert!((wait(10, 0.05) - 0.03).abs() < 1e-9);
        assert!(wait(20, 0.01) < 1e-9, "less than ever is the base");
        assert!((wait(30, 0.05) - 0.04).abs() < 1e-9);
    }

    #[test]
    fn a_new_connection_in_a_queue_has_others_to_go_by_and_a_set_clock_begins_anew() {
        let mut clocks = Clocks::new(Sense::Went);
        assert_eq!(clocks.wait(1, 1000, 5.0, Some(0.1)), 0.1);
        let wait = clocks.wait(1, 1100, 5.2, None);
        assert!(wait < 1e-9, "{wait}: the queue is gone");
        assert_eq!(clocks.wait(1, 999_000, 5.3, Some(0.01)), 0.01);
        assert!((clocks.wait(1, 999_110, 5.4, None) - 0.02).abs() < 1e-9);
    }
}
