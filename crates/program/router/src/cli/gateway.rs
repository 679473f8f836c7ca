//! The arguments of `analects gateway`, and of changing it.

use super::autorate::Favoured;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What is shaped, and how.
#[derive(Debug, Clone, Args)]
pub struct GatewayArgs {
    /// The device of the computers that are served.
    #[arg(long = "in", value_name = "DEVICE")]
    pub inside: String,
    /// The device towards the line.
    #[arg(long = "out", value_name = "DEVICE")]
    pub outside: String,
    /// Take rates and discipline from the scenario of a line that `analects measure -o FILE` wrote, as `tc apply` does.
    /// Options of this command win over it.
    #[cfg(feature = "measure")]
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// The rate towards the computers, such as 45mbit: a little less than the line's; or auto, or the least and the
    /// greatest, such as 5mbit..100mbit, for one that finds itself as `autorate` does, from that of --from or MIN on.
    /// Without it, the rate is not limited.
    #[arg(long, value_name = "RATE|auto|MIN..MAX")]
    pub down: Option<String>,
    /// The same away from them. Without it, the rate is not limited.
    #[arg(long, value_name = "RATE|auto|MIN..MAX")]
    pub up: Option<String>,
    /// With auto, or least and greatest rates: what to spare where both cannot be.
    #[arg(long, value_name = "WHAT", default_value = "both")]
    pub favour: Favoured,
    /// The discipline of both directions; mencius if nothing names one.
    #[arg(long, short = 'd', value_name = "NAME[,key=value...]")]
    pub discipline: Option<String>,
    /// Another discipline towards the computers.
    #[arg(long, value_name = "NAME[,key=value...]")]
    pub down_discipline: Option<String>,
    /// Another discipline away from them.
    #[arg(long, value_name = "NAME[,key=value...]")]
    pub up_discipline: Option<String>,
    /// Write counters as JSON to this file, whole, every so often and at the end.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The same in the text format of Prometheus, for the textfile collector of node_exporter, which reads
    /// files that end in .prom.
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
    /// How often counters are written: 1s to 1h.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub every: String,
    /// The number of netfilter's queue towards the computers; the next one is away from them. Two that no other
    /// program uses.
    #[arg(long, value_name = "NUMBER", default_value_t = 4440, value_parser = clap::value_parser!(u16).range(..=65534))]
    pub queue: u16,
    /// Only print the commands that would be run. A host that cannot be asked is taken for one with
    /// nftables.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// Settings to change while packets wait.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// What runs.
    pub what: RunningCommand,
    /// Settings: of a gateway, down=40mbit and up=9mbit are rates, limit=500 is a setting of both disciplines,
    /// and down.limit=500 of one; of a pacer, rate=15mbit and what else `analects describe pacer` lists. All
    /// are changed, or none.
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// The folder that it was given.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// A command that carries packets.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RunningCommand {
    /// `analects gateway`.
    Gateway,
    /// `analects pace`.
    Pace,
}
