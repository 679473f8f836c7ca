//! How a controller describes itself.

use crate::Controller;
use units::Refusal;
use units::param::{Settings, Spec};

/// A controller's description of itself.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name users write.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its principles, and its limits: some sentences, separated by blank lines.
    pub about: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    /// Builds one.
    pub build: fn(&Settings) -> Result<Box<dyn Controller>, Refusal>,
}
