//! The rates that a picture is encoded in at once: a camera's layers, a video's representations.

use core::fmt;
use units::param::Value;
use units::{ParseError, Rate};

/// Most of them: cameras have three (libwebrtc, `kMaxSimulcastStreams`), videos about twenty.
const MOST: usize = 24;
/// The range of a layer's rate.
const LEAST_RATE: Rate = Rate::from_bits(1_000);
const MOST_RATE: Rate = Rate::from_bits(1_000_000_000);

/// Rates of layers, increasing; written `150kbit/500kbit`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Layers(Vec<Rate>);

impl Layers {
    /// The rates, one to 24 of them, increasing.
    pub fn rates(&self) -> &[Rate] {
        &self.0
    }
}

impl Value for Layers {
    const KIND: &'static str = "rates";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let parts = text.split('/').map(|part| part.trim().parse());
        let rates: Option<Vec<Rate>> = parts.map(Result::ok).collect();
        let fits = |rates: &Vec<Rate>| {
            rates.len() <= MOST
                && rates.is_sorted_by(|a, b| a < b)
                && rates.iter().all(|r| (LEAST_RATE..=MOST_RATE).contains(r))
        };
        let expected = "one to 24 increasing rates up to 1gbit, such as 150kbit/500kbit";
        let rates = rates.filter(fits).map(Layers);
        rates.ok_or_else(|| ParseError::new(text, expected))
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&rates.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_written_again() {
        let text = "150kbit/500kbit/2.5mbit";
        assert_eq!(
            Layers::parse(text).unwrap().rates(),
            [150, 500, 2_500].map(|kbit| Rate::from_bits(kbit * 1_000))
        );
        assert_eq!(
            Layers::parse(text).unwrap().to_string(),
            "150kbit/500kbit/2.5mbit"
        );
        for refused in ["", "1mbit/500kbit", "1mbit/1mbit", "0kbit", "2gbit", "a/b"] {
            assert!(Layers::parse(refused).is_err(), "{refused}");
        }
    }
}
