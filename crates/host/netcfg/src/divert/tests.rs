//! Diversions on a model of a host, where any command can fail, and the process die before or after it.

mod kept;

use super::*;
use crate::{Output, Program};
use std::collections::BTreeMap;
use std::io;

/// A host's packet rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rules {
    /// Tables of nftables that are not of iptables, with their scripts.
    tables: BTreeMap<String, String>,
    /// Chains of the table `mangle` of each family, with their rules; no table if there is none.
    mangle: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Fails,
    FailsAfterwards,
    DiesBefore,
    DiesAfter,
    Interrupted,
}

const FAULTS: [Fault; 5] = [
    Fault::Fails,
    Fault::FailsAfterwards,
    Fault::DiesBefore,
    Fault::DiesAfter,
    Fault::Interrupted,
];

struct Model {
    rules: Rules,
    /// Its nftables can queue.
    queues: bool,
    calls: usize,
    fault: Option<(usize, Fault)>,
    dead: bool,
    interrupted: bool,
}

impl Model {
    fn new(queues: bool) -> Self {
        Model {
            rules: Rules::default(),
            queues,
            calls: 0,
            fault: None,
            dead: false,
            interrupted: false,
        }
    }

    fn revive(&mut self) {
        (self.calls, self.fault) = (0, None);
        (self.dead, self.interrupted) = (false, false);
    }

    fn nft(&mut self, args: &[&str]) -> Result<String, String> {
        let (script, check) = match args {
            ["-c", script] => (*script, true),
            [script] => (*script, false),
            _ => panic!("nft {args:?}"),
        };
        let words: Vec<&str> = script.lines().next().unwrap().split(' ').collect();
        let absent = || "No such file or directory".to_owned();
        match words[..] {
            ["list", "tables"] => {
                let own = self
                    .rules
                    .tables
                    .keys()
                    .map(|name| format!("table inet {name}\n"));
                let of = self
                    .rules
                    .mangle
                    .keys()
                    .map(|family| format!("table {family} mangle\n"));
                Ok(own.chain(of).collect())
            }
            ["list", "chain", family, "mangle", chain] => {
                let table = self.rules.mangle.get(family).ok_or_else(absent)?;
                table
                    .get(chain)
                    .map(|rules| rules.concat())
                    .ok_or_else(absent)
            }
            ["list", "table", "inet", name] => {
                self.rules.tables.get(name).cloned().ok_or_else(absent)
            }
            ["create", "table", "inet", name] => {
                assert!(script.contains("queue num 7 bypass"), "{script}");
                if !self.queues {
                    return Err(
                        "Error: Could not process rule: No such file or directory".to_owned()
                    );
                }
                if self.rules.tables.contains_key(name) {
                    return Err("Error: Could not process rule: File exists".to_owned());
                }
                if !check {
                    self.rules.tables.insert(name.to_owned(), script.to_owned());
                }
                Ok(String::new())
            }
            ["delete", "table", "inet", name] => self
                .rules
                .tables
                .remove(name)
                .map(|_| String::new())
                .ok_or_else(absent),
            ["delete", "table", family, "mangle"] => self
                .rules
                .mangle
                .remove(family)
                .map(|_| String::new())
                .ok_or_else(absent),
            ["delete", "chain", family, "mangle", chain] => {
                let table = self.rules.mangle.get_mut(family).ok_or_else(absent)?;
                let rules = table.remove(chain).ok_or_else(absent)?;
                assert_eq!(rules, [""; 0], "it is busy");
                Ok(String::new())
            }
            _ => panic!("nft {script}"),
        }
    }

