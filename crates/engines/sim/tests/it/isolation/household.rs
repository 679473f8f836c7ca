//! A household whose senders respond, on a line under an attack, as a scenario.

use super::attack::Attack;
use core::fmt::Write as _;

/// Of each kind an attack has so many packets a second at most, and so many flows, so that a run takes a moment.
const PACKETS: u64 = 2_000;
const FLOWS: u64 = 2_000;
const BIRTHS: u64 = 100;
/// When the attack begins and the run ends, ms. It is measured from half of it on: every host has spent by then
/// what it lends at first.
const ATTACKED: u64 = 2_000;
const END: u64 = 40_000;
/// Bit/s of a call at least: GCC finds no smaller rate.
const LEAST: u64 = 150_000;

/// Bit/s of the line.
fn line(attack: &Attack) -> u64 {
    attack.value("line, kbit/s") * 1000
}

/// Bit/s of a host if all get the same.
fn share(attack: &Attack) -> u64 {
    let downloads = attack.value("other computers with a download");
    line(attack) / (2 + downloads + attack.value("attacking computers"))
}

/// Bit/s of all downloads if all hosts get the same.
pub fn due(attack: &Attack) -> f64 {
    (share(attack) * attack.value("other computers with a download")) as f64
}

/// Whether the call stays below its share.
pub fn has_call(attack: &Attack) -> bool {
    share(attack) / 2 >= LEAST
}

/// `choice`, with the line's rate if it is to shape.
pub fn set(attack: &Attack, choice: &str) -> String {
    match attack.value("shaped by the queue") {
        0 => choice.to_owned(),
        _ => format!("{choice},bandwidth={}bit", line(attack)),
    }
}

/// The scenario, without a discipline.
pub fn scenario(attack: &Attack) -> String {
    let mut text = format!(
        "duration = \"{END}ms\"\nwarmup = \"{}ms\"\n[link]\nrate = \"{}bit\"\nrtt = \"40ms\"\nbuffer = \"{}p\"\n",
        END / 2,
        // A shaped queue is before a line that is faster.
        line(attack) * (1 + 9 * attack.value("shaped by the queue")),
        attack.value("buffer, packets"),
    );
    if has_call(attack) {
        let most = (share(attack) / 2).min(2_500_000);
        let keys = format!("max_rate = \"{most}bit\"");
        entry(&mut text, "call", "call", "laptop", &keys);
    }
    let keys = "rate = \"6400bit\"\npacket = \"80B\"\npattern = \"poisson\"\nanswer = \"200B\"";
    entry(&mut text, "names", "udp", "phone", keys);
    let downloads = attack.value("other computers with a download");
    if downloads > 0 {
        let keys = format!("count = {downloads}\nown_hosts = true\nstagger = \"50ms\"");
        entry(&mut text, "download", "bulk", "pc", &keys);
    }
    add_attack(&mut text, attack);
    text
}

fn entry(text: &mut String, name: &str, kind: &str, host: &str, keys: &str) {
    writeln!(
        text,
        "[[traffic]]\nname = \"{name}\"\nkind = \"{kind}\"\nhost = \"{host}\"\n{keys}"
    )
    .unwrap();
}

fn add_attack(text: &mut String, attack: &Attack) {
    let value = |name| attack.value(name);
    let hosts = value("attacking computers");
    let flows = value("flows of each").min(FLOWS / hosts);
    let all = hosts * flows;
    // ms between two packets of one flow, if all are to have no more than there may be.
    let apart = (all * 1000).div_ceil(PACKETS).max(1);
    let alive = match value("alive every, ms") {
        0 => 0,
        every => every.max(apart),
    };
    let flood = Flood::of(attack, all);
    let steady = value("each flow always, kbit/s") * 1000;
    let [kept, sent] = [value("bytes of that"), value("packets of that, bytes")];
    let steady = steady.min(sent * 8 * 1000 / apart);
    for host in 0..hosts {
        let name = format!("attacker{host}");
        let mut add = |kind: &str, keys: &str| {
            let keys = format!("count = {flows}\n{keys}");
            entry(text, &format!("{kind}{host}"), "udp", &name, &keys);
        };
        if let Some(flood) = &flood {
            let alive = format!("alive = \"{alive}ms\"\nalive_packet = \"{kept}B\"");
            add("flood", &format!("{}\n{alive}", flood.keys(host, hosts)));
        } else if let Some(rate) = (kept * 8 * 1000).checked_div(alive) {
            add("alive", &constant(rate, kept));
        }
        if steady > 0 {
            add("steady", &constant(steady, sent));
        }
    }
    let births = value("births a second").min(BIRTHS);
    if let Some(stagger) = 1000_u64.checked_div(births) {
        let count = (END - ATTACKED) / stagger;
        let keys = format!(
            "start = \"{ATTACKED}ms\"\ncount = {count}\nstagger = \"{stagger}ms\"\npacket = \"100B\"\ndatagrams = 1"
        );
        entry(text, "births", "udp", "attacker0", &keys);
    }
}

/// A datagram of so many bytes at this rate in bit/s.
fn constant(rate: u64, bytes: u64) -> String {
    format!(
        "start = \"{ATTACKED}ms\"\njitter = \"100ms\"\nrate = \"{}bit\"\npacket = \"{bytes}B\"",
        rate.max(1000)
    )
}

/// A flood that goes from flow to flow, or from some flows to the next.
struct Flood {
    /// bit/s of a flow in its turn.
    rate: u64,
    packet: u64,
    /// ms of a turn, and from one turn to the next.
    on: u64,
    of: u64,
    /// Flows that have a turn at once, and turns until it is the first's again.
    at_once: u64,
    turns: u64,
}

impl Flood {
    fn of(attack: &Attack, all: u64) -> Option<Self> {
        let flood = line(attack) / 8 * attack.value("flood, % of the line") / 100;
        let packet = attack.value("packets, bytes").max(flood / PACKETS);
        let packet = packet.min(1500);
        let at_once = attack.value("of so many flows at once").min(all);
        let on = attack.value("for, ms");
        (flood > 0).then(|| Flood {
            rate: (flood.min(packet * PACKETS) * 8 / at_once).max(1000),
            packet,
            on,
            of: attack.value("in each, ms").max(on),
            at_once,
            turns: all.div_ceil(at_once),
        })
    }

    /// Of the host of this number. Its flows are apart by those of all other hosts.
    fn keys(&self, host: u64, hosts: u64) -> String {
        let start = ATTACKED + host * self.of / self.at_once;
        let stagger = match self.turns {
            1 => 0,
            _ => hosts * self.of / self.at_once,
        };
        let start = if self.turns == 1 { ATTACKED } else { start };
        format!(
            "start = \"{start}ms\"\nstagger = \"{stagger}ms\"\nrate = \"{}bit\"\npacket = \"{}B\"\n\
             pattern = \"bursts\"\non = \"{}ms\"\noff = \"{}ms\"",
            self.rate,
            self.packet,
            self.on,
            self.of * self.turns - self.on,
        )
    }
}
