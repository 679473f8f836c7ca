//! Campaigns: several processes over one store, the remains of those that are killed, and keys.

use crate::common::{Folder, text};
use campaign::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

/// A call, and a transfer whose start the seed draws.
const SCENARIO: &str = r#"name = "small"
duration = "4s"
disciplines = ["pfifo", "confucius"]

[link]
rate = "5mbit"
rtt = "40ms"

[[traffic]]
name = "call"
kind = "call"

[[traffic]]
name = "page"
kind = "page"
source = "generated:30"
interval = "1s"
shuffle = "yes"

[[traffic]]
name = "bulk"
kind = "bulk"
start = "500ms"
jitter = "1s"
"#;
/// Runs that take some seconds together.
const CAMPAIGN: [&str; 6] = ["jobs", "s.toml", "--repeat", "10", "--without", "page"];
/// The number of jobs.
const JOBS: usize = 40;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("s.toml", SCENARIO);
    folder
}

fn ok(folder: &Folder, args: &[&str]) -> (String, String) {
    let output = folder.analects(args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    (text(&output.stdout), text(&output.stderr))
}

/// A worker of the campaign, with one thread.
fn worker(folder: &Folder, store: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_analects"));
    command.current_dir(&folder.0).args(CAMPAIGN);
    command.args(["--jobs", "1", "--store", store]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The keys that a worker printed.
fn made(worker: Child) -> Vec<String> {
    let output = worker.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

/// All files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The only process over a store of its own.
fn alone(folder: &Folder) -> BTreeMap<PathBuf, Vec<u8>> {
    let args = [&CAMPAIGN[..], &["--store", "alone"]].concat();
    let (_, said) = ok(folder, &args);
    assert!(
        said.contains("40 jobs: 40 made here, 0 by others"),
        "{said}"
    );
    files(&folder.0.join("alone"))
}

/// The last job is held by this test, so that all three are there when it is let go: they have waited
/// for it, and one of them makes it.
#[test]
fn three_processes_do_no_job_twice() {
    let folder = folder("three-processes");
    let list = [&CAMPAIGN[..], &["--store", "shared", "--list"]].concat();
    let (listed, _) = ok(&folder, &list);
    let held = listed.lines().next().unwrap().split('\t').next().unwrap();
    let store = Store::open(&folder.0.join("shared")).unwrap();
    let claim = store.claim(held, false).unwrap().unwrap();
    let (told, heard) = mpsc::channel();
    let mut workers = [(); 3].map(|()| worker(&folder, "shared"));
    for worker in &mut workers {
        let (said, told) = (worker.stdout.take().unwrap(), told.clone());
        std::thread::spawn(move || {
            let lines = BufReader::new(said).lines();
            lines.for_each(|line| told.send(line.unwrap()).unwrap());
        });
    }
    drop(told);
    let mut all: Vec<String> = heard.iter().take(JOBS - 1).collect();
    assert!(!all.iter().any(|key| key == held));
    for worker in &mut workers {
        assert!(
            worker.try_wait().unwrap().is_none(),
            "it waits for the last job"
        );
    }
    drop(claim);
    all.extend(heard.iter());
    for worker in workers {
        made(worker);
    }
    assert_eq!((all.len(), all.last().unwrap().as_str()), (JOBS, held));
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), JOBS);
    // Only results are left next to the list, and they are the same as those of one process.
    let mut shared = files(&folder.0.join("shared"));
    shared.retain(|name, _| !name.starts_with("jobs"));
    assert!(shared == alone(&folder), "{:?}", shared.keys());
}

#[test]
fn what_a_killed_process_was_doing_is_taken_over() {
    let folder = folder("killed");
    let mut victim = worker(&folder, "shared");
    let mut said = BufReader::new(victim.stdout.take().unwrap()).lines();
    let before: Vec<String> = said.by_ref().take(5).map(Result::unwrap).collect();
    let workers = [(); 2].map(|()| worker(&folder, "shared"));
    victim.kill().unwrap();
    victim.wait().unwrap();
    let before: Vec<String> = before.into_iter().chain(said.map(Result::unwrap)).collect();
    let shares = workers.map(made);
    let all: Vec<&String> = shares.iter().flatten().chain(&before).collect();
    let distinct: BTreeSet<&String> = all.iter().copied().collect();
    // A job may have been stored but not printed when the process was killed.
    assert!(all.len() == distinct.len() && (JOBS - 1..=JOBS).contains(&all.len()));
    let shared = files(&folder.0.join("shared"));
    assert!(shared == alone(&folder), "{:?}", shared.keys());
}

#[test]
fn a_wrong_file_is_named_and_made_again() {
    let folder = folder("wrong-files");
    let good = alone(&folder);
    let results: Vec<&PathBuf> = good.keys().collect();
    let [cut, other, noise] = [3, 20, 30].map(|place| folder.0.join("alone").join(results[place]));
    let whole = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    std::fs::write(&other, &whole).unwrap();
    std::fs::write(&noise, "[1, 2]").unwrap();
    let args = [&CAMPAIGN[..], &["--store", "alone"]].concat();
    let (list, said) = ok(&folder, &[&args[..], &["--list"]].concat());
    assert_eq!(list.matches("\tmissing\t").count(), 3, "{said}");
    let (made, said) = ok(&folder, &args);
    assert!(
        said.contains("40 jobs: 3 made here, 0 by others meanwhile, 37 before"),
        "{said}"
    );
    for (file, reason) in [
        (&cut, "it ends too early"),
        (&other, "the result of another job"),
        (&noise, "it is no result"),
    ] {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let line = said.lines().find(|line| line.contains(&name));
        assert!(
            line.is_some_and(|line| line.contains(reason)),
            "{name}: {said}"
        );
        assert!(made.contains(name.trim_end_matches(".json")), "{made}");
    }
    let results = files(&folder.0.join("alone/results"));
    let before = good
        .into_iter()
        .map(|(name, bytes)| (name.strip_prefix("results").unwrap().to_owned(), bytes));
    assert_eq!(results, before.collect());
}

/// Kept or made now, with one thread or two, drawn or not: the same.
#[test]
fn kept_results_are_those_of_a_run() {
    let folder = folder("kept-results");
    let args = [
        "run",
        "s.toml",
        "--repeat",
        "3",
        "--format",
        "json",
        "--set",
        "link.rate=6mbit",
    ];
    let (now, said) = ok(&folder, &args);
    assert_eq!(said, "");
    let with = |more: &[&str]| ok(&folder, &[&args[..], &["--store", "store"], more].concat());
    assert_eq!(with(&[]), (now.clone(), String::new()));
    let kept = "small: 6 of 6 runs are kept from before\n";
    assert_eq!(with(&[]), (now.clone(), kept.to_owned()));
    // The typical and the worst run of each discipline are run again, and the rest is not: those have
    // time series, and say why their calls stalled.
    let (drawn, said) = with(&["--out", "drawn"]);
    assert_eq!(said, kept);
    let [mut drawn, plain] =
        [&drawn, &now].map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
    let results = drawn["results"].as_array_mut().unwrap();
    let calls = results
        .iter_mut()
        .flat_map(|run| run["calls"].as_array_mut().unwrap());
    let explained = calls
        .filter_map(|call| call.as_object_mut().unwrap().remove("why"))
        .count();
    let runs = std::fs::read_dir(folder.0.join("drawn")).unwrap();
    let drawn_runs = runs.filter(|run| run.as_ref().unwrap().path().join("frames.csv").is_file());
    assert_eq!((explained, drawn_runs.count()), (4, 4));
    assert_eq!(drawn, plain);
    // A sweep asks for the same runs, and gives the same output with and without the store.
    let sweep = [
        "sweep",
        "s.toml",
        "--over",
        "link.rate=6mbit,7mbit",
        "--repeat",
        "3",
    ];
    let (points, _) = ok(&folder, &sweep);
    let (again, said) = ok(&folder, &[&sweep[..], &["--store", "store"]].concat());
    assert_eq!(again, points);
    assert!(said.contains("6 of 12 runs are kept"), "{said}");
}

/// Two stores become one by copying.
#[test]
fn stores_are_merged_by_copying() {
    let folder = folder("merged");
    let run = |store, seed| {
        let args = [
            "run", "s.toml", "--repeat", "2", "--seed", seed, "--store", store,
        ];
        ok(&folder, &args).1
    };
    run("a", "1");
    run("b", "3");
    let copied = Command::new("cp")
        .args(["-r", "a/.", "b/."])
        .current_dir(&folder.0)
        .status();
    assert!(copied.unwrap().success());
    assert!(run("b", "2").contains("4 of 4 runs are kept from before"));
}

/// Traces and pages are identified by their contents, wherever they lie.
#[test]
fn keys_are_made_of_content() {
    let folder = folder("keys-of-content");
    let har = r#"{"log": {"entries": [{"startedDateTime": "2024-01-01T00:00:00Z", "time": 10,
        "request": {"url": "https://example.org/"}, "response": {"status": 200, "bodySize": 50000}}]}}"#;
    for place in ["here", "there"] {
        std::fs::create_dir(folder.0.join(place)).unwrap();
        folder.write(&format!("{place}/trace.txt"), "0 5\n1 3\n");
        folder.write(&format!("{place}/page.har"), har);
    }
    let keys = |place: &str, more: &[&str]| -> Vec<String> {
        let trace = format!("link.trace={place}/trace.txt");
        let page = format!("traffic.page.source={place}/page.har");
        let args = [
            "jobs", "s.toml", "--repeat", "1", "--store", "store", "--list", "--set", &trace,
            "--set", &page,
        ];
        let (list, _) = ok(&folder, &[&args[..], more].concat());
        let keys = list
            .lines()
            .map(|line| line.split('\t').next().unwrap().to_owned());
        keys.collect()
    };
    let here = keys("here", &[]);
    assert_eq!(keys("there", &[]), here);
    assert_eq!(
        keys("there", &["--set", "name=other", "-d", "confucius"]),
        here[1..]
    );
    let different =
        |more: &[&str]| assert!(keys("there", more).iter().all(|key| !here.contains(key)));
    different(&["--seed", "2"]);
    different(&["--set", "link.rtt=41ms"]);
    different(&["-d", "confucius,doubling=1s"]);
    // The control runs are others, each before the run that it serves.
    let both = keys("there", &["--without", "bulk"]);
    assert_eq!((&both[1], &both[3]), (&here[0], &here[1]));
    assert!(!here.contains(&both[0]) && !here.contains(&both[2]));
    folder.write("there/trace.txt", "0 5\n1 4\n");
    different(&[]);
    folder.write("there/trace.txt", "0 5\n1 3\n");
    folder.write("there/page.har", har.replace("50000", "50001"));
    different(&[]);
}

