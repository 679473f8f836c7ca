//! Engines by name.

#[cfg(feature = "host")]
mod real;

use crate::cli::{EngineArgs, LinuxArgs};
use crate::own;
use command::Refused;
use measure::Engine;
use scenario::Names;
use std::fs::File;
use std::path::PathBuf;

/// Names of the engines, and a description of each.
pub const ENGINES: &[(&str, &str)] = &[
    (
        "sim",
        "the simulator: virtual time, no root, the same result every time",
    ),
    #[cfg(feature = "host")]
    (
        "kernel",
        "Linux's own TCP and queue disciplines, in a virtual machine and in virtual time",
    ),
    #[cfg(feature = "host")]
    (
        "host",
        "this host's Linux in real time, in namespaces of its own; needs root",
    ),
    #[cfg(feature = "host")]
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
    /// Whether dozens of runs take so little time that the causes of stalls are tried by them.
    pub is_quick: bool,
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

/// What results of the simulator depend on beside their jobs: a hash of its sources and of the versions of all
/// dependencies, in hexadecimal. Who keeps results of the simulator keeps them under it.
pub const SIM_SOURCES: &str = env!("ANALECTS_SIM_SOURCES");

/// The engine that was asked for.
pub fn chosen(args: &EngineArgs) -> Result<Chosen, Refused> {
    match args.name.as_str() {
        "sim" => Ok(Chosen {
            engine: Box::new(own::simulator().clone()),
            does_the_same_again: true,
            is_quick: true,
            sources: SIM_SOURCES,
            files: own::program()?.into_iter().collect(),
            beside: String::new(),
        }),
        #[cfg(feature = "host")]
        "kernel" => real::machine(args),
        #[cfg(feature = "host")]
        "host" => real::host(args),
        #[cfg(feature = "host")]
        "live" => real::live(args),
        other => {
            let message = format!("--engine: there is no engine {other:?}");
            let names: Vec<&str> = ENGINES.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            #[cfg(not(feature = "host"))]
            let names =
                names + "; this build leaves out the others: cargo build --release -p analects";
            Err(Refused::new(&message, &format!("there are: {names}")))
        }
    }
}

/// The engine of this name, and its kernel.
pub fn named(name: &str, kernel: Option<String>) -> EngineArgs {
    EngineArgs {
        name: name.to_owned(),
        linux: LinuxArgs { kernel },
    }
}

/// Calls `then` with the names that scenarios may use: the simulator has them, for every engine.
pub fn with_names<T>(then: impl FnOnce(&dyn Names) -> T) -> T {
    then(own::simulator())
}
