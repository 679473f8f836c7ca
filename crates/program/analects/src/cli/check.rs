//! The arguments of `analects check`.

use clap::Args;
use std::path::PathBuf;

/// What to check, and how to tell of it.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The file that names an application, conditions and limits: `analects describe check` has all keys.
    pub file: PathBuf,
    /// Only these conditions, by their names; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// The most time that all calls take together; a far end that never listens takes half a minute more.
    #[arg(long, value_name = "TIME", default_value = "5min")]
    pub time: units::Duration,
    /// The most calls over the link of one condition, with those in which this host was late.
    #[arg(long, value_name = "COUNT", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Compare with the values in this file, which --save wrote.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Keep the values of all calls in this file, if the check passes.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Write the outcome as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the outcome as JUnit's XML to this file.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a page with causes, and a call of each condition that failed, to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Keep of each call its link, what the application printed, and the link's packets in this folder, which must not
    /// exist.
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
}
