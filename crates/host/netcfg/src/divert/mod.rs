//! Packets that this host receives or forwards, on their way through a program: rules of netfilter that
//! send them to queues, and their undoing.
//!
//! Packets pass when no program listens at a queue (`bypass`), so that rules which outlive one do no
//! harm. They are taken away at its end, or at the next start: a journal names them, as for devices.

mod kept;
mod rules;

pub use kept::Kept;
pub use rules::{Diversion, Family, Purpose, Rule, Tool};

use crate::error::ErrorKind;
use crate::journal::{Lock, Store};
use crate::{Command, Error, Runner};
use rules::Now;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The form of the file.
const VERSION: u32 = 2;
/// Most rules in a journal; two families have twelve.
const MOST: usize = 32;

/// The rules that were made, and what for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesJournal {
    version: u32,
    diversion: Diversion,
    tool: Tool,
    rules: Vec<Rule>,
}

impl RulesJournal {
    fn load(store: &Store, purpose: Purpose) -> Result<Option<Self>, Error> {
        let name = purpose.word();
        let bad = |what: &str| {
            let message = format!(
                "{}: not a journal of analects: {what}",
                store.file(name).display()
            );
            let help = format!(
                "nothing was run. Remove the table or chain {} by hand with nft or iptables, and delete the file",
                purpose.name()
            );
            Error::refused(message, help)
        };
        let Some(text) = store.read(name, &bad)? else {
            return Ok(None);
        };
        let journal: RulesJournal =
            serde_json::from_str(&text).map_err(|error| bad(&error.to_string()))?;
        if journal.version != VERSION {
            return Err(bad(&format!(
                "version {}, where {VERSION} was expected",
                journal.version
            )));
        }
        if journal.rules.len() > MOST {
            let count = journal.rules.len();
            return Err(bad(&format!(
                "{count} rules, where at most {MOST} were expected"
            )));
        }
        if journal.diversion.purpose() != purpose {
            return Err(bad("it is of another command"));
        }
        if !journal.rules.iter().all(|rule| journal.diversion.has(rule)) {
            return Err(bad("it has a rule that is none of the diversion's"));
        }
        Ok(Some(journal))
    }

    /// Whether iptables made its table for this one's chain of `family`.
    fn made_table(&self, family: Family) -> bool {
        let made = |rule: &Rule| matches!(rule, Rule::Chain { family: of, table: Some(false), .. } if *of == family);
        self.rules.iter().any(made)
    }

    /// The commands that undo what still stands, in their order.
    fn undo(&self, now: &Now) -> Vec<Command> {
        let rules = self.rules.iter().rev();
        rules
            .flat_map(|rule| self.diversion.undo(rule, now))
            .collect()
    }
}

impl Purpose {
    /// The place of the socket by which the process that diverts packets for it is reached.
    pub fn socket(self, store: &Store) -> PathBuf {
        store.file(self.word()).with_extension("socket")
    }

    /// The other one.
    const fn other(self) -> Self {
        match self {
            Purpose::Pace => Purpose::Gateway,
            Purpose::Gateway => Purpose::Pace,
        }
    }
}

/// The right to divert packets of this network namespace, of one process at a time, for as long as it lives.
#[derive(Debug)]
pub struct Sole {
    _lock: Lock,
}

impl Sole {
    /// Takes it.
    ///
    /// # Errors
    /// If another process has it, or the folder cannot be written.
    pub fn claim(store: &Store, purpose: Purpose) -> Result<Self, Error> {
        match store.lock(purpose.word())? {
            Ok(lock) => Ok(Sole { _lock: lock }),
            Err(holder) => Err(Error::refused(
                format!(
                    "another `analects {}` runs here already: {holder}",
                    purpose.word()
                ),
                "end that one first",
            )),
        }
    }
}

/// Rules that are about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diverting {
    diversion: Diversion,
    tool: Tool,
    rules: Vec<Rule>,
}

impl Diverting {
    /// Plans to divert packets; reads the state, and changes nothing. If `assume`, a host that cannot be
    /// asked is taken for one with nftables.
    ///
    /// # Errors
    /// If the host cannot do it, or has rules of that name which no journal tells of.
    pub fn prepare(
        runner: &mut dyn Runner,
        diversion: &Diversion,
        assume: bool,
    ) -> Result<Self, Error> {
        let tool = match Tool::find(runner, diversion) {
            Err(_) if assume => {
                return Ok(Diverting::planned(diversion, Tool::Nft, &Now::default()));
            }
            found => found?,
        };
        let purpose = diversion.purpose();
        let now = Now::look(runner, tool, purpose)?;
        if let Some((found, help)) = now.strangers(purpose) {
            let message = format!("there is {found} already, and no journal says that it is ours");
            return Err(Error::refused(message, help));
        }
        Ok(Diverting::planned(diversion, tool, &now))
    }

