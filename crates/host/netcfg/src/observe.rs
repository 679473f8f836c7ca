//! The state of a device: its queues, our class, its filters.

use crate::look::look;
use crate::{Command, Device, Error, Netfilter, Runner};
use serde_json::{Map, Value};
use units::Rate;

/// A queue discipline as `tc -j` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// Its kind, such as `fq_codel`.
    pub kind: String,
    /// Its handle, such as `8001:`; `0:` if the kernel chose it.
    pub handle: String,
    /// The class that it is in.
    pub parent: Option<String>,
    /// Whether it is the device's root.
    pub root: bool,
    /// All the fields printed for it.
    pub fields: Map<String, Value>,
}

/// Filters in one place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// How many entries tc prints.
    pub entries: usize,
    /// The devices that they redirect packets to.
    pub redirects: Vec<String>,
}

/// A device and its state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// The kernel's number of it, which no later device of the name gets; none if it is not known.
    pub index: Option<u32>,
    /// Whether its packets have an Ethernet header, which the kernel counts.
    pub ethernet: bool,
    /// Its disciplines.
    pub qdiscs: Vec<Qdisc>,
    /// The rate of class a1:1, if there is one, as exactly as tc prints it.
    pub class_rate: Option<Rate>,
    /// Filters of its root, if the kernel did not choose it.
    pub root_filters: Filters,
    /// Filters of received packets.
    pub ingress_filters: Filters,
}

impl Observed {
    /// A device in an unknown state: Ethernet, with the queue that the kernel chose.
    pub fn assumed() -> Self {
        Observed {
            ethernet: true,
            ..Observed::default()
        }
    }

    /// The discipline at its root.
    pub fn root(&self) -> Option<&Qdisc> {
        self.qdiscs.iter().find(|qdisc| qdisc.root)
    }

    /// The one that is in class `parent`.
    pub fn child(&self, parent: &str) -> Option<&Qdisc> {
        let is = |qdisc: &&Qdisc| qdisc.parent.as_deref() == Some(parent);
        self.qdiscs.iter().find(is)
    }

    /// The hook for received packets: `ingress` or `clsact`.
    pub fn ingress(&self) -> Option<&Qdisc> {
        let is = |qdisc: &&Qdisc| matches!(qdisc.kind.as_str(), "ingress" | "clsact");
        self.qdiscs.iter().find(is)
    }
}

/// Several devices at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    devices: Vec<(Device, Observed)>,
    /// The state other than devices; none if it was not read.
    pub netfilter: Option<Netfilter>,
}

impl Snapshot {
    /// Looks at `devices`; one that is not there is left out.
    ///
    /// # Errors
    /// If ip or tc fails, or their output cannot be parsed.
    pub fn take(runner: &mut dyn Runner, devices: &[&Device]) -> Result<Self, Error> {
        let mut snapshot = Snapshot::default();
        for device in devices {
            if let Some(observed) = observe(runner, device)? {
                snapshot.devices.push(((*device).clone(), observed));
            }
        }
        Ok(snapshot)
    }

    /// `device`, the one through which it receives, and the state of the two levels if `levels`: only for
    /// them are nft and sysctl run.
    ///
    /// # Errors
    /// If a command fails, or its output cannot be parsed.
    pub(crate) fn around(
        runner: &mut dyn Runner,
        device: &Device,
        levels: bool,
    ) -> Result<Self, Error> {
        let mut snapshot = Snapshot::take(runner, &[device, &device.shaped_ingress()])?;
        if levels {
            snapshot.netfilter = Some(Netfilter::take(runner)?);
        }
        Ok(snapshot)
    }

    /// The state of `device`, if it exists.
    pub fn of(&self, device: &Device) -> Option<&Observed> {
        let found = self.devices.iter().find(|(name, _)| name == device);
        found.map(|(_, observed)| observed)
    }

    /// The same, to be changed.
    pub(crate) fn of_mut(&mut self, device: &Device) -> Option<&mut Observed> {
        let found = self.devices.iter_mut().find(|(name, _)| name == device);
        found.map(|(_, observed)| observed)
    }

    /// Supposes that `device` is not there.
    pub(crate) fn without(&mut self, device: &Device) {
        self.devices.retain(|(name, _)| name != device);
    }

    /// Supposes that `device` has `observed`.
    pub fn suppose(&mut self, device: &Device, observed: Observed) {
        self.devices.push((device.clone(), observed));
    }
}

/// Runs a command that only looks, and must succeed.
fn printed(runner: &mut dyn Runner, words: &str) -> Result<String, Error> {
    let command = Command::tc(words);
    let output = look(runner, &command)?;
    if output.success {
        Ok(output.stdout)
    } else {
        Err(Error::command(&command, &output.stderr))
    }
}

/// Whether a complaint is that a device is not there: iproute2's words, and those of OpenWrt's smaller ip.
pub(crate) fn is_gone(complaint: &str) -> bool {
    let gone = ["does not exist", "annot find device", "an't find device"];
    gone.iter().any(|words| complaint.contains(words))
}

/// The state of `device`; none if it is not there, or goes between two of the looks.
fn observe(runner: &mut dyn Runner, device: &Device) -> Result<Option<Observed>, Error> {
    match observe_whole(runner, device) {
        Err(error) if is_gone(&error.message) => Ok(None),
        observed => observed.map(Some),
    }
}