/// A scheduler needs no more than the list: each job is run alone, from anywhere.
#[test]
fn a_listed_job_is_run_alone() {
    let folder = folder("listed");
    folder.write("trace.txt", "0 5\n1 3\n");
    let plan = [
        "jobs",
        "s.toml",
        "--repeat",
        "1",
        "--store",
        "store",
        "--set",
        "link.trace=trace.txt",
    ];
    let list = |more: &[&str]| ok(&folder, &[&plan[..], &["--list"], more].concat()).0;
    let all = list(&["--without", "page"]);
    let lines: Vec<Vec<&str>> = all.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0][1..5], ["missing", "sim", "pfifo", "1"]);
    assert_eq!(lines[0][5], "s.toml: pfifo, trace trace.txt, without page");
    std::fs::create_dir(folder.0.join("elsewhere")).unwrap();
    let job = |key: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_analects"));
        command.current_dir(folder.0.join("elsewhere"));
        command
            .args(["job", key, "--store", "../store"])
            .output()
            .unwrap()
    };
    for line in &lines {
        let output = job(line[0]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), format!("{}\n", line[0]));
    }
    let again = job(lines[0][0]);
    assert!(again.status.success() && again.stdout.is_empty());
    assert!(!list(&["--without", "page"]).contains("missing"));
    let (made, _) = ok(&folder, &[&plan[..], &["--without", "page"]].concat());
    assert_eq!(made, "");
    // A job changed since then is no longer that job.
    let listed = list(&["--seed", "9"]);
    let key = listed.split('\t').next().unwrap();
    folder.write("trace.txt", "0 5\n1 4\n");
    let refused = |key: &str, says: &str| {
        let output = job(key);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let words = said.split_whitespace().filter(|word| *word != "|");
        let words: Vec<&str> = words.collect();
        assert!(words.join(" ").contains(says), "{said}");
    };
    refused(key, &format!("job {key} is now "));
    refused(&"0".repeat(32), "was listed");
    refused("../store", "is no key");
    folder.write(&format!("store/jobs/{}/{key}.json", &key[..2]), "{");
    refused(key, "describes no job");
}

