//! What the facts of a host mean for each command: no look at anything here.

use super::observed::{Ipv6, KernelPart, ObservedHost, SharedNetwork};
use crate::cli::Examined;
use Examined::{Browser, Gateway, Link, Pace, Probe, Tc};
use netcfg::divert::Tool;
use netcfg::{Capability, NO_TUN};
use serde::Serialize;
use std::io::ErrorKind;

/// What a finding means for the commands that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It is as they need it.
    Good,
    /// They work, but otherwise than one may expect.
    Note,
    /// They do not work.
    Lacks,
}

impl Effect {
    /// The word at a line's beginning.
    pub const fn word(self) -> &'static str {
        match self {
            Effect::Good => "good",
            Effect::Note => "note",
            Effect::Lacks => "LACKS",
        }
    }
}

/// A line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about, in a word for programs.
    pub about: &'static str,
    /// What it means.
    pub state: Effect,
    /// What was found.
    pub found: String,
    /// What to do; empty if nothing is to be done.
    pub remedy: String,
    /// The commands that it is about.
    pub commands: Vec<Examined>,
}

fn finding(
    about: &'static str,
    state: Effect,
    found: impl Into<String>,
    remedy: impl Into<String>,
    commands: &[Examined],
) -> Finding {
    Finding {
        about,
        state,
        found: found.into(),
        remedy: remedy.into(),
        commands: commands.to_vec(),
    }
}

const BEHIND: &[Examined] = &[Link, Browser];
const DIVERTS: &[Examined] = &[Gateway, Pace];

/// All findings of a host.
pub fn findings(host: &ObservedHost) -> Vec<Finding> {
    let mut all = vec![
        namespaces(host),
        tun(host),
        network(host),
        rules(host),
        queue(host),
    ];
    all.extend(programs(host));
    all.extend(modules(host));
    all.extend([ipv6(host), firewall(host), addresses(host)]);
    all.extend(forwards(host));
    all.extend(chromium(host));
    all.extend(flowtables(host));
    all.push(clock(host));
    all
}

fn namespaces(host: &ObservedHost) -> Finding {
    let needed = [Capability::NetAdmin, Capability::SysAdmin];
    let about = "namespaces";
    match host.privileges.lack(&needed) {
        None => finding(
            about,
            Effect::Good,
            "networks of its own can be made, as root",
            "",
            BEHIND,
        ),
        // A root that lacks a capability is not taken for a plain user by `link`.
        Some(_) if host.namespaces && !host.privileges.root => finding(
            about,
            Effect::Good,
            "networks of its own can be made, as a plain user",
            "",
            BEHIND,
        ),
        Some((lack, remedy)) => finding(about, Effect::Lacks, lack, remedy, BEHIND),
    }
}

fn tun(host: &ObservedHost) -> Finding {
    let found = match host.tun {
        None => {
            return finding("tun", Effect::Good, "TUN devices can be made", "", BEHIND);
        }
        Some(ErrorKind::NotFound) => "there is no /dev/net/tun",
        Some(ErrorKind::PermissionDenied) => "/dev/net/tun may not be opened",
        Some(_) => "/dev/net/tun cannot be opened: the kernel lacks tun",
    };
    finding("tun", Effect::Lacks, found, NO_TUN, BEHIND)
}

fn network(host: &ObservedHost) -> Finding {
    let (about, commands) = ("capabilities", &[Gateway, Pace, Tc]);
    match host.privileges.lack(&[Capability::NetAdmin]) {
        None => finding(
            about,
            Effect::Good,
            "this process may change the network (CAP_NET_ADMIN)",
            "",
            commands,
        ),
        Some((lack, remedy)) => finding(about, Effect::Lacks, lack, remedy, commands),
    }
}

