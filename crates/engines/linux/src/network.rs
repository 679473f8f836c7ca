//! The network of a scenario as a list of commands: three namespaces in a row.
//!
//! ```text
//! net n0 ───── r0 router r1 ───── h0 home
//! ```
//!
//! Servers have addresses in 10.1.0.0/16, computers at home in 10.2.0.0/16; namespaces treat all
//! their addresses as local. Towards the home the bottleneck is on `r1`, away from it on `r0`:
//! `htb` sets the rate, and the discipline under test is its leaf. Half of each round trip passes
//! in `netem` at `n0`, half at `h0`, chosen by the sockets' priority; so does senders' noise.
//! Random effects of the wire behind the bottleneck are applied at the receiver, on an `ifb`.
//!
//! Segments are never larger than a packet, as on a slow link's router, and the queues count IP
//! lengths (`stab` takes Ethernet's 14 bytes off), as the simulator does.

use crate::chance;
use crate::disciplines::TcArguments;
use guest::MTU;
use guest::plan::{Delay, Places, Step};
use netcfg::{AgeTable, Device, INNER, PRIO, ParentHandle, Split, tc};
use units::{Duration, Rate};

/// A bottleneck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shaped {
    /// Its capacity at first.
    pub rate: Rate,
    /// Bytes on the wire for every packet.
    pub overhead: u32,
    /// Its discipline.
    pub discipline: TcArguments,
}

/// Devices of the router, their root handles: towards the home, and away from it.
pub const DOWN: (&str, u32) = ("r1", 0x1_0000);
/// See [`DOWN`].
pub const UP: (&str, u32) = ("r0", 0x2_0000);
/// The class that the packets of a bottleneck are in, beneath the root's handle.
pub const CLASS: u32 = 1;
/// Bytes that may leave at once: a packet with Ethernet's header, so that a late timer does not
/// lower the rate.
pub const BURST: u32 = 1514;
/// Root handles of the delays: servers', and the home's.
const DELAYS: (u32, u32) = (0x11, 0x12);
/// A rate that is no limit, for classes that only distinguish delays.
const FREE: &str = "32gbit";

/// Random effects on packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chances {
    /// How much later they leave their senders, at most.
    pub noise: Duration,
    /// Effects behind the bottleneck, in the words of `netem`.
    pub wire: Option<String>,
}

/// The table that classifies packets of the levels of `discipline`, if it has two.
pub fn table(discipline: &TcArguments) -> Option<AgeTable> {
    let split = match discipline.words.first().map(String::as_str) {
        Some("cake") => Split::Tins,
        _ => Split::Class,
    };
    let threshold = discipline.threshold?;
    Some(AgeTable { threshold, split })
}

/// Builds commands.
struct Commands<'a> {
    places: &'a Places,
    steps: Vec<Step>,
}

impl Commands<'_> {
    fn run(&mut self, line: &str) {
        let words = line.split_whitespace().map(str::to_owned).collect();
        self.steps.push(Step::Run(words));
    }

    fn set(&mut self, namespace: &str, path: &str, value: &str) {
        self.steps.push(Step::Set {
            namespace: namespace.to_owned(),
            path: path.to_owned(),
            value: value.to_owned(),
        });
    }
}

/// Priorities for round trips, shortest first: a class for each, or none if there is only one.
pub fn delays(rtts: &[Duration]) -> Vec<Delay> {
    let mut sorted = rtts.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let single = sorted.len() < 2;
    (1..)
        .zip(sorted)
        .map(|(class, rtt)| Delay {
            rtt: rtt.as_nanos(),
            net: if single { 0 } else { (DELAYS.0 << 16) + class },
            home: if single { 0 } else { (DELAYS.1 << 16) + class },
        })
        .collect()
}

