//! The command line, declared once: parser, help, completions and man pages come from here.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Try, believe and deploy queue disciplines that keep real-time traffic smooth.
#[derive(Debug, Parser)]
#[command(name = "analects", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario under each discipline and compare.
    Run(RunArgs),
    /// Run the experiments of a paper again, and check what it claims.
    Reproduce(ReproduceArgs),
    /// List what there is.
    List {
        /// Of what.
        what: Listed,
    },
    /// Say what a discipline, control or kind of traffic is, and what it can be told.
    Describe {
        /// Its name, as `analects list` prints it; `disciplines`, `controls` or `traffic` for all of
        /// them; or `scenario` for all that a scenario can say.
        name: String,
        /// How to print it.
        #[arg(long, default_value = "text")]
        format: Style,
    },
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Write man pages into a folder.
    Man {
        /// The folder; it is made if need be.
        folder: PathBuf,
    },
}

/// How to print a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// Lines for a terminal.
    Text,
    /// Markdown, as in the documentation.
    Markdown,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listed {
    /// Queue disciplines.
    Disciplines,
    /// Congestion controls.
    Controls,
    /// Kinds of traffic.
    Traffic,
    /// Engines.
    Engines,
    /// Experiments.
    Experiments,
}

/// What to run, and how to tell of it.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The scenario, a TOML file.
    pub scenario: PathBuf,
    /// Compare this discipline instead of the scenario's; may be repeated.
    #[arg(long = "discipline", short = 'd', value_name = "NAME[,key=value...]")]
    pub disciplines: Vec<String>,
    /// Set a key of the scenario; traffic entries are called by their name. A folder or a pattern
    /// for a trace means each file in turn, for a page's source all the pages in it.
    #[arg(long = "set", short = 's', value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Run everything once more without this traffic entry: the stall that it causes is then the
    /// difference, and what the link's own changes cause is taken out.
    #[arg(long, value_name = "NAME")]
    pub without: Option<String>,
    /// What runs it.
    #[arg(long, default_value = "sim", value_name = "NAME")]
    pub engine: String,
    /// The seed of the first run.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Runs for each discipline, with seeds one after another.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeat: u64,
    /// How to print the results.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Write everything into this folder: results as JSON and CSV, the scenario with all defaults,
    /// time series, and the report.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the report to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
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
    /// A figure a line.
    Csv,
}

/// Which experiments to run, and how to tell of them.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments, such as confucius/fig10; all of a paper's with confucius/all; or a file of your
    /// own that ends in .toml. Recorded traces and pages are taken from the folder that ANALECTS_DATA
    /// names; without it they are generated.
    #[arg(required = true, value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// With fewer seeds, traces and values: about a minute each.
    #[arg(long)]
    pub quick: bool,
    /// How to print what came of them.
    #[arg(long, default_value = "table")]
    pub format: Printed,
    /// Keep results and reports in this folder; what is there already is not run again.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub out: PathBuf,
    /// Runs at a time; by default one for each processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// How to print what came of experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Printed {
    /// Tables to read.
    Table,
    /// The claims as JSON.
    Json,
    /// A page of Markdown.
    Markdown,
}
