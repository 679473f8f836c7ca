//! R_hat: the rate at which packets arrive.
//!
//! draft-ietf-rmcat-gcc-02, section 5.5: bits received over a window of 0.5 s. That is too slow
//! while probes multiply the rate: packets sent before a probe would tell of the old rate. A probe
//! that finds more than R_hat therefore begins the window anew, and its result stands for R_hat
//! until the window has half its length.

use std::collections::VecDeque;
use units::{Duration, Instant};

/// The window, T in section 5.5 (0.5 to 1 s).
const WINDOW: Duration = Duration::from_millis(500);
/// The least time that a rate can be told from.
const LEAST: Duration = Duration::from_millis(250);

/// What arrived within the window.
#[derive(Debug, Clone, Default)]
pub(super) struct Throughput {
    packets: VecDeque<(Instant, u32)>,
    bytes: u64,
    /// A probe's result, bit/s, and its time: packets sent before it do not count.
    probed: Option<(f64, Instant)>,
}

impl Throughput {
    /// A packet of `bytes`, sent at `sent`, arrived at `received` on the receiver's clock.
    pub fn add(&mut self, sent: Instant, received: Instant, bytes: u32) {
        if self.probed.is_some_and(|(_, since)| sent < since) {
            return;
        }
        let last = self.packets.back().map(|&(at, _)| at);
        if last.is_some_and(|last| received.since(last) > WINDOW || last.since(received) > WINDOW) {
            // A pause is not a low rate, and a clock that was set back tells nothing.
            self.clear();
            self.probed = None;
        }
        self.packets.push_back((received, bytes));
        self.bytes += u64::from(bytes);
        while let Some(&(at, bytes)) = self.packets.front()
            && received.since(at) > WINDOW
        {
            self.packets.pop_front();
            self.bytes -= u64::from(bytes);
        }
    }

    /// A probe sent before `now` arrived at `rate` bit/s.
    pub fn on_probe(&mut self, now: Instant, rate: f64) {
        if self.rate().is_none_or(|known| rate > known) {
            self.clear();
            self.probed = Some((rate, now));
        }
    }

    /// Bits per second, once it can be told.
    pub fn rate(&self) -> Option<f64> {
        let probed = self.probed.map(|(rate, _)| rate);
        let (Some(first), Some(last)) = (self.packets.front(), self.packets.back()) else {
            return probed;
        };
        let span = last.0.since(first.0);
        if span < LEAST {
            return probed;
        }
        // The first packet only marks when the time began.
        let bytes = self.bytes - u64::from(first.1);
        Some(bytes as f64 * 8.0 / span.as_secs_f64())
    }

    fn clear(&mut self) {
        self.packets.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    /// Packets of `bytes` every 10 ms, from and to the given times, arriving 20 ms later.
    fn add(throughput: &mut Throughput, ms: core::ops::Range<u64>, bytes: u32) {
        for ms in ms.step_by(10) {
            throughput.add(at(ms), at(ms + 20), bytes);
        }
    }

    #[test]
    fn bits_over_half_a_second() {
        let mut throughput = Throughput::default();
        add(&mut throughput, 0..250, 1250);
        assert_eq!(throughput.rate(), None);
        // 1250 B every 10 ms are 1 Mbit/s.
        add(&mut throughput, 250..1000, 1250);
        assert_eq!(throughput.rate(), Some(1e6));
        // Half of the window at half of the rate: 25 of 1250 B and 25 of 625 B in 0.5 s.
        add(&mut throughput, 1000..1250, 625);
        assert_eq!(throughput.rate(), Some(750_000.0));
    }

    #[test]
    fn a_pause_is_not_a_low_rate() {
        let mut throughput = Throughput::default();
        add(&mut throughput, 0..1000, 1250);
        add(&mut throughput, 2000..2010, 1250);
        assert_eq!(throughput.rate(), None);
    }

    #[test]
    fn a_probe_stands_until_packets_sent_after_it_tell() {
        let mut throughput = Throughput::default();
        add(&mut throughput, 0..1000, 1250);
        throughput.on_probe(at(1000), 9e5);
        assert_eq!(throughput.rate(), Some(1e6), "it found no more");
        throughput.on_probe(at(1000), 4e6);
        // Under way when the probe's result came.
        add(&mut throughput, 980..1000, 1250);
        add(&mut throughput, 1000..1250, 2500);
        assert_eq!(throughput.rate(), Some(4e6));
        add(&mut throughput, 1250..1300, 2500);
        assert!((throughput.rate().unwrap() - 2e6).abs() < 1e-3);
    }
}
