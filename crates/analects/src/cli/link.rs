//! The arguments of `analects link`.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// A link, and what to run behind it.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// The capacity towards the command: a rate such as 20mbit, or a trace file in our format or
    /// Mahimahi's. Without it, there is no limit.
    #[arg(long, value_name = "RATE|TRACE")]
    pub down: Option<String>,
    /// The capacity away from the command. Without it, there is no limit.
    #[arg(long, value_name = "RATE|TRACE")]
    pub up: Option<String>,
    /// The round trip without queues, half in each direction, up to 60s.
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    pub rtt: String,
    /// The share of packets that the wire loses in each direction: 1% or 0.01.
    #[arg(long, value_name = "SHARE", default_value = "0")]
    pub loss: String,
    /// The discipline of both directions.
    #[arg(
        long,
        short = 'd',
        value_name = "NAME[,key=value...]",
        default_value = "pfifo"
    )]
    pub discipline: String,
    /// The buffer of both queues: 250p, 375kB, or 1.5bdp. Without it, the discipline's own.
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<String>,
    /// Write what passed through the link as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The command to run. Without it, a shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
