//! The facts of a host, read in one place.

use super::firewall::{FirewallHook, dropping};
use live::Known;
use netcfg::divert::{Diversion, Tool};
use netcfg::{Command, Flowtable, Host, Privileges, Runner};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs::{OpenOptions, read_to_string};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;

/// Whether the kernel has a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelPart {
    /// It is there, or can be loaded.
    There,
    /// It is not.
    Lacks,
    /// The kernel's modules cannot be seen from here, as in a container.
    Unknown,
}

/// How far this host has IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ipv6 {
    /// It has it.
    On,
    /// Switched off by `net.ipv6.conf.default.disable_ipv6`.
    Off,
    /// The kernel lacks it.
    None,
}

/// How far the host has 100.64.0.1, the far side of a link, elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedNetwork {
    /// Nowhere.
    Free,
    /// A route leads to it, as behind carriers' NAT.
    Covered,
    /// It is a gateway, or the host's own.
    Taken,
}

/// The version of a browser, or why there is none and what to do.
pub type Chromium = Result<String, (String, String)>;

/// What was found.
#[derive(Debug, Clone)]
pub struct ObservedHost {
    /// What this process may do.
    pub privileges: Privileges,
    /// Whether this user may make namespaces of its own.
    pub namespaces: bool,
    /// Why `/dev/net/tun` cannot be opened, or made; none if it can.
    pub tun: Option<ErrorKind>,
    /// Programs that are not installed.
    pub absent: Vec<&'static str>,
    /// Neither nft nor iptables lists rules to this user.
    pub unlisted: bool,
    /// What can make rules that send packets to a program, or why nothing can and the remedy.
    pub diverts: Result<Tool, (String, String)>,
    /// The kernel's queue to a program.
    pub queue: KernelPart,
    /// Its htb, ifb and `sch_mencius`.
    pub modules: [(&'static str, KernelPart); 3],
    /// Whether it has IPv6.
    pub ipv6: Ipv6,
    /// The chain that drops what nothing permits, and is met by new connections to this host.
    pub firewall: Option<String>,
    /// The same of what it passes on.
    pub forwards: Option<String>,
    /// The browser's version, or why there is none and what to do; none in a program that drives no browser.
    pub chromium: Option<Chromium>,
    /// Who else has a link's address.
    pub shared: SharedNetwork,
    /// Flowtables.
    pub flowtables: Vec<Flowtable>,
    /// What the kernel tells the time by; empty if it is not known.
    pub clock: String,
}

impl ObservedHost {
    /// This host, as it is now, in this network namespace.
    pub fn here(host: &mut Host, chromium: Option<Chromium>) -> Self {
        let rules = rules(host);
        let [firewall, forwards] = drops(&rules);
        ObservedHost {
            chromium,
            privileges: Privileges::here(),
            namespaces: may_make_namespaces(),
            tun: tun(),
            absent: absent(),
            firewall,
            forwards,
            unlisted: rules.iter().all(Option::is_none),
            diverts: diverts(host),
            queue: module("nfnetlink_queue"),
            modules: ["sch_htb", "ifb", "sch_mencius"].map(|name| (name, module(name))),
            ipv6: ipv6(),
            shared: shared(),
            flowtables: Flowtable::all(host),
            clock: first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        }
    }
}

/// The chains that drop what no rule permits, looked up now: of new connections to this host, and of what it passes on.
pub fn firewall(host: &mut Host) -> [Option<String>; 2] {
    drops(&rules(host))
}

/// The rules as nft and iptables list them; none where one cannot.
fn rules(host: &mut Host) -> [Option<String>; 2] {
    [Command::nft("list ruleset"), Command::iptables("-S")].map(|command| listed(host, &command))
}

fn drops(rules: &[Option<String>; 2]) -> [Option<String>; 2] {
    let [nft, iptables] = rules
        .each_ref()
        .map(|text| text.as_deref().unwrap_or_default());
    [FirewallHook::Input, FirewallHook::Forward].map(|hook| dropping(hook, nft, iptables))
}

/// By the rule that `pace` makes, which is only checked.
fn diverts(host: &mut Host) -> Result<Tool, (String, String)> {
    let of_pace = Diversion::Web {
        queue: 0,
        device: None,
    };
    Tool::find(host, &of_pace).map_err(|error| (error.message, error.help))
}

fn first_line(file: &str) -> String {
    read_to_string(file).unwrap_or_default().trim().to_owned()
}

/// The output of a command that only looks; none if it fails.
fn listed(host: &mut Host, command: &Command) -> Option<String> {
    let output = host.run(command).ok()?;
    output.success.then_some(output.stdout)
}

/// Tries it: what forbids it is a setting here, a security module there, and a filter of system calls in a
/// container. util-linux's `unshare` is on every distribution; without it nobody knows.
fn may_make_namespaces() -> bool {
    let mut unshare = std::process::Command::new("unshare");
    let tried = unshare.args(["-Urnm", "true"]).stderr(Stdio::null());
    tried.status().is_ok_and(|status| status.success())
}

fn tun() -> Option<ErrorKind> {
    match opened(Path::new("/dev/net/tun")) {
        Err(ErrorKind::NotFound) => a_node_of_ones_own(),
        tried => tried.err(),
    }
}

fn opened(node: &Path) -> Result<(), ErrorKind> {
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).open(node);
    opened.map(drop).map_err(|error| error.kind())
}

/// A link makes the node that is not there, as root; in a container the cgroup may forbid to open it. So one is made
/// beside it, tried, and taken away (Linux, Documentation/admin-guide/devices.txt: misc has major 10, TUN minor 200).
fn a_node_of_ones_own() -> Option<ErrorKind> {
    let node = format!("/dev/analects-doctor-{}", std::process::id());
    let (kind, device) = (FileType::CharacterDevice, makedev(10, 200));
    let mode = Mode::RUSR | Mode::WUSR;
    if mknodat(CWD, &node, kind, mode, device).is_err() {
        return Some(ErrorKind::NotFound);
    }
    let tried = opened(Path::new(&node)).err();
    let _ = std::fs::remove_file(&node);
    tried
}

/// Of the programs that the commands run, those that are in no folder of programs.
fn absent() -> Vec<&'static str> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(Into::into);
    let folders: Vec<_> = std::env::split_paths(&paths).chain(system).collect();
    let absent = |name: &&str| !folders.iter().any(|folder| folder.join(name).is_file());
    ["ip", "tc", "slirp4netns"]
        .into_iter()
        .filter(absent)
        .collect()
}

