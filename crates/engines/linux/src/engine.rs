//! The engine `kernel`: Linux's own TCP and queue disciplines in a virtual machine.

use crate::plan::{self, Prepared, RunPlace};
use crate::unsupported::unsupported;
use crate::written::Written;
use machine::{Cache, CacheError, Kernel, Machine, MachineError, OURS, Outcome};
use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported};
use scenario::{Choice, Scenario};
use std::path::PathBuf;
use units::Refusal;

/// The guest's program, in the cache.
const GUEST: &str = "analects-guest";
/// Memory of a machine in addition to its records of packets, MiB.
const MEMORY_MIB: u64 = 768;

/// Why the engine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The kernel is not there.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A file that `make kernel-engine` builds is missing.
    #[error("{} is missing: run `make kernel-engine`", .0.display())]
    Missing(PathBuf),
}

/// The engine.
#[derive(Debug, Clone)]
pub struct KernelEngine {
    kernel: Kernel,
    guest: PathBuf,
    cache: Cache,
}

impl KernelEngine {
    /// The engine with the kernel called `name`: `6.1`, `6.12` or `7.x`.
    ///
    /// # Errors
    /// If `make kernel-engine` has not been run for it.
    pub fn new(name: &str) -> Result<KernelEngine, SetupError> {
        let cache = Cache::find()?;
        let kernel = cache.kernel(name)?;
        let guest = cache.dir().join(GUEST);
        if !guest.is_file() {
            return Err(SetupError::Missing(guest));
        }
        Ok(KernelEngine {
            kernel,
            guest,
            cache,
        })
    }

    /// The files that results depend on: kernel, initramfs, guest, and those of our modules that
    /// exist.
    pub fn files(&self) -> Vec<PathBuf> {
        let always = [
            self.kernel.vmlinux(),
            self.kernel.base(),
            self.guest.clone(),
        ];
        let ours = OURS
            .into_iter()
            .flat_map(|name| self.of_ours(name))
            .flatten();
        always.into_iter().chain(ours).collect()
    }

    /// The module of one of our disciplines and tc's plugin for its parameters, if they have been
    /// built.
    fn of_ours(&self, name: &str) -> [Option<PathBuf>; 2] {
        [self.kernel.module(name), self.cache.plugin(name)]
    }

    /// Boots a machine that runs the plan.
    fn boot(&self, prepared: &Prepared, seed: u64) -> Result<Outcome, EngineError> {
        let records = prepared.plan.tap.as_ref().map_or(0, |tap| tap.buffer_kib) / 1024;
        let plan = serde_json::to_vec(&prepared.plan);
        let plan = plan.map_err(|e| error("engine", e.to_string()))?;
        // Records are there twice when they are written out as text.
        let memory = MEMORY_MIB + 4 * records;
        let mut machine = Machine::new(self.kernel.clone())
            .seed(seed)
            .memory_mib(memory as u32)
            .file(&format!("/job/{GUEST}"), &self.guest)
            .bytes("/job/plan", plan);
        for name in &prepared.ours {
            let [Some(module), Some(plugin)] = self.of_ours(name) else {
                let reason = format!(
                    "the module of {name} or its tc plugin is missing: run `make kernel-engine`"
                );
                return Err(error("disciplines", reason));
            };
            machine = machine
                .file(&format!("/job/sch_{name}.ko"), module)
                .file(&format!("/job/q_{name}.so"), plugin);
        }
        let command = format!("TC_LIB_DIR=/job ./{GUEST} plan /out");
        let outcome = machine
            .run(&command)
            .map_err(|e: MachineError| error("engine", e.to_string()))?;
        if outcome.exit != 0 {
            let said = outcome.console.trim().to_owned();
            return Err(error(
                "engine",
                format!("kernel {}: {said}", self.kernel.name()),
            ));
        }
        Ok(outcome)
    }
}

/// A run that failed because of `entry` of its scenario.
pub(crate) fn error(entry: &str, reason: String) -> EngineError {
    EngineError {
        entry: entry.to_owned(),
        refusal: Refusal::new(reason),
    }
}

impl Engine for KernelEngine {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        unsupported(scenario)
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        let prepared = plan::prepare(scenario, discipline, seed, &RunPlace::new(true))?;
        let outcome = self.boot(&prepared, seed)?;
        let run = format!("kernel {} in virtual time", self.kernel.name());
        Written::of(&outcome.files)
            .and_then(|written| written.tell(prepared, &run, sink))
            .map_err(|reason| error("engine", reason))
    }
}
