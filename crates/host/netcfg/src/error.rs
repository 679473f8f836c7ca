//! Errors, and the help against them.

use crate::modules::Modules;
use crate::{Capability, Command, Privileges, Program, RateChange};
use core::fmt;

/// Whether a change was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
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
    pub kind: ErrorKind,
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
            kind: ErrorKind::Refused,
            message: message.into(),
            help: help.into(),
        }
    }

    /// A change was tried.
    pub fn failed(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error {
            kind: ErrorKind::Failed,
            ..Error::refused(message, help)
        }
    }

    /// The kernel refused another rate.
    pub(crate) fn rate_change(change: &RateChange, complaint: &str) -> Self {
        let error = Error::command(&change.command(), complaint);
        Error {
            message: format!("the kernel refuses what this would do: {}", error.message),
            ..error
        }
    }

    /// A command failed; `complaint` is its error output.
    pub(crate) fn command(command: &Command, complaint: &str) -> Self {
        let complaint = complaint.trim();
        // tc has "We have an error talking to the kernel" on a line of its own.
        let lines = complaint.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        Error::failed(
            format!("{command}: {}", lines.join("; ")),
            advice(command.program, complaint, Modules::here()),
        )
    }
}

/// Advice for a process that must not change the network.
pub(crate) fn not_permitted() -> String {
    match Privileges::here().lack(&[Capability::NetAdmin]) {
        Some((lack, remedy)) => format!("{lack}: {remedy}; --dry-run needs no root"),
        None => {
            "only root changes the network: run it with sudo; --dry-run needs no root".to_owned()
        }
    }
}

