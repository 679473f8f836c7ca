//! The command line, declared once: parser, help, completions and man pages come from here.

#[cfg(feature = "host")]
mod agree;
#[cfg(feature = "host")]
mod browser;
mod campaign;
#[cfg(feature = "host")]
mod check;
mod import;
#[cfg(feature = "host")]
mod link;
mod shared;
mod theory;
mod within;
#[cfg(feature = "host")]
mod your_line;

#[cfg(feature = "host")]
pub use agree::{AgreeArgs, Witness};
#[cfg(feature = "host")]
pub use browser::BrowserArgs;
pub use campaign::{EvaluateArgs, JobArgs, JobsArgs, PilotArgs, ReproduceArgs};
#[cfg(feature = "host")]
pub use check::CheckArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use import::{FlentArgs, ImportCommand, InternalsArgs, TraceArgs};
#[cfg(feature = "host")]
pub use link::LinkArgs;
pub use shared::{
    EngineArgs, ExperimentArgs, Format, LinuxArgs, Parallel, Printed, Printing, Recording,
    ScenarioArgs, Shape,
};
use std::path::PathBuf;
pub use theory::{BoundArgs, BoundFormat, Policies, ThresholdArgs, ThresholdFormat};
#[cfg(feature = "host")]
pub use your_line::{FAIR, MeasureArgs};

/// The command by which this program runs itself in namespaces.
#[cfg(feature = "host")]
pub const GUEST: &str = "guest";

/// Try, believe and deploy queue disciplines that keep real-time traffic smooth.
#[derive(Debug, Parser)]
#[command(max_term_width = 100)]
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
    /// Run a scenario on a grid of values, and draw a metric over them.
    Sweep(SweepArgs),
    /// Run the experiments of a paper again, and check what it claims.
    Reproduce(ReproduceArgs),
    /// Make a tenth of all claims again, drawn by a seed and with seeds that no page has, and compare them with the
    /// pages: what an evaluator of artifacts asks first. The status is 1 if a verdict comes out the other way, or if
    /// nothing could be compared.
    Evaluate(EvaluateArgs),
    /// Find how often to run experiments to decide most of their claims in so many hours: make
    /// their quick runs, and print the file that `reproduce --runs` reads.
    Pilot(PilotArgs),
    #[cfg(feature = "host")]
    /// Run small scenarios in the simulator and in Linux, and report the differences.
    Agree(AgreeArgs),
    /// Make the runs that plans need and a store lacks, or list them. Several processes may work at
    /// once.
    Jobs(JobsArgs),
    /// Make a single run that `analects jobs --list` has listed.
    Job(JobArgs),
    /// Survey a set of pages: the number of flows at the same time, the number of requests
    /// and their sizes, the versions of HTTP; compared with the Confucius paper's pages.
    Pages(PagesArgs),
    /// List disciplines, controls, kinds of traffic, engines, experiments or metrics.
    List {
        /// The list to print.
        what: Listed,
    },
    /// Describe a discipline, a control or a kind of traffic, and its parameters.
    Describe {
        /// Its name, as `analects list` prints it; `disciplines`, `controls`, `traffic` or `metrics` for
        /// all of them; or `scenario` for all keys of a scenario.
        name: String,
        /// Output format.
        #[arg(long, default_value = "text")]
        format: Style,
    },
    /// Make a scenario from a recording of a call, or from a run of flent.
    Import {
        /// The recording.
        #[command(subcommand)]
        what: ImportCommand,
    },
    /// Begin a program of your own: these commands, with a discipline, a control, a kind of traffic and a
    /// metric that you write.
    New {
        /// The folder to make; its last part is the program's name.
        folder: PathBuf,
    },
    /// Print the predictions of the Confucius paper's theory, and the figures that the paper prints.
    Bound(BoundArgs),
    /// Compute the number of bytes that a flow should send before it goes behind others, by theory.
    Threshold(ThresholdArgs),
    #[cfg(feature = "host")]
    /// Run a command behind a link: in a network namespace of its own, with any discipline, rate and delay,
    /// without kernel modules. $ANALECTS_FAR is the address of the far side. The status is the command's, 128
    /// and the signal that ended it, 126 if it cannot be run, 127 if it is not there, and 125 if the link fails.
    Link(LinkArgs),
    #[cfg(feature = "host")]
    /// Test an application of your own in calls over links, against limits: freezes <= 1, fps_p5 >= 20. The status is
    /// 0 if it passes, 1 if a limit is missed or something got worse than a baseline, and 2 if that is not decided.
    Check(CheckArgs),
    #[cfg(feature = "host")]
    /// A page at an end of a link, by which `check` runs this program.
    #[command(hide = true)]
    PageStatistics {
        /// Where its browser has its profile.
        folder: PathBuf,
        /// The end's name.
        name: String,
        /// The page.
        url: String,
    },
    #[cfg(feature = "host")]
    /// Measure this host's line against a server that you name: what it carries, how long packets wait while it
    /// is full, and what a call makes of it; then compare what would help.
    Measure(MeasureArgs),
    /// What a router has, too.
    #[cfg(feature = "host")]
    #[command(flatten)]
    OnRouter(router::Command),
    #[cfg(feature = "host")]
    /// Compare disciplines by a WebRTC call between two real browsers, and pages that a third opens beside it,
    /// over a link as of `analects link`. Needs Chromium.
    Browser(BrowserArgs),
    #[cfg(feature = "host")]
    /// The far side of `browser`, by which this program runs itself.
    #[command(hide = true)]
    BrowserFar {
        /// The trial's folder.
        folder: PathBuf,
    },
    #[cfg(feature = "host")]
    /// The near side.
    #[command(hide = true)]
    BrowserInside {
        /// The trial's folder.
        folder: PathBuf,
        /// The rate of a pacer.
        #[arg(long)]
        pace: Option<String>,
    },
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write man pages into a folder.
    Man {
        /// The folder; it is created if it does not exist.
        folder: PathBuf,
    },
    #[cfg(feature = "host")]
    /// Run the end points of a run in real time: the engine `host` starts this in namespaces.
    #[command(name = GUEST, hide = true)]
    Guest {
        /// The plan.
        plan: PathBuf,
        /// Where to leave what happened.
        out: PathBuf,
    },
}

