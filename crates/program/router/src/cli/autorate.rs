//! The arguments of `analects autorate`.

use super::page::PageArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which line is followed, how far, and for whom.
#[derive(Debug, Args)]
pub struct AutorateArgs {
    /// The device towards the line, such as wan, with a shaper of `analects tc apply`.
    #[arg(
        long,
        value_name = "DEVICE",
        required_unless_present = "from_cake_autorate"
    )]
    pub dev: Option<String>,
    /// Only print the command that corresponds to a configuration of cake-autorate, such as
    /// /root/cake-autorate/config.primary.sh, and say what has no counterpart. It is shell, is read, and never run.
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub from_cake_autorate: Option<PathBuf>,
    /// Only look at passing packets, and say what would be set. Nothing is changed, and no shaper needed.
    #[arg(long, conflicts_with = "page")]
    pub observe: bool,
    /// The least and the greatest rate at which the device may receive, such as 5mbit..100mbit; either may be left
    /// out.
    #[arg(long, value_name = "MIN..MAX", conflicts_with = "observe")]
    pub down: Option<String>,
    /// The least and the greatest rate at which it may send.
    #[arg(long, value_name = "MIN..MAX", conflicts_with = "observe")]
    pub up: Option<String>,
    /// What to spare where both cannot be.
    #[arg(long, value_name = "WHAT", default_value = "both")]
    pub favour: Favoured,
    /// Leave the last rates at the end. Without it, those of `tc apply` are put back.
    #[arg(long, conflicts_with = "observe")]
    pub keep: bool,
    /// Only print the commands by which rates would be changed, with the rates that stand.
    #[arg(long, conflicts_with_all = ["observe", "page"])]
    pub dry_run: bool,
    /// Print a JSON object for each line.
    #[arg(long)]
    pub json: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
    /// A page of the line.
    #[command(flatten)]
    pub page: PageArgs,
}

/// What to spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Favoured {
    /// Stay below what the line carries for nine tenths of the time.
    Calls,
    /// For three quarters.
    Both,
    /// For half.
    Downloads,
}

impl Favoured {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Favoured::Calls => "calls",
            Favoured::Both => "both",
            Favoured::Downloads => "downloads",
        }
    }
}
