//! Which chain of a firewall drops what no rule permits: in the texts of `nft list ruleset` and of `iptables -S`.
//!
//! A packet is followed that no condition is about: from a hook's chain through those that it jumps to. So rules for
//! named devices, ports and addresses are passed over, but for those against the addresses of links, as Tailscale's.

use std::collections::{BTreeMap, BTreeSet};

/// Where a packet is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirewallHook {
    /// New connections to this host.
    Input,
    /// What it passes on.
    Forward,
}

impl FirewallHook {
    /// Its name in nft, and the chain of iptables.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            FirewallHook::Input => ("input", "INPUT"),
            FirewallHook::Forward => ("forward", "FORWARD"),
        }
    }
}

/// What becomes of a packet by a rule without conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RuleVerdict {
    Drop,
    Accept,
    Return,
    Jump(String),
    /// As a jump, and the rest of the chain is passed over.
    Goto(String),
}

/// A chain.
#[derive(Debug, Default)]
struct Chain {
    hook: Option<FirewallHook>,
    drops: bool,
    rules: Vec<RuleVerdict>,
}

/// Chains by table and name.
type Chains = BTreeMap<(String, String), Chain>;

/// How a chain was left.
enum ChainLeft {
    /// By a drop, in this chain.
    Dropped(String),
    Accepted,
    Open,
}

/// The chain that drops, in words; none if none does.
pub fn dropping(hook: FirewallHook, ruleset: &str, iptables: &str) -> Option<String> {
    let named = |chains: &Chains, what: &str| {
        let found = found(chains, hook)?;
        Some(format!("{what} {found}"))
    };
    named(&of_nft(ruleset), "nftables' chain")
        .or_else(|| named(&of_iptables(iptables), "iptables' chain"))
}

/// The chain that drops, with how a hook's chain leads to it.
fn found(chains: &Chains, hook: FirewallHook) -> Option<String> {
    let of_hook = chains.iter().filter(|(_, chain)| chain.hook == Some(hook));
    of_hook.into_iter().find_map(|((table, name), chain)| {
        let by = |dropping: &str| {
            if dropping == name {
                format!("{table} {name}").trim().to_owned()
            } else {
                format!("{} (from {name})", format!("{table} {dropping}").trim())
            }
        };
        match walk(chains, table, name, &mut BTreeSet::new()) {
            ChainLeft::Dropped(at) => Some(by(&at)),
            ChainLeft::Open if chain.drops => Some(by(name)),
            ChainLeft::Open | ChainLeft::Accepted => None,
        }
    })
}

fn walk(chains: &Chains, table: &str, name: &str, seen: &mut BTreeSet<String>) -> ChainLeft {
    let chain = chains.get(&(table.to_owned(), name.to_owned()));
    // A circle is none that the kernel takes.
    let (Some(chain), true) = (chain, seen.insert(name.to_owned())) else {
        return ChainLeft::Open;
    };
    for rule in &chain.rules {
        match rule {
            RuleVerdict::Drop => return ChainLeft::Dropped(name.to_owned()),
            RuleVerdict::Accept => return ChainLeft::Accepted,
            RuleVerdict::Return => break,
            RuleVerdict::Goto(to) => return walk(chains, table, to, seen),
            RuleVerdict::Jump(to) => match walk(chains, table, to, seen) {
                ChainLeft::Open => (),
                left => return left,
            },
        }
    }
    seen.remove(name);
    ChainLeft::Open
}

/// nft(8), the form in which it lists.
fn of_nft(ruleset: &str) -> Chains {
    let (mut chains, mut table, mut chain) = (Chains::new(), String::new(), None);
    for line in ruleset.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("table ") {
            (table, chain) = (name.trim_end_matches(" {").to_owned(), None);
        } else if let Some(name) = line.strip_prefix("chain ") {
            let name = name.trim_end_matches(" {").to_owned();
            chain = Some(chains.entry((table.clone(), name)).or_default());
        } else if line == "}" {
            chain = None;
        } else if let Some(chain) = &mut chain {
            if line.starts_with("type ") {
                let hooks = [FirewallHook::Input, FirewallHook::Forward];
                let is = |hook: &FirewallHook| line.contains(&format!("hook {} ", hook.names().0));
                chain.hook = hooks.into_iter().find(is);
                chain.drops = line.contains("policy drop");
            } else {
                chain.rules.extend(rule(&words_of_nft(line)));
            }
        }
    }
    chains
}

