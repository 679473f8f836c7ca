//! Output for other programs: one JSON document, CSV, and a folder with everything.

use crate::plots;
pub use crate::tables::rows;
use crate::tables::{plain, text};
use measure::{RunResult, SenderResult, Series};
use serde::Serialize;
use std::io;
use std::path::Path;

/// The JSON document of `analects run`.
#[derive(Debug, Serialize)]
pub struct ExportDocument<'a> {
    /// The program's version.
    pub version: &'a str,
    /// The engine.
    pub engine: &'a str,
    /// The scenario, with all settings of the command line.
    pub scenario: &'a serde_json::Value,
    /// The results.
    pub results: &'a [RunResult],
}

/// The document as text, ending in a newline.
///
/// # Errors
/// None in practice: all of it can be written.
pub fn json(document: &ExportDocument<'_>) -> io::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// A field in the syntax of CSV.
pub fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// All figures as CSV, one a line: the subject, its name, the figure, its value, and why its run is not to be
/// believed, if it is not. A figure that could not be observed has an empty value.
///
/// # Errors
/// None in practice: all values can be written.
pub fn csv(results: &[RunResult]) -> io::Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "discipline",
        "seed",
        "variant",
        "of",
        "name",
        "figure",
        "value",
        "invalid",
    ])?;
    for result in results {
        let variant: Vec<String> = result
            .variant
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let (seed, variant) = (result.seed.to_string(), variant.join(" "));
        let invalid = result.invalid.join("; ");
        let mut lines = |of: &str, name: &str, figures: Vec<(String, String)>| {
            figures.iter().try_for_each(|(figure, value)| {
                let head = [&result.discipline, &seed, &variant].map(String::as_str);
                let line = [of, name, figure, value, &invalid];
                table.write_record(head.iter().chain(&line))
            })
        };
        let value = serde_json::to_value(result)?;
        for of in ["calls", "pages", "flows", "links"] {
            for entry in value[of].as_array().into_iter().flatten() {
                let name = match (entry["name"].as_str(), entry["load"].as_u64()) {
                    (Some(name), Some(load)) => format!("{name}#{load}"),
                    (name, _) => name.unwrap_or_default().to_owned(),
                };
                lines(of, &name, figures("", entry))?;
            }
        }
        for own in value["figures"].as_array().into_iter().flatten() {
            let [name, figure] =
                ["name", "figure"].map(|key| own[key].as_str().unwrap_or_default());
            lines("figures", name, figures(figure, own))?;
        }
        lines("run", "", figures("jfi", &value["jfi"]))?;
    }
    text(table)
}

/// The numbers in `value`, by their names.
fn figures(path: &str, value: &serde_json::Value) -> Vec<(String, String)> {
    match value {
        serde_json::Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| *key != "load");
            let inner = |(key, inner): (&String, &serde_json::Value)| match path {
                "" => figures(key, inner),
                path => figures(&format!("{path}.{key}"), inner),
            };
            fields.flat_map(inner).collect()
        }
        serde_json::Value::Number(number) => vec![(path.to_owned(), number.to_string())],
        // The only list within an entry: shares by flow and class.
        serde_json::Value::Array(items) => {
            let share = |item: &serde_json::Value| {
                let (flow, class) = (item["flow"].as_str()?, item["class"].as_str()?);
                Some(figures(&format!("{path}.{flow}.{class}"), &item["share"]))
            };
            items.iter().filter_map(share).flatten().collect()
        }
        serde_json::Value::Null => vec![(path.to_owned(), String::new())],
        _ => Vec::new(),
    }
}

/// The name of a run's files: its place among the results, from 0, its discipline and its seed.
pub fn run_name(place: usize, discipline: &str, seed: u64) -> String {
    format!("{place:03}-{}-seed{seed}", plain(discipline))
}

/// Files of a folder for all runs.
const OF_ALL: [&str; 4] = [
    "results.json",
    "results.csv",
    "scenario.toml",
    "report.html",
];
/// If it has plots.
pub const PLOTS: &str = "plots";
/// Files of a folder for one run.
const OF_ONE: [&str; 5] = [
    "frames.csv",
    "share.csv",
    "sojourn.csv",
    "classes.csv",
    "senders.csv",
];

/// Removes the files that an earlier call of [`folder`] wrote into `folder`, and nothing else.
fn forget(folder: &Path) -> io::Result<()> {
    let remove = |path: &Path| match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    OF_ALL
        .iter()
        .try_for_each(|name| remove(&folder.join(name)))?;
    plots::forget(&folder.join(PLOTS))?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || !is_run_name(&entry.file_name().to_string_lossy()) {
            continue;
        }
        OF_ONE
            .iter()
            .try_for_each(|name| remove(&entry.path().join(name)))?;
        // Other files in it stay.
        _ = std::fs::remove_dir(entry.path());
    }
    Ok(())
}

/// Whether [`run_name`] made this name.
fn is_run_name(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let seed = name.rsplit_once("-seed").map(|(_, seed)| seed);
    name.split_once('-').is_some_and(|(place, _)| digits(place)) && seed.is_some_and(digits)
}