/// modprobe(8), modules.dep(5): what is loaded or built in has a folder in sysfs, or a line in modules.builtin.
fn module(name: &str) -> KernelPart {
    if Path::new("/sys/module").join(name).exists() {
        return KernelPart::There;
    }
    if name == "nfnetlink_queue" && Path::new("/proc/net/netfilter/nfnetlink_queue").exists() {
        return KernelPart::There;
    }
    let folder = Path::new("/lib/modules").join(first_line("/proc/sys/kernel/osrelease"));
    let file = |list: &str| read_to_string(folder.join(list));
    match (file("modules.dep"), file("modules.builtin")) {
        (Err(_), Err(_)) => KernelPart::Unknown,
        (loaded, builtin) => {
            let lists = loaded.unwrap_or_default() + &builtin.unwrap_or_default();
            has_module(&lists, name)
        }
    }
}

/// Whether a line names the module's file: its name may have dashes, and a compression's ending.
pub fn has_module(lists: &str, name: &str) -> KernelPart {
    let file = |line: &str| {
        let path = line.split(':').next()?;
        let (stem, _) = path.rsplit('/').next()?.split_once(".ko")?;
        Some(stem.replace('-', "_"))
    };
    if lists
        .lines()
        .any(|line| file(line).as_deref() == Some(name))
    {
        KernelPart::There
    } else {
        KernelPart::Lacks
    }
}

fn ipv6() -> Ipv6 {
    match first_line("/proc/sys/net/ipv6/conf/default/disable_ipv6").as_str() {
        "" => Ipv6::None,
        "0" => Ipv6::On,
        _ => Ipv6::Off,
    }
}

fn shared() -> SharedNetwork {
    let known = Known::now();
    match (known.has(0), known.covers(0)) {
        (true, _) => SharedNetwork::Taken,
        (false, true) => SharedNetwork::Covered,
        (false, false) => SharedNetwork::Free,
    }
}
