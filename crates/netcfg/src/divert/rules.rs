//! The rules that divert packets to a queue, in the words of nftables and of iptables.

use crate::look::look;
use crate::{Command, Device, Error, Program, Runner};
use serde::{Deserialize, Serialize};

/// The name of our table, and of our chain where there is no table of ours.
pub(super) const NAME: &str = "analects-pace";
/// The ports of the web.
const PORTS: [u16; 2] = [80, 443];
/// After tables that change packets (`mangle`, -150) and before a firewall's filters (0): what those
/// drop has then cost its share of the link, and nothing that they accept goes past them.
const PRIORITY: i32 = -140;

/// Which packets go to which queue: what this host receives from the web's ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diversion {
    /// The number of the queue.
    pub queue: u16,
    /// The device that receives them; all but `lo` if there is none.
    pub device: Option<Device>,
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
    fn mangle(self, words: &str) -> Command {
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
        /// It had a chain `INPUT`.
        input: bool,
    },
    /// A rule in it.
    Queue {
        /// Whose.
        family: Family,
        /// `tcp` or `udp`.
        udp: bool,
        /// From this port.
        port: u16,
    },
    /// The way from `INPUT` to it.
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
    /// nftables has a table `mangle`, and `INPUT` in it; none if iptables does not use nftables.
    nft: Option<(bool, bool)>,
    /// Others have rules, chains or policies in the table.
    others: bool,
    /// Others have rules in `INPUT`, or a policy.
    others_in_input: bool,
}

