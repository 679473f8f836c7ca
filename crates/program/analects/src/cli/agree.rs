//! The arguments of `analects agree`.

use super::{ExperimentArgs, LinuxArgs};
use clap::{Args, ValueEnum};

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
