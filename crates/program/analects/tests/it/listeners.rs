//! Runs with a listener are made even if a store has their results.

use crate::common::Folder;
use campaign::{Case, Cell, Grid, Keeping, Listener, Progress, Store};
use measure::{EngineError, Event, RunResult, Sink};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use units::Instant;

const SCENARIO: &str = r#"
duration = "1s"
disciplines = ["pfifo"]
link = { rate = "5mbit", rtt = "40ms" }
traffic = [{ name = "call", kind = "call" }, { name = "bulk", kind = "bulk" }]
"#;

/// Counts the packets reported to it.
#[derive(Debug, Default)]
struct Counter(Mutex<u64>);

struct Counting<'a>(MutexGuard<'a, u64>);

impl Sink for Counting<'_> {
    fn event(&mut self, _: Instant, event: &Event) {
        *self.0 += u64::from(matches!(*event, Event::Dequeued { .. }));
    }
}

impl Listener for Counter {
    fn listen(
        &self,
        run: &mut dyn FnMut(&mut dyn Sink) -> Result<RunResult, EngineError>,
    ) -> Result<RunResult, EngineError> {
        run(&mut Counting(self.0.lock().unwrap()))
    }
}

#[test]
fn each_listener_hears_its_own_run() {
    let folder = Folder::new("recording-listeners");
    let names = sim::Simulator::default();
    let grid = Grid {
        base: scenario::Document::parse("s.toml", SCENARIO).unwrap(),
        cases: vec![Case::plain("pfifo")],
        cells: vec![Cell::default()],
        traces: vec![None],
        seeds: (1, 1),
        without: None,
        common: BTreeMap::new(),
    };
    let job = grid.plan(&names, &names).unwrap().remove(0);
    let store = Store::open(&folder.0.join("store")).unwrap();
    let keeping = Keeping {
        store: &store,
        basis: "",
    };
    for _ in 0..2 {
        // All three are the same run, with the same key.
        let counters: [Arc<Counter>; 2] = Default::default();
        let mut jobs = vec![job.clone(); 3];
        for (job, counter) in jobs.iter_mut().zip(&counters) {
            job.listener = Some(counter.clone());
        }
        let results = campaign::run(&names, &jobs, Some(keeping), &Untold).unwrap();
        let written = results
            .iter()
            .map(|run| serde_json::to_string(run).unwrap());
        let written: BTreeSet<String> = written.collect();
        assert_eq!((results.len(), written.len()), (3, 1));
        let packets: u64 = results[0].links.iter().map(|link| link.packets).sum();
        assert_eq!(
            counters.map(|counter| *counter.0.lock().unwrap()),
            [packets; 2]
        );
    }
}

/// Progress that is not reported.
struct Untold;

impl Progress for Untold {
    fn done(&self) {}
}
