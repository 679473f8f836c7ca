//! Engines by name.

use crate::cli::{Clock, EngineArgs, GUEST};
use crate::own;
use crate::refused::Refused;
use linux::{HostEngine, KernelEngine};
use live::LiveEngine;
use machine::DEFAULT_KERNEL;
use measure::Engine;
use scenario::Names;
use std::fs::File;
use std::path::PathBuf;

/// Names of the engines, and a description of each.
pub const ENGINES: [(&str, &str); 3] = [
    (
        "sim",
        "the simulator: virtual time, no root, the same result every time",
    ),
    (
        "kernel",
        "Linux's own TCP and queue disciplines: in a virtual machine and in virtual time, or on this host",
    ),
    (
        "live",
        "this host's TCP and sockets in real time, over a link in user space with our disciplines; \
         needs root",
    ),
];

/// An engine, and the dependencies of its results.
pub struct Chosen {
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// Whether the same run has the same result again.
    pub does_the_same_again: bool,
    /// Its sources in this program.
    sources: &'static str,
    /// Files.
    files: Vec<PathBuf>,
    /// Any further part that distinguishes one basis from another.
    beside: String,
}

impl Chosen {
    /// The dependencies of results other than the runs themselves; results are kept under them.
    pub fn basis(&self) -> Result<String, Refused> {
        let mut basis = format!("sources {}{}", self.sources, self.beside);
        for path in &self.files {
            let mut hash = blake3::Hasher::new();
            let read = File::open(path).and_then(|file| hash.update_reader(file).map(|_| ()));
            read.map_err(|error| {
                let message = format!("{} cannot be read: {error}", path.display());
                Refused::new(
                    &message,
                    "results are kept for its content; `make kernel-engine` makes those of kernels",
                )
            })?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            basis += &format!(", {name} {}", hash.finalize());
        }
        Ok(basis)
    }
}

/// The engine that was asked for.
pub fn chosen(args: &EngineArgs) -> Result<Chosen, Refused> {
    match (args.name.as_str(), args.clock) {
        ("sim", Clock::Virtual) => Ok(Chosen {
            engine: Box::new(own::simulator().clone()),
            does_the_same_again: true,
            sources: env!("ANALECTS_SIM_SOURCES"),
            files: own::program()?.into_iter().collect(),
            beside: String::new(),
        }),
        ("sim", Clock::Real) => Err(Refused::new(
            "--clock real: the simulator has no clock but its own",
            "add --engine kernel",
        )),
        ("kernel", Clock::Virtual) => machine(args),
        ("kernel", Clock::Real) => host(args),
        ("live", Clock::Virtual) => live(args),
        ("live", Clock::Real) => Err(Refused::new(
            "--clock real: the engine live has no other",
            "leave it out",
        )),
        (other, _) => {
            let message = format!("--engine: there is no engine {other:?}");
            let names = ENGINES.map(|(name, _)| name).join(", ");
            Err(Refused::new(&message, &format!("there are: {names}")))
        }
    }
}

fn machine(args: &EngineArgs) -> Result<Chosen, Refused> {
    let kernel = args.linux.kernel.as_deref().unwrap_or(DEFAULT_KERNEL);
    let engine = KernelEngine::new(kernel).map_err(|error| {
        let message = format!("--engine kernel: {error}");
        Refused::new(&message, "or use --engine sim")
    })?;
    Ok(Chosen {
        files: engine.files(),
        engine: Box::new(engine),
        does_the_same_again: true,
        sources: env!("ANALECTS_KERNEL_SOURCES"),
        beside: String::new(),
    })
}

fn host(args: &EngineArgs) -> Result<Chosen, Refused> {
    if let Some(kernel) = &args.linux.kernel {
        let message = format!("--kernel {kernel}: in real time there is only this host's kernel");
        return Err(Refused::new(&message, "leave it out, or --clock real"));
    }
    let program = std::env::current_exe().map_err(|error| refused_host(&error))?;
    let engine = HostEngine::new(vec![program, GUEST.into()]);
    let engine = engine.map_err(|error| refused_host(&error))?;
    let release = HostEngine::release().map_err(|error| refused_host(&error))?;
    Ok(Chosen {
        engine: Box::new(engine),
        does_the_same_again: false,
        sources: env!("ANALECTS_KERNEL_SOURCES"),
        files: Vec::new(),
        beside: format!(", release {release} in real time"),
    })
}

fn live(args: &EngineArgs) -> Result<Chosen, Refused> {
    if let Some(kernel) = &args.linux.kernel {
        let message = format!("--kernel {kernel}: the engine live has only this host's kernel");
        return Err(Refused::new(&message, "leave it out, or --engine kernel"));
    }
    let release = HostEngine::release().map_err(|error| {
        let message = format!("--engine live: {error}");
        Refused::new(&message, "it needs Linux, with /proc")
    })?;
    Ok(Chosen {
        engine: Box::new(LiveEngine::default()),
        does_the_same_again: false,
        sources: env!("ANALECTS_LIVE_SOURCES"),
        files: Vec::new(),
        beside: format!(", release {release} in real time"),
    })
}

fn refused_host(error: &dyn std::error::Error) -> Refused {
    let help = "or leave out --clock real: a virtual machine needs none of it";
    Refused::new(&format!("--clock real: {error}"), help)
}

/// Calls `then` with the names that scenarios may use: the simulator has them, for every engine.
pub fn with_names<T>(then: impl FnOnce(&dyn Names) -> T) -> T {
    then(own::simulator())
}
