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
    /// Run a scenario on a grid of values, and draw a metric over them.
    Sweep(SweepArgs),
    /// Run the experiments of a paper again, and check what it claims.
    Reproduce(ReproduceArgs),
    /// Run small scenarios through the simulator and through Linux, and say where they differ.
    Agree(AgreeArgs),
    /// Say what a set of pages is like: how many flows they have at the same time, how many requests
    /// of which sizes, which versions of HTTP; beside what the Confucius paper measured.
    Pages(PagesArgs),
    /// List what there is.
    List {
        /// Of what.
        what: Listed,
    },
    /// Say what a discipline, control or kind of traffic is, and what it can be told.
    Describe {
        /// Its name, as `analects list` prints it; `disciplines`, `controls`, `traffic` or `metrics` for
        /// all of them; or `scenario` for all that a scenario can say.
        name: String,
        /// How to print it.
        #[arg(long, default_value = "text")]
        format: Style,
    },
    /// Say what the theory of the Confucius paper predicts, and what the paper prints.
    Bound(BoundArgs),
    /// Put a discipline on a device of this host, behind a shaper; show what is there; take it back.
    Tc {
        /// What to do.
        #[command(subcommand)]
        command: TcCommand,
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
    /// The end points of a run in real time: what `--clock real` starts in namespaces.
    #[command(name = crate::engines::GUEST, hide = true)]
    Guest {
        /// The plan.
        plan: PathBuf,
        /// Where to leave what happened.
        out: PathBuf,
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
    /// Metrics.
    Metrics,
}

/// What runs scenarios.
#[derive(Debug, Clone, Args)]
pub struct EngineArgs {
    /// What runs it: the simulator, or Linux itself in a virtual machine (`kernel`, once `make
    /// kernel-engine` has fetched it).
    #[arg(long = "engine", default_value = "sim", value_name = "NAME")]
    pub name: String,
    /// Which Linux the engine `kernel` boots: 6.1 (the default), 6.12 or 7.x.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Whose time the engine `kernel` runs in: a virtual machine's, or this host's, in namespaces
    /// of its own under the host's kernel, as root.
    #[arg(long, value_enum, default_value_t = Clock::Virtual)]
    pub clock: Clock,
}

/// Whose time Linux runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// A virtual machine's: the same bytes every time, whatever else the host does.
    Virtual,
    /// This host's, with its kernel and modules: each run takes as long as the scenario lasts.
    Real,
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
    #[command(flatten)]
    pub engine: EngineArgs,
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

/// What to run over which values, and what to draw.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The scenario, a TOML file.
    pub scenario: PathBuf,
    /// Run with each of these values of a key of the scenario, as with --set; disciplines.NAME.KEY is
    /// a setting of the disciplines of that name. May be repeated: all combinations are run. Lines
    /// are drawn over the first, in a panel for each combination of the others. A value cannot have
    /// a comma.
    #[arg(long = "over", required = true, value_name = "PATH=VALUE,VALUE...")]
    pub over: Vec<String>,
    /// What to draw: a metric of `analects list metrics`, of all traffic or of one entry.
    #[arg(long, default_value = "stall", value_name = "NAME[:ENTRY]")]
    pub metric: String,
    /// Draw it against this metric: a point for each discipline and value.
    #[arg(long, value_name = "NAME[:ENTRY]")]
    pub against: Option<String>,
    /// What becomes of the values of all runs: mean, max, p95 or any other percentile, or above:190
    /// for how many percent exceed that.
    #[arg(long, default_value = "mean", value_name = "STATISTIC")]
    pub statistic: String,
    /// Compare this discipline instead of the scenario's; may be repeated.
    #[arg(long = "discipline", short = 'd', value_name = "NAME[,key=value...]")]
    pub disciplines: Vec<String>,
    /// Set a key of the scenario; traffic entries are called by their name.
    #[arg(long = "set", short = 's', value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Run everything once more without this traffic entry, for the metric `caused`.
    #[arg(long, value_name = "NAME")]
    pub without: Option<String>,
    /// What runs it.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// The seed of the first run of each combination.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Runs of each combination, with seeds one after another; the same for all combinations.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeat: u64,
    /// How to print the results.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Write a page with plots to this file.
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
    /// What runs them, but for those that want Linux.
    #[command(flatten)]
    pub engine: EngineArgs,
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

/// What to run through both engines, and how to tell of it.
#[derive(Debug, Args)]
pub struct AgreeArgs {
    /// Scenarios, such as engines/cubic; all of them with engines/all.
    #[arg(default_value = "engines/all", value_name = "SCENARIO")]
    pub scenarios: Vec<String>,
    /// With three seeds instead of ten.
    #[arg(long)]
    pub quick: bool,
    /// Which Linux is booted: 6.1 (the default), 6.12 or 7.x.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// How to print what came of them.
    #[arg(long, default_value = "table")]
    pub format: Printed,
    /// Keep results in this folder; what is there already is not run again.
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

/// What the theory is told.
#[derive(Debug, Args)]
pub struct BoundArgs {
    /// What schedules the link; confucius in three readings.
    #[arg(long, default_value = "all")]
    pub policy: Policies,
    /// How many new flows join the real-time flow at once, 1 to 1000 [default: 12]
    #[arg(long, value_name = "N")]
    pub flows: Option<String>,
    /// The round trip, which is the control's feedback delay [default: 40ms]
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,
    /// The queue delay that the real-time flow's control aims at [default: 5ms]
    #[arg(long, value_name = "TIME")]
    pub q0: Option<String>,
    /// How strongly that control reacts: copa, bbr, or a number of 1/ms² [default: copa]
    #[arg(long, value_name = "K")]
    pub k: Option<String>,
    /// How often the new flows' weight doubles in a millisecond [default: 0.004]
    #[arg(long, value_name = "PER_MS", conflicts_with = "doubling")]
    pub lambda: Option<String>,
    /// The same, as the time in which it doubles.
    #[arg(long, value_name = "TIME")]
    pub doubling: Option<String>,
    /// The size of each new flow [default: 15kB]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// What each new flow sends at once; for fifo [default: 14480B]
    #[arg(long, value_name = "SIZE")]
    pub initial_window: Option<String>,
    /// The link's rate [default: 20mbit]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Integrate for so long and take the greatest delay, not the first peak; later peaks are
    /// mostly the model's own growing oscillation.
    #[arg(long, value_name = "TIME")]
    pub within: Option<String>,
    /// How to print it.
    #[arg(long, default_value = "text")]
    pub format: BoundFormat,
}

/// Policies of the theory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Policies {
    /// Fair queuing.
    Fq,
    /// One queue.
    Fifo,
    /// Two classes of equal weight.
    Cbq,
    /// Confucius: by equations (9d) and (1), and in steps.
    Confucius,
    /// All of them.
    All,
}

/// How to print bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BoundFormat {
    /// A table to read.
    Text,
    /// JSON.
    Json,
}