/// Format of a description.
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
    /// Controllers that follow a link's rate.
    Autorate,
    /// Kinds of traffic.
    Traffic,
    /// Engines.
    Engines,
    /// Experiments.
    Experiments,
    /// Metrics.
    Metrics,
    /// Links that people have, for `link --preset`.
    Presets,
}

/// What to run, and how to tell of it.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What to run.
    #[command(flatten)]
    pub what: ScenarioArgs,
    /// Output format.
    #[command(flatten)]
    pub printing: Printing,
    /// Write everything into this folder: results as JSON and CSV, the scenario with all defaults,
    /// time series, the report, and its plots as SVG and CSV with a script for matplotlib. Files of
    /// an earlier run are replaced. Results are stored as they come, as with --store, so that an
    /// interrupted run can be continued.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Columns of the table, in this order: metrics of `analects list metrics` that have a column, of
    /// all traffic or, as stall:call, of one entry or link.
    #[arg(long, value_name = "NAME[:ENTRY],...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Below each discipline, a line for each traffic entry: of each call its own stalls.
    #[arg(long)]
    pub by_entry: bool,
    /// Show the table of the runs that are done while others run, on standard error.
    #[arg(long)]
    pub watch: bool,
    /// Say under the table why each call stalled: at which queue, behind whose packets, and what its
    /// control did, in the typical run of each discipline and in its worst. Each cause of more than a fifth is
    /// tried by leaving it out, in 6 to 24 runs with other seeds (by the engine sim). JSON then has it as `why`.
    #[arg(long)]
    pub why: bool,
    /// Files written while it runs.
    #[command(flatten)]
    pub recording: Recording,
}

/// What to run over which values, and what to draw.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// What to run.
    #[command(flatten)]
    pub what: ScenarioArgs,
    /// Run with each of these values of a key of the scenario, as with --set; disciplines.NAME.KEY is
    /// a setting of the disciplines of that name. May be repeated: all combinations are run. Lines
    /// are drawn over the first, in a panel for each combination of the others. `key=value` after a comma
    /// belongs to the value before, as in PATH=bbr,bbr,version=3; a value with other commas stands in
    /// double quotes.
    #[arg(long = "over", required = true, value_name = "PATH=VALUE,VALUE...")]
    pub over: Vec<String>,
    /// Metric to draw, one of `analects list metrics`, of all traffic or of one entry; may be repeated.
    #[arg(long = "metric", default_value = "stall", value_name = "NAME[:ENTRY]")]
    pub metrics: Vec<String>,
    /// Draw the metric against this one: a point for each discipline and value.
    #[arg(long, value_name = "NAME[:ENTRY]")]
    pub against: Option<String>,
    /// How to combine the values of all runs: mean, max, p95 or any other percentile, or above:190
    /// for how many percent exceed that.
    #[arg(long, default_value = "mean", value_name = "STATISTIC")]
    pub statistic: String,
    /// Output format.
    #[command(flatten)]
    pub printing: Printing,
    /// Write everything into this folder: results as JSON and CSV, the report, and its plots as SVG and
    /// CSV with a script for matplotlib. Files of an earlier sweep are replaced. Results are
    /// stored as they come, as with --store, so that an interrupted sweep can be continued.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Which pages to survey, and how to tell of them.
#[derive(Debug, Args)]
pub struct PagesArgs {
    /// A HAR file, a folder of them, a pattern with `*`, generated:N for the first N sites like those
    /// of the Confucius paper, or generated-web:N for N home pages like those of today's web.
    #[arg(default_value = "generated:1000")]
    pub source: String,
    /// Refuse a folder in which a file cannot be read, instead of leaving the file out.
    #[arg(long)]
    pub strict: bool,
    /// Output format.
    #[arg(long, default_value = "table")]
    pub format: PagesFormat,
    /// Number of pages to name, those with the most ACTIVE flows.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub top: u16,
    /// The rate of the link that each page is loaded over, alone; 1gbit by default.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// The round trip; 40ms by default.
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,
}

/// Format of the survey of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PagesFormat {
    /// Tables to read.
    Table,
    /// JSON, with every page.
    Json,
}
