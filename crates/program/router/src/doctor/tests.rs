//! Prepared hosts, each with one trouble, and a sound one.

use super::findings::{Effect, findings};
use super::firewall::{FirewallHook, dropping};
use super::observed::{Ipv6, KernelPart, ObservedHost, SharedNetwork, has_module};
use super::unfit;
use crate::cli::Examined::{self, Browser, Gateway, Link, Pace, Probe, Tc};
use clap::ValueEnum;
use netcfg::divert::Tool;
use netcfg::{Flowtable, Privileges};
use rustix::thread::CapabilitySet;
use std::io::ErrorKind;

const ALL: [Examined; 6] = [Link, Gateway, Pace, Tc, Browser, Probe];

fn sound() -> ObservedHost {
    ObservedHost {
        privileges: Privileges {
            root: true,
            container: false,
            held: CapabilitySet::all(),
        },
        namespaces: true,
        tun: None,
        absent: Vec::new(),
        unlisted: false,
        diverts: Ok(Tool::Nft),
        queue: KernelPart::There,
        modules: ["sch_htb", "ifb", "sch_mencius"].map(|name| (name, KernelPart::There)),
        ipv6: Ipv6::On,
        firewall: None,
        forwards: None,
        chromium: Some(Ok("Chromium 156".to_owned())),
        shared: SharedNetwork::Free,
        flowtables: Vec::new(),
        clock: "tsc".to_owned(),
    }
}

/// Those that lack something, and what is said of `about` where it is not good.
fn told(host: &ObservedHost, about: &str) -> (Vec<Examined>, String) {
    let found = findings(host);
    let text = found
        .iter()
        .filter(|it| it.about == about && it.state != Effect::Good)
        .map(|it| format!("{}: {}\n", it.found, it.remedy))
        .collect();
    (unfit(&found, &ALL).collect(), text)
}

#[test]
fn a_sound_host_lacks_nothing() {
    let found = findings(&sound());
    assert!(
        found
            .iter()
            .all(|it| it.state == Effect::Good && it.remedy.is_empty())
    );
    for command in Examined::value_variants() {
        assert!(found.iter().any(|it| it.commands.contains(command)));
    }
}

#[test]
fn a_container_without_capabilities() {
    let mut host = sound();
    host.privileges.held = CapabilitySet::empty();
    host.privileges.container = true;
    host.namespaces = false;
    host.tun = Some(ErrorKind::NotFound);
    let (unfit, text) = told(&host, "namespaces");
    assert_eq!(unfit, [Link, Gateway, Pace, Tc, Browser]);
    assert!(
        text.contains("CAP_NET_ADMIN and CAP_SYS_ADMIN")
            && text.contains("docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN"),
        "{text}"
    );
    let (_, text) = told(&host, "capabilities");
    assert!(text.contains("lacks CAP_NET_ADMIN,"), "{text}");
    // As `docker run --cap-add NET_ADMIN` has it.
    host.privileges.held = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW;
    host.tun = None;
    let (unfit, text) = told(&host, "namespaces");
    assert_eq!(unfit, [Link, Browser]);
    assert!(text.contains("lacks CAP_SYS_ADMIN,"), "{text}");
}

#[test]
fn a_plain_user_has_links_and_no_rules() {
    let mut host = sound();
    host.privileges.root = false;
    host.privileges.held = CapabilitySet::empty();
    let (unfit, text) = told(&host, "capabilities");
    assert_eq!(unfit, [Gateway, Pace, Tc]);
    assert!(text.contains("run it with sudo"), "{text}");
    host.namespaces = false;
    assert_eq!(
        told(&host, "namespaces").0,
        [Link, Gateway, Pace, Tc, Browser]
    );
}

