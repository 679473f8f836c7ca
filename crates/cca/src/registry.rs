//! The controls by name.

use crate::{Control, bbr, copa, cubic, gcc, illinois, prague, reno, vegas, yeah};
use units::Rate;
use units::param::{ParamError, Settings, Spec};

/// What a control is told about the sender that it serves.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Largest payload of a packet, bytes.
    pub mss: u64,
    /// Initial window, bytes (RFC 6928: ten segments).
    pub initial_window: u64,
    /// The rate that a media sender starts at, for rate-based controls.
    pub initial_rate: Rate,
    /// The least and the most that a media sender's encoder can produce.
    pub media_bounds: (Rate, Rate),
    /// Whether the transport spreads a window-based control's packets over the round trip.
    pub paced: bool,
    /// Seed for controls that use chance.
    pub seed: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            mss: 1448,
            initial_window: 14_480,
            initial_rate: Rate::from_bits(300_000),
            media_bounds: (Rate::from_bits(150_000), Rate::from_bits(u64::MAX)),
            paced: false,
            seed: 1,
        }
    }
}

/// Builds a control from what the user set and whom it serves.
pub type Build = fn(&Settings, &Setup) -> Result<Box<dyn Control>, ParamError>;

/// A control's description of itself.
#[derive(Debug, Clone)]
pub struct ControlEntry {
    /// The name users write.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its principles and what it is not for: some sentences, separated by blank lines.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    /// Whether it can serve a media session only, because it needs arrival times.
    pub media_only: bool,
    /// Builds one.
    pub build: Build,
}

/// All known controls.
#[derive(Debug, Clone)]
pub struct Registry {
    entries: Vec<ControlEntry>,
}

impl Registry {
    /// The controls of this crate, in the order of `analects list controls`.
    pub fn builtin() -> Self {
        Registry {
            entries: vec![
                reno::ENTRY,
                cubic::ENTRY,
                vegas::ENTRY,
                illinois::ENTRY,
                yeah::ENTRY,
                bbr::ENTRY,
                prague::ENTRY,
                copa::ENTRY,
                gcc::ENTRY,
            ],
        }
    }

    /// Adds a control; one of the same name is replaced.
    pub fn add(&mut self, control: ControlEntry) {
        self.entries.retain(|entry| entry.name != control.name);
        self.entries.push(control);
    }

    /// The control called `name`.
    pub fn get(&self, name: &str) -> Option<&ControlEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &ControlEntry> {
        self.entries.iter()
    }
}
