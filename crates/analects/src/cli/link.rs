//! The arguments of `analects link`.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// A link, and what to run behind it.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// The rate towards the command, such as 20mbit, or a file with a trace, of ours or Mahimahi's.
    /// Without it, the rate is not limited.
    #[arg(long, value_name = "RATE|TRACE")]
    pub down: Option<String>,
    /// The same away from the command. Without it, the rate is not limited.
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
    /// The limit of both queues: 250p, 375kB, or 1.5bdp. Without it, the discipline's own.
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<String>,
    /// Write a summary of the traffic as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The command. Without it, a shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
