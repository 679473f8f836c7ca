//! `analects`: try, believe and deploy queue disciplines that keep real-time traffic smooth.
//!
//! Not for: the behaviour of packets, calls or pages: this is the command line, and every answer
//! comes from the crates below.

//!
//! A program of somebody's own has the same commands, over entries of its own as well: [`main_with`]. `analects
//! new` writes one.

#![deny(missing_docs)]

pub use {cca, measure, qdisc, scenario, sim, units, workload};

mod agree;
mod bound;
mod browser;
mod cli;
mod control;
mod describe;
mod described;
mod diverted;
mod engines;
mod files;
mod gateway;
mod import;
mod jobs;
mod left_out;
mod link;
mod many;
mod markdown;
mod new;
mod own;
mod pace;
mod pages;
mod pilot;
mod plans;
mod privileges;
mod probe;
mod progress;
mod prometheus;
mod recording;
mod refused;
mod reproduce;
mod resolved;
mod run;
mod selected;
mod so_far;
mod sweep;
mod table;
mod tc;
mod threshold;
mod traces;
mod validity;
mod variants;
mod watch;
mod why;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command};
pub use own::Own;
use refused::Refused;
use scenario::printable;
use std::path::Path;
use std::process::ExitCode;

/// Exit status for input that was refused.
const REFUSED: u8 = 2;
/// Exit status for an operation that failed.
const FAILED: u8 = 1;

/// The program `analects`.
pub fn main() -> ExitCode {
    run_commands()
}

/// The same in a program with entries of its own.
///
/// # Panics
/// If it is called twice.
pub fn main_with(own: Own) -> ExitCode {
    own::set(own);
    run_commands()
}

/// The command line, with the name and the version of the program that it is in.
fn command_line() -> clap::Command {
    Cli::command().name(own::name()).version(own::version())
}

fn run_commands() -> ExitCode {
    let words = command_line().try_get_matches();
    let result = match words.and_then(|words| Cli::from_arg_matches(&words)) {
        Ok(cli) => execute(cli.command),
        Err(error) => return usage(&error),
    };
    match result {
        Ok(status) => status,
        Err(refused) => {
            let status = if refused.tried() { FAILED } else { REFUSED };
            eprintln!("{}", refused.rendered());
            ExitCode::from(status)
        }
    }
}

fn execute(command: Command) -> Result<ExitCode, Refused> {
    let done = match command {
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Pilot(args) => pilot::run(&args),
        Command::Agree(args) => agree::run(&args),
        Command::Jobs(args) => jobs::jobs(&args),
        Command::Job(args) => jobs::job(&args),
        Command::Pages(args) => pages::pages(&args),
        Command::List { what } => describe::list(what),
        Command::Describe { name, format } => describe::describe(&name, format),
        Command::New { folder } => new::run(&folder),
        Command::Import { what } => import::run(&what),
        Command::Bound(args) => bound::run(&args),
        Command::Threshold(args) => threshold::run(&args),
        Command::Browser(args) => browser::run(&args),
        Command::BrowserFar { folder } => browser::far(&folder),
        Command::BrowserInside { folder, pace } => browser::inside(&folder, pace.as_deref()),
        Command::Link(args) => return link::run(&args).map(ExitCode::from),
        Command::Pace(args) => pace::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Change(args) => gateway::change(&args),
        Command::Tc { command } => tc::tc(&command),
        Command::Probe(args) => probe::probe(&args),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut completed(), own::name(), &mut text);
            run::print(&String::from_utf8_lossy(&text))
        }
        Command::Man { folder } => manual(&folder),
        Command::Guest { plan, out } => return Ok(guest(&plan, &out)),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// The command line with the names for completion.
fn completed() -> clap::Command {
    let names: Vec<&str> = describe::names().collect();
    let named = |arg: clap::Arg| arg.value_parser(clap::builder::PossibleValuesParser::new(names));
    command_line().mut_subcommand("describe", |describe| describe.mut_arg("name", named))
}

/// Runs a plan. A failure is printed as it is: the engine that started this puts it in its own
/// words.
fn guest(plan: &Path, out: &Path) -> ExitCode {
    match guest::run_file(plan, out) {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(FAILED)
        }
    }
}

/// Writes man pages for the program and its commands.
fn manual(folder: &Path) -> Result<(), Refused> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command_line(), folder));
    written.map_err(|error| files::unwritable(folder, &error))
}

/// Prints help, the version, or the error in the arguments, which may hold anything.
fn usage(error: &clap::Error) -> ExitCode {
    const HALF: usize = 90;
    const LINES: usize = 20;
    let text = error.render().to_string();
    // The expected text often stands behind the text found.
    let cut = |line: &str| {
        let whole = printable(line, usize::MAX);
        let length = whole.chars().count();
        if length <= 2 * HALF {
            return whole;
        }
        let tail: String = whole.chars().skip(length - HALF).collect();
        printable(&whole, HALF) + &tail
    };
    let lines: Vec<String> = text.lines().take(LINES).map(cut).collect();
    if error.use_stderr() && !lines.iter().map(String::as_str).eq(text.lines()) {
        eprintln!("{}", lines.join("\n"));
        return ExitCode::from(REFUSED);
    }
    // A reader that has gone away is no error.
    _ = error.print();
    ExitCode::from(error.exit_code() as u8)
}