    fn iptables(&mut self, family: &str, args: &[&str]) -> Result<String, String> {
        if args == ["--version"] {
            return Ok("iptables v1.8.9 (nf_tables)\n".to_owned());
        }
        let [_, "5", "-t", "mangle", what @ ..] = args else {
            panic!("iptables {args:?}");
        };
        let table = self.rules.mangle.get(family).cloned().unwrap_or_default();
        let mut chains = table;
        let listed = match what {
            ["-S"] => {
                let built_in = ["INPUT", "FORWARD", "OUTPUT"];
                let mut text: String = built_in
                    .map(|chain| format!("-P {chain} ACCEPT\n"))
                    .concat();
                for (chain, rules) in &chains {
                    if !built_in.contains(&chain.as_str()) {
                        text += &format!("-N {chain}\n");
                    }
                    for rule in rules {
                        text += &format!("-A {chain} {rule}\n");
                    }
                }
                return Ok(text);
            }
            ["-N", chain] => match chains.insert((*chain).to_owned(), Vec::new()) {
                None => Ok(String::new()),
                Some(_) => Err("Chain already exists"),
            },
            ["-A", chain, rule @ ..] => {
                let rules = chains.entry((*chain).to_owned()).or_default();
                rules.push(rule.join(" "));
                Ok(String::new())
            }
            ["-D", chain, rule @ ..] => {
                let rules = chains.entry((*chain).to_owned()).or_default();
                let place = rules.iter().position(|there| *there == rule.join(" "));
                let place = place.ok_or("Bad rule (does a matching rule exist in that chain?)")?;
                rules.remove(place);
                Ok(String::new())
            }
            ["-F", chain] => {
                chains
                    .get_mut(*chain)
                    .ok_or("No chain by that name")?
                    .clear();
                Ok(String::new())
            }
            ["-X", chain] => {
                let leads = format!("-j {chain}");
                let led = chains.values().flatten().any(|rule| rule.ends_with(&leads));
                if !led && chains.get(*chain).is_some_and(Vec::is_empty) {
                    chains.remove(*chain);
                    Ok(String::new())
                } else {
                    Err("Device or resource busy")
                }
            }
            _ => panic!("iptables {what:?}"),
        };
        self.rules.mangle.insert(family.to_owned(), chains);
        listed.map_err(str::to_owned)
    }
}