/// Writes into `folder`: `results.json`, `results.csv`, `scenario.toml` as resolved, and for each
/// run whose series was kept a folder with `frames.csv`, `share.csv`, `sojourn.csv`, `classes.csv`, and for each run
/// that tells of its senders one with `senders.csv`.
/// Files of an earlier call are removed first.
///
/// # Errors
/// If a file cannot be written.
pub fn folder(folder: &Path, document: &ExportDocument<'_>, scenario: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    forget(folder)?;
    std::fs::write(folder.join("results.json"), json(document)?)?;
    std::fs::write(folder.join("results.csv"), csv(document.results)?)?;
    std::fs::write(folder.join("scenario.toml"), scenario)?;
    for (number, result) in document.results.iter().enumerate() {
        let run = folder.join(run_name(number, &result.discipline, result.seed));
        if !result.senders.is_empty() {
            std::fs::create_dir_all(&run)?;
            std::fs::write(run.join("senders.csv"), senders(&result.senders)?)?;
        }
        let Some(series) = &result.series else {
            continue;
        };
        std::fs::create_dir_all(&run)?;
        std::fs::write(run.join("frames.csv"), frames(series)?)?;
        let links: Vec<&str> = result.links.iter().map(|link| link.name.as_str()).collect();
        std::fs::write(run.join("share.csv"), share(series, &links)?)?;
        std::fs::write(run.join("sojourn.csv"), sojourn(series, &links)?)?;
        std::fs::write(run.join("classes.csv"), classes(series, &links)?)?;
    }
    Ok(())
}

fn frames(series: &Series) -> io::Result<String> {
    let line = |(call, time, delay): &(usize, f64, Option<f64>)| {
        let delay = delay.map(|delay| delay.to_string()).unwrap_or_default();
        [series.calls[*call].clone(), time.to_string(), delay]
    };
    rows(
        &["call", "time_s", "delay_ms"],
        series.frames.iter().map(line),
    )
}

fn share(series: &Series, links: &[&str]) -> io::Result<String> {
    let queues = links.iter().zip(&series.share);
    let lines = queues.flat_map(|(link, flows)| {
        let flows = series.flows.iter().zip(flows);
        flows.flat_map(move |(flow, bins)| {
            let bins = bins.iter().enumerate().filter(|(_, bytes)| **bytes > 0);
            bins.map(move |(bin, bytes)| {
                let mbps = *bytes as f64 * 8e-6 / series.bin_s;
                let start = start(series, bin);
                [(*link).to_owned(), flow.clone(), start, mbps.to_string()]
            })
        })
    });
    rows(&["link", "flow", "time_s", "mbps"], lines)
}

fn sojourn(series: &Series, links: &[&str]) -> io::Result<String> {
    let lines = links.iter().zip(&series.sojourn);
    let lines = lines.flat_map(|(link, bins)| {
        bins.iter().enumerate().filter_map(|(bin, value)| {
            let (mean, max) = (*value)?;
            let start = start(series, bin);
            Some([(*link).to_owned(), start, mean.to_string(), max.to_string()])
        })
    });
    rows(&["link", "time_s", "mean_ms", "max_ms"], lines)
}

/// When a bin starts.
fn start(series: &Series, bin: usize) -> String {
    format!("{:.1}", bin as f64 * series.bin_s)
}

/// The columns of a table of senders: a row is a flow's moment.
pub const SENDERS: [&str; 11] = [
    "flow",
    "name",
    "control",
    "time_s",
    "window_bytes",
    "in_flight_bytes",
    "srtt_ms",
    "pacing_mbps",
    "delivered_mbps",
    "phase",
    "limit",
];

fn senders(senders: &[SenderResult]) -> io::Result<String> {
    fn maybe<T: ToString>(value: Option<&T>) -> String {
        value.map(T::to_string).unwrap_or_default()
    }
    let lines = senders.iter().flat_map(|of| {
        (0..of.time_s.len()).map(|place| {
            [
                of.flow.to_string(),
                of.name.clone(),
                of.control.clone(),
                of.time_s[place].to_string(),
                maybe(of.window_bytes[place].as_ref()),
                of.in_flight_bytes[place].to_string(),
                maybe(of.srtt_ms[place].as_ref()),
                maybe(of.pacing_mbps[place].as_ref()),
                maybe(of.delivered_mbps[place].as_ref()),
                of.phase[place].clone(),
                maybe(of.limit[place].as_ref()),
            ]
        })
    });
    rows(&SENDERS, lines)
}

fn classes(series: &Series, links: &[&str]) -> io::Result<String> {
    let line = |&(time, link, flow, class): &(f64, usize, usize, u8)| {
        let class = &series.classes[link][usize::from(class)];
        let (link, flow) = (links[link].to_owned(), series.flows[flow].clone());
        [time.to_string(), link, flow, class.clone()]
    };
    rows(
        &["time_s", "link", "flow", "class"],
        series.moves.iter().map(line),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of whatever engine the run is.
    #[test]
    fn why_a_run_is_not_to_be_believed_stands_behind_each_of_its_figures() {
        let run = |discipline: &str, invalid: &[&str]| RunResult {
            discipline: discipline.to_owned(),
            invalid: invalid.iter().map(|reason| (*reason).to_owned()).collect(),
            ..RunResult::default()
        };
        let runs = [run("pfifo", &["too slow", "never idle"]), run("cake", &[])];
        let table = csv(&runs).unwrap();
        let lines: Vec<&str> = table.lines().skip(1).collect();
        assert!(!lines.is_empty());
        for line in lines {
            let marked = line.ends_with(",too slow; never idle");
            assert_eq!(marked, line.starts_with("pfifo,"), "{line}");
        }
    }

    #[test]
    fn fields_are_quoted_where_they_have_to_be() {
        let text = rows(&["a", "b"], [["1,5", "say \"x\""], ["", "two\nlines"]]);
        let expected = "a,b\n\"1,5\",\"say \"\"x\"\"\"\n,\"two\nlines\"\n";
        assert_eq!(text.unwrap(), expected);
        assert_eq!(rows(&["a"], [[""; 1]; 0]).unwrap(), "a\n");
        assert!(rows(&["a", "b"], [["1"]]).is_err());
    }
}