#[test]
fn plans_are_experiments_too() {
    let folder = folder("plans");
    let quick = [
        "jobs",
        "confucius/fig11",
        "confucius/fig12",
        "--quick",
        "--store",
        "store",
    ];
    let (list, _) = ok(&folder, &[&quick[..], &["--list"]].concat());
    let (one, _) = ok(
        &folder,
        &[&["jobs", "confucius/fig11"], &quick[3..], &["--list"]].concat(),
    );
    // Both figures are of the same runs.
    assert_eq!(list, one);
    assert!(list.lines().count() > 10, "{list}");
    assert!(list.contains("confucius/fig11: "), "{list}");
    for (args, says) in [
        (&["confucius/fig11", "--seed", "2"][..], "defines its own"),
        (&["s.toml", "--quick"], "is a scenario"),
        (&["confucius/fig1"], "no experiment"),
        (&["none.toml"], "there is no such file"),
        (&["s.toml", "--without", "web"], "there is no such traffic"),
        (&["s.toml", "--engine", "ns3"], "there is no engine"),
    ] {
        let output = folder.analects(&[&["jobs", "--store", "no"], args].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(says),
            "{}",
            text(&output.stderr)
        );
        assert!(!folder.0.join("no").exists());
    }
    folder.write("file", "");
    let output = folder.analects(&["jobs", "s.toml", "--store", "file/store"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("file/store/results"));
}

/// Random draws are the same under every discipline, and others for each seed.
#[test]
fn disciplines_see_the_same_draws() {
    let folder = folder("same-draws");
    let args = ["run", "s.toml", "--repeat", "3", "--format", "json"];
    let more = ["-d", "pfifo", "-d", "cake", "-d", "confucius"];
    let longer = ["--set", "link.rate=100mbit", "--set", "duration=20s"];
    let (now, _) = ok(&folder, &[&args[..], &more, &longer].concat());
    let document: serde_json::Value = serde_json::from_str(&now).unwrap();
    let mut draws: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for result in document["results"].as_array().unwrap() {
        let pages = result["pages"].as_array().unwrap().iter();
        let sites: Vec<_> = pages.map(|page| &page["site"]).take(2).collect();
        assert_eq!(sites.len(), 2);
        let seed = result["seed"].as_u64().unwrap();
        draws.entry(seed).or_default().insert(format!("{sites:?}"));
    }
    assert!(draws.values().all(|drawn| drawn.len() == 1), "{draws:?}");
    let distinct: BTreeSet<_> = draws.values().collect();
    assert_eq!((draws.len(), distinct.len()), (3, 3), "{draws:?}");
}