/// Advice on a complaint of a program or the kernel, which loads modules or does not.
fn advice(program: Program, complaint: &str, modules: Modules) -> String {
    let quoted = |before: &str| {
        let (_, rest) = complaint.split_once(before)?;
        rest.split('"').next().filter(|name| !name.is_empty())
    };
    // net/sched/sch_api.c, qdisc_create(): neither built in, nor could modprobe load it.
    if complaint.contains("qdisc kind is unknown") {
        return no_discipline(modules);
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
    if let Some(help) = missing(program, complaint, modules) {
        return help;
    }
    if complaint.contains("Operation not permitted") {
        return not_permitted();
    }
    let parts = [
        ("Unknown device type", "ifb", "on OpenWrt kmod-ifb"),
        (
            "TC classifier not found",
            "cls_u32",
            "on OpenWrt kmod-sched-core",
        ),
        (
            "Failed to load TC action",
            "act_mirred",
            "on OpenWrt kmod-sched-core",
        ),
    ];
    let found = parts.iter().find(|(part, ..)| complaint.contains(part));
    found.map_or(String::new(), |(_, part, package)| {
        let remedy = modules.remedy(part, package);
        format!("shaping what is received takes {part}: {remedy}; or leave --down out")
    })
}

fn no_discipline(modules: Modules) -> String {
    match modules {
        Modules::Loaded => {
            "the kernel has no such discipline, and modprobe found no module for it. mencius, \
             confucius and floq: install analects-dkms, or on OpenWrt kmod-sched-mencius, \
             kmod-sched-confucius or kmod-sched-floq (docs/packaging.md). Others: linux-modules-extra on \
             Ubuntu, kmod-sched or kmod-sched-NAME on OpenWrt"
        }
        Modules::Unsupported => {
            "the kernel has no such discipline, and no support for modules: the discipline has to be \
             built in (docs/packaging.md)"
        }
    }
    .to_owned()
}

/// The package to install, if a program cannot be run, or lacks kernel support for two levels.
fn missing(program: Program, complaint: &str, modules: Modules) -> Option<String> {
    let unrun = complaint.contains("cannot be run");
    let two_levels = |parts, package| {
        let remedy = modules.remedy(parts, package);
        Some(format!("two levels need {parts}: {remedy}"))
    };
    let help = match program {
        _ if complaint.contains("Operation not permitted") => return None,
        Program::Tc | Program::Ip if unrun => "install iproute2, on OpenWrt tc-full and ip-full",
        Program::Nft if unrun => "two levels need nft: install nftables",
        Program::Nft if complaint.contains("syntax error") => {
            "two levels need a newer nft: install nftables 0.9.4 or newer"
        }
        Program::Nft => {
            let package = "on Ubuntu linux-modules-extra, on OpenWrt kmod-nft-core";
            return two_levels("nf_tables and nft_ct", package);
        }
        Program::Modprobe => {
            let package = "on Ubuntu linux-modules-extra, on OpenWrt kmod-nf-conntrack";
            return two_levels("nf_conntrack", package);
        }
        Program::Sysctl if unrun => "two levels need sysctl: install procps",
        Program::Iptables | Program::Ip6tables if unrun => "install iptables",
        Program::Iptables | Program::Ip6tables => {
            let parts = "the table mangle and xt_NFQUEUE, of IPv4 and of IPv6";
            let remedy = modules.remedy(parts, "on OpenWrt iptables-mod-nfqueue");
            return Some(format!("a queue for a program needs {parts}: {remedy}"));
        }
        Program::Tc | Program::Ip | Program::Sysctl => return None,
    };
    Some(help.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(command: &Command, complaint: &str, modules: Modules) -> String {
        advice(command.program, complaint, modules)
    }

    #[test]
    fn what_is_missing_is_named() {
        for (complaint, part) in [
            ("Error: Specified qdisc kind is unknown.\n", "modprobe"),
            (
                "Unknown qdisc \"confucius\", hence option \"limit\" is unparsable",
                "iproute2-analects",
            ),
            ("Unknown qdisc \"cake\", hence option", "not know cake"),
            ("Error: Unknown device type.", "kmod-ifb"),
            ("Error: TC classifier not found.", "kmod-sched-core"),
            ("RTNETLINK answers: Operation not permitted", "root"),
            ("tc cannot be run: No such file", "iproute2"),
        ] {
            let help = help(&Command::tc("qdisc show"), complaint, Modules::Loaded);
            assert!(help.contains(part), "{complaint}: {help}");
        }
        let silent = "Exclusivity flag on, cannot modify.";
        assert_eq!(advice(Program::Tc, silent, Modules::Loaded), "");
        let error = Error::command(&Command::tc("qdisc show"), " no \n");
        assert_eq!(error.message, "tc qdisc show: no");
        let two = "Error: Invalid MTU.\nWe have an error talking to the kernel\n";
        let error = Error::command(&Command::tc("x"), two);
        let one_line = "tc x: Error: Invalid MTU.; We have an error talking to the kernel";
        assert_eq!(error.message, one_line);
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
            let help = help(&command, complaint, Modules::Loaded);
            assert!(help.contains(part), "{complaint}: {help}");
        }
    }

    #[test]
    fn where_none_can_be_loaded_nothing_is_to_be_installed() {
        for (command, complaint, part) in [
            (
                Command::tc("x"),
                "Error: Specified qdisc kind is unknown.",
                "the discipline has to be built in",
            ),
            (
                Command::ip("x"),
                "Error: Unknown device type.",
                "has to have ifb built in; or leave --down out",
            ),
            (
                Command::tc("x"),
                "Error: TC classifier not found.",
                "cls_u32 built in",
            ),
            (
                Command::tc("x"),
                "Error: Failed to load TC action module.",
                "act_mirred built in",
            ),
            (
                Command::nft("list tables"),
                "Error: Protocol not supported",
                "nft_ct built in",
            ),
            (
                Command::modprobe("nf_conntrack"),
                "modprobe: FATAL: Module nf_conntrack not found",
                "nf_conntrack built in",
            ),
        ] {
            let help = help(&command, complaint, Modules::Unsupported);
            assert!(help.contains(part), "{complaint}: {help}");
            assert!(help.contains("no support for modules"), "{help}");
            for word in ["install", "modprobe", "kmod"] {
                assert!(!help.contains(word), "{complaint}: {help}");
            }
        }
    }
}