/// The words of a rule, without what it counts, logs and says.
fn words_of_nft(line: &str) -> Vec<&str> {
    let line = line.split(" comment \"").next().unwrap_or_default();
    let line = line.split(" # handle").next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let (mut kept, mut place) = (Vec::new(), 0);
    while let Some(word) = words.get(place) {
        place += match (*word, words.get(place + 1)) {
            ("counter", Some(&"packets")) => 5,
            ("counter", _) => 1,
            ("log", Some(_)) => {
                // Its own words go on until the verdict.
                let rest = words[place..].iter();
                rest.take_while(|word| verdict(word, "").is_none()).count()
            }
            _ => {
                kept.push(*word);
                1
            }
        };
    }
    kept
}

/// iptables(8), `-S`.
fn of_iptables(listed: &str) -> Chains {
    let mut chains = Chains::new();
    for line in listed.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((name, rest)) = words.get(1).zip(words.get(2..)) else {
            continue;
        };
        let chain = chains
            .entry((String::new(), (*name).to_owned()))
            .or_default();
        let hooks = [FirewallHook::Input, FirewallHook::Forward];
        chain.hook = hooks.into_iter().find(|hook| hook.names().1 == *name);
        match words[0] {
            "-P" => chain.drops = rest == ["DROP"],
            "-A" => chain.rules.extend(rule(&words_of_iptables(rest))),
            _ => (),
        }
    }
    chains
}

/// The same words as nft's.
fn words_of_iptables<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    let (mut kept, mut place) = (Vec::new(), 0);
    while let Some(word) = rest.get(place) {
        place += 1;
        match *word {
            "-j" => {
                match rest.get(place) {
                    Some(&"DROP") => kept.push("drop"),
                    Some(&"REJECT") => kept.push("reject"),
                    Some(&"ACCEPT") => kept.push("accept"),
                    Some(&"RETURN") => kept.push("return"),
                    Some(to) => kept.extend(["jump", to]),
                    None => (),
                }
                place += 1;
            }
            "-g" => kept.push("goto"),
            "--reject-with" => place += 1,
            "--comment" => {
                // One word, or several in quotation marks.
                let quoted = rest.get(place).is_some_and(|word| word.starts_with('"'));
                let ends = |word: &&&str| word.ends_with('"');
                place += if quoted {
                    rest[place..].iter().take_while(|word| !ends(word)).count() + 1
                } else {
                    1
                };
            }
            "-m" if matches!(rest.get(place), Some(&("comment" | "conntrack" | "state"))) => {
                place += 1
            }
            "--ctstate" | "--state" => {
                kept.extend(["ct", "state"]);
            }
            "-s" => kept.push("saddr"),
            "NEW" => kept.push("new"),
            other => kept.push(other),
        }
    }
    kept
}

/// What a rule does with a packet that no condition is about; none if it has conditions.
fn rule(words: &[&str]) -> Option<RuleVerdict> {
    let place = words.iter().position(|word| verdict(word, "").is_some())?;
    let to = words.get(place + 1).copied().unwrap_or_default();
    let verdict = verdict(words[place], to)?;
    let conditions = &words[..place];
    let new = matches!(conditions, ["ct", "state", ..])
        && conditions[2..]
            .iter()
            .flat_map(|word| word.split(','))
            .any(|state| state.eq_ignore_ascii_case("new"));
    let ours = conditions
        .windows(2)
        .any(|pair| pair == ["saddr", "100.64.0.0/10"]);
    let applies = match verdict {
        RuleVerdict::Drop => conditions.is_empty() || new || ours,
        _ => conditions.is_empty() || new,
    };
    applies.then_some(verdict)
}

fn verdict(word: &str, to: &str) -> Option<RuleVerdict> {
    match word {
        "drop" | "reject" => Some(RuleVerdict::Drop),
        "accept" => Some(RuleVerdict::Accept),
        "return" => Some(RuleVerdict::Return),
        "jump" => Some(RuleVerdict::Jump(to.to_owned())),
        "goto" => Some(RuleVerdict::Goto(to.to_owned())),
        _ => None,
    }
}
