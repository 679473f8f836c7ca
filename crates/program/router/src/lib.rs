//! Commands that look at this host's network or change it: queue disciplines by `tc`, the gateway, the pacer, the probe.
//!
//! Both programs have them, `analects` and `analects-router`, which has nothing else and fits on a router.
//!
//! Not for: comparisons and commands behind a link (`analects`); the changes themselves (`netcfg`).

#![deny(missing_docs)]

mod autorate;
mod cli;
mod control;
mod diverted;
mod doctor;
mod gateway;
#[cfg(feature = "measure")]
mod my_line;
mod on_host;
mod others;
mod pace;
mod page;
mod privileges;
mod probe;
mod prometheus;
mod secret;
mod tc;
mod watch;

pub use cli::Command;
use command::Refused;
pub use diverted::SERVES;
pub use doctor::{Chromium, firewall, run as doctor};
pub use pace::check_rate;

/// Runs a command.
///
/// # Errors
/// Says what was refused, or what failed.
pub fn execute(command: Command) -> Result<(), Refused> {
    match command {
        Command::Pace(args) => pace::run(&args),
        Command::Gateway(args) => gateway::run(args),
        Command::Change(args) => gateway::change(&args),
        Command::Tc { command } => tc::tc(command),
        Command::Autorate(args) => {
            let page = tc::page(&args.page, &args.state, args.dev.as_deref())?;
            autorate::run(&args, page)
        }
        Command::Probe(args) => probe::probe(&args),
        Command::Doctor(args) => doctor::run(&args, None),
    }
}