/// Which pages to survey, and how to tell of them.
#[derive(Debug, Args)]
pub struct PagesArgs {
    /// A HAR file, a folder of them, a pattern with `*`, or generated:N for the generator's first N
    /// sites.
    #[arg(default_value = "generated:1000")]
    pub source: String,
    /// How to print them.
    #[arg(long, default_value = "table")]
    pub format: PagesFormat,
    /// How many of the pages with the most ACTIVE flows to name.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub top: u16,
    /// The rate of the link that each page is loaded over, alone; 1gbit by default.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// The round trip; 40ms by default.
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,
}

/// How to print the survey of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PagesFormat {
    /// Tables to read.
    Table,
    /// JSON, with every page.
    Json,
}

/// What to do with a device.
#[derive(Debug, Subcommand)]
pub enum TcCommand {
    /// Print the commands that shape a device's traffic, and run them; if one fails, everything is
    /// put back. Applied again, it changes what is there.
    Apply(TcApply),
    /// Say what is applied, whether it still stands, and what it counted.
    Show(TcShow),
    /// Put a device back to what it was before anything was applied to it.
    Clear(TcClear),
}

/// What a device is to get.
#[derive(Debug, Args)]
pub struct TcApply {
    /// The device towards the slow place, such as eth0.
    #[arg(long, value_name = "DEVICE")]
    pub dev: String,
    /// The rate at which it sends: 85 to 95 % of what a speed test shows.
    #[arg(long, value_name = "RATE")]
    pub rate: String,
    /// The rate at which it receives; without, what it receives is left alone.
    #[arg(long, value_name = "RATE")]
    pub ingress: Option<String>,
    /// What the line adds to each IP packet: bytes, or a keyword of tc-cake(8) such as docsis,
    /// pppoe-ptm, bridged-ptm, ethernet or conservative. Without, what the kernel counts.
    #[arg(long, value_name = "BYTES|LINE", allow_hyphen_values = true)]
    pub overhead: Option<String>,
    /// The discipline: confucius, cake, fq_codel, codel, fq, pie, fq_pie, pfifo or bfifo.
    #[arg(
        long,
        short = 'd',
        default_value = "confucius",
        value_name = "NAME[,key=value...]"
    )]
    pub discipline: String,
    /// Do it even if what the device has cannot be put back exactly: that is then lost.
    #[arg(long)]
    pub replace: bool,
    /// Only print the commands. A device that is not there is taken for an ordinary one.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder that remembers what was changed.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// What to show.
#[derive(Debug, Args)]
pub struct TcShow {
    /// Only this device.
    #[arg(long, value_name = "DEVICE")]
    pub dev: Option<String>,
    /// As JSON, with everything that tc says about the queues.
    #[arg(long)]
    pub json: bool,
    /// The folder that remembers what was changed.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// What to take back.
#[derive(Debug, Args)]
pub struct TcClear {
    /// The device.
    #[arg(long, value_name = "DEVICE")]
    pub dev: String,
    /// Only print the commands.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder that remembers what was changed.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}
