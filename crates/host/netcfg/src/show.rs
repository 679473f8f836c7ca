//! The applied settings, whether they are still in place, and their counters.

use crate::look::look;
use crate::observe::{Observed, Snapshot, is_gone, objects};
use crate::shaper::INNER;
use crate::{
    AgeTable, Change, Command, Computer, Device, Error, Journal, Netfilter, ParentHandle, Rates,
    RootQdisc, Runner, Settings, Store, recognized,
};
use serde::Serialize;
use serde_json::{Map, Value};
use units::Rate;

/// The state of the settings applied to a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// The device.
    pub device: Device,
    /// The user's settings; none if the journal is lost, and the set-up is known by its handles.
    pub settings: Option<Settings>,
    /// The rates that stand in place of those of the settings, if `autorate` changes them or did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed: Option<Rates>,
    /// Whether all of it was done; otherwise it was interrupted.
    pub complete: bool,
    /// How often it was put back after other programs had taken something away.
    pub restored: u64,
    /// Differences from the applied state; empty if there are none.
    pub differences: Vec<String>,
    /// The queues of the device, and of the one through which it receives.
    pub queues: Vec<Queue>,
    /// The counters of the two levels, young packets before old ones; empty if there is one.
    pub levels: Vec<Level>,
}

impl Status {
    /// The rates that stand; none where nothing is shaped, or the journal is lost.
    pub fn rates(&self) -> Rates {
        let set = self.settings.as_ref().map(Settings::rates);
        self.followed.or(set).unwrap_or_default()
    }
}

/// A level and its counters; those that its queue does not count are none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Level {
    /// `young` or `old`.
    pub name: &'static str,
    /// Packets that left.
    pub packets: Option<u64>,
    /// Bytes that left.
    pub bytes: Option<u64>,
    /// Packets that were dropped.
    pub drops: Option<u64>,
}

/// A queue discipline and its counters since it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// The device that it belongs to.
    pub device: Device,
    /// Its kind.
    pub kind: String,
    /// Its handle.
    pub handle: String,
    /// Bytes that left.
    pub bytes: Option<u64>,
    /// Packets that left.
    pub packets: Option<u64>,
    /// Packets that were dropped.
    pub drops: Option<u64>,
    /// How often a packet had to wait for the rate.
    pub overlimits: Option<u64>,
    /// Bytes that wait.
    pub backlog: Option<u64>,
    /// Packets that wait.
    pub qlen: Option<u64>,
    /// What each computer has had; none of a kind that does not count that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computers: Option<Vec<Computer>>,
    /// All other fields that tc prints of it.
    pub details: Map<String, Value>,
}

/// The state of the settings applied to `device`; None if there are none.
///
/// # Errors
/// If the journal or the device cannot be read.
pub fn status(
    runner: &mut dyn Runner,
    store: &Store,
    device: &Device,
) -> Result<Option<Status>, Error> {
    let Some(journal) = store.load(device)? else {
        return without_journal(runner, device);
    };
    let devices = journal.devices();
    let mut now = Snapshot::take(runner, &devices.iter().collect::<Vec<_>>())?;
    if journal.changes.iter().any(Change::is_of_netfilter) {
        now.netfilter = Some(Netfilter::take(runner)?);
    }
    let queues = all_counted(runner, &devices, &now)?;
    Ok(Some(Status {
        device: device.clone(),
        differences: differences(&journal, &now),
        levels: levels(&journal, &queues),
        settings: Some(journal.settings),
        followed: journal.followed,
        restored: journal.restored,
        complete: journal.complete,
        queues,
    }))
}

/// The state of a set-up whose journal is lost, if `device` has one.
fn without_journal(runner: &mut dyn Runner, device: &Device) -> Result<Option<Status>, Error> {
    let now = recognized::looked(runner, device)?;
    if recognized::recognized(device, &now).is_empty() {
        return Ok(None);
    }
    let devices = [device.clone(), device.shaped_ingress()];
    Ok(Some(Status {
        device: device.clone(),
        settings: None,
        followed: None,
        restored: 0,
        complete: true,
        differences: Vec::new(),
        queues: all_counted(runner, &devices, &now)?,
        levels: Vec::new(),
    }))
}

