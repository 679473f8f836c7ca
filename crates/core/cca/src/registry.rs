//! The controls by name.

use crate::Control;
use units::choice::{Choice, Slot, filled};
use units::param::{Settings, Spec};
use units::{Rate, Refusal};

/// The properties of the sender that a control serves.
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

/// The parts from which a control is built.
pub struct Parts<'a> {
    /// The user's settings.
    pub settings: &'a Settings,
    /// The sender that it serves.
    pub setup: &'a Setup,
    children: Vec<Choice>,
    registry: &'a Registry,
    level: usize,
}

impl Parts<'_> {
    /// Builds the child of the slot with this number, for the same sender. Each call builds another
    /// one.
    ///
    /// # Errors
    /// If the child is not known or refuses a setting.
    ///
    /// # Panics
    /// If the control declares no such slot.
    pub fn child(&self, slot: usize) -> Result<Box<dyn Control>, Refusal> {
        let child = &self.children[slot];
        self.registry.build_at(child, self.setup, self.level + 1)
    }
}

/// Builds a control.
pub type Build = fn(&Parts<'_>) -> Result<Box<dyn Control>, Refusal>;

/// A control's description of itself.
#[derive(Debug, Clone)]
pub struct ControlEntry {
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
    /// The controls it contains; none for most.
    pub children: &'static [Slot],
    /// Builds one.
    pub build: Build,
}

/// All known controls.
#[derive(Debug, Clone)]
pub struct Registry {
    pub(crate) entries: Vec<ControlEntry>,
}

impl Registry {
    /// Adds a control; one of the same name is replaced.
    pub fn add(&mut self, control: ControlEntry) {
        self.entries.retain(|entry| entry.name != control.name);
        self.entries.push(control);
    }

    /// The control called `name`.
    pub fn get(&self, name: &str) -> Option<&ControlEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Builds the chosen control and its children.
    ///
    /// # Errors
    /// If a name is unknown, a setting is refused, or a control has more children than it
    /// can. The message names the controls around the place.
    pub fn build(&self, choice: &Choice, setup: &Setup) -> Result<Box<dyn Control>, Refusal> {
        self.build_at(choice, setup, 1)
    }

    fn build_at(
        &self,
        choice: &Choice,
        setup: &Setup,
        level: usize,
    ) -> Result<Box<dyn Control>, Refusal> {
        let Some(entry) = self.get(&choice.name) else {
            let names = self.iter().map(|entry| entry.name);
            return Err(Refusal::unknown("control", &choice.name, names));
        };
        let parts = Parts {
            settings: &choice.settings,
            setup,
            children: filled(choice, entry.children, level)?,
            registry: self,
            level,
        };
        (entry.build)(&parts).map_err(|refusal| refusal.within(entry.name))
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &ControlEntry> {
        self.entries.iter()
    }
}
