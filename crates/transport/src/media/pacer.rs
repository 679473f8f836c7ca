//! When the next packet may leave, and at what rate.

use cca::Probe;
use units::{Instant, Rate};

/// Spaces packets: after one of `len` bytes the next leaves `len / rate` later, and time that
/// passes unused gives no credit (libwebrtc's `PacingController`, without bursts).
#[derive(Debug)]
pub struct Pacer {
    rate: Rate,
    last: Instant,
    last_len: u32,
    probe: Option<Burst>,
    /// Largest number of bytes in flight in this round trip and in the one before, and whether
    /// the window kept a packet back.
    most: [u64; 2],
    held: [bool; 2],
}

/// A probe under way.
#[derive(Debug, Clone, Copy)]
struct Burst {
    probe: Probe,
    bytes_left: u64,
    packets_left: u32,
}

impl Default for Pacer {
    fn default() -> Self {
        Pacer {
            rate: Rate::from_bits(u64::MAX),
            last: Instant::ZERO,
            last_len: 0,
            probe: None,
            most: [0; 2],
            held: [false; 2],
        }
    }
}

impl Pacer {
    /// The rate to go at outside of probes.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Begins a probe, if there is one.
    pub fn probe(&mut self, probe: Option<Probe>) {
        self.probe = probe.map(|probe| Burst {
            probe,
            bytes_left: probe.rate.bytes_in(probe.span),
            packets_left: probe.packets,
        });
    }

    /// Whether a probe is under way, which padding may serve.
    pub fn probing(&self) -> bool {
        self.probe.is_some()
    }

    /// When the next packet may leave.
    pub fn ready_at(&self) -> Instant {
        let rate = self.probe.map_or(self.rate, |burst| burst.probe.rate);
        self.last + rate.time_for(u64::from(self.last_len))
    }

    /// A packet leaves; returns the probe that it belongs to.
    pub fn sent(&mut self, now: Instant, len: u32) -> Option<Probe> {
        (self.last, self.last_len) = (now, len);
        let burst = self.probe.as_mut()?;
        let probe = burst.probe;
        burst.bytes_left = burst.bytes_left.saturating_sub(u64::from(len));
        burst.packets_left = burst.packets_left.saturating_sub(1);
        if burst.bytes_left == 0 && burst.packets_left == 0 {
            self.probe = None;
        }
        Some(probe)
    }

    /// So many bytes are in flight.
    pub fn note_in_flight(&mut self, bytes: u64) {
        self.most[0] = self.most[0].max(bytes);
    }

    /// The window keeps a packet back.
    pub fn blocked(&mut self) {
        self.held[0] = true;
    }

    /// Whether the window limited sending in this round trip or the last; in slow start it is
    /// enough that half of it was used (Linux `tcp_is_cwnd_limited`).
    pub fn window_limited(&mut self, round_start: bool, slow_start: bool, window: u64) -> bool {
        let held = self.held[0] || self.held[1];
        let most = self.most[0].max(self.most[1]);
        if round_start {
            self.held = [false, self.held[0]];
            self.most = [0, self.most[0]];
        }
        held || (slow_start && window < most.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    #[test]
    fn spacing_without_credit() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Rate::from_bits(8_000_000));
        assert!(pacer.ready_at() <= us(0));
        pacer.sent(us(0), 1_250);
        // 10 000 bit at 8 Mbit/s.
        assert_eq!(pacer.ready_at(), us(1_250));
        pacer.sent(us(9_000), 1_250);
        assert_eq!(pacer.ready_at(), us(10_250), "nothing was saved up");
        pacer.set_rate(Rate::from_bits(80_000_000));
        assert_eq!(pacer.ready_at(), us(9_125), "a new rate counts at once");
    }

    #[test]
    fn a_probe_lasts_for_its_bytes_and_its_packets() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Rate::from_bits(1_000_000));
        let probe = Probe {
            id: 7,
            rate: Rate::from_bits(8_000_000),
            span: Duration::from_millis(2),
            packets: 3,
        };
        pacer.probe(Some(probe));
        // 2 ms at 8 Mbit/s are 2000 B: two packets, but three are asked for.
        for packet in 0..3 {
            let at = us(packet * 1_000);
            assert_eq!(pacer.ready_at(), if packet == 0 { us(0) } else { at });
            assert_eq!(pacer.sent(at, 1_000), Some(probe));
        }
        assert_eq!(pacer.ready_at(), us(2_000 + 8_000));
        assert_eq!(pacer.sent(us(10_000), 1_000), None);
    }

    #[test]
    fn the_window_limits_for_two_rounds() {
        let mut pacer = Pacer::default();
        assert!(!pacer.window_limited(true, false, 10_000));
        pacer.blocked();
        assert!(pacer.window_limited(true, false, 10_000));
        assert!(pacer.window_limited(true, false, 10_000));
        assert!(!pacer.window_limited(true, false, 10_000));
        pacer.note_in_flight(6_000);
        assert!(!pacer.window_limited(false, false, 10_000));
        assert!(pacer.window_limited(false, true, 10_000));
        assert!(!pacer.window_limited(false, true, 12_000));
    }
}
