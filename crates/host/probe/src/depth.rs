//! The queue's depth, from round trips, and whether the queue is managed.
//!
//! Principle: a queue that drops only when full loses packets at its greatest depth; an active
//! queue management (AQM) loses or marks them far below the depth that it once let build up. The
//! rule uses the data that a single sender can see: depths at losses against the greatest depth,
//! marks, and how long a deep queue was left alone (RFC 8289 acts after 100 ms above its target).
//!
//! Not for: links whose rate changes much within the probe. There depths change with the rate, and
//! the confidence means little.

use units::{Duration, Instant};

/// Width of a bin of the distribution of depths.
const BIN: Duration = Duration::from_micros(500);
/// Bins: depths up to 2 s; greater depths count as 2 s.
const BINS: usize = 4000;
/// The newest losses that are kept.
const KEPT: usize = 64;
/// If the median depth at losses is below this share of the greatest depth, an AQM dropped.
const MANAGED_BELOW: f64 = 0.6;
/// Above this share the queue was full.
const FULL_ABOVE: f64 = 0.8;
/// A queue deeper than this, for longer than [`PATIENCE`] without a loss or a mark, is not managed:
/// five times the default target of fq_codel and pie's 15 ms.
const DEEP: Duration = Duration::from_millis(75);
/// An AQM acts after 100 ms (CoDel) to some hundred (PIE).
const PATIENCE: Duration = Duration::from_millis(1500);
/// Without losses and marks, a queue that is deeper than this for a twentieth of the time is one. A
/// smaller one may be caused by a sender or a receiver that computes for too long.
const FULL: Duration = Duration::from_millis(30);
/// Depths below this differ by chance.
const SHALLOW: Duration = Duration::from_millis(2);

/// The kind of a queue's management, as far as known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Managed {
    /// Too little was seen.
    Unknown,
    /// An AQM marked or dropped; how sure that is, 0 to 1.
    Aqm(f64),
    /// It drops only when full; the confidence in that, 0 to 1.
    DropTail(f64),
}

/// Depths seen so far.
#[derive(Debug, Clone)]
pub struct Depth {
    base: Option<Duration>,
    bins: Vec<u32>,
    samples: u64,
    latest: Duration,
    at_loss: Vec<Duration>,
    losses: usize,
    marks: u64,
    deep_since: Option<Instant>,
    longest_deep: Duration,
}

impl Default for Depth {
    fn default() -> Self {
        Depth {
            base: None,
            bins: vec![0; BINS],
            samples: 0,
            latest: Duration::ZERO,
            at_loss: Vec::with_capacity(KEPT),
            losses: 0,
            marks: 0,
            deep_since: None,
            longest_deep: Duration::ZERO,
        }
    }
}

impl Depth {
    /// A round trip of a packet that was acknowledged `now`.
    pub fn round_trip(&mut self, now: Instant, rtt: Duration) {
        let base = self.base.map_or(rtt, |base| base.min(rtt));
        self.base = Some(base);
        self.latest = rtt.saturating_sub(base);
        let bin = (self.latest.as_nanos() / BIN.as_nanos()).min(BINS as u64 - 1);
        self.bins[bin as usize] += 1;
        self.samples += 1;
        if self.latest < DEEP {
            self.deep_since = None;
        } else {
            let since = *self.deep_since.get_or_insert(now);
            self.longest_deep = self.longest_deep.max(now.since(since));
        }
    }

    /// Packets were lost: once for each time that a sender reduces its window.
    pub fn lost(&mut self) {
        self.deep_since = None;
        if self.at_loss.len() < KEPT {
            self.at_loss.push(self.latest);
        } else {
            self.at_loss[self.losses % KEPT] = self.latest;
        }
        self.losses += 1;
    }

    /// A mark was reported.
    pub fn marked(&mut self) {
        self.deep_since = None;
        self.marks += 1;
    }

    /// The smallest round trip: that without a queue.
    pub fn base(&self) -> Option<Duration> {
        self.base
    }

    /// The newest depth.
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// Whether a queue stood on the path: by a mark, a depth for a twentieth of the time that is more than chance, or a
    /// lesser one with losses at such depths. Losses from an empty queue are those of the wire, of a socket without
    /// room, or of a policer.
    pub fn stood(&self) -> bool {
        let often = self.quantile(0.95).unwrap_or_default();
        let lost = self.at_losses().is_some_and(|depth| depth >= SHALLOW);
        self.marks > 0 || often > FULL || often >= SHALLOW && lost
    }

    /// Whether it was deeper than managed queues are for half of the time.
    pub fn is_deep(&self) -> bool {
        self.quantile(0.5).is_some_and(|depth| depth > DEEP)
    }

    /// The median depth at losses; none before the first.
    fn at_losses(&self) -> Option<Duration> {
        self.of_losses(2)
    }

