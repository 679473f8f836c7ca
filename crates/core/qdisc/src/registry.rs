//! The disciplines by name.
//!
//! A discipline describes itself in a [`Discipline`] next to its code; [`Registry::builtin`] has
//! one line for each. Another crate adds its own with [`Registry::add`].

use crate::Qdisc;
use units::choice::{Choice, Slot, filled};
use units::param::{Settings, Spec};
use units::{Rate, Refusal};

/// The place where a discipline is put, as far as it needs to know it.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// The link's rate, if it is constant and known.
    pub rate: Option<Rate>,
    /// The buffer that the link's owner gave; the default of a discipline's `limit`.
    pub limit: Option<Limit>,
    /// Seed for disciplines that use chance.
    pub seed: u64,
    /// Where the home's computers are, if it is known; the default of a discipline's `hosts`
    /// or `flowmode`.
    pub home: Option<Home>,
}

/// The end of a link at which the home's computers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// They send its packets: an uplink.
    Senders,
    /// They receive its packets: a downlink.
    Receivers,
}

/// A buffer's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// In packets.
    Packets(u32),
    /// In bytes.
    Bytes(u64),
}

/// A full-sized packet, for turning one kind of limit into the other.
const FULL_PACKET: u64 = 1500;

impl Limit {
    /// The limit in packets, at least one; bytes count as full-sized packets.
    pub fn packets(self) -> u32 {
        match self {
            Limit::Packets(packets) => packets,
            Limit::Bytes(bytes) => (bytes / FULL_PACKET).clamp(1, u64::from(u32::MAX)) as u32,
        }
    }

    /// The limit in bytes; packets count as full-sized.
    pub fn bytes(self) -> u64 {
        match self {
            Limit::Packets(packets) => u64::from(packets) * FULL_PACKET,
            Limit::Bytes(bytes) => bytes,
        }
    }
}

/// The parts from which a discipline is built.
pub struct Parts<'a, P> {
    /// The user's settings.
    pub settings: &'a Settings,
    /// The place where it is put.
    pub env: &'a Env,
    children: Vec<Choice>,
    registry: &'a Registry<P>,
    level: usize,
}

impl<P: Send + 'static> Parts<'_, P> {
    /// Builds the child of the slot with this number, for the same place. Each call builds another
    /// one.
    ///
    /// # Errors
    /// If the child is not known or refuses a setting.
    ///
    /// # Panics
    /// If the discipline declares no such slot.
    pub fn child(&self, slot: usize) -> Result<Box<dyn Qdisc<P>>, Refusal> {
        self.child_in(slot, self.env)
    }

    /// The same, for another place than that of the discipline itself.
    ///
    /// # Errors
    /// If the child is not known or refuses a setting.
    ///
    /// # Panics
    /// If the discipline declares no such slot.
    pub fn child_in(&self, slot: usize, env: &Env) -> Result<Box<dyn Qdisc<P>>, Refusal> {
        let child = &self.children[slot];
        self.registry.build_at(child, env, self.level + 1)
    }
}

/// Builds a discipline.
pub type Build<P> = fn(&Parts<'_, P>) -> Result<Box<dyn Qdisc<P>>, Refusal>;

/// A discipline's description of itself.
#[derive(Debug, Clone)]
pub struct Discipline<P> {
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
    /// The disciplines it contains; none for most.
    pub children: &'static [Slot],
    /// Builds one.
    pub build: Build<P>,
}

/// All known disciplines.
#[derive(Debug, Clone)]
pub struct Registry<P> {
    pub(crate) entries: Vec<Discipline<P>>,
}

impl<P: Send + 'static> Registry<P> {
    /// Adds a discipline; one of the same name is replaced.
    pub fn add(&mut self, discipline: Discipline<P>) {
        self.entries.retain(|entry| entry.name != discipline.name);
        self.entries.push(discipline);
    }

    /// The discipline called `name`.
    pub fn get(&self, name: &str) -> Option<&Discipline<P>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Builds the chosen discipline and its children.
    ///
    /// # Errors
    /// If a name is unknown, a setting is refused, or a discipline has more children than
    /// it can. The message names the disciplines around the place.
    pub fn build(&self, choice: &Choice, env: &Env) -> Result<Box<dyn Qdisc<P>>, Refusal> {
        self.build_at(choice, env, 1)
    }

    fn build_at(
        &self,
        choice: &Choice,
        env: &Env,
        level: usize,
    ) -> Result<Box<dyn Qdisc<P>>, Refusal> {
        let Some(entry) = self.get(&choice.name) else {
            let names = self.iter().map(|entry| entry.name);
            return Err(Refusal::unknown("discipline", &choice.name, names));
        };
        let parts = Parts {
            settings: &choice.settings,
            env,
            children: filled(choice, entry.children, level)?,
            registry: self,
            level,
        };
        (entry.build)(&parts).map_err(|refusal| refusal.within(entry.name))
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Discipline<P>> {
        self.entries.iter()
    }
}
