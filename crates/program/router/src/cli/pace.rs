//! The arguments of `analects pace`.

use clap::Args;
use std::path::PathBuf;

/// The discipline of packets that wait in a pacer.
pub const PACED: &str = "fq_codel";

/// How the web's packets are paced.
#[derive(Debug, Args)]
pub struct PaceArgs {
    /// The rate of all web traffic together: less than the line's, such as 20mbit on a line of 50; or
    /// adaptive, which follows an estimate of the line's.
    #[arg(
        long,
        visible_alias = "down",
        value_name = "RATE|adaptive",
        default_value = "adaptive"
    )]
    pub rate: String,
    /// The discipline of packets that wait.
    #[arg(
        long,
        short = 'd',
        value_name = "NAME[,key=value...]",
        default_value = PACED
    )]
    pub discipline: String,
    /// Another setting of the pacer, as `analects describe pacer` lists them: queue=30ms, calls=no.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Only packets that this device receives. Without it, those of all devices but lo.
    #[arg(long, value_name = "DEVICE")]
    pub dev: Option<String>,
    /// The rate is that of several hosts, each with a pacer: they share it by what each wants. The file holds a
    /// secret of 16 bytes or more that all have, and may be read by its owner alone. They speak over UDP port
    /// 4432 on the link of --dev, with IPv6.
    #[arg(long, value_name = "FILE", requires = "dev")]
    pub household: Option<PathBuf>,
    /// The number of netfilter's queue: one that no other program uses.
    #[arg(long, value_name = "NUMBER", default_value_t = 4430)]
    pub queue: u16,
    /// Print rates, drops and what waits, every second.
    #[arg(long)]
    pub watch: bool,
    /// Write a summary of the traffic as JSON to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Only print the commands that would be run. A host that cannot be asked is taken for one with
    /// nftables.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}
