//! Where an experiment's set-up is not the paper's, and what that leaves of a verdict.
//!
//! A sentence is judged by the set-up that it is about. Where the runs have another one, it is *not
//! tested*; where the paper does not say what it had, "does not hold" cannot be said of it.

use serde::Deserialize;

/// A setting that is not the paper's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// What differs.
    pub what: String,
    /// What would test the paper's, and what that costs.
    pub test: String,
}

impl Difference {
    /// Both in words.
    pub(crate) fn told(&self) -> String {
        format!("{}. {} would test it", self.what, self.test)
    }
}

/// The departures of an experiment's runs.
#[derive(Debug, Clone, Default)]
pub struct Departures {
    /// What a quick run leaves out, which caps verdicts on our own questions as well.
    pub(crate) shortened: Option<String>,
    /// What differs from the paper.
    pub(crate) differs: Vec<String>,
    /// What the paper does not state.
    pub(crate) unstated: Vec<String>,
}

impl Departures {
    /// What the paper does not state, in sentences.
    pub(crate) fn silences(&self) -> impl Iterator<Item = String> {
        let unstated = self.unstated.iter();
        unstated.map(|what| format!("The paper does not state {what}"))
    }

    /// All of them, in sentences.
    pub fn told(&self) -> Vec<String> {
        let known = self.shortened.iter().chain(&self.differs).cloned();
        known.chain(self.silences()).collect()
    }
}
