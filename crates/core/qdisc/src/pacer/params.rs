//! Parameters of `pacer`.

use core::fmt;
use units::param::Value;
use units::{Duration, ParseError, Rate};

/// The rate of web traffic: set by the user, or found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Pacing {
    /// As set.
    Fixed(Rate),
    /// From an estimate of the bottleneck's capacity (`estimate.rs`).
    Adaptive,
}

/// The range of rates: a packet leaves within 1.5 s at the least.
const RATES: (Rate, Rate) = (Rate::from_bits(8_000), Rate::from_bits(1_000_000_000_000));

impl Value for Pacing {
    const KIND: &'static str = "rate or adaptive";
    fn parse(text: &str) -> Result<Self, ParseError> {
        if text.trim() == "adaptive" {
            return Ok(Pacing::Adaptive);
        }
        let rate = text.parse().ok();
        rate.filter(|rate| (RATES.0..=RATES.1).contains(rate))
            .map(Pacing::Fixed)
            .ok_or_else(|| ParseError::new(text, "adaptive, or a rate from 8kbit to 1000gbit"))
    }
}

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pacing::Fixed(rate) => rate.fmt(f),
            Pacing::Adaptive => f.write_str("adaptive"),
        }
    }
}

units::params! {
    /// Parameters of `pacer`.
    pub struct PacerParams {
        /// Rate at which web traffic passes: a rate, or `adaptive`, which estimates the capacity of
        /// the bottleneck.
        rate: Pacing = "20mbit", source "the poster, section 3.2: the least rate that page loads hardly notice on 50 Mbit/s";
        /// Web traffic that would wait longer than this is dropped: the queue holds what the rate
        /// carries in this time.
        queue: Duration = "50ms", range "1ms".."10s", source "the poster, section 2: the product of rate and a round trip of 50 ms";
        /// Let flows pass that behave like calls, although they come from the ports of the web.
        calls: bool = "yes", source "this project; decision 0074";
        /// With rate = adaptive: time in which the weight of sustained web traffic doubles.
        doubling: Duration = "250ms", range "1ms".."60s", source "the Confucius paper, section 4.2";
        /// With rate = adaptive: what of the estimated capacity stays free for a call, but no more than a
        /// fifth of it.
        reserve: Rate = "4mbit", range "1bit".."1gbit", source "what meetings use for 1080p, as the preset webrtc of a call";
        /// Number of slots that flows are hashed into. Fixed once there is a queue.
        flows: u32 = "1024", range "1".."65536", source "RFC 8290, 5.2.3: fq_codel's default";
    }
}