#[test]
fn a_firewall_is_named() {
    let ufw = "-P INPUT DROP\n-A INPUT -j ufw-before-input\n";
    // ufw's `default reject`, where the policy says nothing.
    let rejects = "-P INPUT ACCEPT\n-N ufw-before-input\n-N ufw-reject-input\n-A INPUT -j ufw-before-input\n\
        -A INPUT -j ufw-reject-input\n-A ufw-before-input -i lo -j ACCEPT\n-A ufw-before-input -m conntrack \
        --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A ufw-reject-input -m comment --comment \"all the rest\" -j REJECT \
        --reject-with icmp-port-unreachable\n";
    let new = "-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n-A INPUT -m state --state NEW -j DROP\n";
    let firewalld = "table inet firewalld {\n\tchain filter_INPUT {\n\t\ttype filter hook input priority filter + 10; \
        policy accept;\n\t\tct state { established, related } accept\n\t\tjump filter_INPUT_ZONES\n\t}\n\
        \tchain filter_INPUT_ZONES {\n\t\tiifname \"eth0\" goto filter_IN_home\n\t\tgoto filter_IN_public\n\t}\n\
        \tchain filter_IN_public {\n\t\ttcp dport 22 accept\n\t\treject with icmpx admin-prohibited\n\t}\n}\n";
    let tailscale = "table ip filter {\n\tchain INPUT {\n\t\ttype filter hook input priority filter; policy accept;\n\
        \t\tcounter packets 3 bytes 252 jump ts-input\n\t}\n\tchain ts-input {\n\t\tip saddr 100.64.0.0/10 \
        iifname != \"tailscale0\" counter packets 3 bytes 252 drop\n\t}\n}\n";
    let debian = "table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\n";
    let openwrt = "table inet fw4 {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\
        \t\tiifname \"lo\" accept comment \"!fw4: Accept traffic from loopback\"\n\t\tjump handle_reject\n\t}\n\
        \tchain handle_reject {\n\t\tmeta l4proto tcp reject with tcp reset\n\t\treject with icmpx port-unreachable \
        comment \"!fw4: Reject any other traffic\"\n\t}\n}\n";
    let logs = "table ip t {\n\tchain in {\n\t\ttype filter hook input priority 0; policy accept;\n\t\tcounter log \
        prefix \"DROP in \" level info drop\n\t}\n}\n";
    for (ruleset, iptables, name) in [
        ("", ufw, "iptables' chain INPUT"),
        ("", rejects, "ufw-reject-input (from INPUT)"),
        ("", new, "iptables' chain INPUT"),
        (
            firewalld,
            "",
            "inet firewalld filter_IN_public (from filter_INPUT)",
        ),
        (tailscale, "", "ip filter ts-input (from INPUT)"),
        (debian, "", "inet filter input"),
        (openwrt, "", "inet fw4 handle_reject (from input)"),
        (logs, "", "ip t in"),
    ] {
        let mut host = sound();
        host.firewall = dropping(FirewallHook::Input, ruleset, iptables);
        let (unfit, text) = told(&host, "firewall");
        // A link is in networks of its own, unless it is asked to be in this one.
        assert!(unfit.is_empty(), "{name}");
        assert!(
            text.contains(name) && text.contains("link --host"),
            "{name}: {text}"
        );
        assert_eq!(
            dropping(FirewallHook::Forward, ruleset, iptables),
            None,
            "{name}"
        );
    }
}

#[test]
fn chains_that_permit_or_are_not_met_are_none() {
    for ruleset in [
        // Not the hook.
        "table ip t {\n\tchain o {\n\t\ttype filter hook output priority 0; policy drop;\n\t\tdrop\n\t}\n}\n",
        // Nothing jumps there.
        "table ip t {\n\tchain i {\n\t\ttype filter hook input priority 0; policy accept;\n\t}\n\tchain x {\n\t\tdrop\n\t}\n}\n",
        // Only what is about other devices does, or what was accepted before.
        "table ip t {\n\tchain i {\n\t\ttype filter hook input priority 0; policy accept;\n\t\tiifname \"wan\" jump x\n\
         \t\tct state invalid drop\n\t\tjump y\n\t\tdrop\n\t}\n\tchain x {\n\t\tdrop\n\t}\n\tchain y {\n\t\taccept\n\t}\n}\n",
        // It returns before.
        "table ip t {\n\tchain i {\n\t\ttype filter hook input priority 0; policy accept;\n\t\tjump x\n\t}\n\
         \tchain x {\n\t\treturn\n\t\tdrop\n\t}\n}\n",
    ] {
        assert_eq!(
            dropping(FirewallHook::Input, ruleset, "-P INPUT ACCEPT\n"),
            None,
            "{ruleset}"
        );
    }
    // What it passes on is another matter, as with Docker.
    let docker = "-P INPUT ACCEPT\n-P FORWARD DROP\n-N DOCKER\n-A FORWARD -o docker0 -j DOCKER\n";
    assert_eq!(dropping(FirewallHook::Input, "", docker), None);
    let mut host = sound();
    host.forwards = dropping(FirewallHook::Forward, "", docker);
    let (unfit, text) = told(&host, "firewall");
    assert!(
        unfit.is_empty() && text.contains("iptables' chain FORWARD"),
        "{text}"
    );
}

