//! Arguments common to several commands, declared once.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What runs scenarios.
#[derive(Debug, Clone, PartialEq, Eq, Args, Serialize, Deserialize)]
pub struct EngineArgs {
    /// Engine: `sim`, the simulator; `kernel`, Linux itself in a virtual machine, once `make
    /// kernel-engine` has fetched it; or, in real time and as root, `host`, this host's Linux, or `live`, its
    /// sockets over our disciplines.
    #[arg(long = "engine", default_value = "sim", value_name = "NAME")]
    pub name: String,
    /// Which Linux the engine `kernel` boots.
    #[command(flatten)]
    pub linux: LinuxArgs,
}

/// Which Linux.
#[derive(Debug, Clone, PartialEq, Eq, Args, Serialize, Deserialize)]
pub struct LinuxArgs {
    /// Linux that the engine `kernel` boots: 6.1 (the default), 6.12 or 7.x.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
}

/// How a scenario is run: what is compared, what is set, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Shape {
    /// Compare this discipline instead of the scenario's; may be repeated.
    #[arg(long = "discipline", short = 'd', value_name = "NAME[,key=value...]")]
    pub disciplines: Vec<String>,
    /// Set a key of the scenario; name traffic entries by their name. A folder or a pattern for a
    /// trace means each file in turn (not in a sweep); for a page's source it means all the pages
    /// in it.
    #[arg(long = "set", short = 's', value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Refuse a folder of pages or traces in which a file cannot be read, instead of leaving the file out; and
    /// fail after printing if a run is not to be believed.
    #[arg(long)]
    pub strict: bool,
    /// Run everything once more without this traffic entry, and print these runs in a row of their own: the
    /// stall that it causes is the difference, without the effects of the link's own changes.
    #[arg(long, value_name = "NAME")]
    pub without: Option<String>,
    /// The seed of the first run.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Runs for each discipline and combination of values, with seeds one after another. By default ten
    /// in the simulator, so that figures have intervals, and one in Linux or where packets are recorded.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeat: Option<u64>,
}

/// Runs in the simulator where nothing is said: with fewer, intervals are wide or missing.
const REPEAT: u64 = 10;

impl Shape {
    /// Whether nothing of it was said.
    pub fn is_plain(&self) -> bool {
        let lists = self.disciplines.is_empty() && self.set.is_empty();
        lists && !self.strict && self.without.is_none() && (self.seed, self.repeat) == (1, None)
    }

    /// How many runs the engine of that name makes.
    pub fn repeats(&self, engine: &str) -> u64 {
        let unsaid = if engine == "sim" { REPEAT } else { 1 };
        self.repeat.unwrap_or(unsaid)
    }
}

/// A scenario, and how it is run.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file.
    pub scenario: PathBuf,
    /// How it is run.
    #[command(flatten)]
    pub shape: Shape,
    /// What runs it.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Store results in this folder as they come; stored runs are not run again. Several
    /// processes may share it.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Number of runs at a time.
    #[command(flatten)]
    pub parallel: Parallel,
}

impl ScenarioArgs {
    /// How many runs are made of each discipline and combination of values.
    pub fn repeats(&self) -> u64 {
        self.shape.repeats(&self.engine.name)
    }
}

/// How results are printed.
#[derive(Debug, Args)]
pub struct Printing {
    /// Format of the results.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Write a page with plots to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Files that runs are written to while they go.
#[derive(Debug, Args)]
pub struct Recording {
    /// Write a line for each packet to this file, as CSV: when it came to a queue and left it, its
    /// size, its flow, and whether it was sent, marked, dropped or lost. Where there are several runs,
    /// each has a file of its own, whose name has the run's place in the results, its discipline and
    /// its seed before the ending. An existing file is overwritten.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write the headers of all packets that leave a queue to this file, as pcap for tcpdump and
    /// Wireshark, which decodes the simulator's calls as RTP. Several runs have several files, as with --log.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Write all events to this file, a JSON object a line. Several runs have several files, as
    /// with --log.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Write rates and pings to this file, which ends in `.flent.gz`, for the plots of flent: the goodput of
    /// transfers and pages, and the answers of `udp` entries with `answer` as pings. Several runs have several
    /// files, as with --log.
    #[arg(long, value_name = "FILE")]
    pub flent: Option<PathBuf>,
}

impl Recording {
    /// Whether anything is recorded.
    pub fn is_asked_for(&self) -> bool {
        let files = [&self.log, &self.pcap, &self.events, &self.flent];
        files.into_iter().any(Option::is_some)
    }
}

/// Number of runs at a time.
#[derive(Debug, Args)]
pub struct Parallel {
    /// Runs at a time; by default one for each processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// How to print results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table to read.
    Table,
    /// The JSON document.
    Json,
    /// One figure per line.
    Csv,
}

/// How experiments are run, and how to tell of them.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Run with fewer seeds, traces and values: about a minute each.
    #[arg(long)]
    pub quick: bool,
    /// Fail after printing if a run is not to be believed.
    #[arg(long)]
    pub strict: bool,
    /// Output format.
    #[arg(long, default_value = "table")]
    pub format: Printed,
    /// Store results in DIR/store and reports in DIR; stored runs are not run again.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub out: PathBuf,
    /// Number of runs at a time.
    #[command(flatten)]
    pub parallel: Parallel,
}

impl ExperimentArgs {
    /// Where results are kept.
    pub fn store(&self) -> PathBuf {
        self.out.join("store")
    }
}

/// How to print the outcome of experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Printed {
    /// Tables to read.
    Table,
    /// The claims as JSON.
    Json,
    /// A page of Markdown.
    Markdown,
}
