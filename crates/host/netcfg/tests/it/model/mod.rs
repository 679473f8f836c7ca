//! A model of a host's devices, queues and tables, as far as `tc`, `ip`, `nft`, `sysctl` and
//! `modprobe` are used here, with the kernel's rules on replacements; it can fail, or die, at any
//! command.

pub mod folder;
mod netfilter;

use netcfg::{Command, Output, Program, Runner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// Options by name: an option not named in a change keeps its value.
pub type Options = BTreeMap<String, String>;

/// A queue discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    pub kind: String,
    pub handle: String,
    pub options: Options,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    pub up: bool,
    /// None is the kernel's choice.
    pub root: Option<Queue>,
    /// The class a1:1 with its settings.
    pub class: Option<Vec<String>>,
    /// Disciplines below the root, by the class that they are in.
    pub leaves: BTreeMap<String, Queue>,
    /// `ingress` or `clsact`.
    pub hook: Option<String>,
    /// Where filters redirect to.
    pub filters: Vec<String>,
}

/// The fault of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It has no effect, and reports failure.
    Fails,
    /// It has its effect, but reports failure.
    FailsAfterwards,
    /// The process that runs it dies before it.
    DiesBefore,
    /// The process that runs it dies after it.
    DiesAfter,
    /// The user presses Ctrl-C while it runs.
    Interrupted,
}

pub const FAULTS: [Fault; 5] = [
    Fault::Fails,
    Fault::FailsAfterwards,
    Fault::DiesBefore,
    Fault::DiesAfter,
    Fault::Interrupted,
];

/// The host.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub links: BTreeMap<String, Link>,
    /// Tables of nftables, each with the elements of its map.
    pub tables: BTreeMap<String, String>,
    /// Whether the bytes of connections count; none while the module is not loaded.
    pub accounting: Option<bool>,
    /// The number of each device, in place of a number for each: another one for devices that came anew.
    pub index: u32,
    /// Commands so far.
    pub calls: usize,
    /// The faults of commands, counted from the last [`Model::revive`].
    pub faults: Vec<(usize, Fault)>,
    dead: bool,
    interrupted: bool,
}

impl Model {
    pub fn with(name: &str, link: Link) -> Self {
        let mut model = Model::default();
        model.links.insert(name.to_owned(), link);
        model
    }

    /// A new process, without faults.
    pub fn revive(&mut self) {
        self.calls = 0;
        self.faults.clear();
        self.dead = false;
        self.interrupted = false;
    }
}

impl Runner for Model {
    fn run(&mut self, command: &Command) -> io::Result<Output> {
        let died = || Err(io::Error::other("this process is dead"));
        if self.dead {
            return died();
        }
        let fault = self.faults.iter().find(|(at, _)| *at == self.calls);
        let fault = fault.map(|(_, fault)| *fault);
        self.calls += 1;
        match fault {
            Some(Fault::DiesBefore) => {
                self.dead = true;
                return died();
            }
            Some(Fault::Fails) => return Ok(complaint("made to fail")),
            _ => (),
        }
        let words: Vec<&str> = command.args.iter().map(String::as_str).collect();
        let result = match command.program {
            Program::Ip => self.ip(&words),
            Program::Tc => self.tc(&words),
            Program::Nft => self.nft(&words),
            Program::Sysctl => self.sysctl(&words),
            Program::Modprobe => self.modprobe(&words),
            Program::Iptables | Program::Ip6tables => panic!("{command}"),
        };
        match fault {
            Some(Fault::FailsAfterwards) => return Ok(complaint("made to fail")),
            Some(Fault::DiesAfter) => {
                self.dead = true;
                return died();
            }
            Some(Fault::Interrupted) => self.interrupted = true,
            _ => (),
        }
        Ok(match result {
            Ok(stdout) => Output {
                success: true,
                stdout,
                stderr: String::new(),
            },
            Err(text) => complaint(&text),
        })
    }

    fn interrupted(&self) -> bool {
        self.interrupted
    }
}

fn complaint(text: &str) -> Output {
    Output {
        stderr: text.to_owned(),
        ..Output::default()
    }
}

type Result<T> = std::result::Result<T, String>;

impl Model {
    fn link(&mut self, name: &str) -> Result<&mut Link> {
        let missing = || format!("Cannot find device \"{name}\"");
        self.links.get_mut(name).ok_or_else(missing)
    }