impl Tool {
    /// The first that this host's kernel can do.
    pub(super) fn find(runner: &mut dyn Runner, diversion: &Diversion) -> Result<Self, Error> {
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
    /// The changes that divert packets, where `now` is.
    pub(super) fn rules(tool: Tool, now: &Now) -> Vec<Rule> {
        if tool == Tool::Nft {
            return vec![Rule::Table {}];
        }
        let of = |(family, chains): &(Family, Chains)| {
            let family = *family;
            let mut rules = vec![Rule::Chain {
                family,
                table: chains.nft.map(|(table, _)| table),
                input: chains.nft.is_some_and(|(_, input)| input),
            }];
            for udp in [false, true] {
                rules.extend(PORTS.map(|port| Rule::Queue { family, udp, port }));
            }
            rules.push(Rule::Jump { family });
            rules
        };
        now.chains.iter().flat_map(of).collect()
    }

    /// The table of nftables.
    fn table(&self) -> Command {
        let (name, queue) = (NAME, self.queue);
        let [first, second] = PORTS;
        let from = match &self.device {
            Some(device) => format!("iifname \"{device}\""),
            None => "iifname != \"lo\"".to_owned(),
        };
        let mut script = format!(
            "create table inet {name}\n\
             add chain inet {name} input {{ type filter hook input priority {PRIORITY}; policy accept; }}\n"
        );
        for protocol in ["tcp", "udp"] {
            script += &format!(
                "add rule inet {name} input {from} {protocol} sport {{ {first}, {second} }} queue num {queue} bypass\n"
            );
        }
        Command::nft(script)
    }

    /// The command that makes a change.
    pub(super) fn command(&self, rule: &Rule) -> Command {
        match rule {
            Rule::Table {} => self.table(),
            Rule::Chain { family, .. } => family.mangle(&format!("-N {NAME}")),
            Rule::Queue { family, udp, port } => {
                let (queue, protocol) = (self.queue, if *udp { "udp" } else { "tcp" });
                family.mangle(&format!(
                    "-A {NAME} -p {protocol} --sport {port} -j NFQUEUE --queue-num {queue} --queue-bypass"
                ))
            }
            // Last, so that rules that were there see every packet as before.
            Rule::Jump { family } => family.mangle(&format!("-A {}", self.jump())),
        }
    }

    fn jump(&self) -> String {
        match &self.device {
            Some(device) => format!("INPUT -i {device} -j {NAME}"),
            None => format!("INPUT ! -i lo -j {NAME}"),
        }
    }

    /// The commands that undo a change where `now` still has it.
    pub(super) fn undo(&self, rule: &Rule, now: &Now) -> Vec<Command> {
        let of = |family: &Family| {
            let found = now.chains.iter().find(|(of, _)| of == family);
            found.map_or(Chains::default(), |(_, chains)| *chains)
        };
        match rule {
            Rule::Table {} if now.table => vec![Command::nft(format!("delete table inet {NAME}"))],
            Rule::Jump { family } if of(family).jump => {
                vec![family.mangle(&format!("-D {}", self.jump()))]
            }
            Rule::Chain {
                family,
                table,
                input,
            } => {
                let chains = of(family);
                let mut commands = Vec::new();
                if chains.chain {
                    commands.push(family.mangle(&format!("-F {NAME}")));
                    commands.push(family.mangle(&format!("-X {NAME}")));
                }
                // iptables leaves what it made of nftables' for its chains. What others use by now stays.
                let nft = family.of_nft();
                match (table, chains.nft) {
                    (Some(false), Some((true, _))) if !chains.others => {
                        commands.push(Command::nft(format!("delete table {nft} mangle")));
                    }
                    (Some(_), Some((_, true))) if !input && !chains.others_in_input => {
                        commands.push(Command::nft(format!("delete chain {nft} mangle INPUT")));
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
    /// Looks at the rules that `tool` makes.
    pub(super) fn look(runner: &mut dyn Runner, tool: Tool) -> Result<Self, Error> {
        match tool {
            Tool::Nft => {
                let command = Command::nft("list tables");
                let listed = succeeded(runner, &command)?;
                let ours = format!("table inet {NAME}");
                Ok(Now {
                    table: listed.lines().any(|line| line.trim() == ours),
                    chains: Vec::new(),
                })
            }
            Tool::Iptables => {
                let mut chains = Vec::new();
                for family in FAMILIES {
                    chains.push((family, Chains::look(runner, family)?));
                }
                Ok(Now {
                    table: false,
                    chains,
                })
            }
        }
    }

    /// Rules of ours that no journal tells of, in words.
    pub(super) fn strangers(&self) -> Option<(String, String)> {
        if self.table {
            let help = format!("if nothing needs it: nft delete table inet {NAME}");
            return Some((format!("a table inet {NAME}"), help));
        }
        let (family, _) = self
            .chains
            .iter()
            .find(|(_, chains)| chains.chain || chains.jump)?;
        let program = family.program().name();
        let help =
            format!("`{program} -t mangle -S` shows what leads to it, to be removed by hand");
        Some((format!("a chain {NAME} of {program}"), help))
    }
}

impl Chains {
    fn look(runner: &mut dyn Runner, family: Family) -> Result<Self, Error> {
        let version = succeeded(runner, &Command::new(family.program(), "--version"))?;
        // Before the next command: iptables may make the table to list it.
        let nft = match version.contains("nf_tables") {
            true => Some(in_nft(runner, family)?),
            false => None,
        };
        let listed = succeeded(runner, &family.mangle("-S"))?;
        let (chain, jump) = (format!("-N {NAME}"), format!("-j {NAME}"));
        let lines = || listed.lines().map(str::trim);
        let is_jump = |line: &str| line.starts_with("-A INPUT ") && line.ends_with(&jump);
        let is_ours =
            |line: &str| is_jump(line) || line == chain || line.starts_with(&format!("-A {NAME} "));
        let is_default = |line: &str| line.starts_with("-P ") && line.ends_with(" ACCEPT");
        let of_others = |line: &&str| !line.is_empty() && !is_ours(line) && !is_default(line);
        Ok(Chains {
            chain: lines().any(|line| line == chain),
            jump: lines().any(is_jump),
            others: lines().any(|line| of_others(&line)),
            others_in_input: lines()
                .filter(of_others)
                .any(|line| line.split(' ').nth(1) == Some("INPUT")),
            nft,
        })
    }
}

/// Whether nftables has a table `mangle` of iptables, and `INPUT` in it. Without nft nothing could be
/// taken away, so that they then count as there.
fn in_nft(runner: &mut dyn Runner, family: Family) -> Result<(bool, bool), Error> {
    let of = family.of_nft();
    let tables = match runner.run(&Command::nft("list tables")) {
        Ok(output) if output.success => output.stdout,
        Ok(output) => return Err(Error::command(&Command::nft("list tables"), &output.stderr)),
        Err(_) => return Ok((true, true)),
    };
    let ours = format!("table {of} mangle");
    let table = tables.lines().any(|line| line.trim() == ours);
    let chain = Command::nft(format!("list chain {of} mangle INPUT"));
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
fn succeeded(runner: &mut dyn Runner, command: &Command) -> Result<String, Error> {
    let output = look(runner, command)?;
    match output.success {
        true => Ok(output.stdout),
        false => Err(Error::command(command, &output.stderr)),
    }
}