#[test]
fn a_host_without_chromium() {
    let mut host = sound();
    host.chromium = Some(Err((
        "there is no Chromium".to_owned(),
        "install it".to_owned(),
    )));
    let (unfit, text) = told(&host, "chromium");
    assert_eq!(
        (unfit, text.as_str()),
        (vec![Browser], "there is no Chromium: install it\n")
    );
    // The program for routers drives none.
    host.chromium = None;
    assert!(findings(&host).iter().all(|it| it.about != "chromium"));
}

#[test]
fn a_host_without_ipv6_and_one_behind_carriers_nat_work_and_are_told() {
    let mut host = sound();
    host.ipv6 = Ipv6::Off;
    let (unfit, text) = told(&host, "ipv6");
    assert!(unfit.is_empty());
    assert!(
        text.contains("net.ipv6.conf.default.disable_ipv6"),
        "{text}"
    );
    host.shared = SharedNetwork::Taken;
    let (unfit, text) = told(&host, "addresses");
    assert!(unfit.is_empty());
    assert!(
        text.contains("100.64.0.1") && text.contains("$ANALECTS_FAR"),
        "{text}"
    );
}

#[test]
fn a_kernel_without_queues_or_tun() {
    let mut host = sound();
    host.queue = KernelPart::Lacks;
    let (unfit, text) = told(&host, "queue");
    assert_eq!(unfit, [Gateway, Pace]);
    assert!(text.contains("lacks nfnetlink_queue"), "{text}");
    host.queue = KernelPart::Unknown;
    assert!(told(&host, "queue").0.is_empty());
    for (kind, words) in [
        (ErrorKind::NotFound, "there is no /dev/net/tun"),
        (ErrorKind::PermissionDenied, "may not be opened"),
    ] {
        host.tun = Some(kind);
        let (unfit, text) = told(&host, "tun");
        assert_eq!(unfit, [Link, Browser]);
        assert!(
            text.contains(words) && text.contains("--device /dev/net/tun"),
            "{text}"
        );
    }
}

#[test]
fn nftables_without_a_queue() {
    let mut host = sound();
    host.diverts = Ok(Tool::Iptables);
    let (unfit, text) = told(&host, "rules");
    assert!(unfit.is_empty());
    assert!(
        text.contains("lacks nft_queue") && text.contains("xt_NFQUEUE"),
        "{text}"
    );
    // As `docker run --cap-add NET_ADMIN --cap-drop NET_RAW` has it.
    host.privileges.held = CapabilitySet::NET_ADMIN;
    let (_, text) = told(&host, "rules");
    assert!(text.contains("--cap-add NET_RAW"), "{text}");
    host.diverts = Err(("nftables cannot".to_owned(), "install it".to_owned()));
    let (unfit, text) = told(&host, "rules");
    assert_eq!(unfit, [Link, Gateway, Pace, Browser]);
    assert!(text.contains("nftables cannot: install it"), "{text}");
}

#[test]
fn programs_and_modules() {
    let mut host = sound();
    host.modules = ["sch_htb", "ifb", "sch_mencius"].map(|name| (name, KernelPart::Lacks));
    let (unfit, text) = told(&host, "modules");
    assert_eq!(unfit, [Tc]);
    assert!(
        text.contains("-d fq_codel") && text.contains("leave --down out"),
        "{text}"
    );
    host = sound();
    host.absent = vec!["ip", "slirp4netns"];
    assert_eq!(told(&host, "programs").0, [Link, Tc, Browser]);
    host = sound();
    host.unlisted = true;
    assert!(told(&host, "firewall").1.contains("cannot be read"));
    let lists = "kernel/net/sched/sch_htb.ko.zst: kernel/x.ko\nkernel/drivers/net/ifb.ko\n";
    assert_eq!(has_module(lists, "sch_htb"), KernelPart::There);
    assert_eq!(has_module(lists, "ifb"), KernelPart::There);
    assert_eq!(has_module(lists, "x"), KernelPart::Lacks);
}

#[test]
fn offloads_and_clocks_are_notes() {
    let mut host = sound();
    host.flowtables.push(Flowtable {
        name: "inet fw4 ft".to_owned(),
        devices: vec!["eth0".to_owned(), "eth1".to_owned()],
        offload: true,
    });
    let (unfit, text) = told(&host, "flowtables");
    assert!(unfit.is_empty());
    assert!(
        text.contains("inet fw4 ft") && text.contains("eth0, eth1"),
        "{text}"
    );
    host.clock = "hpet".to_owned();
    assert!(told(&host, "clock").1.contains("hpet"));
}
