//! The engine `host`: this host's own kernel, in real time.
//!
//! A run has namespaces of its own for networks, mounts and processes. Objects made there (devices,
//! queues, addresses, settings, mounts) are in none of the host's, and disappear with the last
//! process, however that ends: the kernel itself removes them. Only records of packets are made in
//! a place that all share, tracefs; they are removed after each run, and before the next if this
//! process was killed.

use crate::engine::error;
use crate::plan::{self, Prepared, RunPlace};
use crate::unsupported::unsupported;
use crate::written::Written;
use guest::plan::Step;
use guest::tap;
use measure::{BuiltLink, Engine, EngineError, Sink, Unsupported};
use scenario::{Choice, Scenario};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as Wait;

/// How often a run is looked at.
const GLANCE: Wait = Wait::from_millis(50);
/// Where programs of the system may be that a user's `PATH` does not name.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
/// The prefix of the owner's name of records in tracefs, before the number of its process.
const OWNER: &str = "analects_";

/// Why this host cannot run scenarios.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Namespaces are made by root alone.
    #[error("real time needs root: it makes network namespaces of its own")]
    NotRoot,
    /// The kernel, or the system, lacks a required part.
    #[error("{what} is missing: {remedy}")]
    Missing {
        /// The missing part.
        what: String,
        /// Its source.
        remedy: &'static str,
    },
    /// The system refuses an ordinary operation.
    #[error("this system cannot be read: {0}")]
    System(#[from] io::Error),
    /// The remains of a former run cannot be removed.
    #[error("the remains of an earlier run cannot be removed: {0}")]
    Left(#[from] guest::Failure),
}

/// The engine. Its runs are one at a time: they would share the processors.
#[derive(Debug)]
pub struct HostEngine {
    /// This host's kernel, as `uname -r` prints it.
    release: String,
    /// The program and its first arguments, which are followed by the plan's file and a folder: see
    /// [`guest::run_file`].
    guest: Vec<PathBuf>,
    running: Mutex<()>,
    signals: Signals,
}

/// The effect of signals: end the process while nothing runs, and end the run otherwise.
#[derive(Debug, Clone)]
struct Signals {
    idle: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Signals {
    /// Those of this process: one set for all engines, since handlers stay.
    fn caught() -> io::Result<Signals> {
        static CAUGHT: Mutex<Option<Signals>> = Mutex::new(None);
        let mut caught = CAUGHT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signals) = &*caught {
            return Ok(signals.clone());
        }
        let signals = Signals {
            idle: Arc::new(AtomicBool::new(true)),
            stop: Arc::default(),
        };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&signals.idle))?;
            signal_hook::flag::register(signal, Arc::clone(&signals.stop))?;
        }
        Ok(caught.insert(signals).clone())
    }
}

impl HostEngine {
    /// The engine; `guest` is how a process that calls [`guest::run_file`] is started.
    ///
    /// # Errors
    /// If this user or this host cannot.
    pub fn new(guest: Vec<PathBuf>) -> Result<HostEngine, HostError> {
        // Before any access that requires root.
        let mine = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self")?);
        if mine != 0 {
            return Err(HostError::NotRoot);
        }
        needed()?;
        sweep()?;
        Ok(HostEngine {
            release: HostEngine::release()?,
            guest,
            running: Mutex::default(),
            signals: Signals::caught()?,
        })
    }

    /// This host's kernel, as `uname -r` prints it.
    ///
    /// # Errors
    /// If there is no `/proc`.
    pub fn release() -> io::Result<String> {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
        Ok(release.trim().to_owned())
    }

    /// Runs the plan in namespaces of its own; returns the files of the guest's program.
    fn in_namespaces(&self, prepared: &Prepared) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (plan, out) = (folder.path().join("plan"), folder.path().join("out"));
        let text = serde_json::to_vec(&prepared.plan).map_err(|error| error.to_string())?;
        let made = std::fs::write(&plan, text).and_then(|()| std::fs::create_dir(&out));
        made.map_err(|error| format!("{}: {error}", folder.path().display()))?;
        let _records = TracefsRecords;
        let child = self.command(&plan, &out).spawn();
        let child = child.map_err(|error| format!("unshare cannot be run: {error}"))?;
        let (ended, said) = self.watch(RunningProcess(child))?;
        if !ended {
            return Err(format!("Linux {}: {}", self.release, said.trim()));
        }
        read_folder(&out).map_err(|error| format!("{}: {error}", out.display()))
    }

    /// The guest's program in new namespaces; all in them die with this thread, or with `unshare`.
    fn command(&self, plan: &Path, out: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "unshare", "--net", "--mount"])
            .args(["--pid", "--fork", "--kill-child", "--mount-proc"])
            .args(&self.guest)
            .args([plan, out])
            .env("PATH", path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Waits for the end, or for a signal. Returns whether it ended well, and its messages.
    fn watch(&self, mut running: RunningProcess) -> Result<(bool, String), String> {
        loop {
            if self.signals.stop.load(Ordering::Relaxed) {
                return Err("interrupted; everything is as it was".to_owned());
            }
            let ended = running.0.try_wait().map_err(|error| error.to_string())?;
            let Some(status) = ended else {
                std::thread::sleep(GLANCE);
                continue;
            };
            // It prints at most a few lines, which fit into the pipe.
            let mut said = String::new();
            if let Some(mut pipe) = running.0.stderr.take() {
                io::Read::read_to_string(&mut pipe, &mut said).map_err(|e| e.to_string())?;
            }
            if said.is_empty() && !status.success() {
                said = status.to_string();
            }
            return Ok((status.success(), said));
        }
    }
}

