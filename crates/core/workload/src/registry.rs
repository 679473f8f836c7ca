//! The workloads by name.
//!
//! A workload describes itself in an [`Entry`] next to its code; [`Registry::builtin`] has one line
//! for each. Another crate adds its own with [`Registry::add`]. Scenarios, the help and the
//! documentation take their text on a workload from its entry.

use crate::entry::Entry;
use crate::{actors, bulk, call, conference, page_loads, udp, video};

/// All known workloads; none by default.
#[derive(Debug, Clone)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl Registry {
    /// The workloads of this crate, in the order of `analects list traffic`.
    pub fn builtin() -> Self {
        Registry {
            entries: vec![
                call::ENTRY,
                conference::ENTRY,
                page_loads::ENTRY,
                bulk::ENTRY,
                udp::ENTRY,
                actors::ENTRY,
                video::ENTRY,
            ],
        }
    }

    /// Adds a workload; one of the same name is replaced.
    pub fn add(&mut self, entry: Entry) {
        self.entries.retain(|other| other.name != entry.name);
        self.entries.push(entry);
    }

    /// The workload called `name`.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}