/// The queues of those of `devices` that are there.
fn all_counted(
    runner: &mut dyn Runner,
    devices: &[Device],
    now: &Snapshot,
) -> Result<Vec<Queue>, Error> {
    let mut queues = Vec::new();
    for name in devices.iter().filter(|name| now.of(name).is_some()) {
        queues.extend(counted(runner, name)?);
    }
    Ok(queues)
}

/// The queues of `device` with their counters.
fn counted(runner: &mut dyn Runner, device: &Device) -> Result<Vec<Queue>, Error> {
    let words = format!("-s -j qdisc show dev {device}");
    let command = Command::tc(&words);
    let output = look(runner, &command)?;
    if !output.success && is_gone(&output.stderr) {
        return Ok(Vec::new());
    }
    if !output.success {
        return Err(Error::command(&command, &output.stderr));
    }
    let list = objects(&words, &output.stdout)?;
    Ok(list
        .into_iter()
        .map(|fields| queue(device, fields))
        .collect())
}

fn queue(device: &Device, mut fields: Map<String, Value>) -> Queue {
    let mut number = |key: &str| fields.remove(key).and_then(|value| value.as_u64());
    let (bytes, packets, drops) = (number("bytes"), number("packets"), number("drops"));
    let (overlimits, backlog, qlen) = (number("overlimits"), number("backlog"), number("qlen"));
    let mut text = |key: &str| match fields.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    Queue {
        device: device.clone(),
        kind: text("kind"),
        handle: text("handle"),
        bytes,
        packets,
        drops,
        overlimits,
        backlog,
        qlen,
        computers: None,
        details: fields,
    }
}

/// The counters of the levels of `journal`.
fn levels(journal: &Journal, queues: &[Queue]) -> Vec<Level> {
    if journal.settings.threshold.is_none() {
        return Vec::new();
    }
    let ours = queues.iter().filter(|queue| queue.device == journal.device);
    let with = |handle: &str| ours.clone().find(|queue| queue.handle == handle);
    let leaf = |old: bool| {
        let mut leaves = journal.changes.iter();
        leaves.find_map(|change| match change {
            Change::Leaf { leaf, .. } if leaf.place.is_second() == old => with(leaf.handle()),
            _ => None,
        })
    };
    let tins = with("a1:").and_then(|root| root.details.get("tins")?.as_array());
    let level = |old: bool| {
        let name = if old { "old" } else { "young" };
        if let Some(tins) = tins {
            // From the lowest: bulk, best effort.
            let tin = tins.get(usize::from(!old));
            let number = |key: &str| tin.and_then(|tin| tin.get(key)?.as_u64());
            return Level {
                name,
                packets: number("sent_packets"),
                bytes: number("sent_bytes"),
                drops: number("drops"),
            };
        }
        let queue = leaf(old).filter(|queue| queue.kind != "pfifo_fast");
        Level {
            name,
            packets: queue.and_then(|queue| queue.packets),
            bytes: queue.and_then(|queue| queue.bytes),
            drops: queue.and_then(|queue| queue.drops),
        }
    };
    vec![level(false), level(true)]
}

/// The differences between `journal` and the state `now`: kinds, handles and rates are compared.
pub(crate) fn differences(journal: &Journal, now: &Snapshot) -> Vec<String> {
    let gone = |device: &&Device| now.of(device).is_none();
    if gone(&&journal.device) {
        return vec![format!("there is no device {} any more", journal.device)];
    }
    if journal.is_of_another(now) {
        let device = &journal.device;
        return vec![format!("{device} went away and came back: apply it again")];
    }
    let changes = journal.changes.iter();
    changes
        .filter_map(|change| difference(change, now))
        .collect()
}

