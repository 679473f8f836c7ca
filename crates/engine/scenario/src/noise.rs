//! Random variation of packets.

use crate::model::Link;
use core::fmt;
use units::param::Value;
use units::{Duration, ParseError, Rate};

/// A larger value would be a path of its own.
const MAX_NOISE: Duration = Duration::from_secs(1);
/// More packets of noise are a mistake.
const MAX_PACKETS: f64 = 1000.0;
/// Bytes of a full packet.
const FULL: u64 = 1500;

/// Random variation as it is written.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Noise {
    /// Up to so long.
    Time(Duration),
    /// Up to so many full packets' time on the slowest link.
    Packets(f64),
}

impl Noise {
    /// Largest additional delay of packets at their senders, behind these links. A packet's time on the slowest one
    /// suffices: two flows of one bottleneck then do not stay in step, in which case one would always find the queue
    /// full (S. Floyd and V. Jacobson, Internetworking: Research and Experience 3, 1992, who add as much).
    pub fn of(self, links: &[Link]) -> Duration {
        let slowest = links.iter().map(|link| link.capacity.nominal()).min();
        let full = slowest.map_or(Duration::ZERO, |rate: Rate| rate.time_for(FULL));
        match self {
            Noise::Time(span) => span,
            Noise::Packets(count) => {
                Duration::from_secs_f64(full.as_secs_f64() * count).min(MAX_NOISE)
            }
        }
    }
}

impl Value for Noise {
    const KIND: &'static str = "noise";

    fn parse(text: &str) -> Result<Self, ParseError> {
        let written = text.trim();
        let parsed = match written.strip_suffix('p') {
            Some(count) => {
                let count = count.trim_end().parse().ok();
                let count = count.filter(|count| (0.0..=MAX_PACKETS).contains(count));
                count.map(Noise::Packets)
            }
            None => {
                let span: Option<Duration> = written.parse().ok();
                span.filter(|span| *span <= MAX_NOISE).map(Noise::Time)
            }
        };
        let expected = "a time up to 1s, or packets of the slowest link such as 1p; 0s for none";
        parsed.ok_or_else(|| ParseError::new(text, expected))
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noise::Time(span) => span.fmt(f),
            Noise::Packets(count) => write!(f, "{count}p"),
        }
    }
}
