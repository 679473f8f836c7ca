//! The sender's timers: stored moments, so that moving one costs nothing.

use crate::Config;
use crate::rtt::Rtt;
use units::{Duration, Instant};

/// The due times of the timers; [`Instant::NEVER`] for those that are not set.
#[derive(Debug, Clone)]
pub struct Timers {
    /// Retransmission timeout.
    pub retransmit: Instant,
    /// Tail loss probe.
    pub probe: Instant,
    /// The reordering window of the oldest segment ends.
    pub reordering: Instant,
    /// The pacer permits the next segment.
    pub pace: Instant,
    /// Added to the probe's timeout if a single segment is in flight, for a delayed
    /// acknowledgement. RFC 8985, 7.2 has the peer's largest delay; Linux adds its smallest timeout
    /// (`tcp_schedule_loss_probe`).
    alone: Duration,
}

impl Timers {
    /// No timer is set.
    pub fn new(config: &Config) -> Self {
        Timers {
            retransmit: Instant::NEVER,
            probe: Instant::NEVER,
            reordering: Instant::NEVER,
            pace: Instant::NEVER,
            alone: config.min_rto,
        }
    }

    /// No data is in flight.
    pub fn stop(&mut self) {
        self.retransmit = Instant::NEVER;
        self.probe = Instant::NEVER;
        self.reordering = Instant::NEVER;
    }

    /// The retransmission timeout starts anew.
    pub fn start_retransmit(&mut self, now: Instant, rtt: &Rtt) {
        self.retransmit = now + rtt.timeout();
    }

    /// A probe is due after two round trips without an acknowledgement, and in any case before the
    /// timeout would be.
    pub fn start_probe(&mut self, now: Instant, rtt: &Rtt, segments: usize) {
        let alone = if segments == 1 {
            self.alone
        } else {
            Duration::ZERO
        };
        self.probe = (now + rtt.srtt * 2 + alone).min(self.retransmit);
    }

    /// The first of them.
    pub fn next(&self) -> Instant {
        let loss = self.retransmit.min(self.probe).min(self.reordering);
        loss.min(self.pace)
    }
}
