//! The arguments of `analects tc`.

use super::autorate::Favoured;
use super::page::PageArgs;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use core::ops::RangeInclusive;
use std::path::PathBuf;
use units::Duration;

/// How long a set-up may be on trial.
pub const TRIAL: RangeInclusive<Duration> = Duration::from_secs(5)..=Duration::from_secs(3600);

/// What to do with a device.
#[derive(Debug, Subcommand)]
pub enum TcCommand {
    /// Print the commands that shape a device's traffic, and run them; if one fails, everything is
    /// put back. Applied again, it changes the existing set-up.
    Apply(Box<TcApply>),
    /// Show the set-up, its state and its statistics.
    Show(TcShow),
    /// Restore the state of a device before `tc apply`.
    Clear(TcClear),
    /// Run until interrupted, and put back what other programs take away from set-ups: qdiscs, filters, ifb
    /// devices. It says so, and `tc show` counts it. Rates that find themselves it follows.
    Keep(TcKeep),
}

/// What to look after.
#[derive(Debug, Args)]
pub struct TcKeep {
    /// Only this device. Without it, each device with a set-up.
    #[arg(long, value_name = "DEVICE")]
    pub dev: Option<String>,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
    /// A page of the lines.
    #[command(flatten)]
    pub page: PageArgs,
}

/// The discipline of a shaper of which nothing says more.
pub const SHAPED: &str = "mencius";

/// What is there in place of a rate.
const UNLESS: &[&str] = if cfg!(feature = "measure") {
    &["levels", "from"]
} else {
    &["levels"]
};

/// The setup of a device.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("sends").multiple(true), group = ArgGroup::new("receives").multiple(true))]
pub struct TcApply {
    /// Two levels of one discipline: while packets of young flows wait, none of an old one is sent.
    /// Flows that end young are faster, long ones slower. Not for calls, which are soon old.
    #[arg(value_name = "2lps", requires = "threshold")]
    pub levels: Option<TcLevels>,
    /// The device towards the bottleneck, such as eth0.
    #[arg(long, value_name = "DEVICE")]
    pub dev: String,
    /// Take rates, discipline and overhead from the scenario of a line that `analects measure -o FILE` wrote, and print
    /// what was taken: rates a little below the line's, the last discipline that it compares, and its link.overhead.
    /// Options of this command win over it.
    #[cfg(feature = "measure")]
    #[arg(long, value_name = "FILE", conflicts_with = "levels", groups = ["sends", "receives"])]
    pub from: Option<PathBuf>,
    /// The rate at which it sends: 85 to 95 % of a speed test's result; or auto, or the least and the greatest, for one
    /// that finds itself as `autorate` does: it begins with the rate of --from, or with MIN, and is followed until
    /// this is interrupted. Only 2lps needs none, where the device itself is the bottleneck.
    #[arg(
        long,
        alias = "rate",
        value_name = "RATE|auto|MIN..MAX",
        group = "sends",
        required_unless_present_any = UNLESS
    )]
    pub up: Option<String>,
    /// The same of the rate at which it receives. Without it, incoming traffic is not shaped.
    #[arg(
        long,
        alias = "ingress",
        value_name = "RATE|auto|MIN..MAX",
        group = "receives",
        conflicts_with = "levels"
    )]
    pub down: Option<String>,
    /// With auto, or least and greatest rates: what to spare where both cannot be.
    #[arg(long, value_name = "WHAT", default_value = "both")]
    pub favour: Favoured,
    /// With auto, or least and greatest rates: do not stay to follow the line. `analects tc keep` does, as in the service.
    #[arg(long)]
    pub no_follow: bool,
    /// Overhead of the line for each IP packet: bytes, or a keyword of tc-cake(8) such as docsis,
    /// pppoe-ptm, bridged-ptm, ethernet or conservative. Without it, the kernel's packet lengths count.
    #[arg(
        long,
        value_name = "BYTES|LINE",
        allow_hyphen_values = true,
        requires = "sends"
    )]
    pub overhead: Option<String>,
    /// The discipline: mencius, confucius, floq, cake, fq_codel, codel, fq, pie, fq_pie, pfifo or
    /// bfifo; mencius if nothing names one.
    #[arg(
        long,
        short = 'd',
        value_name = "NAME[,key=value...]",
        conflicts_with = "levels"
    )]
    pub discipline: Option<String>,
    /// Another discipline of what the device sends.
    #[arg(long, value_name = "NAME[,key=value...]", conflicts_with = "levels")]
    pub up_discipline: Option<String>,
    /// Another discipline of what it receives.
    #[arg(long, value_name = "NAME[,key=value...]", requires = "receives")]
    pub down_discipline: Option<String>,
    /// The discipline of each of the two levels: one of the above, pfifo_fast for two of its bands, or
    /// cake for two of its tins, which share the link.
    #[arg(
        long,
        default_value = "fq_codel",
        value_name = "NAME[,key=value...]",
        requires = "levels"
    )]
    pub base: String,
    /// Bytes up to which a flow is young, such as 6331208 or 1MB; or auto, with --watch: at first
    /// 6331208, then the best for the flows that end.
    #[arg(long, value_name = "BYTES|auto", requires = "levels")]
    pub threshold: Option<String>,
    /// With --threshold auto: run until interrupted, learn the sizes of flows from connection tracking,
    /// and change the threshold. The set-up stays when this ends.
    #[arg(long, requires = "levels")]
    pub watch: bool,
    /// For --watch: the load for which the threshold is to be best, from 0.01 to 0.99. Use the load
    /// of busy hours, not the day's.
    #[arg(long, default_value_t = 0.88)]
    pub load: f64,
    /// For --watch: the time between two looks, from 1s to 30d.
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub every: String,
    /// For --watch: the number of ended flows before the threshold follows them, from 100 to
    /// 100000. Of a thousand, few are long, and a threshold by them can cost a third.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub flows: u32,
    /// Replace the device's queue discipline even if it cannot be restored exactly; it is then lost.
    #[arg(long)]
    pub replace: bool,
    /// How long it is on trial, within [`TRIAL`].
    #[arg(long, value_name = "TIME", conflicts_with = "watch", help = format!(
        "Try it for so long, from {} to {}: unless `yes` and Enter are typed in time, it is undone, as it is if the \
         terminal goes, so that a mistake over SSH locks nobody out", TRIAL.start(), TRIAL.end()
    ))]
    pub confirm: Option<String>,
    /// Only print the commands. A device that does not exist is taken for an ordinary one.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// The word for two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TcLevels {
    /// Two levels of one discipline.
    #[value(name = "2lps")]
    Two,
}

/// What to show.
#[derive(Debug, Args)]
pub struct TcShow {
    /// Only this device.
    #[arg(long, value_name = "DEVICE")]
    pub dev: Option<String>,
    /// Output format; JSON has all of tc's statistics of the queues.
    #[arg(long, default_value = "table")]
    pub format: ShowFormat,
    /// Once a second show what each flow of mencius has had: its rate, its share, how long its packets wait, and
    /// whether it is protected; until it is interrupted.
    #[arg(long, conflicts_with = "format")]
    pub watch: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// Format of the set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Lines to read.
    Table,
    /// JSON.
    Json,
    /// Prometheus' text, for node_exporter's folder of text files.
    Prometheus,
}

/// What to take back.
#[derive(Debug, Args)]
pub struct TcClear {
    /// Only this device. Without it, each device with a set-up.
    #[arg(long, value_name = "DEVICE")]
    pub dev: Option<String>,
    /// Only print the commands.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}
