//! What a command writes of a scenario, and what it leaves for other processes, is run again with the
//! same figures.

use crate::common::{Folder, text};
use campaign::{Cell, Grid, Job, Trace};
use reproduce::{Data, Wanted, registry};
use scenario::{Document, Scenario};
use sim::Simulator;
use std::collections::BTreeMap;
use std::path::Path;

/// Two links in a row, of which the first follows a trace.
const TWO: &str = r#"
name = "two"
duration = "20s"
warmup = "5s"
disciplines = ["cake"]
[[link]]
name = "modem"
trace = "MODEM"
rtt = "50ms"
buffer = "500p"
discipline = "pfifo"
[[link]]
name = "router"
rate = "5mbit"
[[traffic]]
name = "downloads"
kind = "bulk"
count = 2
"#;

fn results(folder: &Folder, args: &[&str]) -> serde_json::Value {
    let output = folder.analects(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut results = json["results"].take();
    for result in results.as_array_mut().unwrap() {
        // The name of the file.
        result["variant"].as_object_mut().unwrap().remove("trace");
    }
    results
}

/// The file, a folder with it, and `--out`'s scenario: the router's 5 Mbit/s stay the bottleneck.
#[test]
fn a_folder_of_traces_is_the_links_that_names_it() {
    let folder = Folder::new("again-folder");
    std::fs::create_dir(folder.0.join("modem")).unwrap();
    folder.write("modem/a.txt", "0 20\n1 18\n2 25\n");
    folder.write("file.toml", TWO.replace("MODEM", "modem/a.txt"));
    folder.write("folder.toml", TWO.replace("MODEM", "modem"));
    let file = results(&folder, &["run", "file.toml"]);
    let rate = file[0]["links"][1]["utilization"].as_f64().unwrap();
    assert!(rate > 0.9, "the router is the bottleneck: {rate}");
    assert_eq!(
        results(&folder, &["run", "folder.toml", "--out", "out"]),
        file
    );
    let written = std::fs::read_to_string(folder.0.join("out/scenario.toml")).unwrap();
    assert!(written.contains("rate = \"5mbit\""), "{written}");
    assert_eq!(results(&folder, &["run", "out/scenario.toml"]), file);
    // The same with --set, for which the scenario has a rate.
    let rate = TWO.replace("trace = \"MODEM\"", "rate = \"9mbit\"");
    folder.write("rate.toml", rate);
    let set = ["run", "rate.toml", "--set", "link.modem.trace=modem"];
    assert_eq!(results(&folder, &set), file);
}

/// The first seed's jobs of a scenario, and of the one that `--out` writes.
fn both(file: &Path) -> (Vec<Job>, Vec<Job>) {
    let text = std::fs::read_to_string(file).unwrap();
    let document = Document::parse(&file.display().to_string(), &text).unwrap();
    let engine = Simulator::default();
    let planned = |document: &Document| {
        let mut base = document.clone();
        let traces = Trace::all(&mut base).unwrap();
        let scenario = base.resolve(&engine).unwrap();
        let cases = scenario.disciplines.iter().map(ToString::to_string);
        let grid = Grid {
            base,
            cases: cases.map(|choice| campaign::Case::plain(&choice)).collect(),
            cells: vec![Cell::default()],
            traces,
            seeds: (1, 1),
            without: None,
            common: BTreeMap::new(),
        };
        (grid.plan(&engine, &engine).unwrap(), scenario)
    };
    let (jobs, scenario) = planned(&document);
    let written = document.completed(&scenario).to_toml();
    let again = Document::parse("scenario.toml", &written).unwrap();
    (jobs, planned(&again).0)
}

/// The first seconds of a job.
fn figures(job: &Job) -> String {
    let brief = Scenario {
        duration: units::Duration::from_secs(2),
        warmup: units::Duration::ZERO,
        ..(*job.scenario).clone()
    };
    let engine = Simulator::default();
    let run = measure::run(&engine, &brief, &job.discipline, job.seed, false).unwrap();
    serde_json::to_string(&run).unwrap()
}

#[test]
fn every_scenario_that_is_written_out_is_the_same_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut seen = 0;
    for folder in ["scenarios", "playground/stories"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_none_or(|is| is != "toml") {
                continue;
            }
            let (first, again) = both(&file);
            assert_eq!(first.len(), again.len(), "{file:?}");
            for (first, again) in first.iter().zip(&again) {
                assert_eq!(first.scenario, again.scenario, "{file:?}");
                assert_eq!(first.discipline, again.discipline, "{file:?}");
            }
            assert_eq!(figures(&first[0]), figures(&again[0]), "{file:?}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} scenarios");
}

/// The first and the last combination of each experiment, with its first two traces.
#[test]
fn every_job_of_an_experiment_is_the_same_in_another_process() {
    let engine = Simulator::default();
    let wanted = Wanted {
        quick: true,
        data: &Data::default(),
    };
    let mut seen = 0;
    for name in registry::names() {
        for experiment in registry::find(name).unwrap() {
            if !experiment.has_runs() {
                continue;
            }
            let mut grid = experiment.grid(wanted).unwrap();
            let last = grid.cells.len() - 1;
            grid.cells = [0, last].map(|cell| grid.cells[cell].clone()).to_vec();
            grid.traces.truncate(2);
            grid.seeds.1 = 1;
            for job in grid.plan(&engine, &engine).unwrap() {
                let left = job.description(name).unwrap();
                let taken = left.grid(name).unwrap().plan(&engine, &engine).unwrap();
                let same = Scenario {
                    name: job.scenario.name.clone(),
                    summary: job.scenario.summary.clone(),
                    disciplines: job.scenario.disciplines.clone(),
                    ..(*taken[0].scenario).clone()
                };
                assert_eq!(same, *job.scenario, "{}", left.about);
                assert_eq!(taken[0].discipline, job.discipline, "{}", left.about);
                seen += 1;
            }
        }
    }
    assert!(seen > 500, "{seen} jobs");
}
