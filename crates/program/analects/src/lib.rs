//! `analects`: try, believe and deploy queue disciplines that keep real-time traffic smooth.
//!
//! Not for: the behaviour of packets, calls or pages: this is the command line, and every answer
//! comes from the crates below.

//!
//! A program of somebody's own has the same commands, over entries of its own as well: [`main_with`]. `analects
//! new` writes one.

#![deny(missing_docs)]

pub use {cca, measure, qdisc, scenario, sim, units, workload};

mod cli;
mod compare;
mod describe;
mod groups;
#[cfg(feature = "host")]
mod host;
mod own;
mod papers;
mod runs;
mod yours;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command};
use command::{Refused, ended, files, print, usage};
use compare::{pages, run, sweep};
#[cfg(feature = "host")]
use host::{browser, check, link, your_line};
pub use own::Own;
#[cfg(feature = "host")]
use papers::agree;
use papers::{bound, evaluate, jobs, pilot, reproduce, threshold};
pub use runs::engines::SIM_SOURCES;
use std::path::Path;
use std::process::ExitCode;
use yours::{import, new};

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
    groups::grouped(Cli::command().name(own::name()).version(own::version()))
}

fn run_commands() -> ExitCode {
    let words = command_line().try_get_matches();
    let result = match words.and_then(|words| Cli::from_arg_matches(&words)) {
        Ok(cli) => execute(cli.command),
        Err(error) => return misused(&error),
    };
    ended(result)
}

/// Prints help, the version, or the error in the arguments. Those of `link` end as other programs that run a command
/// do, whose own status may be any.
fn misused(error: &clap::Error) -> ExitCode {
    let status = usage(error);
    #[cfg(feature = "host")]
    if error.use_stderr()
        && std::env::args_os()
            .nth(1)
            .is_some_and(|word| word == "link")
    {
        return ExitCode::from(link::FAILED);
    }
    status
}

fn execute(command: Command) -> Result<ExitCode, Refused> {
    let done = match command {
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Pilot(args) => pilot::run(&args),
        #[cfg(feature = "host")]
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
        #[cfg(feature = "host")]
        Command::Browser(args) => browser::run(&args),
        #[cfg(feature = "host")]
        Command::BrowserFar { folder } => browser::far(&folder),
        #[cfg(feature = "host")]
        Command::BrowserInside { folder, pace } => browser::inside(&folder, pace.as_deref()),
        #[cfg(feature = "host")]
        Command::Link(args) => return Ok(ExitCode::from(link::run(&args))),
        #[cfg(feature = "host")]
        Command::Check(args) => return Ok(ExitCode::from(check::run(&args))),
        #[cfg(feature = "host")]
        Command::PageStatistics { folder, name, url } => {
            check::page_statistics(&folder, &name, &url)
        }
        #[cfg(feature = "host")]
        Command::Measure(args) => your_line::run(&args),
        #[cfg(feature = "host")]
        Command::OnRouter(router::Command::Doctor(args)) => {
            let found = ::browser::version().map_err(|error| (error.message, error.help));
            router::doctor(&args, Some(found))
        }
        #[cfg(feature = "host")]
        Command::OnRouter(command) => router::execute(command),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut completed(), own::name(), &mut text);
            print(&String::from_utf8_lossy(&text))
        }
        Command::Man { folder } => manual(&folder),
        #[cfg(feature = "host")]
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
#[cfg(feature = "host")]
fn guest(plan: &Path, out: &Path) -> ExitCode {
    match guest::run_file(plan, out) {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Writes man pages for the program and its commands.
fn manual(folder: &Path) -> Result<(), Refused> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command_line(), folder));
    written.map_err(|error| files::unwritable(folder, &error))
}
