//! The engine `kernel`: Linux's own TCP and queue disciplines in a virtual machine.

use crate::cache::{Cache, CacheError, Kernel};
use crate::machine::{Machine, MachineError};
use crate::outcome::Outcome;
use crate::packets;
use crate::plan::{self, Prepared, Site};
use guest::plan::Places;
use scenario::{BuiltLink, Choice, Engine, EngineError, Event, Scenario, Sink, Unsupported};
use std::path::PathBuf;
use units::Instant;

/// The guest's program, in the cache.
const GUEST: &str = "analects-guest";
/// The plugin that `tc` reads our discipline's parameters with, in the cache.
const PLUGIN: &str = "q_confucius.so";
/// Memory of a machine beside what its records of packets take, MiB.
const MEMORY_MIB: u64 = 768;
/// Results of one run beyond this are refused before it starts, MiB: the host has to hold them.
const MOST_RECORDS_MIB: u64 = 4096;

/// Why the engine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The kernel is not there.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Something that `make kernel-engine` builds is not there.
    #[error("{} is missing: run `make kernel-engine`", .0.display())]
    Missing(PathBuf),
}

/// The engine.
#[derive(Debug, Clone)]
pub struct KernelEngine {
    kernel: Kernel,
    guest: PathBuf,
    plugin: PathBuf,
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
            plugin: cache.dir().join(PLUGIN),
        })
    }

    /// The files that results depend on: kernel, initramfs, guest, and what is there of our module.
    pub fn files(&self) -> Vec<PathBuf> {
        let always = [
            self.kernel.vmlinux(),
            self.kernel.base(),
            self.guest.clone(),
        ];
        let plugin = Some(self.plugin.clone()).filter(|file| file.is_file());
        let ours = self.kernel.module().into_iter().chain(plugin);
        always.into_iter().chain(ours).collect()
    }

    fn site(&self) -> Site {
        Site {
            places: Places {
                net: "net".to_owned(),
                router: "router".to_owned(),
                home: "home".to_owned(),
            },
            load: true,
        }
    }

    /// Boots a machine that runs the plan.
    fn boot(&self, prepared: &Prepared, seed: u64) -> Result<Outcome, EngineError> {
        let records = prepared.plan.tap.as_ref().map_or(0, |tap| tap.buffer_kib) / 1024;
        if records > MOST_RECORDS_MIB {
            let reason = format!(
                "its packets would take {records} MiB of records; shorten the run, or take a \
                 slower link"
            );
            return Err(error("duration", reason));
        }
        let plan = serde_json::to_vec(&prepared.plan);
        let plan = plan.map_err(|e| error("engine", e.to_string()))?;
        // Records are there twice when they are written out as text.
        let memory = MEMORY_MIB + 4 * records;
        let mut machine = Machine::new(self.kernel.clone())
            .seed(seed)
            .memory_mib(memory as u32)
            .file(&format!("/job/{GUEST}"), &self.guest)
            .bytes("/job/plan", plan);
        if prepared.needs_module {
            let module = self.kernel.module().filter(|_| self.plugin.is_file());
            let module = module.ok_or_else(|| {
                let reason = "the module or the tc plugin is missing: run `make kernel-engine`";
                error("disciplines", reason.to_owned())
            })?;
            machine = machine
                .file("/job/sch_confucius.ko", module)
                .file(&format!("/job/{PLUGIN}"), &self.plugin);
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

fn error(entry: &str, reason: String) -> EngineError {
    EngineError {
        entry: entry.to_owned(),
        reason,
    }
}

impl Engine for KernelEngine {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn check(&self, scenario: &Scenario) -> Vec<Unsupported> {
        plan::unsupported(scenario)
    }

    fn run(
        &self,
        scenario: &Scenario,
        discipline: &Choice,
        seed: u64,
        sink: &mut dyn Sink,
    ) -> Result<Vec<BuiltLink>, EngineError> {
        let prepared = plan::prepare(scenario, discipline, seed, &self.site());
        let prepared =
            prepared.map_err(|Unsupported { entry, reason }| EngineError { entry, reason })?;
        let outcome = self.boot(&prepared, seed)?;
        let written = Written::of(&outcome).map_err(|reason| error("engine", reason))?;
        let events = written.events(&prepared);
        for (now, event) in events.map_err(|reason| error("engine", reason))? {
            sink.event(now, event);
        }
        let mut links = prepared.links;
        for link in &mut links {
            link.remarks
                .push(("engine", written.remark(self.kernel.name())));
        }
        Ok(links)
    }
}

/// What the guest wrote.
struct Written<'a> {
    report: guest::Report,
    events: &'a str,
    packets: &'a str,
}

impl<'a> Written<'a> {
    fn of(outcome: &'a Outcome) -> Result<Written<'a>, String> {
        let text = |name: &str| {
            let bytes = outcome
                .file(name)
                .ok_or(format!("the guest left no {name}"))?;
            std::str::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))
        };
        let report = serde_json::from_str(text("report")?);
        Ok(Written {
            report: report.map_err(|error| format!("report: {error}"))?,
            events: text("events")?,
            packets: text("packets")?,
        })
    }

    /// What applications and queues did, in order; of what happened at the same moment, the
    /// applications' part first.
    fn events(&self, prepared: &Prepared) -> Result<Vec<(Instant, Event)>, String> {
        let mut events = guest::log::read(self.events).map_err(|error| error.to_string())?;
        let packets = packets::read(self.packets, &prepared.queues, self.report.origin);
        events.extend(packets.map_err(|error| error.to_string())?);
        events.sort_by_key(|(now, _)| *now);
        Ok(events)
    }

    fn remark(&self, kernel: &str) -> String {
        let (all, idle) = self.report.ticks;
        let share = idle * 100 / all.max(1);
        format!("kernel {kernel} in virtual time; its processor was idle for {share} % of it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{prepared, scenario};
    use std::collections::BTreeMap;

    /// A run as a guest would have written it: a transfer of 3 kB in two packets, and a third one
    /// that is dropped.
    fn recorded() -> Outcome {
        let files = [
            (
                "report",
                r#"{"origin":5000000000,"ticks":[1000,900],"flows":1}"#,
            ),
            (
                "events",
                "100 flow-started 0 0\n21700000 delivered 0 3000\n21700000 flow-done 0\n",
            ),
            (
                "packets",
                concat!(
                    "# tracer: nop\n",
                    " g-1 [000] 5.020000: come: (p) skb=0xa len=1514 dev=\"r1\" tos=2 ports=0x40004\n",
                    " g-1 [000] 5.020001: leave: (p) skb=0xa handle=0x10000 tos=2\n",
                    " g-1 [000] 5.020002: come: (p) skb=0xb len=1514 dev=\"r1\" tos=2 ports=0x40004\n",
                    " g-1 [000] 5.020003: come: (p) skb=0xc len=1514 dev=\"r1\" tos=2 ports=0x40004\n",
                    " g-1 [000] 5.020003: free: (p) skb=0xc\n",
                    " g-1 [000] 5.021500: leave: (p) skb=0xb handle=0x10000 tos=3\n",
                ),
            ),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        Outcome {
            exit: 0,
            console: String::new(),
            kernel_log: String::new(),
            uptime: Default::default(),
            busy: Default::default(),
            files: BTreeMap::from(files),
        }
    }

    #[test]
    fn a_recorded_run_becomes_a_result() {
        struct Replay(Vec<(Instant, Event)>, Vec<BuiltLink>);
        impl Engine for Replay {
            fn name(&self) -> &'static str {
                "replay"
            }
            fn check(&self, _: &Scenario) -> Vec<Unsupported> {
                Vec::new()
            }
            fn run(
                &self,
                _: &Scenario,
                _: &Choice,
                _: u64,
                sink: &mut dyn Sink,
            ) -> Result<Vec<BuiltLink>, EngineError> {
                for &(now, event) in &self.0 {
                    sink.event(now, event);
                }
                Ok(self.1.clone())
            }
        }
        let scenario = scenario("size = \"3kB\", control = \"cubic\"");
        let prepared = prepared(&scenario, "pfifo");
        let outcome = recorded();
        let written = Written::of(&outcome).unwrap();
        let events = written.events(&prepared).unwrap();
        assert!(events.is_sorted_by_key(|(now, _)| *now));
        let engine = Replay(events, prepared.links);
        let result = scenario::run(&engine, &scenario, &Choice::plain("pfifo"), 1, false).unwrap();
        let (flow, link) = (&result.flows[0], &result.links[0]);
        assert_eq!((flow.bytes, flow.fct_ms), (3000, Some(21.6999)));
        assert_eq!((link.packets, link.drops, link.marks), (2, 1, 1));
        // 1 us and 1,498 us.
        assert_eq!(link.sojourn_ms.mean, Some(0.7495));
        assert_eq!(link.backlog.max_packets, 1);
        assert!(written.remark("6.1").contains("idle for 90 %"));
    }

    #[test]
    fn what_is_missing_or_torn_is_named() {
        for name in ["report", "events", "packets"] {
            let mut outcome = recorded();
            outcome.files.remove(name);
            let error = Written::of(&outcome).err().unwrap();
            assert_eq!(error, format!("the guest left no {name}"));
            let mut outcome = recorded();
            outcome
                .files
                .insert(name.to_owned(), b" 5.1: come: (".to_vec());
            let scenario = scenario("control = \"cubic\"");
            let prepared = prepared(&scenario, "pfifo");
            let read = Written::of(&outcome).and_then(|written| written.events(&prepared));
            assert!(read.is_err(), "{name}");
        }
    }
}