/// The commands that build it all.
pub fn commands(
    places: &Places,
    down: &Shaped,
    up: Option<&Shaped>,
    delays: &[Delay],
    chance: &Chances,
    ecn: bool,
) -> Vec<Step> {
    let mut commands = Commands {
        places,
        steps: Vec::new(),
    };
    commands.wire();
    commands.settle(ecn);
    commands.shape(DOWN, down);
    if let Some(up) = up {
        commands.shape(UP, up);
    }
    let Places { net, home, .. } = places;
    let of_net: Vec<_> = delays.iter().map(|d| (d.rtt / 2, d.net)).collect();
    // An odd nanosecond is added on the other side.
    let of_home: Vec<_> = delays.iter().map(|d| (d.rtt - d.rtt / 2, d.home)).collect();
    commands.delay(net, "n0", (DELAYS.0, chance.noise), &of_net);
    commands.delay(home, "h0", (DELAYS.1, chance.noise), &of_home);
    if let Some(words) = &chance.wire {
        commands.receive(home, "h0", words);
        if up.is_some() {
            commands.receive(net, "n0", words);
        }
    }
    commands.steps
}

impl Commands<'_> {
    /// Namespaces, devices, addresses, routes.
    fn wire(&mut self) {
        let Places { net, router, home } = self.places;
        for name in [net, router, home] {
            self.run(&format!("ip netns add {name}"));
        }
        for name in [net, router, home] {
            // Before there are devices, so that none of them greets its neighbours.
            for path in ["all", "default"] {
                let path = format!("net/ipv6/conf/{path}/disable_ipv6");
                self.set(name, &path, "1");
                let path = path
                    .replace("ipv6", "ipv4")
                    .replace("disable_ipv4", "rp_filter");
                self.set(name, &path, "0");
            }
            self.run(&format!("ip -n {name} link set lo up"));
        }
        let mac = |last: u32| format!("02:00:00:00:00:{last:02x}");
        let ends = [(net, "n0", "r0", 1), (home, "h0", "r1", 2)];
        for (name, outer, inner, number) in ends {
            let (own, other) = (mac(number * 16), mac(number * 16 + 1));
            self.run(&format!(
                "ip -n {name} link add {outer} address {own} type veth \
                 peer name {inner} address {other} netns {router}"
            ));
            let wire = format!("10.0.{number}");
            self.run(&format!("ip -n {name} addr add {wire}.2/30 dev {outer}"));
            self.run(&format!("ip -n {router} addr add {wire}.1/30 dev {inner}"));
            for (place, device) in [(name, outer), (router, inner)] {
                self.run(&format!(
                    "ip -n {place} link set {device} mtu {MTU} gso_max_segs 1 up"
                ));
            }
            // Neighbours that need not be asked for.
            self.run(&format!(
                "ip -n {name} neigh add {wire}.1 lladdr {other} dev {outer} nud permanent"
            ));
            self.run(&format!(
                "ip -n {router} neigh add {wire}.2 lladdr {own} dev {inner} nud permanent"
            ));
            let subnet = format!("10.{number}.0.0/16");
            self.run(&format!("ip -n {name} route add local {subnet} dev lo"));
            self.run(&format!("ip -n {name} route add default via {wire}.1"));
            self.run(&format!("ip -n {router} route add {subnet} via {wire}.2"));
        }
    }

    /// Applies settings of Linux that differ from its defaults.
    fn settle(&mut self, ecn: bool) {
        let Places { net, router, home } = self.places;
        self.set(router, "net/ipv4/ip_forward", "1");
        for name in [net, home] {
            // The experience of one connection must not help the next one.
            self.set(name, "net/ipv4/tcp_no_metrics_save", "1");
            self.set(name, "net/ipv4/tcp_ecn", if ecn { "1" } else { "0" });
            // Applications are notified of free room as those in the simulator are.
            self.set(name, "net/ipv4/tcp_notsent_lowat", "32768");
        }
    }

    /// A bottleneck.
    fn shape(&mut self, (device, handle): (&str, u32), link: &Shaped) {
        let router = &self.places.router;
        let root = handle >> 16;
        if let Some(packets) = link.discipline.device_queue {
            self.run(&format!(
                "ip -n {router} link set {device} txqueuelen {packets}"
            ));
        }
        self.run(&format!(
            "tc -n {router} qdisc add dev {device} root handle {root:x}: \
             stab overhead -14 linklayer ethernet htb default {CLASS:x}"
        ));
        let rate = tc::rate(link.rate);
        let overhead = match link.overhead {
            0 => String::new(),
            bytes => format!("overhead {bytes}"),
        };
        self.run(&format!(
            "tc -n {router} class add dev {device} parent {root:x}: classid {root:x}:{CLASS:x} \
             htb rate {rate} {overhead} burst {BURST} cburst {BURST} quantum {BURST}"
        ));
        let class = format!("{root:x}:{CLASS:x}");
        if let (Some(table), Ok(name)) = (table(&link.discipline), device.parse()) {
            return self.levels(&name, &class, &link.discipline, &table);
        }
        let discipline = link.discipline.words.join(" ");
        self.run(&format!(
            "tc -n {router} qdisc add dev {device} parent {class} handle {root:x}0: {discipline}"
        ));
    }

    /// Two levels of a discipline in `class`, under the handles that `analects tc` gives them.
    fn levels(&mut self, device: &Device, class: &str, discipline: &TcArguments, table: &AgeTable) {
        let router = &self.places.router;
        let add = format!("tc -n {router} qdisc add dev {device} parent");
        let words = discipline.words.join(" ");
        if table.split == Split::Tins {
            self.run(&format!("{add} {class} handle a1: {words}"));
        } else {
            self.run(&format!("{add} {class} handle {INNER} {PRIO}"));
            for place in [ParentHandle::InnerFirst, ParentHandle::InnerSecond] {
                let (parent, [handle, _]) = (place.parent(), place.handles());
                self.run(&format!("{add} {parent} handle {handle} {words}"));
            }
        }
        let within = ["ip", "netns", "exec", router, "nft"].map(str::to_owned);
        let words = within.into_iter().chain(table.command(device).args);
        self.steps.push(Step::Run(words.collect()));
        // With the table, connections are tracked in the namespace.
        self.set(router, "net/netfilter/nf_conntrack_acct", "1");
    }

    /// Passes packets that arrive at a device through a qdisc, on a device that exists for nothing
    /// else.
    fn receive(&mut self, name: &str, device: &str, words: &str) {
        for line in [
            format!("ip -n {name} link add wire type ifb"),
            format!("ip -n {name} link set wire up"),
            format!("tc -n {name} qdisc add dev wire root {words}"),
            format!("tc -n {name} qdisc add dev {device} ingress"),
            format!(
                "tc -n {name} filter add dev {device} ingress matchall action mirred egress \
                 redirect dev wire"
            ),
        ] {
            self.run(&line);
        }
    }

    /// Delays in nanoseconds, each with the priority of its packets, and the most noise.
    fn delay(
        &mut self,
        name: &str,
        device: &str,
        (root, noise): (u32, Duration),
        delays: &[(u64, u32)],
    ) {
        let netem = |nanos: u64| chance::delay(nanos, noise);
        if let [(nanos, _)] = delays {
            let netem = netem(*nanos);
            self.run(&format!(
                "tc -n {name} qdisc add dev {device} root handle {root:x}: {netem}"
            ));
            return;
        }
        self.run(&format!(
            "tc -n {name} qdisc add dev {device} root handle {root:x}: htb default 1"
        ));
        for (number, (nanos, class)) in (0x100..).zip(delays) {
            let class = class & 0xffff;
            self.run(&format!(
                "tc -n {name} class add dev {device} parent {root:x}: classid {root:x}:{class:x} \
                 htb rate {FREE} burst 1mb cburst 1mb quantum {BURST}"
            ));
            let (number, netem) = (number + (root << 8), netem(*nanos));
            self.run(&format!(
                "tc -n {name} qdisc add dev {device} parent {root:x}:{class:x} \
                 handle {number:x}: {netem}"
            ));
        }
    }
}