    fn planned(diversion: &Diversion, tool: Tool, now: &Now) -> Self {
        Diverting {
            diversion: diversion.clone(),
            tool,
            rules: diversion.rules(tool, now),
        }
    }

    /// Whether nftables has the rules, iptables' too.
    fn in_nftables(&self) -> bool {
        let legacy = |rule: &Rule| matches!(rule, Rule::Chain { table: None, .. });
        !self.rules.iter().any(legacy)
    }

    /// The commands, in their order.
    pub fn commands(&self) -> Vec<Command> {
        self.rules
            .iter()
            .map(|rule| self.diversion.command(rule))
            .collect()
    }

    /// Makes the rules, once the journal names them. At the first that fails, or when the user asks to
    /// stop, those that were made are undone.
    ///
    /// # Errors
    /// The failure, and whether the former state is restored.
    pub fn apply(&self, runner: &mut dyn Runner, store: &Store) -> Result<(), Error> {
        let purpose = self.diversion.purpose();
        let other = RulesJournal::load(store, purpose.other())?;
        let made = |family| other.iter().any(|other| other.made_table(family));
        let mut rules = self.rules.clone();
        for rule in &mut rules {
            if let Rule::Chain {
                family,
                table: Some(table),
                ..
            } = rule
            {
                // Whichever ends last takes it away.
                *table &= !made(*family);
            }
        }
        let journal = RulesJournal {
            version: VERSION,
            diversion: self.diversion.clone(),
            tool: self.tool,
            rules,
        };
        // One that was not made yet is not there to be undone.
        store.write(purpose.word(), &journal)?;
        for rule in &self.rules {
            let made = make(runner, &self.diversion.command(rule));
            if let Err(error) = made {
                let state = match restore(runner, store, purpose) {
                    Ok(_) => "; everything is as it was".to_owned(),
                    Err(second) => format!(
                        "; undoing what had been done failed too: {second}; the next start tries again"
                    ),
                };
                return Err(Error {
                    message: error.message + &state,
                    ..error
                });
            }
        }
        Ok(())
    }
}

fn make(runner: &mut dyn Runner, command: &Command) -> Result<(), Error> {
    if runner.interrupted() {
        return Err(Error {
            kind: ErrorKind::Interrupted,
            ..Error::failed("interrupted", "")
        });
    }
    match runner.run(command) {
        Ok(output) if output.success => Ok(()),
        Ok(output) => Err(Error::command(command, &output.stderr)),
        Err(error) => Err(Error::command(command, &error.to_string())),
    }
}

/// The commands that would take away the rules that the journal tells of.
///
/// # Errors
/// If the journal or the host cannot be read.
pub fn restoring(
    runner: &mut dyn Runner,
    store: &Store,
    purpose: Purpose,
) -> Result<Vec<Command>, Error> {
    let Some(journal) = RulesJournal::load(store, purpose)? else {
        return Ok(Vec::new());
    };
    let now = Now::look(runner, journal.tool, purpose)?;
    Ok(journal.undo(&now))
}

/// Takes away the rules that the journal tells of, and forgets them; returns whether there was a journal.
///
/// # Errors
/// If a rule cannot be taken away; the journal then stays.
pub fn restore(runner: &mut dyn Runner, store: &Store, purpose: Purpose) -> Result<bool, Error> {
    let Some(journal) = RulesJournal::load(store, purpose)? else {
        return Ok(false);
    };
    let now = Now::look(runner, journal.tool, purpose)?;
    for command in journal.undo(&now) {
        let complaint = match runner.run(&command) {
            Ok(output) if output.success => continue,
            Ok(output) => output.stderr,
            Err(error) => error.to_string(),
        };
        // It may have gone between the look and the command.
        if journal
            .undo(&Now::look(runner, journal.tool, purpose)?)
            .contains(&command)
        {
            return Err(Error::command(&command, &complaint));
        }
    }
    store.forget(purpose.word())?;
    Ok(true)
}

#[cfg(test)]
mod tests;
