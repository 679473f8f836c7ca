//! The state of a host other than its devices: our tables of nftables, and whether connections'
//! bytes count.

use crate::levels::{AgeTable, PREFIX, printed_threshold};
use crate::look::look;
use crate::{Command, Device, Error, Runner};

/// The state at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Netfilter {
    /// Whether the kernel counts the bytes of connections; none if it does not track any.
    pub accounting: Option<bool>,
    /// The tables of ours by name, each with its threshold if it is known.
    tables: Vec<(String, Option<u64>)>,
}

/// The setting for it: Documentation/networking/nf_conntrack-sysctl.rst.
const ACCOUNTING: &str = "net.netfilter.nf_conntrack_acct";

impl Netfilter {
    /// Reads the present state.
    ///
    /// # Errors
    /// If nft or sysctl cannot be run, or fails.
    pub fn take(runner: &mut dyn Runner) -> Result<Self, Error> {
        let mut it = Netfilter {
            accounting: accounting(runner)?,
            tables: Vec::new(),
        };
        let command = Command::nft("list tables");
        let listed = look(runner, &command)?;
        if !listed.success {
            return Err(Error::command(&command, &listed.stderr));
        }
        let names = listed.stdout.lines();
        let names = names.filter_map(|line| line.trim().strip_prefix("table inet "));
        for name in names.filter(|name| device_of(name).is_some()) {
            let command = Command::nft(format!("list map inet {name} ages"));
            let map = look(runner, &command)?;
            if !map.success && !map.stderr.contains("No such file or directory") {
                return Err(Error::command(&command, &map.stderr));
            }
            let threshold = printed_threshold(&map.stdout);
            it.tables.push((name.to_owned(), threshold));
        }
        Ok(it)
    }

    /// The table for `device`, if there is one, with its threshold if that is known.
    pub fn of(&self, device: &Device) -> Option<Option<u64>> {
        let name = AgeTable::name(device);
        let found = self.tables.iter().find(|(table, _)| *table == name);
        found.map(|(_, threshold)| *threshold)
    }

    /// Whether there are tables for other devices than this one.
    pub(crate) fn others(&self, device: &Device) -> bool {
        let name = AgeTable::name(device);
        self.tables.iter().any(|(table, _)| *table != name)
    }

    /// Supposes that there is none for `device`.
    pub(crate) fn without(&mut self, device: &Device) {
        let name = AgeTable::name(device);
        self.tables.retain(|(table, _)| *table != name);
    }

    /// Makes the kernel count the bytes of connections that begin from now on, or not.
    pub(crate) fn set_accounting(on: bool) -> Command {
        Command::sysctl(&format!("-w {ACCOUNTING}={}", u8::from(on)))
    }
}

/// Whether the bytes of connections count; none if there is no such setting.
fn accounting(runner: &mut dyn Runner) -> Result<Option<bool>, Error> {
    let command = Command::sysctl(&format!("-n {ACCOUNTING}"));
    let output = look(runner, &command)?;
    // The words of procps, and of busybox.
    let absent = ["cannot stat", "is an unknown key"];
    if output.success {
        Ok(Some(output.stdout.trim() == "1"))
    } else if absent.iter().any(|words| output.stderr.contains(words)) {
        Ok(None)
    } else {
        Err(Error::command(&command, &output.stderr))
    }
}

/// The device of a table with a name like ours: the name is used in a command, so only a valid
/// device name is accepted.
fn device_of(name: &str) -> Option<Device> {
    name.strip_prefix(PREFIX)?.parse().ok()
}