fn rules(host: &ObservedHost) -> Finding {
    let about = "rules";
    match &host.diverts {
        Ok(Tool::Nft) => finding(
            about,
            Effect::Good,
            "nft makes rules that send packets to a program",
            "",
            DIVERTS,
        ),
        Ok(Tool::Iptables) => match host.privileges.lack(&[Capability::NetRaw]) {
            None => finding(
                about,
                Effect::Note,
                "nftables has no queue to a program here (nft is not installed, or the kernel lacks nft_queue): iptables \
                 makes the rules",
                "keep iptables, with xt_NFQUEUE in the kernel; or install nftables and the kernel's nft_queue, on \
                 OpenWrt kmod-nft-queue",
                DIVERTS,
            ),
            Some((lack, remedy)) => finding(
                about,
                Effect::Lacks,
                format!("there is iptables alone, for which {lack}"),
                format!("install nftables, or: {remedy} --cap-add NET_RAW"),
                DIVERTS,
            ),
        },
        Err((found, help)) => {
            // Without the capability both refuse, and nothing is known of them.
            let remedy = match host.privileges.lack(&[Capability::NetAdmin]) {
                Some((lack, remedy)) => format!("{lack}: {remedy}"),
                None => help.clone(),
            };
            finding(about, Effect::Lacks, found, remedy, DIVERTS)
        }
    }
}

fn part(about: &'static str, name: &str, there: KernelPart, commands: &[Examined]) -> Finding {
    match there {
        KernelPart::There => finding(
            about,
            Effect::Good,
            format!("the kernel has {name}"),
            "",
            commands,
        ),
        KernelPart::Lacks => finding(
            about,
            Effect::Lacks,
            format!("the kernel lacks {name}"),
            format!(
                "install the kernel's module {name} (Debian: linux-modules-extra or the kernel's own package; \
                 OpenWrt: kmod-{})",
                name.trim_start_matches("nf").replace('_', "-")
            ),
            commands,
        ),
        KernelPart::Unknown => finding(
            about,
            Effect::Note,
            format!(
                "whether the kernel has {name} cannot be seen here: /lib/modules has nothing of this kernel"
            ),
            format!("in a container, run modprobe {name} on its host"),
            commands,
        ),
    }
}

fn queue(host: &ObservedHost) -> Finding {
    let mut it = part("queue", "nfnetlink_queue", host.queue, DIVERTS);
    if host.queue == KernelPart::Lacks {
        it.remedy = "install the kernel's module nfnetlink_queue, on OpenWrt kmod-nfnetlink-queue and kmod-nft-queue"
            .to_owned();
    }
    it
}

fn programs(host: &ObservedHost) -> Vec<Finding> {
    let absent = host.absent.iter();
    let found = absent.map(|program| {
        let (state, package, commands): (_, _, &[Examined]) = match *program {
            "ip" => (Effect::Lacks, "iproute2", &[Link, Browser, Tc]),
            "tc" => (Effect::Lacks, "iproute2, on OpenWrt tc-full", &[Tc]),
            _ => (Effect::Note, "slirp4netns, for link --internet", &[Link]),
        };
        let found = format!("{program} is not installed");
        finding(
            "programs",
            state,
            found,
            format!("install {package}"),
            commands,
        )
    });
    found.collect()
}

fn modules(host: &ObservedHost) -> Vec<Finding> {
    let found = host.modules.iter().map(|(name, there)| {
        let mut it = part("modules", name, *there, &[Tc]);
        let remedy = match (*name, there) {
            ("sch_mencius", KernelPart::Lacks) => {
                "install it (docs/packaging.md), or choose another: -d fq_codel"
            }
            ("ifb", KernelPart::Lacks) => {
                "install the kernel's module ifb, on OpenWrt kmod-ifb, or leave --down out"
            }
            ("sch_htb", KernelPart::Lacks) => {
                "install the kernel's module sch_htb, on OpenWrt kmod-sched-core"
            }
            _ => return it,
        };
        it.remedy = remedy.to_owned();
        // The rest of the command works without these.
        if *name != "sch_htb" {
            it.state = Effect::Note;
        }
        it
    });
    found.collect()
}

