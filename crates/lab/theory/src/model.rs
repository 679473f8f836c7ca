//! The parameters of the theory.

use core::fmt;
use units::param::Value;
use units::{Bytes, Duration, ParseError, Rate};

units::params! {
    /// One real-time flow and those that join it, in the words of the paper's table 4.
    pub struct Model {
        /// N: flows that join at once.
        flows: u32 = "12", range "1".."1000", source "the Confucius paper, figure 4: a page with 12 flows";
        /// tau: the feedback delay, one round trip.
        rtt: Duration = "40ms", range "1ms".."1s", source "the Confucius paper, section 7.1";
        /// q0: the queue delay that the real-time flow's control aims at.
        q0: Duration = "5ms", range "100us".."1s", source "chosen: what Copa holds on 20 Mbit/s";
        /// k: how strongly that control reacts.
        k: Responsiveness = "copa", source "the Confucius paper, appendix B.5";
        /// Doublings of the new flows' weight per millisecond, the inverse of `doubling`.
        lambda: f64 = "0.004", range "0".."0.1", source "the Confucius paper, section 4.2";
        /// B: bytes of each new flow.
        size: Bytes = "15kB", range "1B".."1GB", source "the Confucius paper, section 7.3";
        /// B0: bytes that each new flow sends at once; only FIFO depends on it.
        initial_window: Bytes = "14480B", range "1B".."1MB", source "RFC 6928, section 2, with 1448-byte segments";
        /// C: the link's capacity.
        rate: Rate = "20mbit", range "100kbit".."100gbit", source "the Confucius paper, figure 2";
    }
}

/// Seconds and fractions of the link's capacity: the units of the equations.
impl Model {
    pub(crate) fn n(&self) -> f64 {
        f64::from(self.flows)
    }

    pub(crate) fn tau(&self) -> f64 {
        self.rtt.as_secs_f64()
    }

    pub(crate) fn target(&self) -> f64 {
        self.q0.as_secs_f64()
    }

    /// k in s⁻².
    pub(crate) fn gain(&self) -> f64 {
        self.k.per_ms2(self.rtt) * 1e6
    }

    /// λ in s⁻¹: doublings in a second.
    pub(crate) fn doublings(&self) -> f64 {
        self.lambda * 1e3
    }

    /// λ·ln 2 in s⁻¹, so that 2^(λt) = e^(growth·t).
    pub(crate) fn growth(&self) -> f64 {
        self.doublings() * core::f64::consts::LN_2
    }

    /// N·B/C: how long the new flows would take without the real-time flow.
    pub(crate) fn work(&self) -> f64 {
        self.n() * self.seconds(self.size)
    }

    /// M = N·B0/(q0·C): bytes of the new flows' first windows for each queued one of the real-time
    /// flow.
    pub(crate) fn burst(&self) -> f64 {
        self.n() * self.seconds(self.initial_window) / self.target()
    }

    /// How long the link takes for `bytes`.
    pub(crate) fn seconds(&self, bytes: Bytes) -> f64 {
        8.0 * bytes.get() as f64 / self.rate.as_bits() as f64
    }
}

/// k of equation (4): by how much the sending rate changes in a time, for a delay off its target.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Responsiveness {
    /// A control that probes once in 5 round trips.
    Copa,
    /// A control that probes once in 8 round trips.
    Bbr,
    /// In ms⁻².
    PerMs2(f64),
}

impl Responsiveness {
    const SMALLEST: f64 = 1e-9;
    const LARGEST: f64 = 0.1;

    /// k in ms⁻². Equation (33): near its target the rate oscillates with period 2π/√k, which is
    /// the control's probing period.
    pub fn per_ms2(self, rtt: Duration) -> f64 {
        let periods = match self {
            Responsiveness::Copa => 5.0,
            Responsiveness::Bbr => 8.0,
            Responsiveness::PerMs2(k) => return k,
        };
        let omega = core::f64::consts::TAU / (periods * rtt.as_millis_f64());
        omega * omega
    }
}

impl fmt::Display for Responsiveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Responsiveness::Copa => f.write_str("copa"),
            Responsiveness::Bbr => f.write_str("bbr"),
            Responsiveness::PerMs2(k) => k.fmt(f),
        }
    }
}

impl Value for Responsiveness {
    const KIND: &'static str = "copa, bbr or a number";

    fn parse(text: &str) -> Result<Self, ParseError> {
        let expected = "copa, bbr, or k in 1/ms² from 0.000000001 to 0.1";
        match text.trim() {
            "copa" => Ok(Responsiveness::Copa),
            "bbr" => Ok(Responsiveness::Bbr),
            number => f64::parse(number)
                .ok()
                .filter(|k| (Self::SMALLEST..=Self::LARGEST).contains(k))
                .map(Responsiveness::PerMs2)
                .ok_or_else(|| ParseError::new(text, expected)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appendix_b5_gives_two_figures_for_a_round_trip_of_40_ms() {
        let rtt = Duration::from_millis(40);
        // (2π / 200 ms)² = 0.000987, (2π / 320 ms)² = 0.000386.
        assert_eq!(format!("{:.3}", Responsiveness::Copa.per_ms2(rtt)), "0.001");
        assert_eq!(format!("{:.4}", Responsiveness::Bbr.per_ms2(rtt)), "0.0004");
    }

    #[test]
    fn settings_are_checked() {
        let set = |name: &str, value: &str| Model::parse(&[(name.into(), value.into())]);
        assert_eq!(set("k", "0.001").unwrap().k, Responsiveness::PerMs2(0.001));
        for (name, value) in [
            ("k", "cubic"),
            ("k", "0"),
            ("k", "inf"),
            ("flows", "0"),
            ("lambda", "-1"),
            ("q0", "0"),
        ] {
            assert!(set(name, value).is_err(), "{name}={value}");
        }
    }

    #[test]
    fn times_of_the_defaults() {
        let model = Model::default();
        // 12 · 15 kB = 1.44 Mbit at 20 Mbit/s; 12 · 14480 B against 12.5 kB in 5 ms.
        assert!((model.work() - 0.072).abs() < 1e-12);
        assert!((model.burst() - 13.9008).abs() < 1e-9);
    }
}
