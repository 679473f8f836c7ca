//! The command line, declared once: parser, help, completions and man pages come from here.

mod browser;
mod gateway;
mod import;
mod link;
mod pace;
mod probe;
mod shared;

pub use browser::BrowserArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use gateway::{ChangeArgs, GatewayArgs, Running};
pub use import::{FlentArgs, ImportCommand, InternalsArgs};
pub use link::LinkArgs;
pub use pace::PaceArgs;
pub use probe::{ProbeArgs, ProbeCommand, ProbeServe};
pub use shared::{
    Clock, EngineArgs, ExperimentArgs, Format, LinuxArgs, Parallel, Printed, Printing, Recording,
    ScenarioArgs, Shape,
};
use std::path::PathBuf;

/// The command by which this program runs itself in namespaces.
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
    /// Find how often to run experiments to decide most of their claims in so many hours: make
    /// their quick runs, and print the file that `reproduce --runs` reads.
    Pilot(PilotArgs),
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
    /// Run a command behind a link: in a network namespace of its own, with any discipline, rate and delay,
    /// without kernel modules. Inside, this host is 100.64.0.1.
    Link(LinkArgs),
    /// Hold this host's incoming web traffic to a rate, so that a call beside it survives a router that
    /// cannot be changed. Runs until it is interrupted; needs root.
    Pace(PaceArgs),
    /// Shape what this router forwards between two devices, with any discipline, without kernel modules. Runs
    /// until it is interrupted; needs root. If it dies, packets pass.
    Gateway(GatewayArgs),
    /// Change settings of a running gateway or pacer; packets that wait keep their places.
    Change(ChangeArgs),
    /// Compare disciplines by a WebRTC call between two real browsers, and pages that a third opens beside it,
    /// over a link as of `analects link`. Needs Chromium.
    Browser(BrowserArgs),
    /// The far side of `browser`, by which this program runs itself.
    #[command(hide = true)]
    BrowserFar {
        /// The trial's folder.
        folder: PathBuf,
    },
    /// The near side.
    #[command(hide = true)]
    BrowserInside {
        /// The trial's folder.
        folder: PathBuf,
    },
    /// Put a discipline on a device of this host, behind a shaper; show it; remove it.
    Tc {
        /// What to do.
        #[command(subcommand)]
        command: TcCommand,
    },
    /// Find what manages the queue of the path to a host that runs `analects probe serve`: fair queuing,
    /// a shared FIFO, or an AQM; and what that means for a call.
    Probe(ProbeArgs),
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
    /// Run the end points of a run in real time: `--clock real` starts this in namespaces.
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
    /// Kinds of traffic.
    Traffic,
    /// Engines.
    Engines,
    /// Experiments.
    Experiments,
    /// Metrics.
    Metrics,
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
    /// control did, in the typical run of each discipline and in its worst. JSON then has it as `why`.
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
    /// are drawn over the first, in a panel for each combination of the others. A value cannot have
    /// a comma.
    #[arg(long = "over", required = true, value_name = "PATH=VALUE,VALUE...")]
    pub over: Vec<String>,
    /// Metric to draw, one of `analects list metrics`, of all traffic or of one entry.
    #[arg(long, default_value = "stall", value_name = "NAME[:ENTRY]")]
    pub metric: String,
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
    /// How.
    #[command(flatten)]
    pub how: ExperimentArgs,
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

/// What to run through both engines, and how to tell of it.
#[derive(Debug, Args)]
pub struct AgreeArgs {
    /// Scenarios, such as engines/cubic; all of them with engines/all; or an experiment of your own, a
    /// file that ends in .toml.
    #[arg(default_value = "engines/all", value_name = "SCENARIO")]
    pub scenarios: Vec<String>,
    /// Engine to compare the simulator with: kernel, Linux in virtual time; or live, this host's sockets
    /// in real time over our own link, which needs root.
    #[arg(long, default_value = "kernel", value_name = "NAME")]
    pub engine: Witness,
    /// Linux to boot.
    #[command(flatten)]
    pub linux: LinuxArgs,
    /// How.
    #[command(flatten)]
    pub how: ExperimentArgs,
}

