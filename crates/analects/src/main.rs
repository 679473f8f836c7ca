//! `analects`: try, believe and deploy queue disciplines that keep real-time traffic smooth.

#![deny(missing_docs)]

mod cli;
mod describe;
mod run;
mod table;
mod variants;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command};
use std::process::ExitCode;

/// Exit status for input that was refused.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::List { what } => describe::list(what),
        Command::Describe { name } => describe::describe(&name),
        Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut Cli::command(),
                "analects",
                &mut std::io::stdout(),
            );
            Ok(())
        }
        Command::Man { folder } => manual(&folder),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Writes man pages for the program and its commands.
fn manual(folder: &std::path::Path) -> miette::Result<()> {
    use miette::IntoDiagnostic;
    std::fs::create_dir_all(folder).into_diagnostic()?;
    clap_mangen::generate_to(Cli::command(), folder).into_diagnostic()
}
