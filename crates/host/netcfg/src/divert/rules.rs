//! The rules that divert packets to a queue, in the words of nftables and of iptables.

use crate::look::look;
use crate::{Command, Device, Error, Program, Runner};
use serde::{Deserialize, Serialize};

/// The ports of the web.
const PORTS: [u16; 2] = [80, 443];
/// After tables that change packets (`mangle`, -150) and before a firewall's filters (0): what those
/// drop has then cost its share of the link, and nothing that they accept goes past them.
const PRIORITY: i32 = -140;

/// What packets are diverted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Pacing what this host receives from the web.
    Pace,
    /// Shaping what it forwards.
    Gateway,
}

impl Purpose {
    /// The word of the command line that is for it, and the name of its journal.
    pub const fn word(self) -> &'static str {
        match self {
            Purpose::Pace => "pace",
            Purpose::Gateway => "gateway",
        }
    }

    /// The name of our table, and of our chain where there is no table of ours.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Purpose::Pace => "analects-pace",
            Purpose::Gateway => "analects-gateway",
        }
    }

    /// The hook of the packets, as nftables has it.
    const fn hook(self) -> &'static str {
        match self {
            Purpose::Pace => "input",
            Purpose::Gateway => "forward",
        }
    }

    /// The chain of iptables for it.
    pub(super) const fn chain(self) -> &'static str {
        match self {
            Purpose::Pace => "INPUT",
            Purpose::Gateway => "FORWARD",
        }
    }
}

/// Which packets go to which queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Diversion {
    /// What this host receives from the web's ports.
    Web {
        /// The number of the queue.
        queue: u16,
        /// The device that receives them; all but `lo` if there is none.
        device: Option<Device>,
    },
    /// What this host forwards between two devices.
    Forwarded {
        /// The device of the computers that are served.
        inside: Device,
        /// The device towards everything else.
        outside: Device,
        /// The queue of packets that go inside.
        down: u16,
        /// The queue of packets that go outside.
        up: u16,
    },
}

/// The program that makes rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// nftables, in a table of our own.
    Nft,
    /// iptables and ip6tables, in a chain of our own of the table `mangle`: for kernels whose nftables
    /// have no `queue`.
    Iptables,
}

/// IPv4 or IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Both.
pub(super) const FAMILIES: [Family; 2] = [Family::V4, Family::V6];

impl Family {
    fn program(self) -> Program {
        match self {
            Family::V4 => Program::Iptables,
            Family::V6 => Program::Ip6tables,
        }
    }

    fn of_nft(self) -> &'static str {
        match self {
            Family::V4 => "ip",
            Family::V6 => "ip6",
        }
    }

    /// The program with these words, in the table `mangle`. It waits for others that use the table.
    pub(super) fn mangle(self, words: &str) -> Command {
        Command::new(self.program(), &format!("-w 5 -t mangle {words}"))
    }
}

/// One change of the rules, made by one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// Our table of nftables, with everything in it.
    Table {},
    /// Our chain of iptables.
    Chain {
        /// Whose.
        family: Family,
        /// The table `mangle` was there before; none if iptables does not use nftables, and a table
        /// cannot be taken away.
        table: Option<bool>,
        /// It had the chain of the hook, such as `INPUT`.
        hook: bool,
    },
    /// A rule in it.
    Queue {
        /// Whose.
        family: Family,
        /// Which of the diversion's.
        number: u8,
    },
    /// The way from the hook's chain to it.
    Jump {
        /// Whose.
        family: Family,
    },
}

/// The state of the rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Now {
    /// There is a table of ours.
    pub(super) table: bool,
    /// The state of each family's chains; of those alone that were looked at.
    pub(super) chains: Vec<(Family, Chains)>,
}

/// The state of one family's chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Chains {
    /// There is a chain of ours.
    chain: bool,
    /// Packets go there.
    jump: bool,
    /// nftables has a table `mangle`, and the hook's chain in it; none if iptables does not use nftables.
    nft: Option<(bool, bool)>,
    /// Others have rules, chains or policies in the table.
    others: bool,
    /// Others have rules in the hook's chain, or a policy.
    others_in_hook: bool,
}

impl Tool {
    /// The first that this host's kernel can do; changes nothing.
    ///
    /// # Errors
    /// If neither can, with what lacks.
    pub fn find(runner: &mut dyn Runner, diversion: &Diversion) -> Result<Self, Error> {
        let mut probe = diversion.table();
        probe.args.insert(0, "-c".to_owned());
        let probed = runner.run(&probe);
        if matches!(&probed, Ok(output) if output.success || output.stderr.contains("File exists"))
        {
            return Ok(Tool::Nft);
        }
        let nft = probed.map_or_else(|error| error.to_string(), |output| output.stderr);
        let command = Command::new(Program::Iptables, "--version");
        match runner.run(&command) {
            Ok(output) if output.success => Ok(Tool::Iptables),
            _ if nft.contains("Operation not permitted") => Err(Error::command(&probe, &nft)),
            _ => {
                let nft = nft.lines().next().unwrap_or_default();
                let message = format!(
                    "nftables cannot send packets to a queue ({nft}), and there is no iptables"
                );
                Err(Error::refused(
                    message,
                    "install nftables and the kernel's nft_queue, or iptables",
                ))
            }
        }
    }
}