impl Runner for Model {
    fn run(&mut self, command: &Command) -> io::Result<Output> {
        let died = || Err(io::Error::other("this process is dead"));
        let fault = self
            .fault
            .filter(|(at, _)| *at == self.calls)
            .map(|(_, fault)| fault);
        self.calls += 1;
        if self.dead || fault == Some(Fault::DiesBefore) {
            self.dead = true;
            return died();
        }
        let failed = |text: &str| Output {
            stderr: text.to_owned(),
            ..Output::default()
        };
        if fault == Some(Fault::Fails) {
            return Ok(failed("made to fail"));
        }
        let args: Vec<&str> = command.args.iter().map(String::as_str).collect();
        let result = match command.program {
            Program::Nft => self.nft(&args),
            Program::Iptables => self.iptables("ip", &args),
            Program::Ip6tables => self.iptables("ip6", &args),
            other => panic!("{other:?}"),
        };
        match fault {
            Some(Fault::FailsAfterwards) => return Ok(failed("made to fail")),
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
            Err(text) => failed(&text),
        })
    }

    fn interrupted(&self) -> bool {
        self.interrupted
    }
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("analects-divert-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn store(&self) -> Store {
        Store::open(&self.0, core::time::Duration::ZERO, &Model::new(true)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn web() -> Diversion {
    Diversion::Web {
        queue: 7,
        device: None,
    }
}

fn forwarded() -> Diversion {
    Diversion::Forwarded {
        inside: "lan0".parse().unwrap(),
        outside: "wan0".parse().unwrap(),
        down: 7,
        up: 8,
    }
}

/// Diverts as a program does at its start.
fn start(model: &mut Model, store: &Store, diversion: &Diversion) -> Result<(), Error> {
    restore(model, store, diversion.purpose())?;
    Diverting::prepare(model, diversion, false)?.apply(model, store)
}

/// Firewalls that were there: none, tables of others, and rules of others in `mangle`.
fn firewalls() -> Vec<Rules> {
    let mut others = Rules::default();
    others
        .tables
        .insert("firewall".to_owned(), "theirs".to_owned());
    let mut output_only = others.clone();
    let of = |chain: &str| BTreeMap::from([(chain.to_owned(), vec!["-p tcp -j TOS".to_owned()])]);
    output_only.mangle.insert("ip".to_owned(), of("OUTPUT"));
    let mut all = vec![Rules::default(), others, output_only.clone()];
    for hook in ["INPUT", "FORWARD"] {
        let mut full = output_only.clone();
        full.mangle.insert("ip".to_owned(), of(hook));
        full.mangle.insert("ip6".to_owned(), of(hook));
        all.push(full);
    }
    all
}

/// Each purpose, with and without nftables' queues, and each firewall.
fn cases() -> Vec<(Diversion, bool, Rules)> {
    let mut cases = Vec::new();
    for diversion in [web(), forwarded()] {
        for queues in [true, false] {
            let of = |before| (diversion.clone(), queues, before);
            cases.extend(firewalls().into_iter().map(of));
        }
    }
    cases
}

#[test]
fn rules_are_made_and_taken_away_and_others_stay() {
    for (diversion, queues, before) in cases() {
        let purpose = diversion.purpose();
        let folder = Folder::new("made");
        let store = folder.store();
        let mut model = Model::new(queues);
        model.rules = before.clone();
        start(&mut model, &store, &diversion).unwrap();
        assert_eq!(model.rules.tables.contains_key(purpose.name()), queues);
        let (hook, jump) = match purpose {
            Purpose::Pace => ("INPUT", "! -i lo -j analects-pace"),
            Purpose::Gateway => ("FORWARD", "-j analects-gateway"),
        };
        let chains = model.rules.mangle.values();
        let jumps = chains.filter_map(|chains| chains.get(hook)).flatten();
        let jumps = jumps.filter(|rule| *rule == jump).count();
        assert_eq!(jumps, if queues { 0 } else { 2 });
        assert!(restore(&mut model, &store, purpose).unwrap());
        assert_eq!(model.rules, before, "{diversion:?}, nft queues: {queues}");
        assert!(!restore(&mut model, &store, purpose).unwrap(), "forgotten");
    }
}

/// After any fault a next start finds no obstacle, and its end leaves what was there.
#[test]
fn no_fault_leaves_a_rule_behind() {
    for (diversion, queues, before) in cases() {
        let purpose = diversion.purpose();
        for fault in FAULTS {
            for at in 0.. {
                let folder = Folder::new("fault");
                let store = folder.store();
                let mut model = Model::new(queues);
                model.rules = before.clone();
                model.fault = Some((at, fault));
                let started = start(&mut model, &store, &diversion);
                let stopped = restore(&mut model, &store, purpose);
                let reached = model.calls > at;
                let place =
                    format!("{purpose:?}, {fault:?} at {at}, nft queues: {queues}: {started:?}");
                model.revive();
                if started.is_err() && stopped.is_ok() && fault != Fault::DiesAfter {
                    assert_eq!(model.rules, before, "undone at once: {place}");
                }
                start(&mut model, &store, &diversion)
                    .unwrap_or_else(|error| panic!("{error}: {place}"));
                restore(&mut model, &store, purpose).unwrap();
                assert_eq!(model.rules, before, "{place}");
                if !reached {
                    break;
                }
            }
        }
    }
}

/// A pacer and a gateway run beside each other, and end in any order.
#[test]
fn both_purposes_at_once() {
    for queues in [true, false] {
        for [first, second] in [[web(), forwarded()], [forwarded(), web()]] {
            for ends in [[&first, &second], [&second, &first]] {
                let folder = Folder::new("both");
                let store = folder.store();
                let mut model = Model::new(queues);
                start(&mut model, &store, &first).unwrap();
                start(&mut model, &store, &second).unwrap();
                for end in ends {
                    assert!(restore(&mut model, &store, end.purpose()).unwrap());
                }
                assert_eq!(model.rules, Rules::default(), "nft queues: {queues}");
            }
        }
    }
}

/// Another program begins to use the table that iptables made for us: it stays.
#[test]
fn what_others_came_to_use_meanwhile_stays() {
    let folder = Folder::new("meanwhile");
    let store = folder.store();
    let mut model = Model::new(false);
    start(&mut model, &store, &web()).unwrap();
    let theirs = "-p tcp -j TOS".to_owned();
    let of = |model: &mut Model, family: &str, chain: &str| {
        let chains = model.rules.mangle.get_mut(family).unwrap();
        chains
            .entry(chain.to_owned())
            .or_default()
            .push(theirs.clone());
    };
    of(&mut model, "ip", "OUTPUT");
    of(&mut model, "ip6", "INPUT");
    restore(&mut model, &store, Purpose::Pace).unwrap();
    let with = |chain: &str| BTreeMap::from([(chain.to_owned(), vec![theirs.clone()])]);
    let expected = [("ip", with("OUTPUT")), ("ip6", with("INPUT"))];
    let expected = expected.map(|(family, chains)| (family.to_owned(), chains));
    assert_eq!(model.rules.mangle, BTreeMap::from(expected));
}

#[test]
fn one_process_at_a_time() {
    let folder = Folder::new("sole");
    let store = folder.store();
    let first = Sole::claim(&store, Purpose::Pace).unwrap();
    let refused = Sole::claim(&store, Purpose::Pace).unwrap_err();
    assert!(refused.message.contains("runs here already"), "{refused}");
    Sole::claim(&store, Purpose::Gateway).unwrap();
    drop(first);
    Sole::claim(&store, Purpose::Pace).unwrap();
}

#[test]
fn rules_of_our_name_that_are_not_ours_are_left_alone() {
    let folder = Folder::new("strangers");
    let store = folder.store();
    let mut model = Model::new(true);
    model
        .rules
        .tables
        .insert("analects-pace".to_owned(), "theirs".to_owned());
    let before = model.rules.clone();
    let refused = start(&mut model, &store, &web()).unwrap_err();
    assert!(refused.message.contains("no journal says"), "{refused}");
    assert_eq!(model.rules, before);
}

#[test]
fn a_journal_that_is_none_is_refused_and_nothing_is_run() {
    let folder = Folder::new("bad");
    let store = folder.store();
    let mut model = Model::new(true);
    let good =
        r#"{"version":2,"diversion":{"web":{"queue":7,"device":null}},"tool":"nft","rules":[]}"#;
    let with =
        |rule: &str, times| good.replace("[]", &format!("[{}]", vec![rule; times].join(",")));
    let bad = [
        String::new(),
        "x".to_owned(),
        good.replace('2', "1"),
        good.replace("null", "\"a b; reboot\""),
        good.replace("\"queue\":7", "\"queue\":70000"),
        with(r#"{"table":{}}"#, 40),
        with(r#"{"queue":{"family":"v4","number":4}}"#, 1),
        serde_json::to_string(&forwarded())
            .map(|other| good.replace(r#"{"web":{"queue":7,"device":null}}"#, &other))
            .unwrap(),
        "y".repeat(100_000),
    ];
    for text in bad {
        std::fs::write(store.file("pace"), &text).unwrap();
        let refused = restore(&mut model, &store, Purpose::Pace).unwrap_err();
        assert!(refused.message.contains("not a journal"), "{refused}");
        assert_eq!(model.calls, 0);
    }
    std::fs::write(store.file("pace"), good).unwrap();
    assert!(restore(&mut model, &store, Purpose::Pace).unwrap());
}

#[test]
fn the_rules_of_nftables() {
    let device = Some("eth0".parse().unwrap());
    let script = |diversion: &Diversion| diversion.command(&Rule::Table {}).args.concat();
    let pace = "\
create table inet analects-pace
add chain inet analects-pace input { type filter hook input priority -140; policy accept; }
add rule inet analects-pace input iifname \"eth0\" tcp sport { 80, 443 } queue num 3 bypass
add rule inet analects-pace input iifname \"eth0\" udp sport { 80, 443 } queue num 3 bypass
";
    assert_eq!(script(&Diversion::Web { queue: 3, device }), pace);
    let gateway = "\
create table inet analects-gateway
add chain inet analects-gateway forward { type filter hook forward priority -140; policy accept; }
add rule inet analects-gateway forward iifname \"wan0\" oifname \"lan0\" queue num 7 bypass
add rule inet analects-gateway forward iifname \"lan0\" oifname \"wan0\" queue num 8 bypass
";
    assert_eq!(script(&forwarded()), gateway);
}

#[test]
fn the_rules_of_iptables() {
    let folder = Folder::new("iptables");
    let store = folder.store();
    let mut model = Model::new(false);
    start(&mut model, &store, &forwarded()).unwrap();
    let chains = &model.rules.mangle["ip6"];
    let expected = [
        "-i wan0 -o lan0 -j NFQUEUE --queue-num 7 --queue-bypass",
        "-i lan0 -o wan0 -j NFQUEUE --queue-num 8 --queue-bypass",
    ];
    assert_eq!(chains["analects-gateway"], expected);
}
