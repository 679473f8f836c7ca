//! The arguments of `analects doctor`.

use clap::{Args, ValueEnum};
use serde::Serialize;

/// The commands to look for, and how to report.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The commands that this host is to be fit for; all of them if none is named.
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<Examined>,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// A command that needs something of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Examined {
    /// `analects link`, and the engine live.
    Link,
    /// `analects gateway`.
    Gateway,
    /// `analects pace`.
    Pace,
    /// `analects tc`.
    Tc,
    /// `analects browser`.
    Browser,
    /// `analects probe`.
    Probe,
}

impl Examined {
    /// The word of the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Examined::Link => "link",
            Examined::Gateway => "gateway",
            Examined::Pace => "pace",
            Examined::Tc => "tc",
            Examined::Browser => "browser",
            Examined::Probe => "probe",
        }
    }
}
