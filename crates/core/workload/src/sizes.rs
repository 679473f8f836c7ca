//! How much is sent: a size, or a distribution of sizes.

use core::fmt;
use units::param::Value;
use units::random::Stream;
use units::{Bytes, ParseError};

/// Sizes of transfers.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Sizes {
    /// Always the same.
    Fixed(Bytes),
    /// Exponential with this mean.
    Exponential(Bytes),
    /// Bounded Pareto: P(X > x) falls with the power `shape` between a least and a greatest size.
    Pareto {
        /// The tail's index, above 0.
        shape: f64,
        /// The least size.
        least: Bytes,
        /// The greatest size.
        most: Bytes,
    },
}

/// More than this is a mistake: a petabyte.
const MOST: Bytes = Bytes::new(1_000_000_000_000_000);
const EXPECTED: &str = "a size such as 300KiB, exponential:1MB, or pareto:1.2:300KiB:1GiB (index, \
    least, greatest)";

impl Sizes {
    /// A size, in bytes; at least 1.
    pub fn draw(&self, chance: &mut Stream) -> u64 {
        let drawn = match *self {
            Sizes::Fixed(size) => size.get() as f64,
            Sizes::Exponential(mean) => chance.exponential(mean.get() as f64),
            Sizes::Pareto { shape, least, most } => {
                // By inversion of F(x) = (1 - (l/x)^a) / (1 - (l/m)^a).
                let (least, most) = (least.get() as f64, most.get() as f64);
                let tail = libm::pow(least / most, shape);
                least * libm::pow(1.0 - chance.unit() * (1.0 - tail), -1.0 / shape)
            }
        };
        (drawn as u64).clamp(1, MOST.get())
    }

    /// The mean, in bytes.
    pub fn mean(&self) -> f64 {
        match *self {
            Sizes::Fixed(size) | Sizes::Exponential(size) => size.get() as f64,
            Sizes::Pareto { shape, least, most } => {
                let (least, most) = (least.get() as f64, most.get() as f64);
                let tail = libm::pow(least / most, shape);
                let sum = if shape == 1.0 {
                    least * libm::log(most / least)
                } else {
                    let power = |x: f64| libm::pow(x, 1.0 - shape);
                    let scale = libm::pow(least, shape) * shape / (1.0 - shape);
                    scale * (power(most) - power(least))
                };
                sum / (1.0 - tail)
            }
        }
    }
}

fn size(text: &str) -> Option<Bytes> {
    let size = Bytes::parse(text).ok()?;
    (1..=MOST.get()).contains(&size.get()).then_some(size)
}

impl Value for Sizes {
    const KIND: &'static str = "sizes";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let parts: Vec<&str> = text.trim().split(':').map(str::trim).collect();
        let parsed = match parts[..] {
            [fixed] => size(fixed).map(Sizes::Fixed),
            ["exponential", mean] => size(mean).map(Sizes::Exponential),
            ["pareto", shape, least, most] => {
                let shape = shape.parse().ok();
                let shape = shape.filter(|shape: &f64| (0.01..=100.0).contains(shape));
                let bounds = size(least).zip(size(most)).filter(|(l, m)| l < m);
                shape
                    .zip(bounds)
                    .map(|(shape, (least, most))| Sizes::Pareto { shape, least, most })
            }
            _ => None,
        };
        parsed.ok_or_else(|| ParseError::new(text, EXPECTED))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizes::Fixed(size) => size.fmt(f),
            Sizes::Exponential(mean) => write!(f, "exponential:{mean}"),
            Sizes::Pareto { shape, least, most } => write!(f, "pareto:{shape}:{least}:{most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_written_again() {
        for text in ["300kB", "exponential:1MB", "pareto:1.2:300kB:1GB"] {
            assert_eq!(Sizes::parse(text).unwrap().to_string(), text);
        }
        for refused in [
            "",
            "0B",
            "pareto:0:1B:2B",
            "pareto:1.2:2B:1B",
            "pareto:1.2",
            "normal:1:2",
        ] {
            assert!(Sizes::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn means_are_those_of_the_formulas() {
        let mean_of = |text: &str| {
            let sizes = Sizes::parse(text).unwrap();
            let mut chance = Stream::new(1, text);
            let sum: f64 = (0..200_000).map(|_| sizes.draw(&mut chance) as f64).sum();
            (sizes.mean(), sum / 200_000.0)
        };
        for text in [
            "5kB",
            "exponential:1MB",
            "pareto:1.9:300KiB:300MiB",
            "pareto:1:1kB:1MB",
        ] {
            let (formula, drawn) = mean_of(text);
            assert!(
                (drawn / formula - 1.0).abs() < 0.02,
                "{text}: {formula} {drawn}"
            );
        }
        // By hand: a = 2, from 1 to 2: (1 / (1 - 1/4)) * 2 * (1 - 1/2) = 4/3.
        let sizes = Sizes::Pareto {
            shape: 2.0,
            least: Bytes::new(1000),
            most: Bytes::new(2000),
        };
        assert!((sizes.mean() - 4000.0 / 3.0).abs() < 1e-9);
        // Of the thesis: 1.2, 300 KiB to 1 GiB.
        let thesis = Sizes::parse("pareto:1.2:300KiB:1GiB").unwrap().mean();
        assert!((1.4e6..1.6e6).contains(&thesis), "{thesis}");
    }
}