fn observe_whole(runner: &mut dyn Runner, device: &Device) -> Result<Observed, Error> {
    let command = Command::ip(&format!("link show dev {device}"));
    let link = look(runner, &command)?;
    if !link.success {
        return Err(Error::command(&command, &link.stderr));
    }
    let words = format!("-d -j qdisc show dev {device}");
    let mut it = Observed {
        index: index(&link.stdout),
        ethernet: link.stdout.contains("link/ether"),
        qdiscs: qdiscs(&words, &printed(runner, &words)?)?,
        ..Observed::default()
    };
    let root = it
        .root()
        .map(|root| (root.kind.clone(), root.handle.clone()));
    match root {
        Some((kind, handle)) if kind == "htb" && handle == "a1:" => {
            it.class_rate = class_rate(&printed(runner, &format!("class show dev {device}"))?);
        }
        // The handle is used in a command: only a valid one is accepted.
        Some((_, handle)) if major(&handle).is_some_and(|major| major != 0) => {
            let words = format!("-j filter show dev {device} parent {handle}");
            it.root_filters = filters(&words, &printed(runner, &words)?)?;
        }
        _ => (),
    }
    if it.ingress().is_some() {
        let words = format!("-j filter show dev {device} ingress");
        it.ingress_filters = filters(&words, &printed(runner, &words)?)?;
    }
    Ok(it)
}

/// The number that `ip link` prints first, as in `5: v0@v1: <BROADCAST,...`.
fn index(text: &str) -> Option<u32> {
    text.split_once(':')?.0.trim().parse().ok()
}

/// The number of a handle such as `8001:`.
pub(crate) fn major(handle: &str) -> Option<u16> {
    u16::from_str_radix(handle.strip_suffix(':')?, 16).ok()
}

/// The list of objects that `tc -j` prints; no output is an empty list.
pub(crate) fn objects(words: &str, text: &str) -> Result<Vec<Map<String, Value>>, Error> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_str(text).map_err(|error| {
        let command = Command::tc(words);
        let help = "a tc that prints JSON is needed: iproute2 4.17 or newer";
        Error::failed(format!("{command}: did not print JSON: {error}"), help)
    })
}

fn qdiscs(words: &str, text: &str) -> Result<Vec<Qdisc>, Error> {
    let text_of = |fields: &Map<String, Value>, key: &str| {
        fields.get(key).and_then(Value::as_str).map(str::to_owned)
    };
    let qdisc = |fields: Map<String, Value>| Qdisc {
        kind: text_of(&fields, "kind").unwrap_or_default(),
        handle: text_of(&fields, "handle").unwrap_or_default(),
        parent: text_of(&fields, "parent"),
        root: fields.get("root") == Some(&Value::Bool(true)),
        fields,
    };
    Ok(objects(words, text)?.into_iter().map(qdisc).collect())
}

fn filters(words: &str, text: &str) -> Result<Filters, Error> {
    let entries = objects(words, text)?;
    let actions = entries
        .iter()
        .filter_map(|entry| entry.get("options")?.get("actions")?.as_array())
        .flatten();
    let to = |action: &Value| Some(action.get("to_dev")?.as_str()?.to_owned());
    Ok(Filters {
        redirects: actions.filter_map(to).collect(),
        entries: entries.len(),
    })
}

/// The rate in a line such as `class htb a1:1 root leaf b1: prio 0 rate 45Mbit ...`: tc has no JSON
/// for htb's classes.
fn class_rate(text: &str) -> Option<Rate> {
    let ours = |line: &&str| line.trim_start().starts_with("class htb a1:1 ");
    let mut words = text.lines().find(ours)?.split_whitespace();
    words.find(|word| *word == "rate")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disciplines_as_tc_prints_them() {
        let text = r#"[{"kind":"htb","handle":"a1:","root":true,"refcnt":3,"options":{"r2q":10}},
            {"kind":"pfifo","handle":"b1:","parent":"a1:1","options":{"limit":100}},
            {"kind":"ingress","handle":"ffff:","parent":"ffff:fff1","options":{}}]"#;
        let it = Observed {
            qdiscs: qdiscs("", text).unwrap(),
            ..Observed::default()
        };
        assert_eq!(it.root().unwrap().kind, "htb");
        assert_eq!(it.child("a1:1").unwrap().handle, "b1:");
        assert_eq!(it.ingress().unwrap().kind, "ingress");
        assert!(qdiscs("", "Error").is_err());
        assert!(qdiscs("", "[1]").is_err());
        assert_eq!(qdiscs("", "[{}]").unwrap()[0].kind, "");
        assert_eq!(qdiscs("", "\n").unwrap(), []);
    }

    #[test]
    fn the_number_of_a_device() {
        assert_eq!(index("5: v0@v1: <BROADCAST> mtu 1500\n"), Some(5));
        assert_eq!(index("    link/ether 02:00:00:00:00:01"), None);
    }

    #[test]
    fn filters_as_tc_prints_them() {
        let text = r#"[{"protocol":"all","pref":10,"kind":"u32","chain":0},
            {"kind":"u32","options":{"fh":"800::800","actions":[{"order":1,"kind":"mirred",
            "mirred_action":"redirect","direction":"egress","to_dev":"ifb-v0"}]}}]"#;
        let it = filters("", text).unwrap();
        assert_eq!(it.entries, 2);
        assert_eq!(it.redirects, ["ifb-v0"]);
    }

    #[test]
    fn the_rate_of_our_class() {
        let text = "class htb 1:1 root prio 0 rate 9Mbit\n\
            class htb a1:1 root leaf b1: prio 0 rate 45500Kbit ceil 45500Kbit burst 5687b\n";
        assert_eq!(class_rate(text), Some(Rate::from_bits(45_500_000)));
        assert_eq!(class_rate("class htb a1:10 root rate 1Mbit"), None);
        assert_eq!(class_rate("class htb a1:1 root"), None);
    }

    #[test]
    fn handles() {
        assert_eq!(major("8001:"), Some(0x8001));
        for bad in ["", ":", "8001", "12345:", "a b:", "1:1"] {
            assert_eq!(major(bad), None, "{bad}");
        }
    }
}
