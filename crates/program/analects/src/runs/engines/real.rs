//! The engines that need this host: a kernel in a virtual machine, this host's own, and real sockets.

use super::Chosen;
use crate::cli::{EngineArgs, GUEST};
use command::Refused;
use linux::{HostEngine, KernelEngine};
use live::LiveEngine;
use machine::DEFAULT_KERNEL;

pub fn machine(args: &EngineArgs) -> Result<Chosen, Refused> {
    let kernel = args.linux.kernel.as_deref().unwrap_or(DEFAULT_KERNEL);
    let engine = KernelEngine::new(kernel).map_err(|error| {
        let message = format!("--engine kernel: {error}");
        Refused::new(&message, "or use --engine sim")
    })?;
    Ok(Chosen {
        files: engine.files(),
        engine: Box::new(engine),
        does_the_same_again: true,
        is_quick: false,
        sources: env!("ANALECTS_KERNEL_SOURCES"),
        beside: String::new(),
    })
}

pub fn host(args: &EngineArgs) -> Result<Chosen, Refused> {
    only_kernel_here(args)?;
    let program = std::env::current_exe().map_err(|error| refused_host(&error))?;
    let engine = HostEngine::new(vec![program, GUEST.into()]);
    let engine = engine.map_err(|error| refused_host(&error))?;
    let release = HostEngine::release().map_err(|error| refused_host(&error))?;
    Ok(Chosen {
        engine: Box::new(engine),
        does_the_same_again: false,
        is_quick: false,
        sources: env!("ANALECTS_KERNEL_SOURCES"),
        files: Vec::new(),
        beside: format!(", release {release} in real time"),
    })
}

pub fn live(args: &EngineArgs) -> Result<Chosen, Refused> {
    only_kernel_here(args)?;
    let release = HostEngine::release().map_err(|error| {
        let message = format!("--engine live: {error}");
        Refused::new(&message, "it needs Linux, with /proc")
    })?;
    Ok(Chosen {
        engine: Box::new(LiveEngine::default()),
        does_the_same_again: false,
        is_quick: false,
        sources: env!("ANALECTS_LIVE_SOURCES"),
        files: Vec::new(),
        beside: format!(", release {release} in real time"),
    })
}

/// Refuses a kernel by name: in real time there is the host's.
fn only_kernel_here(args: &EngineArgs) -> Result<(), Refused> {
    let Some(kernel) = &args.linux.kernel else {
        return Ok(());
    };
    let message = format!("--kernel {kernel}: in real time there is only this host's kernel");
    Err(Refused::new(
        &message,
        "leave it out, or use --engine kernel",
    ))
}

fn refused_host(error: &dyn std::error::Error) -> Refused {
    let help = "or use --engine kernel: a virtual machine needs none of it";
    Refused::new(&format!("--engine host: {error}"), help)
}
