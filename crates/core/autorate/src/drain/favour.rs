//! The one choice.

use core::fmt;
use units::ParseError;
use units::param::Value;

/// What to spare, where a rate cannot serve both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Favour {
    /// Calls and games.
    Calls,
    /// Neither.
    Both,
    /// Downloads and pages.
    Downloads,
}

impl Favour {
    const ALL: [Favour; 3] = [Favour::Calls, Favour::Both, Favour::Downloads];

    const fn name(self) -> &'static str {
        match self {
            Favour::Calls => "calls",
            Favour::Both => "both",
            Favour::Downloads => "downloads",
        }
    }

    /// The share of the time for which the line may carry less than the rate.
    pub const fn below(self) -> f64 {
        match self {
            Favour::Calls => 0.10,
            Favour::Both => 0.25,
            Favour::Downloads => 0.50,
        }
    }

    /// How much time under load is remembered, in s: rare dips need more.
    pub const fn remembered(self) -> f64 {
        match self {
            Favour::Calls => 60.0,
            Favour::Both | Favour::Downloads => 20.0,
        }
    }
}

impl fmt::Display for Favour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Value for Favour {
    const KIND: &'static str = "favour";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let found = Favour::ALL.into_iter().find(|f| f.name() == text.trim());
        found.ok_or_else(|| ParseError::new(text, "calls, both or downloads"))
    }
}
