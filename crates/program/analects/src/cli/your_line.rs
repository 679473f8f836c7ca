//! The arguments of `analects measure`.

use clap::Args;
use line::Pin;
use std::path::PathBuf;
use units::Bytes;

/// What gives each flow a queue of its own. Waits do not tell one from another.
pub const FAIR: [&str; 3] = ["fq_codel", "cake", "mencius"];

/// What to measure, and what to do with it.
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// The server: `apple`, `cloudflare`, a host or URL that has /.well-known/nq, or HOST[:PORT] of `analects
    /// probe serve` with --pin. Nothing is contacted unless it is named.
    #[arg(value_name = "SERVER")]
    pub server: Option<String>,
    /// The pin of a server of your own, which `analects probe serve` prints. Its port is 7411 if none is said.
    #[arg(long, value_name = "PIN")]
    pub pin: Option<Pin>,
    /// Accept any server that answers: anyone on the path can pose as it, and the line may look as they wish.
    #[arg(long, conflicts_with = "pin")]
    pub trust_anyone: bool,
    /// Seconds of load in each direction, at most; it ends before if it has become stable.
    #[arg(long, default_value_t = 9, value_name = "N", value_parser = clap::value_parser!(u16).range(4..=120))]
    pub seconds: u16,
    /// Bytes of load in both directions together, at most.
    #[arg(long, default_value = "2GB", value_name = "BYTES")]
    pub max_bytes: Bytes,
    /// For a line that is paid by the byte: the same as --seconds 4 --max-bytes 25MB.
    #[arg(long, conflicts_with_all = ["seconds", "max_bytes"])]
    pub metered: bool,
    /// Write the line as a scenario to this file, for `run`, `link` and the playground.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print what it found beside what it had found before: the file that -o wrote then. What is not to be believed has
    /// a star.
    #[arg(long, value_name = "FILE")]
    pub before: Option<PathBuf>,
    /// What you know to manage the line's queue, as after `tc apply`: where packets do not wait for those of others,
    /// waits do not tell what does it, and the evenings have each of the three.
    #[arg(long, value_name = "DISCIPLINE", value_parser = clap::builder::PossibleValuesParser::new(FAIR))]
    pub queue: Option<String>,
    /// Simulate an evening on the line as it is, and behind a shaper with fq_codel, cake and mencius; and print the
    /// commands that set it up.
    #[arg(long)]
    pub compare: bool,
    /// Print the result as JSON, on one line.
    #[arg(long)]
    pub json: bool,
}
