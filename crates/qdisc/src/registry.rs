//! The disciplines by name.
//!
//! A discipline describes itself in a [`Discipline`] beside its code; [`Registry::builtin`] has one
//! line for each. Another crate adds its own with [`Registry::add`].

use crate::{
    Qdisc, cake, cbq, codel, confucius, dualpi2, fifo, fq, fq_codel, fq_fifo, fq_pie, hhf, pias,
    pie, prio, red,
};
use units::Rate;
use units::param::{ParamError, Settings, Spec};

/// What a discipline is told about the place where it is put.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// The link's rate, where it is constant and known.
    pub rate: Option<Rate>,
    /// The buffer that the link's owner gave; the default of a discipline's `limit`.
    pub limit: Option<Limit>,
    /// Seed for disciplines that use chance.
    pub seed: u64,
}

/// A buffer's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
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

/// Builds a discipline from what the user set and where it is put.
pub type Build<P> = fn(&Settings, &Env) -> Result<Box<dyn Qdisc<P>>, ParamError>;

/// A discipline's description of itself.
#[derive(Debug, Clone)]
pub struct Discipline<P> {
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
    /// Builds one.
    pub build: Build<P>,
}

/// All known disciplines.
#[derive(Debug, Clone)]
pub struct Registry<P> {
    entries: Vec<Discipline<P>>,
}

impl<P: Send + 'static> Registry<P> {
    /// The disciplines of this crate, in the order of `analects list disciplines`.
    pub fn builtin() -> Self {
        Registry {
            entries: vec![
                fifo::pfifo(),
                fifo::bfifo(),
                codel::codel(),
                fq_fifo::fq_fifo(),
                fq_codel::fq_codel(),
                cake::cake(),
                red::red(),
                pie::pie(),
                fq_pie::fq_pie(),
                dualpi2::dualpi2(),
                prio::prio(),
                cbq::cbq(),
                pias::pias(),
                fq::fq(),
                hhf::hhf(),
                confucius::confucius(),
            ],
        }
    }

    /// Adds a discipline; one of the same name is replaced.
    pub fn add(&mut self, discipline: Discipline<P>) {
        self.entries.retain(|entry| entry.name != discipline.name);
        self.entries.push(discipline);
    }

    /// The discipline called `name`.
    pub fn get(&self, name: &str) -> Option<&Discipline<P>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Discipline<P>> {
        self.entries.iter()
    }
}