/// An engine that the simulator is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Witness {
    /// Linux, in virtual time.
    Kernel,
    /// This host's sockets.
    Live,
}

impl Witness {
    /// The engine's name.
    pub fn name(self) -> &'static str {
        match self {
            Witness::Kernel => "kernel",
            Witness::Live => "live",
        }
    }

    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Witness::Kernel => "Linux",
            Witness::Live => "live",
        }
    }
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

/// The inputs of the theory.
#[derive(Debug, Args)]
pub struct BoundArgs {
    /// Discipline of the link; confucius in three readings.
    #[arg(long, default_value = "all")]
    pub policy: Policies,
    /// Number of new flows that join the real-time flow at once, 1 to 1000 [default: 12]
    #[arg(long, value_name = "N")]
    pub flows: Option<String>,
    /// The round trip, which is the control's feedback delay [default: 40ms]
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,
    /// The queue delay that the real-time flow's control aims at [default: 5ms]
    #[arg(long, value_name = "TIME")]
    pub q0: Option<String>,
    /// Gain of that control: copa, bbr, or a number of 1/ms² [default: copa]
    #[arg(long, value_name = "K")]
    pub k: Option<String>,
    /// Doublings of the new flows' weight per millisecond [default: 0.004]
    #[arg(long, value_name = "PER_MS", conflicts_with = "doubling")]
    pub lambda: Option<String>,
    /// The same, as the time of one doubling.
    #[arg(long, value_name = "TIME")]
    pub doubling: Option<String>,
    /// The size of each new flow [default: 15kB]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Bytes that each new flow sends at once; for fifo [default: 14480B]
    #[arg(long, value_name = "SIZE")]
    pub initial_window: Option<String>,
    /// The link's rate [default: 20mbit]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Integrate for this long and take the greatest delay instead of the first peak; later peaks are
    /// mostly the model's own growing oscillation.
    #[arg(long, value_name = "TIME")]
    pub within: Option<String>,
    /// Output format.
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

/// Format of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BoundFormat {
    /// A table to read.
    Text,
    /// JSON.
    Json,
}

/// How large transfers are, and how busy the link.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("distribution").required(true).args(["sizes", "pareto"])))]
pub struct ThresholdArgs {
    /// A file of sizes of flows, one a line, such as 300KiB or 6331208; # begins a comment.
    #[arg(long, value_name = "FILE")]
    pub sizes: Option<PathBuf>,
    /// Pareto sizes from LEAST to MOST: the share of sizes above x falls with the power SHAPE of x.
    #[arg(long, value_name = "SHAPE,LEAST,MOST")]
    pub pareto: Option<String>,
    /// The share of the link that is in use, 0.01 to 0.99.
    #[arg(long)]
    pub load: f64,
    /// The link's rate; with it, times are printed as well.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// A threshold to compare with the best.
    #[arg(long, value_name = "SIZE")]
    pub threshold: Option<String>,
    /// Output format.
    #[arg(long, default_value = "text")]
    pub format: ThresholdFormat,
}

/// Format of thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ThresholdFormat {
    /// Lines to read.
    Text,
    /// JSON, with the phases of the fit.
    Json,
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

/// What to do with a device.
#[derive(Debug, Subcommand)]
pub enum TcCommand {
    /// Print the commands that shape a device's traffic, and run them; if one fails, everything is
    /// put back. Applied again, it changes the existing set-up.
    Apply(TcApply),
    /// Show the set-up, its state and its statistics.
    Show(TcShow),
    /// Restore the state of a device before `tc apply`.
    Clear(TcClear),
}

