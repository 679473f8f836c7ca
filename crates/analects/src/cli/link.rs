//! The arguments of `analects link`.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// A link, and what to run behind it.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// What it carries towards the command: a rate such as 20mbit, or a file with a trace, of ours or
    /// Mahimahi's. Without, as much as comes.
    #[arg(long, value_name = "RATE|TRACE")]
    pub down: Option<String>,
    /// What it carries away from the command. Without, as much as comes.
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
    /// The room of both queues: 250p, 375kB, or 1.5bdp. Without, the discipline's own.
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<String>,
    /// Write what passed as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The command. Without, a shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