fn ipv6(host: &ObservedHost) -> Finding {
    let found = match host.ipv6 {
        Ipv6::On => {
            return finding(
                "ipv6",
                Effect::Good,
                "this host has IPv6",
                "",
                &[Link, Browser, Probe],
            );
        }
        Ipv6::Off => {
            "IPv6 is switched off (net.ipv6.conf.default.disable_ipv6): links and probes have IPv4 alone"
        }
        Ipv6::None => "the kernel has no IPv6: links and probes have IPv4 alone",
    };
    let remedy = match host.ipv6 {
        Ipv6::Off => "if it is wanted: sysctl net.ipv6.conf.default.disable_ipv6=0",
        _ => "",
    };
    finding("ipv6", Effect::Note, found, remedy, &[Link, Browser, Probe])
}

fn firewall(host: &ObservedHost) -> Finding {
    if host.firewall.is_none() && host.unlisted {
        let (found, remedy) = (
            "whether a firewall drops new connections cannot be read here",
            "run it with sudo",
        );
        return finding("firewall", Effect::Note, found, remedy, &[Link, Probe]);
    }
    let Some(chain) = &host.firewall else {
        return finding(
            "firewall",
            Effect::Good,
            "no firewall drops new connections",
            "",
            &[Link, Probe],
        );
    };
    let found = format!(
        "this host's firewall drops new connections, as those of link --host and to probe serve: {chain}"
    );
    let remedy = "run the server by link --far, whose network no firewall is in, or permit -i analects+ . For probe \
         serve, permit its UDP port";
    finding("firewall", Effect::Note, found, remedy, &[Link, Probe])
}

fn forwards(host: &ObservedHost) -> Option<Finding> {
    let chain = host.forwards.as_ref()?;
    let found =
        format!("this host's firewall drops what it passes on, unless a rule permits it: {chain}");
    let remedy = "permit the devices of the networks behind the gateway, if nothing passes it";
    Some(finding("firewall", Effect::Note, found, remedy, &[Gateway]))
}

fn chromium(host: &ObservedHost) -> Option<Finding> {
    let (about, commands) = ("chromium", &[Browser]);
    Some(match host.chromium.as_ref()? {
        Ok(version) => finding(about, Effect::Good, version, "", commands),
        Err((found, remedy)) => finding(about, Effect::Lacks, found, remedy, commands),
    })
}

fn addresses(host: &ObservedHost) -> Finding {
    let about = "addresses";
    match host.shared {
        SharedNetwork::Free => finding(about, Effect::Good, "100.64.0.1 is free", "", &[Link]),
        SharedNetwork::Covered => finding(
            about,
            Effect::Note,
            "a route of this host covers 100.64.0.1, as behind carriers' NAT: link --host may take another address",
            "commands should use $ANALECTS_FAR for the far side's address",
            &[Link],
        ),
        SharedNetwork::Taken => finding(
            about,
            Effect::Note,
            "100.64.0.1 is this host's own or its gateway's, as behind carriers' NAT: link --host takes another address",
            "commands should use $ANALECTS_FAR for the far side's address",
            &[Link],
        ),
    }
}

fn flowtables(host: &ObservedHost) -> Vec<Finding> {
    let found = host.flowtables.iter().map(|table| {
        let devices = table.devices.join(", ");
        let name = &table.name;
        let commands: &[Examined] = if table.offload { &[Gateway, Tc] } else { &[Gateway] };
        let found = format!("the flowtable {name} takes packets of {devices} past rules and queues");
        let remedy = format!("switch it off: nft delete flowtable {name}; on OpenWrt, flow_offloading in the firewall's settings");
        finding("flowtables", Effect::Note, found, remedy, commands)
    });
    found.collect()
}

fn clock(host: &ObservedHost) -> Finding {
    let commands = &[Link, Gateway, Pace, Browser];
    match host.clock.as_str() {
        clock @ ("jiffies" | "acpi_pm" | "hpet" | "refined-jiffies") => finding(
            "clock",
            Effect::Note,
            format!(
                "the kernel tells the time by {clock}, which is slow or coarse: packets are late"
            ),
            "a virtual machine should have its host's clock (kvm-clock), or tsc",
            commands,
        ),
        "" => finding(
            "clock",
            Effect::Note,
            "what the kernel tells the time by is not known",
            "",
            commands,
        ),
        clock => finding(
            "clock",
            Effect::Good,
            format!("the kernel tells the time by {clock}"),
            "",
            commands,
        ),
    }
}