    fn ip(&mut self, words: &[&str]) -> Result<String> {
        match words {
            ["link", "show", "dev", name] => {
                self.link(name)?;
                let index = self.index;
                Ok(format!(
                    "{index}: {name}: <UP>\n    link/ether 02:00:00:00:00:01"
                ))
            }
            ["link", "add", "name", name, "type", "ifb"] => {
                if self.links.contains_key(*name) {
                    return Err("RTNETLINK answers: File exists".to_owned());
                }
                self.links.insert((*name).to_owned(), Link::default());
                Ok(String::new())
            }
            ["link", "del", "dev", name] => {
                self.link(name)?;
                let lost = self
                    .links
                    .values()
                    .any(|link| link.filters.iter().any(|to| to == name));
                assert!(!lost, "{name} goes while packets are redirected to it");
                self.links.remove(*name);
                Ok(String::new())
            }
            ["link", "set", "dev", name, "up"] => {
                assert!(
                    name.starts_with("ifb-"),
                    "the link state of {name} is not ours"
                );
                self.link(name)?.up = true;
                Ok(String::new())
            }
            _ => panic!("ip {words:?}"),
        }
    }

    fn tc(&mut self, words: &[&str]) -> Result<String> {
        match words {
            ["-d", "-j", "qdisc", "show", "dev", name]
            | ["-s", "-j", "qdisc", "show", "dev", name] => Ok(self.link(name)?.queues()),
            ["-j", "qdisc", "show"] => {
                let names = self.links.keys().map(|name| json!({"dev": name}));
                Ok(Value::from(names.collect::<Vec<_>>()).to_string())
            }
            ["class", "show", "dev", name] => Ok(self.link(name)?.classes()),
            ["-j", "filter", "show", "dev", name, "ingress"] => Ok(self.link(name)?.redirects()),
            ["-j", "filter", "show", "dev", name, "parent", _] => {
                self.link(name)?;
                Ok("[]".to_owned())
            }
            [
                "qdisc",
                "replace",
                "dev",
                name,
                "root",
                "handle",
                handle,
                kind,
                rest @ ..,
            ] => self.link(name)?.replace_root(handle, kind, rest),
            [
                "qdisc",
                "replace",
                "dev",
                name,
                "parent",
                parent,
                "handle",
                handle,
                kind,
                rest @ ..,
            ] => self.link(name)?.replace_leaf(parent, handle, kind, rest),
            [
                "qdisc",
                "change",
                "dev",
                name,
                "root",
                "handle",
                handle,
                kind,
                rest @ ..,
            ] => {
                let link = self.link(name)?;
                let same = |root: &&Queue| root.handle == *handle && root.kind == *kind;
                link.root.as_ref().filter(same).ok_or("No such file")?;
                link.replace_root(handle, kind, rest)
            }
            ["qdisc", "del", "dev", name, "root"] => {
                let link = self.link(name)?;
                link.root
                    .take()
                    .ok_or("Cannot delete qdisc with handle of zero.")?;
                link.class = None;
                link.leaves.clear();
                Ok(String::new())
            }
            ["qdisc", "add", "dev", name, "handle", "ffff:", "ingress"] => {
                let link = self.link(name)?;
                if link.hook.is_some() {
                    return Err("Exclusivity flag on, cannot modify.".to_owned());
                }
                link.hook = Some("ingress".to_owned());
                Ok(String::new())
            }
            ["qdisc", "del", "dev", name, kind @ ("ingress" | "clsact")] => {
                let link = self.link(name)?;
                if link.hook.as_deref() != Some(kind) {
                    return Err("Cannot find specified qdisc".to_owned());
                }
                (link.hook, link.filters) = (None, Vec::new());
                Ok(String::new())
            }
            _ => self.class_or_filter(words),
        }
    }

    fn class_or_filter(&mut self, words: &[&str]) -> Result<String> {
        match words {
            [
                "class",
                verb,
                "dev",
                name,
                "parent",
                "a1:",
                "classid",
                "a1:1",
                "htb",
                rest @ ..,
            ] => {
                let link = self.link(name)?;
                let root = link.root.as_ref().ok_or("no htb")?;
                if root.kind != "htb" || link.class.is_some() != (*verb == "change") {
                    return Err("RTNETLINK answers: no".to_owned());
                }
                link.class = Some(rest.iter().map(|word| (*word).to_owned()).collect());
                Ok(String::new())
            }
            [
                "filter",
                "add",
                "dev",
                name,
                "ingress",
                ..,
                "redirect",
                "dev",
                to,
            ] => {
                if !self.links.get(*to).is_some_and(|link| link.up) {
                    return Err(format!("{to} is not up"));
                }
                let link = self.link(name)?;
                link.hook.as_ref().ok_or("no ingress")?;
                link.filters.push((*to).to_owned());
                Ok(String::new())
            }
            [
                "filter",
                "del",
                "dev",
                name,
                "ingress",
                "protocol",
                "all",
                "pref",
                "10",
                "u32",
            ] => {
                let link = self.link(name)?;
                let ours = |to: &String| to.starts_with("ifb-") || to == "*";
                let ours = link.filters.iter().position(ours);
                link.filters.remove(ours.ok_or("no filter")?);
                Ok(String::new())
            }
            _ => panic!("tc {words:?}"),
        }
    }
}

