//! Whether rules still stand that were made, and making them again where another program took them away: a
//! firewall that reloads flushes all there are.

use super::rules::{FAMILIES, Now, Tool, succeeded};
use super::{Diverting, RulesJournal, VERSION, make};
use crate::look::look;
use crate::{Command, Error, Runner, Store};

/// Rules that are looked after.
#[derive(Debug)]
pub struct Kept {
    diverting: Diverting,
    /// What the host lists of them.
    seen: Vec<String>,
}

impl Diverting {
    /// To be looked after, now that they have been made.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn kept(self, runner: &mut dyn Runner) -> Result<Kept, Error> {
        let seen = self.seen(runner)?;
        Ok(Kept {
            diverting: self,
            seen,
        })
    }

    /// What the host lists of the rules: all that has our name.
    fn seen(&self, runner: &mut dyn Runner) -> Result<Vec<String>, Error> {
        let name = self.diversion.purpose().name();
        let mut lines = Vec::new();
        if self.tool == Tool::Nft {
            let command = Command::nft(format!("list table inet {name}"));
            let listed = look(runner, &command)?;
            if !listed.success && !listed.stderr.contains("No such file or directory") {
                return Err(Error::command(&command, &listed.stderr));
            }
            lines.extend(listed.stdout.lines().map(str::to_owned));
            return Ok(lines);
        }
        for family in FAMILIES {
            let listed = succeeded(runner, &family.mangle("-S"))?;
            let ours = listed.lines().filter(|line| {
                let mut words = line.split_whitespace();
                words.any(|word| word == name)
            });
            lines.extend(ours.map(|line| format!("{family:?} {line}")));
        }
        Ok(lines)
    }
}

impl Kept {
    /// Whether the kernel tells of changes of such rules ([`Changes::of_rules`](crate::Changes::of_rules)).
    pub fn are_told(&self) -> bool {
        self.diverting.in_nftables()
    }

    /// Whether they are as they were made.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn stand(&self, runner: &mut dyn Runner) -> Result<bool, Error> {
        Ok(self.diverting.seen(runner)? == self.seen)
    }

    /// Takes away what is left of them, and makes all again.
    ///
    /// # Errors
    /// If a command fails, or the journal cannot be written.
    pub fn make_again(&mut self, runner: &mut dyn Runner, store: &Store) -> Result<(), Error> {
        let diverting = &self.diverting;
        let purpose = diverting.diversion.purpose();
        let journal = RulesJournal::load(store, purpose)?.unwrap_or_else(|| RulesJournal {
            version: VERSION,
            diversion: diverting.diversion.clone(),
            tool: diverting.tool,
            rules: diverting.rules.clone(),
        });
        store.write(purpose.word(), &journal)?;
        for command in journal.undo(&Now::look(runner, diverting.tool, purpose)?) {
            // What fails to go, since it went meanwhile, is found when it is made.
            look(runner, &command)?;
        }
        for rule in &diverting.rules {
            make(runner, &diverting.diversion.command(rule))?;
        }
        self.seen = diverting.seen(runner)?;
        Ok(())
    }
}
