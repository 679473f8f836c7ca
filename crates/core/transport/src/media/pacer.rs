//! When the next packet may leave, and at what rate.

use cca::{Control, Probe};
use units::{Duration, Instant, Rate};

/// Bytes sent ahead of the rate are forgotten beyond this (libwebrtc `kMaxDebtInTime`).
const MOST_DEBT: Duration = Duration::from_millis(500);
/// A burst is no longer than this, bytes (libwebrtc `kMaxBurstSize`).
const MOST_BURST: u64 = 63_000;

/// Lets packets leave in bursts: each adds to a debt, which time pays off at the rate. While the
/// debt is below a burst the next packet may leave at once; a debt beyond has to be paid off
/// whole. With a burst of zero packets are spaced one by one. Time that passes unused gives no
/// credit (libwebrtc's `PacingController`).
#[derive(Debug)]
pub struct Pacer {
    rate: Rate,
    burst: Duration,
    padding: Rate,
    /// Bytes sent ahead of the rate and of the padding's, as of `last`.
    debt: u64,
    padding_debt: u64,
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
            burst: Duration::ZERO,
            padding: Rate::default(),
            debt: 0,
            padding_debt: 0,
            last: Instant::ZERO,
            last_len: 0,
            probe: None,
            most: [0; 2],
            held: [false; 2],
        }
    }
}

impl Pacer {
    /// The rate outside of probes.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Follows the control's other requests: its bursts, and the rate that padding keeps up, which
    /// is `filled` at least.
    pub fn follow(&mut self, control: &dyn Control, filled: Rate) {
        self.burst = control.pacing_burst();
        self.padding = control.padding_rate().max(filled);
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
        if let Some(burst) = self.probe {
            return self.last + burst.probe.rate.time_for(u64::from(self.last_len));
        }
        let drained = self.rate.time_for(self.debt);
        let burst = self.burst.min(self.rate.time_for(MOST_BURST));
        self.last
            + if drained < burst {
                Duration::ZERO
            } else {
                drained
            }
    }

    /// When padding may leave, if no other packets do: once all packets sent have taken their time.
    pub fn pads_at(&self) -> Instant {
        if self.padding == Rate::default() {
            return Instant::NEVER;
        }
        let paid = self.padding.time_for(self.padding_debt);
        self.last + paid.max(self.rate.time_for(self.debt))
    }

    /// A packet leaves; returns the probe that it belongs to. Audio, which waits for no turn, defers
    /// the next packet of a probe as it comes on top of the last one.
    pub fn sent(&mut self, now: Instant, len: u32) -> Option<Probe> {
        let passed = now.since(self.last);
        let unpaid = self.probe.map_or(0, |burst| {
            burst.probe.rate.bytes_in(self.ready_at().since(now)) as u32
        });
        let owed = |debt: u64, rate: Rate| {
            let debt = debt.saturating_sub(rate.bytes_in(passed)) + u64::from(len);
            debt.min(rate.bytes_in(MOST_DEBT))
        };
        self.debt = owed(self.debt, self.rate);
        self.padding_debt = owed(self.padding_debt, self.padding);
        (self.last, self.last_len) = (now, len + unpaid);
        let burst = self.probe.as_mut()?;
        let probe = burst.probe;
        burst.bytes_left = burst.bytes_left.saturating_sub(u64::from(len));
        burst.packets_left = burst.packets_left.saturating_sub(1);
        if burst.bytes_left == 0 && burst.packets_left == 0 {
            self.probe = None;
        }
        Some(probe)
    }

    /// The number of bytes in flight.
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
        // The probe went ahead: 3000 B; 2 ms at 1 Mbit/s have paid 250 of them.
        assert_eq!(pacer.ready_at(), us(2_000 + 22_000));
        assert_eq!(pacer.sent(us(24_000), 1_000), None);
    }

    #[test]
    fn a_burst_leaves_at_once_and_is_then_paid_off() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Rate::from_bits(8_000_000));
        pacer.burst = Duration::from_millis(4);
        // 4 ms are 4000 B: the packet that goes beyond still leaves.
        for _ in 0..3 {
            assert_eq!(pacer.ready_at(), us(0));
            pacer.sent(us(0), 1_500);
        }
        assert_eq!(pacer.ready_at(), us(4_500));
        // 1 ms later than it could: no credit.
        pacer.sent(us(5_500), 1_500);
        pacer.sent(us(5_500), 1_500);
        assert_eq!(pacer.ready_at(), us(5_500));
        pacer.sent(us(5_500), 1_500);
        assert_eq!(pacer.ready_at(), us(10_000));
        // At 10 Gbit/s 4 ms would be 5 MB.
        pacer.set_rate(Rate::from_bits(10_000_000_000));
        pacer.sent(us(100_000), 64_000);
        assert_eq!(pacer.ready_at(), us(100_051) + Duration::from_nanos(200));
    }

    #[test]
    fn padding_keeps_its_rate_up() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Rate::from_bits(8_000_000));
        assert_eq!(pacer.pads_at(), Instant::NEVER);
        pacer.padding = Rate::from_bits(4_000_000);
        pacer.sent(us(0), 1_000);
        assert_eq!(pacer.pads_at(), us(2_000));
        // Media at the same rate leaves no room.
        pacer.sent(us(1_000), 1_000);
        assert_eq!(pacer.pads_at(), us(4_000));
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
