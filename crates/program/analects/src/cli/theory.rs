//! The arguments of `analects bound` and `analects threshold`.

use super::within::within;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use units::{Duration, Rate};

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
    #[arg(long, value_name = "TIME", value_parser = within::<Duration>("10ms", "1000s"))]
    pub doubling: Option<Duration>,
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
    #[arg(long, value_name = "TIME", value_parser = within::<Duration>("1ms", "10s"))]
    pub within: Option<Duration>,
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
    /// The share of the link that is in use, 0.01 to 0.99, where transfers begin independently.
    #[arg(long, required_unless_present = "actors")]
    pub load: Option<f64>,
    /// The link's rate; with it, times are printed as well.
    #[arg(long, value_name = "RATE", value_parser = within::<Rate>("1bit", "1000gbit"))]
    pub rate: Option<Rate>,
    /// Instead of a load, so many actors, 1 to 10000, each of whom has one transfer after the other; they are
    /// followed in eight simulations.
    #[arg(long, value_name = "N", conflicts_with = "load", requires_all = ["think", "rate"], value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub actors: Option<u32>,
    /// How long an actor pauses between two transfers on average.
    #[arg(long, value_name = "TIME", requires = "actors", value_parser = within::<Duration>("1us", "3600s"))]
    pub think: Option<Duration>,
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