fn difference(change: &Change, now: &Snapshot) -> Option<String> {
    let of = |device: &Device| now.of(device).cloned().unwrap_or_default();
    match change {
        Change::AddIfb { name } => {
            let there = now.of(name).is_some();
            (!there).then(|| format!("there is no device {name} any more"))
        }
        Change::Root { device, root, .. } => {
            let observed = of(device);
            let found = observed.root();
            let name = found.map(|qdisc| (qdisc.kind.as_str(), qdisc.handle.as_str()));
            let ours = (root.kind(), root.handle());
            changed(&format!("the root of {device}"), ours, name)
                .or_else(|| bandwidth_difference(device, root, &found?.fields))
        }
        Change::Class { device, class, .. } => rate_difference(device, class.rate, &of(device)),
        Change::Prio { device } => {
            let observed = of(device);
            let found = observed.child(ParentHandle::First.parent());
            let found = found.map(|qdisc| (qdisc.kind.as_str(), qdisc.handle.as_str()));
            changed(&format!("the class of {device}"), ("prio", INNER), found)
        }
        Change::Accounting { .. } => {
            let off = now.netfilter.as_ref()?.accounting != Some(true);
            off.then(|| "the bytes of connections are not counted any more".to_owned())
        }
        Change::Ages { device, table, .. } => ages_difference(device, *table, now),
        Change::Leaf { device, leaf, .. } => {
            let observed = of(device);
            let found = observed.child(leaf.place.parent());
            let found = found.map(|qdisc| (qdisc.kind.as_str(), qdisc.handle.as_str()));
            let which = if leaf.place.is_second() {
                "second discipline"
            } else {
                "discipline"
            };
            changed(
                &format!("the {which} of {device}"),
                (leaf.discipline.name(), leaf.handle()),
                found,
            )
        }
        Change::Ingress { device } => {
            let there = of(device).ingress().is_some();
            (!there).then(|| format!("the hook for what {device} receives is gone"))
        }
        Change::Redirect { device, through } => {
            let redirects = of(device).ingress_filters.redirects;
            let there = redirects.iter().any(|to| to == through.as_str());
            (!there).then(|| format!("{device} does not receive through {through} any more"))
        }
        Change::SetUp { .. } | Change::DropIngress { .. } => None,
    }
}

fn changed(what: &str, ours: (&str, &str), found: Option<(&str, &str)>) -> Option<String> {
    let name = |(kind, handle): (&str, &str)| format!("{kind} {handle}");
    let found_text = found.map_or("nothing".to_owned(), name);
    (found != Some(ours)).then(|| format!("{what} is {found_text}, not {}", name(ours)))
}

fn ages_difference(device: &Device, table: AgeTable, now: &Snapshot) -> Option<String> {
    let ours = table.threshold;
    match now.netfilter.as_ref()?.of(device) {
        Some(Some(found)) if found == ours.get() => None,
        Some(Some(found)) => Some(format!("the threshold of {device} is {found}, not {ours}")),
        Some(None) => Some(format!("the table of ages of {device} has no threshold")),
        None => Some(format!("the table of ages of {device} is gone")),
    }
}

/// tc prints the bandwidth of cake in bytes a second, or a word.
fn bandwidth_difference(
    device: &Device,
    root: &RootQdisc,
    fields: &Map<String, Value>,
) -> Option<String> {
    let RootQdisc::Cake {
        rate: Some(rate), ..
    } = root
    else {
        return None;
    };
    let ours = rate.get();
    let found = fields.get("options")?.get("bandwidth")?;
    if found.as_str() == Some("unlimited") {
        return Some(format!("{device} is not shaped any more, to {ours}"));
    }
    // Older ones cut it to 32 bits.
    let cut = ours.as_bits() / 8 > u64::from(u32::MAX);
    let found = Rate::from_bits(found.as_u64()?.saturating_mul(8));
    let differs = !cut && found.as_bits().abs_diff(ours.as_bits()) >= 8;
    differs.then(|| format!("the rate of {device} is {found}, not {ours}"))
}

/// tc prints a rate with four or five digits.
fn rate_difference(device: &Device, bits: u64, observed: &Observed) -> Option<String> {
    let ours = Rate::from_bits(bits);
    match observed.class_rate {
        Some(found) if found.as_bits().abs_diff(bits) <= bits / 1000 => None,
        Some(found) => Some(format!("the rate of {device} is {found}, not {ours}")),
        None => Some(format!("the class of {device} is gone")),
    }
}
