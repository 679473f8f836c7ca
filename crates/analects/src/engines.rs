//! Engines by name.

use crate::refused::Refused;
use kernel_vm::KernelEngine;
use scenario::Engine;
use sim::Simulator;

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

/// The engine called `name`; `kernel` says which Linux, for the engine that boots one.
pub fn named(name: &str, kernel: &str) -> Result<Box<dyn Engine>, Refused> {
    match name {
        "sim" => Ok(Box::new(Simulator::default())),
        "kernel" => match KernelEngine::new(kernel) {
            Ok(engine) => Ok(Box::new(engine)),
            Err(error) => {
                let message = format!("--engine kernel: {error}");
                Err(Refused::new(&message, "or use --engine sim"))
            }
        },
        other => {
            let message = format!("--engine: there is no engine {other:?}");
            let names = ENGINES.map(|(name, _)| name).join(", ");
            Err(Refused::new(&message, &format!("there are: {names}")))
        }
    }
}