impl Link {
    fn replace_root(&mut self, handle: &str, kind: &str, rest: &[&str]) -> Result<String> {
        let new = replaced(self.root.as_ref(), handle, kind, rest)?;
        if self
            .root
            .as_ref()
            .is_none_or(|old| old.handle != new.handle)
        {
            self.class = None;
            self.leaves.clear();
        }
        self.root = Some(new);
        Ok(String::new())
    }

    fn replace_leaf(
        &mut self,
        parent: &str,
        handle: &str,
        kind: &str,
        rest: &[&str],
    ) -> Result<String> {
        let is_prio = |queue: Option<&Queue>| queue.is_some_and(|queue| queue.kind == "prio");
        let there = match parent {
            "a1:1" => self.class.is_some() || is_prio(self.root.as_ref()),
            "a1:2" => is_prio(self.root.as_ref()),
            "b1:1" | "b1:2" => is_prio(self.leaves.get("a1:1")),
            _ => false,
        };
        if !there {
            return Err("Error: Specified class not found.".to_owned());
        }
        let new = replaced(self.leaves.get(parent), handle, kind, rest)?;
        self.leaves.insert(parent.to_owned(), new);
        Ok(String::new())
    }

    fn queues(&self) -> String {
        let mut list = Vec::new();
        match &self.root {
            Some(root) => list.push(printed(root, json!({"root": true}))),
            None => list.push(json!({"kind": "noqueue", "handle": "0:", "root": true})),
        }
        let leaves = self.leaves.iter();
        list.extend(leaves.map(|(parent, leaf)| printed(leaf, json!({"parent": parent}))));
        if let Some(kind) = &self.hook {
            list.push(json!({"kind": kind, "handle": "ffff:", "parent": "ffff:fff1"}));
        }
        Value::from(list).to_string()
    }

    fn classes(&self) -> String {
        let line = |words: &Vec<String>| format!("class htb a1:1 root prio 0 {}", words.join(" "));
        self.class.as_ref().map(line).unwrap_or_default()
    }

    fn redirects(&self) -> String {
        let filter = |to: &String| json!({"kind": "u32", "options": {"actions": [{"kind": "mirred", "to_dev": to}]}});
        Value::from(self.filters.iter().map(filter).collect::<Vec<_>>()).to_string()
    }
}

fn printed(queue: &Queue, place: Value) -> Value {
    let options: serde_json::Map<String, Value> = queue
        .options
        .iter()
        .map(|(key, value)| match value.parse::<u64>() {
            Ok(number) => (key.clone(), number.into()),
            Err(_) => (key.clone(), value.clone().into()),
        })
        .collect();
    let mut it = json!({"kind": queue.kind, "handle": queue.handle, "options": options});
    let fields = it.as_object_mut().unwrap();
    fields.extend(place.as_object().unwrap().clone());
    it
}

/// Words that stand alone, and the settings they stand for.
const ALONE: &[(&str, &str)] = &[
    ("ecn", "ecn"),
    ("noecn", "ecn"),
    ("nat", "nat"),
    ("nonat", "nat"),
    ("raw", "framing"),
    ("noatm", "framing"),
    ("atm", "framing"),
    ("ptm", "framing"),
    ("ingress", "ingress"),
    ("egress", "ingress"),
    ("triple-isolate", "flowmode"),
    ("dual-srchost", "flowmode"),
    ("dual-dsthost", "flowmode"),
    ("no-ack-filter", "ack-filter"),
    ("ack-filter", "ack-filter"),
    ("unlimited", "bandwidth"),
    ("diffserv3", "diffserv"),
];

/// The result of a replacement in net/sched/sch_api.c, tc_modify_qdisc().
fn replaced(old: Option<&Queue>, handle: &str, kind: &str, words: &[&str]) -> Result<Queue> {
    let mut queue = Queue {
        kind: kind.to_owned(),
        handle: handle.to_owned(),
        options: Options::new(),
    };
    if let Some(old) = old.filter(|old| old.handle == handle) {
        if old.kind != kind {
            return Err("Error: Invalid qdisc name: must match existing qdisc.".to_owned());
        }
        if kind == "htb" {
            return Err("Error: Change operation not supported by specified qdisc.".to_owned());
        }
        queue.options = old.options.clone();
        // fq_codel_change() of net/sched/sch_fq_codel.c: even if it is the number that it has.
        if words.contains(&"flows") {
            return Err("Error: Number of flows cannot be changed.".to_owned());
        }
    }
    if kind == "prio" {
        queue.options.insert(kind.to_owned(), words.join(" "));
        return Ok(queue);
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let alone = ALONE.iter().find(|(name, _)| name == word);
        let (key, value) = match alone {
            Some((name, key)) => (*key, *name),
            None => (*word, *words.next().ok_or("a value is missing")?),
        };
        queue.options.insert(key.to_owned(), value.to_owned());
    }
    Ok(queue)
}
