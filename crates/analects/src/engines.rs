//! Engines by name.

use crate::cli::{Clock, EngineArgs};
use crate::refused::Refused;
use linux::{DEFAULT_KERNEL, HostEngine, KernelEngine};
use measure::Engine;
use sim::Simulator;
use std::path::PathBuf;

/// The command by which this program runs itself in namespaces.
pub const GUEST: &str = "guest";

/// Names of the engines, and what each is.
pub const ENGINES: [(&str, &str); 2] = [
    (
        "sim",
        "the simulator: virtual time, no root, the same result every time",
    ),
    (
        "kernel",
        "Linux's own TCP and queue disciplines: in a virtual machine and in virtual time, or on this host",
    ),
];

/// The engine that was asked for.
pub fn chosen(args: &EngineArgs) -> Result<Box<dyn Engine>, Refused> {
    match (args.name.as_str(), args.clock) {
        ("sim", Clock::Virtual) => Ok(Box::new(Simulator::default())),
        ("sim", Clock::Real) => Err(Refused::new(
            "--clock real: the simulator has no clock but its own",
            "add --engine kernel",
        )),
        ("kernel", Clock::Virtual) => Ok(Box::new(machine(args)?)),
        ("kernel", Clock::Real) => Ok(Box::new(host(args)?)),
        (other, _) => {
            let message = format!("--engine: there is no engine {other:?}");
            let names = ENGINES.map(|(name, _)| name).join(", ");
            Err(Refused::new(&message, &format!("there are: {names}")))
        }
    }
}

fn machine(args: &EngineArgs) -> Result<KernelEngine, Refused> {
    let kernel = args.kernel.as_deref().unwrap_or(DEFAULT_KERNEL);
    KernelEngine::new(kernel).map_err(|error| {
        let message = format!("--engine kernel: {error}");
        Refused::new(&message, "or use --engine sim")
    })
}

fn host(args: &EngineArgs) -> Result<HostEngine, Refused> {
    if let Some(kernel) = &args.kernel {
        let message = format!("--kernel {kernel}: in real time there is only this host's kernel");
        return Err(Refused::new(&message, "leave it out, or --clock real"));
    }
    let program = std::env::current_exe().map_err(|error| refused_host(&error))?;
    HostEngine::new(vec![program, GUEST.into()]).map_err(|error| refused_host(&error))
}

fn refused_host(error: &dyn std::error::Error) -> Refused {
    let help = "or leave out --clock real: a virtual machine needs none of it";
    Refused::new(&format!("--clock real: {error}"), help)
}

/// What results depend on, beside this program.
pub struct Basis {
    /// Files.
    pub files: Vec<PathBuf>,
    /// Anything else that tells one basis from another.
    pub name: String,
}

/// What results of the engine depend on, beside this program.
pub fn basis(args: &EngineArgs) -> Result<Basis, Refused> {
    let (mut files, mut name) = (Vec::new(), String::new());
    match (args.name.as_str(), args.clock) {
        ("kernel", Clock::Virtual) => files = machine(args)?.files(),
        ("kernel", Clock::Real) => {
            name = HostEngine::release().map_err(|error| refused_host(&error))?;
        }
        _ => {}
    }
    Ok(Basis { files, name })
}
