//! Why a scenario was refused.

use std::fmt;
use std::ops::Range;

/// A refused scenario: where, what was found, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file.
    pub file: String,
    /// Its text; empty if it is not text.
    pub text: String,
    /// The place in the text.
    pub span: Option<Range<usize>>,
    /// The option on the command line that is at fault, instead of a place in the text.
    pub set: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl ScenarioError {
    /// Line and column of the place, from 1.
    pub fn line(&self) -> Option<(usize, usize)> {
        let start = self.span.as_ref()?.start.min(self.text.len());
        let before = self.text.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        Some((line, before[line_start..].chars().count() + 1))
    }
}

/// `file:line:column: what is wrong; what to write instead`.
impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.set, self.line()) {
            (Some(option), _) => write!(f, "{option}: ")?,
            (None, Some((line, column))) => write!(f, "{}:{line}:{column}: ", self.file)?,
            (None, None) => write!(f, "{}: ", self.file)?,
        }
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for ScenarioError {}
