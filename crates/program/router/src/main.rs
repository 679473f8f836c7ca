//! The program `analects-router`: what a router needs of `analects`.

use clap::Parser;
use command::{ended, usage};
use std::process::ExitCode;

/// Put disciplines on a router's devices, shape what it forwards, and measure what manages a path.
#[derive(Debug, Parser)]
#[command(name = "analects-router", version, max_term_width = 100)]
struct Words {
    /// What to do.
    #[command(subcommand)]
    command: router::Command,
}

fn main() -> ExitCode {
    match Words::try_parse() {
        Ok(words) => ended(router::execute(words.command).map(|()| ExitCode::SUCCESS)),
        Err(error) => usage(&error),
    }
}