impl Diversion {
    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        match self {
            Diversion::Web { .. } => Purpose::Pace,
            Diversion::Forwarded { .. } => Purpose::Gateway,
        }
    }

    /// The changes that divert packets, where `now` is.
    pub(super) fn rules(&self, tool: Tool, now: &Now) -> Vec<Rule> {
        if tool == Tool::Nft {
            return vec![Rule::Table {}];
        }
        let of = |(family, chains): &(Family, Chains)| {
            let family = *family;
            let mut rules = vec![Rule::Chain {
                family,
                table: chains.nft.map(|(table, _)| table),
                hook: chains.nft.is_some_and(|(_, hook)| hook),
            }];
            let queues = self.of_iptables().len() as u8;
            rules.extend((0..queues).map(|number| Rule::Queue { family, number }));
            rules.push(Rule::Jump { family });
            rules
        };
        now.chains.iter().flat_map(of).collect()
    }

    /// Whether `rule` is one of this diversion's.
    pub(super) fn has(&self, rule: &Rule) -> bool {
        match rule {
            Rule::Queue { number, .. } => usize::from(*number) < self.of_iptables().len(),
            _ => true,
        }
    }

    /// What is queued, in the words of nftables: which packets, and the queue of them.
    fn of_nft(&self) -> Vec<(String, u16)> {
        match self {
            Diversion::Web { queue, device } => {
                let from = match device {
                    Some(device) => format!("iifname \"{device}\""),
                    None => "iifname != \"lo\"".to_owned(),
                };
                let [first, second] = PORTS;
                let of = |protocol| format!("{from} {protocol} sport {{ {first}, {second} }}");
                ["tcp", "udp"].map(|protocol| (of(protocol), *queue)).into()
            }
            Diversion::Forwarded {
                inside,
                outside,
                down,
                up,
            } => {
                let from = |one, other| format!("iifname \"{one}\" oifname \"{other}\"");
                vec![(from(outside, inside), *down), (from(inside, outside), *up)]
            }
        }
    }

    /// The same in the words of iptables.
    fn of_iptables(&self) -> Vec<(String, u16)> {
        match self {
            Diversion::Web { queue, .. } => {
                let of = |protocol| PORTS.map(|port| format!("-p {protocol} --sport {port}"));
                let all = [of("tcp"), of("udp")].concat();
                all.into_iter().map(|of| (of, *queue)).collect()
            }
            Diversion::Forwarded {
                inside,
                outside,
                down,
                up,
            } => {
                let from = |one, other| format!("-i {one} -o {other}");
                vec![(from(outside, inside), *down), (from(inside, outside), *up)]
            }
        }
    }

    /// The table of nftables.
    fn table(&self) -> Command {
        let (name, hook) = (self.purpose().name(), self.purpose().hook());
        let mut script = format!(
            "create table inet {name}\n\
             add chain inet {name} {hook} {{ type filter hook {hook} priority {PRIORITY}; policy accept; }}\n"
        );
        for (packets, queue) in self.of_nft() {
            script += &format!("add rule inet {name} {hook} {packets} queue num {queue} bypass\n");
        }
        Command::nft(script)
    }

    /// The command that makes a change, one of this diversion's.
    pub(super) fn command(&self, rule: &Rule) -> Command {
        let name = self.purpose().name();
        match rule {
            Rule::Table {} => self.table(),
            Rule::Chain { family, .. } => family.mangle(&format!("-N {name}")),
            Rule::Queue { family, number } => {
                let (packets, queue) = &self.of_iptables()[usize::from(*number)];
                family.mangle(&format!(
                    "-A {name} {packets} -j NFQUEUE --queue-num {queue} --queue-bypass"
                ))
            }
            // Last, so that rules that were there see every packet as before.
            Rule::Jump { family } => family.mangle(&format!("-A {}", self.jump())),
        }
    }

    fn jump(&self) -> String {
        let (name, chain) = (self.purpose().name(), self.purpose().chain());
        match self {
            Diversion::Web {
                device: Some(device),
                ..
            } => format!("{chain} -i {device} -j {name}"),
            Diversion::Web { device: None, .. } => format!("{chain} ! -i lo -j {name}"),
            Diversion::Forwarded { .. } => format!("{chain} -j {name}"),
        }
    }

    /// The commands that undo a change where `now` still has it.
    pub(super) fn undo(&self, rule: &Rule, now: &Now) -> Vec<Command> {
        let (name, chain) = (self.purpose().name(), self.purpose().chain());
        let of = |family: &Family| {
            let found = now.chains.iter().find(|(of, _)| of == family);
            found.map_or(Chains::default(), |(_, chains)| *chains)
        };
        match rule {
            Rule::Table {} if now.table => vec![Command::nft(format!("delete table inet {name}"))],
            Rule::Jump { family } if of(family).jump => {
                vec![family.mangle(&format!("-D {}", self.jump()))]
            }
            Rule::Chain {
                family,
                table,
                hook,
            } => {
                let chains = of(family);
                let mut commands = Vec::new();
                if chains.chain {
                    commands.push(family.mangle(&format!("-F {name}")));
                    commands.push(family.mangle(&format!("-X {name}")));
                }
                // iptables leaves what it made of nftables' for its chains. What others use by now stays.
                let nft = family.of_nft();
                match (table, chains.nft) {
                    (Some(false), Some((true, _))) if !chains.others => {
                        commands.push(Command::nft(format!("delete table {nft} mangle")));
                    }
                    (Some(_), Some((_, true))) if !hook && !chains.others_in_hook => {
                        commands.push(Command::nft(format!("delete chain {nft} mangle {chain}")));
                    }
                    _ => (),
                }
                commands
            }
            _ => Vec::new(),
        }
    }
}

