//! The arguments of `analects reproduce`, `pilot`, `jobs` and `job`.

use super::{EngineArgs, ExperimentArgs, Parallel, Shape};
use clap::Args;
use reproduce::evaluation::MOST;
use std::path::PathBuf;

/// Which experiments to run, and how to tell of them.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments, such as confucius/fig10; all of a paper's with confucius/all; or a file of your
    /// own that ends in .toml. Recorded traces and pages are taken from the folder that ANALECTS_DATA
    /// names; without it they are generated.
    #[arg(required = true, value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// Engine of the experiments that do not require Linux.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Use this preset of `analects describe call` instead of `unlimited` for the calls that stand
    /// for the paper's: `paper` for the library that the Confucius paper used. With several
    /// presets, a page has the verdicts of all side by side.
    #[arg(long, value_name = "PRESET,PRESET...", value_delimiter = ',')]
    pub calls: Vec<String>,
    /// Draw the combinations of matrix/unseen, or of any experiment that has `draw`, by this text
    /// instead of the file's: the hash of a commit, or anything else that nobody could choose.
    #[arg(long, value_name = "TEXT")]
    pub draw: Option<String>,
    /// Run each experiment with the number of seeds in this file, which `analects pilot` prints.
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    pub runs: Option<PathBuf>,
    /// Check this claim alone, or those about this case, with only the runs that it needs. May be given several times.
    #[arg(long, value_name = "CLAIM|CASE")]
    pub only: Vec<String>,
    /// The first seed of each experiment: with another one, runs that nobody has seen.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Put what Markdown has of each experiment into this page, in the place of what the page has of the same ones: long
    /// pages are made one experiment at a time.
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["quick", "only", "seed"])]
    pub into: Option<PathBuf>,
    /// How.
    #[command(flatten)]
    pub how: ExperimentArgs,
}

/// Which claims to make again, and for how long.
#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// Experiments to draw from, such as confucius/all; all that there are without a name.
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// What is drawn, and with which seeds it is run: another number draws others.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=MOST))]
    pub seed: u64,
    /// Minutes after which no further run begins.
    #[arg(long, value_name = "MINUTES", default_value_t = 30.0)]
    pub minutes: f64,
    /// The folder of the pages.
    #[arg(long, value_name = "DIR", default_value = "docs/reproduction")]
    pub pages: PathBuf,
    /// Store results in DIR/store, and the report in DIR as report.txt and report.json.
    #[arg(long, value_name = "DIR", default_value = "evaluation")]
    pub out: PathBuf,
    /// Number of runs at a time.
    #[command(flatten)]
    pub parallel: Parallel,
}

/// The experiments to plan runs for.
#[derive(Debug, Args)]
pub struct PilotArgs {
    /// Experiments, such as confucius/fig10, or all of a paper's with confucius/all.
    #[arg(required = true, value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// Presets of the calls that stand for the paper's, as with `reproduce`.
    #[arg(
        long,
        value_name = "PRESET,PRESET...",
        value_delimiter = ',',
        default_value = "unlimited"
    )]
    pub calls: Vec<String>,
    /// Hours of one processor that all runs together may take.
    #[arg(long, value_name = "HOURS", default_value_t = 12.0)]
    pub hours: f64,
    /// Number of runs at a time.
    #[command(flatten)]
    pub parallel: Parallel,
}

/// What runs are needed, and where their results are kept.
#[derive(Debug, Args)]
pub struct JobsArgs {
    /// A scenario, or an experiment of your own, both files that end in .toml; an experiment's name,
    /// such as confucius/fig10 or confucius/all; or what `agree` runs, such as engines/all.
    #[arg(required = true, value_name = "PLAN")]
    pub plans: Vec<String>,
    /// How to run scenarios; experiments set it themselves.
    #[command(flatten)]
    pub shape: Shape,
    /// Engine of the experiments that do not require Linux.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Run experiments with fewer seeds, traces and values.
    #[arg(long)]
    pub quick: bool,
    /// Folder of the results. `reproduce` and `agree` look for them in reproduction/store.
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    /// Run nothing: print a line for each job with its key, `done` or `missing`, engine, discipline,
    /// seed and a description, separated by tabs, and leave in the store what `analects job` needs.
    #[arg(long)]
    pub list: bool,
    /// Number of runs at a time.
    #[command(flatten)]
    pub parallel: Parallel,
}

/// Which run to make.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// The run's key, as `analects jobs --list` printed it.
    pub key: String,
    /// The store that the list was made for.
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
}
