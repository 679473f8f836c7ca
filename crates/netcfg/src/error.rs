//! Errors, and the help against them.

use crate::{Command, Program};
use core::fmt;

/// Whether a change was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No change was made: it is impossible, or must not be done.
    Refused,
    /// A change, or a look at the host, failed.
    Failed,
    /// The user asked to stop.
    Interrupted,
}

/// An error, and the help against it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// Whether a change was tried.
    pub kind: Kind,
    /// The finding.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error {
    /// No change was made.
    pub fn refused(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error {
            kind: Kind::Refused,
            message: message.into(),
            help: help.into(),
        }
    }

    /// A change was tried.
    pub fn failed(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error {
            kind: Kind::Failed,
            ..Error::refused(message, help)
        }
    }

    /// A command failed; `complaint` is its error output.
    pub(crate) fn command(command: &Command, complaint: &str) -> Self {
        let complaint = complaint.trim();
        Error::failed(
            format!("{command}: {complaint}"),
            advice(command.program, complaint),
        )
    }
}

/// Advice on a complaint of a program or the kernel.
fn advice(program: Program, complaint: &str) -> String {
    let quoted = |before: &str| {
        let (_, rest) = complaint.split_once(before)?;
        rest.split('"').next().filter(|name| !name.is_empty())
    };
    // net/sched/sch_api.c, qdisc_create(): neither built in, nor could modprobe load it.
    if complaint.contains("qdisc kind is unknown") {
        return "the kernel has no such discipline, and modprobe found no module for it. mencius, \
                confucius and floq: install analects-dkms, or on OpenWrt kmod-sched-mencius, \
                kmod-sched-confucius or kmod-sched-floq (docs/packaging.md). Others: linux-modules-extra on \
                Ubuntu, kmod-sched or kmod-sched-NAME on OpenWrt"
            .to_owned();
    }
    // iproute2, tc/tc_qdisc.c: no code of tc's own, and no plugin in its library folder.
    if let Some(name) = quoted("Unknown qdisc \"") {
        return match name {
            "confucius" | "mencius" | "floq" => format!(
                "tc has no plugin for {name}: install iproute2-analects, or tc-full and tc-mod-{name} \
                 on OpenWrt (docs/packaging.md); where the plugin is in another folder, TC_LIB_DIR names \
                 that"
            ),
            _ => format!(
                "this tc does not know {name}: install a newer iproute2, on OpenWrt tc-full"
            ),
        };
    }
    if let Some(help) = missing(program, complaint) {
        return help.to_owned();
    }
    let pairs = [
        (
            "Unknown device type",
            "what is received is shaped on a device of type ifb: install the kernel's module ifb, \
             on OpenWrt kmod-ifb; or leave --ingress out",
        ),
        (
            "TC classifier not found",
            "install the kernel's module cls_u32, on OpenWrt kmod-sched-core; or leave --ingress out",
        ),
        (
            "Failed to load TC action",
            "install the kernel's module act_mirred, on OpenWrt kmod-sched-core; or leave --ingress out",
        ),
        (
            "Operation not permitted",
            "only root changes the network: run it with sudo; --dry-run needs no root",
        ),
    ];
    let found = pairs.iter().find(|(part, _)| complaint.contains(part));
    found.map_or("", |(_, help)| help).to_owned()
}

/// The package to install, if a program cannot be run, or lacks kernel support for two levels.
fn missing(program: Program, complaint: &str) -> Option<&'static str> {
    let denied = complaint.contains("Operation not permitted");
    match program {
        _ if denied => None,
        Program::Tc | Program::Ip => complaint
            .contains("cannot be run")
            .then_some("install iproute2, on OpenWrt tc-full and ip-full"),
        Program::Nft if complaint.contains("cannot be run") => {
            Some("two levels need nft: install nftables")
        }
        Program::Nft if complaint.contains("syntax error") => {
            Some("two levels need a newer nft: install nftables 0.9.4 or newer")
        }
        Program::Nft => Some(
            "two levels need the kernel's modules nf_tables and nft_ct: on Ubuntu install              linux-modules-extra, on OpenWrt kmod-nft-core",
        ),
        Program::Modprobe => Some(
            "two levels need the kernel's module nf_conntrack: on Ubuntu install linux-modules-extra,              on OpenWrt kmod-nf-conntrack",
        ),
        Program::Sysctl => complaint
            .contains("cannot be run")
            .then_some("two levels need sysctl: install procps"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        for (complaint, part) in [
            ("Error: Specified qdisc kind is unknown.\n", "modprobe"),
            (
                "Unknown qdisc \"confucius\", hence option \"limit\" is unparsable",
                "iproute2-analects",
            ),
            ("Unknown qdisc \"cake\", hence option", "not know cake"),
            ("Error: Unknown device type.", "ifb"),
            ("RTNETLINK answers: Operation not permitted", "root"),
            ("tc cannot be run: No such file", "iproute2"),
        ] {
            let error = Error::command(&Command::tc("qdisc show"), complaint);
            assert!(error.help.contains(part), "{complaint}: {}", error.help);
            assert!(error.message.contains(complaint.trim()));
        }
        let silent = advice(Program::Tc, "Exclusivity flag on, cannot modify.");
        assert_eq!(silent, "");
    }

    #[test]
    fn what_two_levels_lack_is_named() {
        for (command, complaint, part) in [
            (
                Command::nft("list tables"),
                "nft cannot be run: No such file",
                "install nftables",
            ),
            (
                Command::nft("list tables"),
                "Operation not permitted (you must be root)",
                "sudo",
            ),
            (
                Command::nft("list tables"),
                "Error: cache initialization failed: Protocol not supported",
                "nf_tables",
            ),
            (
                Command::nft("x"),
                "Error: syntax error, unexpected string",
                "0.9.4",
            ),
            (
                Command::sysctl("-n x"),
                "sysctl cannot be run: No such file",
                "procps",
            ),
            (
                Command::modprobe("nf_conntrack"),
                "modprobe: FATAL: Module nf_conntrack not found",
                "kmod-nf-conntrack",
            ),
        ] {
            let error = Error::command(&command, complaint);
            assert!(error.help.contains(part), "{complaint}: {}", error.help);
        }
    }
}