/// The setup of a device.
#[derive(Debug, Args)]
pub struct TcApply {
    /// Two levels of one discipline: while packets of young flows wait, none of an old one is sent.
    /// Flows that end young are faster, long ones slower. Not for calls, which are soon old.
    #[arg(value_name = "2lps", requires = "threshold")]
    pub levels: Option<TcLevels>,
    /// The device towards the bottleneck, such as eth0.
    #[arg(long, value_name = "DEVICE")]
    pub dev: String,
    /// The rate at which it sends: 85 to 95 % of a speed test's result. Only 2lps needs none, where the
    /// device itself is the bottleneck.
    #[arg(long, value_name = "RATE", required_unless_present = "levels")]
    pub rate: Option<String>,
    /// The rate at which it receives. Without it, incoming traffic is not shaped.
    #[arg(long, value_name = "RATE", conflicts_with = "levels")]
    pub ingress: Option<String>,
    /// Overhead of the line for each IP packet: bytes, or a keyword of tc-cake(8) such as docsis,
    /// pppoe-ptm, bridged-ptm, ethernet or conservative. Without it, the kernel's packet lengths count.
    #[arg(
        long,
        value_name = "BYTES|LINE",
        allow_hyphen_values = true,
        requires = "rate"
    )]
    pub overhead: Option<String>,
    /// The discipline: mencius, confucius, floq, cake, fq_codel, codel, fq, pie, fq_pie, pfifo or
    /// bfifo.
    #[arg(
        long,
        short = 'd',
        default_value = "mencius",
        value_name = "NAME[,key=value...]",
        conflicts_with = "levels"
    )]
    pub discipline: String,
    /// The discipline of each of the two levels: one of the above, pfifo_fast for two of its bands, or
    /// cake for two of its tins, which share the link.
    #[arg(
        long,
        default_value = "fq_codel",
        value_name = "NAME[,key=value...]",
        requires = "levels"
    )]
    pub base: String,
    /// Bytes up to which a flow is young, such as 6331208 or 1MB; or auto, with --watch: at first
    /// 6331208, then the best for the flows that end.
    #[arg(long, value_name = "BYTES|auto", requires = "levels")]
    pub threshold: Option<String>,
    /// With --threshold auto: run until interrupted, learn the sizes of flows from connection tracking,
    /// and change the threshold. The set-up stays when this ends.
    #[arg(long, requires = "levels")]
    pub watch: bool,
    /// For --watch: the load for which the threshold is to be best, from 0.01 to 0.99. Use the load
    /// of busy hours, not the day's.
    #[arg(long, default_value_t = 0.88)]
    pub load: f64,
    /// For --watch: the time between two looks, from 1s to 30d.
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub every: String,
    /// For --watch: the number of ended flows before the threshold follows them, from 100 to
    /// 100000. Of a thousand, few are long, and a threshold by them can cost a third.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub flows: u32,
    /// Replace the device's queue discipline even if it cannot be restored exactly; it is then lost.
    #[arg(long)]
    pub replace: bool,
    /// Only print the commands. A device that does not exist is taken for an ordinary one.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// The word for two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TcLevels {
    /// Two levels of one discipline.
    #[value(name = "2lps")]
    Two,
}

/// What to show.
#[derive(Debug, Args)]
pub struct TcShow {
    /// Only this device.
    #[arg(long, value_name = "DEVICE")]
    pub dev: Option<String>,
    /// Output format; JSON has all of tc's statistics of the queues.
    #[arg(long, default_value = "table")]
    pub format: ShowFormat,
    /// Once a second show what each flow of mencius has had: its rate, its share, how long its packets wait, and
    /// whether it is protected; until it is interrupted.
    #[arg(long, conflicts_with = "format")]
    pub watch: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}

/// Format of the set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Lines to read.
    Table,
    /// JSON.
    Json,
    /// Prometheus' text, for node_exporter's folder of text files.
    Prometheus,
}

/// What to take back.
#[derive(Debug, Args)]
pub struct TcClear {
    /// Only this device. Without it, each device with a set-up.
    #[arg(long, value_name = "DEVICE")]
    pub dev: Option<String>,
    /// Only print the commands.
    #[arg(long)]
    pub dry_run: bool,
    /// The folder of the journal of changes.
    #[arg(long, value_name = "DIR", default_value = netcfg::STATE)]
    pub state: PathBuf,
}