impl Now {
    /// Looks at the rules that `tool` makes for a purpose.
    pub(super) fn look(
        runner: &mut dyn Runner,
        tool: Tool,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        match tool {
            Tool::Nft => {
                let command = Command::nft("list tables");
                let listed = succeeded(runner, &command)?;
                let ours = format!("table inet {}", purpose.name());
                Ok(Now {
                    table: listed.lines().any(|line| line.trim() == ours),
                    chains: Vec::new(),
                })
            }
            Tool::Iptables => {
                let mut chains = Vec::new();
                for family in FAMILIES {
                    chains.push((family, Chains::look(runner, family, purpose)?));
                }
                Ok(Now {
                    table: false,
                    chains,
                })
            }
        }
    }

    /// Rules of ours that no journal tells of, in words.
    pub(super) fn strangers(&self, purpose: Purpose) -> Option<(String, String)> {
        let name = purpose.name();
        if self.table {
            let help = format!("if nothing needs it: nft delete table inet {name}");
            return Some((format!("a table inet {name}"), help));
        }
        let (family, _) = self
            .chains
            .iter()
            .find(|(_, chains)| chains.chain || chains.jump)?;
        let program = family.program().name();
        let help =
            format!("`{program} -t mangle -S` shows what leads to it, to be removed by hand");
        Some((format!("a chain {name} of {program}"), help))
    }
}

impl Chains {
    fn look(runner: &mut dyn Runner, family: Family, purpose: Purpose) -> Result<Self, Error> {
        let (name, hook) = (purpose.name(), purpose.chain());
        let version = succeeded(runner, &Command::new(family.program(), "--version"))?;
        // Before the next command: iptables may make the table to list it.
        let nft = if version.contains("nf_tables") {
            Some(in_nft(runner, family, hook)?)
        } else {
            None
        };
        let listed = succeeded(runner, &family.mangle("-S"))?;
        let (chain, jump) = (format!("-N {name}"), format!("-j {name}"));
        let lines = || listed.lines().map(str::trim);
        let is_jump =
            |line: &str| line.starts_with(&format!("-A {hook} ")) && line.ends_with(&jump);
        let is_ours =
            |line: &str| is_jump(line) || line == chain || line.starts_with(&format!("-A {name} "));
        let is_default = |line: &str| line.starts_with("-P ") && line.ends_with(" ACCEPT");
        let of_others = |line: &&str| !line.is_empty() && !is_ours(line) && !is_default(line);
        Ok(Chains {
            chain: lines().any(|line| line == chain),
            jump: lines().any(is_jump),
            others: lines().any(|line| of_others(&line)),
            others_in_hook: lines()
                .filter(of_others)
                .any(|line| line.split(' ').nth(1) == Some(hook)),
            nft,
        })
    }
}

/// Whether nftables has a table `mangle` of iptables, and the chain of a hook in it. Without nft nothing could be
/// taken away, so that they then count as there.
fn in_nft(runner: &mut dyn Runner, family: Family, hook: &str) -> Result<(bool, bool), Error> {
    let of = family.of_nft();
    let tables = match runner.run(&Command::nft("list tables")) {
        Ok(output) if output.success => output.stdout,
        Ok(output) => return Err(Error::command(&Command::nft("list tables"), &output.stderr)),
        Err(_) => return Ok((true, true)),
    };
    let ours = format!("table {of} mangle");
    let table = tables.lines().any(|line| line.trim() == ours);
    let chain = Command::nft(format!("list chain {of} mangle {hook}"));
    if !table {
        return Ok((false, false));
    }
    let listed = look(runner, &chain)?;
    if !listed.success && !listed.stderr.contains("No such file or directory") {
        return Err(Error::command(&chain, &listed.stderr));
    }
    Ok((true, listed.success))
}

/// What a command prints that has to succeed.
pub(super) fn succeeded(runner: &mut dyn Runner, command: &Command) -> Result<String, Error> {
    let output = look(runner, command)?;
    if output.success {
        Ok(output.stdout)
    } else {
        Err(Error::command(command, &output.stderr))
    }
}
