//! The controllers by name.

use crate::{Controller, Entry, cake_autorate, constant, drain};
use units::{Choice, Refusal};

/// All known controllers.
#[derive(Debug, Clone)]
pub struct Registry(Vec<Entry>);

impl Registry {
    /// The controllers of this crate.
    pub fn builtin() -> Self {
        Registry(vec![drain::ENTRY, cake_autorate::ENTRY, constant::ENTRY])
    }

    /// Adds a controller; one of the same name is replaced.
    pub fn add(&mut self, entry: Entry) {
        self.0.retain(|other| other.name != entry.name);
        self.0.push(entry);
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }

    /// Builds the chosen controller.
    ///
    /// # Errors
    /// If its name is not known, it is given children, or a setting is refused.
    pub fn build(&self, choice: &Choice) -> Result<Box<dyn Controller>, Refusal> {
        let Some(entry) = self.iter().find(|entry| entry.name == choice.name) else {
            let names = self.iter().map(|entry| entry.name);
            return Err(Refusal::unknown("controller", &choice.name, names));
        };
        if !choice.children.is_empty() {
            let refusal = Refusal::new(format!("{} contains no other", entry.name));
            return Err(refusal.with_help(format!("write {},key=value", entry.name)));
        }
        (entry.build)(&choice.settings).map_err(|refusal| refusal.within(entry.name))
    }
}