impl Engine for HostEngine {
    fn name(&self) -> &'static str {
        "host"
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
        let mut prepared = plan::prepare(scenario, discipline, seed, &RunPlace::new(false))?;
        // `ip netns` names namespaces by mounts in /run, which here are private.
        let mount = ["mount", "-t", "tmpfs", "tmpfs", "/run"].map(str::to_owned);
        prepared.plan.commands.insert(0, Step::Run(mount.to_vec()));
        if let Some(tap) = &mut prepared.plan.tap {
            tap.owner = Some(owner(std::process::id()));
        }
        let alone = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        self.signals.idle.store(false, Ordering::Relaxed);
        let files = self.in_namespaces(&prepared);
        self.signals.idle.store(true, Ordering::Relaxed);
        drop(alone);
        let run = format!("kernel {} in real time", self.release);
        files
            .and_then(|files| Written::of(&files)?.tell(prepared, &run, sink))
            .map_err(|reason| error("engine", reason))
    }
}

/// A process, stopped and reaped when it goes out of scope.
struct RunningProcess(Child);

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // All three fail only if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
        // Its child processes die a little later, and hold the pipe until then.
        if let Some(mut pipe) = self.0.stderr.take() {
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
    }
}

/// Records of this process in tracefs, removed when they go out of scope.
struct TracefsRecords;

impl Drop for TracefsRecords {
    fn drop(&mut self) {
        if let Err(failure) = tap::clear(&owner(std::process::id())) {
            eprintln!("analects: records of packets are still there: {failure}");
        }
    }
}

fn owner(process: u32) -> String {
    format!("{OWNER}{process}")
}

/// Removes the records of processes that have ended.
fn sweep() -> Result<(), HostError> {
    for folder in ["instances", "events"] {
        let entries = std::fs::read_dir(Path::new(tap::TRACING).join(folder))?;
        for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            let process = name
                .strip_prefix(OWNER)
                .and_then(|id| id.parse::<u32>().ok());
            let gone = process.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists());
            if gone {
                tap::clear(&name)?;
            }
        }
    }
    Ok(())
}

/// The search path, with the folders that root's may lack.
fn path() -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    format!("{own}:{PATH}")
}

/// Looks for the prerequisites of every run.
fn needed() -> Result<(), HostError> {
    let missing = |what: &str, remedy| {
        let what = what.to_owned();
        Err(HostError::Missing { what, remedy })
    };
    for (program, remedy) in [
        ("unshare", "install util-linux"),
        ("setpriv", "install util-linux"),
        ("ip", "install iproute2"),
        ("tc", "install iproute2"),
    ] {
        let folders = path();
        let mut folders = folders.split(':').filter(|folder| !folder.is_empty());
        if !folders.any(|folder| Path::new(folder).join(program).is_file()) {
            return missing(program, remedy);
        }
    }
    let tracing = Path::new(tap::TRACING);
    if !tracing.join("dynamic_events").exists() {
        let remedy = "mount it with `mount -t tracefs tracefs /sys/kernel/tracing`";
        return missing("tracefs with dynamic events", remedy);
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return missing(
            "the kernel's BTF",
            "take a kernel with CONFIG_DEBUG_INFO_BTF",
        );
    }
    for (system, option) in [("net", "CONFIG_NET"), ("qdisc", "CONFIG_NET_SCHED")] {
        if !tracing.join("events").join(system).exists() {
            return missing(&format!("tracing of {system}"), option);
        }
    }
    Ok(())
}

fn read_folder(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, std::fs::read(entry.path())?);
    }
    Ok(files)
}