    /// The depth at losses below which one in `parts` of them was.
    fn of_losses(&self, parts: usize) -> Option<Duration> {
        let mut depths = self.at_loss.clone();
        depths.sort_unstable();
        depths.get(depths.len() / parts).copied()
    }

    /// Number of reported marks.
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// The depth below which the share `q` (0 to 1) of the samples is; none before the first.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        if self.samples == 0 {
            return None;
        }
        let wanted = ((self.samples as f64 * q).ceil() as u64).max(1);
        let mut seen = 0;
        let bin = self.bins.iter().position(|&n| {
            seen += u64::from(n);
            seen >= wanted
        })?;
        Some(BIN.scale(bin as u64, 1))
    }

    /// The verdict from the losses, marks and depths so far.
    pub fn managed(&self) -> Managed {
        if self.marks > 0 {
            return Managed::Aqm(1.0);
        }
        let left_alone = self.longest_deep >= PATIENCE;
        // A pause of a machine looks like the deepest queue of all.
        let most = self.quantile(0.99).unwrap_or_default();
        let Some(at_losses) = self.at_losses().filter(|_| most >= SHALLOW) else {
            return if left_alone {
                Managed::DropTail(0.9)
            } else {
                Managed::Unknown
            };
        };
        let median = at_losses.as_secs_f64() / most.as_secs_f64();
        let losses = self.at_loss.len();
        let enough = (losses as f64 / 4.0).min(1.0);
        // One that drops by chance does it at depths that differ.
        let quarter = self.of_losses(4).unwrap_or_default().as_secs_f64();
        let always = quarter >= FULL_ABOVE * most.as_secs_f64();
        if left_alone || median >= FULL_ABOVE && always {
            Managed::DropTail(if left_alone { 0.9 } else { 0.5 + 0.4 * enough })
        } else if median < MANAGED_BELOW && losses >= 2 {
            let clear = (1.0 - median / MANAGED_BELOW).clamp(0.0, 1.0);
            Managed::Aqm(enough * (0.6 + 0.4 * clear))
        } else {
            Managed::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Samples every 10 ms from `start`, of a base of 20 ms under depths that `depth` names.
    fn feed(d: &mut Depth, start: u64, n: u64, depth: impl Fn(u64) -> u64) {
        for i in 0..n {
            d.round_trip(at(start + 10 * i), Duration::from_millis(20 + depth(i)));
        }
    }

    #[test]
    fn losses_at_the_greatest_depth_are_a_full_queue() {
        let mut d = Depth::default();
        for cycle in 0..5 {
            feed(&mut d, cycle * 500, 50, |i| i);
            d.lost();
        }
        assert!(matches!(d.managed(), Managed::DropTail(c) if c > 0.8));
    }

    #[test]
    fn losses_far_below_the_greatest_depth_are_an_aqms() {
        let mut d = Depth::default();
        feed(&mut d, 0, 60, |i| i);
        d.lost();
        for cycle in 1..6 {
            feed(&mut d, cycle * 500, 12, |i| i);
            d.lost();
        }
        assert!(matches!(d.managed(), Managed::Aqm(c) if c > 0.8));
    }

    #[test]
    fn losses_from_an_empty_queue_are_no_queues() {
        let mut d = Depth::default();
        feed(&mut d, 0, 100, |i| i % 20 / 15);
        assert!(!d.stood());
        d.lost();
        assert!(!d.stood(), "0 ms");
        d.round_trip(at(1000), Duration::from_millis(39));
        (0..2).for_each(|_| d.lost());
        assert!(!d.stood(), "19 ms, once");
        feed(&mut d, 1000, 20, |i| i);
        assert!(d.stood());
        let mut marked = Depth::default();
        marked.marked();
        assert!(marked.stood());
    }

    #[test]
    fn a_deep_queue_that_is_left_alone_is_not_managed() {
        let mut d = Depth::default();
        feed(&mut d, 0, 10, |i| i);
        assert_eq!(d.managed(), Managed::Unknown);
        feed(&mut d, 100, 200, |_| 90);
        assert_eq!(d.managed(), Managed::DropTail(0.9));
    }

    #[test]
    fn a_mark_is_certain() {
        let mut d = Depth::default();
        d.marked();
        assert_eq!(d.managed(), Managed::Aqm(1.0));
    }

    #[test]
    fn quantiles_are_of_the_samples() {
        let mut d = Depth::default();
        assert_eq!(d.quantile(0.5), None);
        feed(&mut d, 0, 101, |i| i);
        assert_eq!(d.quantile(0.5), Some(Duration::from_millis(50)));
        assert_eq!(d.quantile(1.0), Some(Duration::from_millis(100)));
        d.round_trip(at(0), Duration::from_secs(60));
        assert!(d.quantile(1.0) < Some(Duration::from_secs(3)));
    }
}
