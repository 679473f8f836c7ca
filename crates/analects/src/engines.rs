//! Engines by name.

use crate::cli::EngineArgs;
use crate::refused::Refused;
use kernel_vm::KernelEngine;
use scenario::Engine;
use sim::Simulator;
use std::path::PathBuf;

/// Names of the engines, and what each is.
pub const ENGINES: [(&str, &str); 2] = [
    (
        "sim",
        "the simulator: virtual time, no root, the same result every time",
    ),
    (
        "kernel",
        "Linux's own TCP and queue disciplines, in a virtual machine and in virtual time",
    ),
];

/// The engine that was asked for.
pub fn chosen(args: &EngineArgs) -> Result<Box<dyn Engine>, Refused> {
    match args.name.as_str() {
        "sim" => Ok(Box::new(Simulator::default())),
        "kernel" => Ok(Box::new(kernel(args)?)),
        other => {
            let message = format!("--engine: there is no engine {other:?}");
            let names = ENGINES.map(|(name, _)| name).join(", ");
            Err(Refused::new(&message, &format!("there are: {names}")))
        }
    }
}

fn kernel(args: &EngineArgs) -> Result<KernelEngine, Refused> {
    KernelEngine::new(&args.kernel).map_err(|error| {
        let message = format!("--engine kernel: {error}");
        Refused::new(&message, "or use --engine sim")
    })
}

/// The files that results depend on, beside this program.
pub fn files(args: &EngineArgs) -> Result<Vec<PathBuf>, Refused> {
    match args.name.as_str() {
        "kernel" => Ok(kernel(args)?.files()),
        _ => Ok(Vec::new()),
    }
}
