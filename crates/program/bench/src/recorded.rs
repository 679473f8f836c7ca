//! Instructions of the simulator per forwarded packet, beside those that are recorded in the tree, so
//! that a loss of speed is seen in the change that causes it.

use crate::callgrind;
use crate::document;
use crate::speed::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Instructions per forwarded packet by scenario, for each profile of cargo's that was counted.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Record(BTreeMap<String, Profile>);

#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
struct Profile {
    /// What compiled the program.
    compiler: String,
    instructions_per_packet: BTreeMap<String, f64>,
}

/// The profile that this program was built with.
const PROFILE: &str = if cfg!(debug_assertions) {
    "dev"
} else {
    "release"
};

/// Counts the instructions of `workloads` per forwarded packet, and prints each beside its record in
/// `file`. With `record`, the file is written anew instead.
///
/// # Errors
/// If one needs more than `percent` more than recorded, if none is recorded, or if valgrind is
/// missing.
pub fn check(
    workloads: &[Workload],
    percent: f64,
    file: &Path,
    record: bool,
) -> Result<(), String> {
    let mut all = read(file)?;
    let known = all.0.get(PROFILE).cloned().unwrap_or_default();
    let mut counted = known.clone();
    let mut worse = Vec::new();
    for workload in workloads {
        let name = workload.name();
        let count = per_packet(*workload)?;
        let before = known.instructions_per_packet.get(name);
        println!("{}", line(name, count, before.copied()));
        if before.is_none_or(|before| count > before * (1.0 + percent / 100.0)) {
            worse.push(name);
        }
        let rounded = (count * 10.0).round() / 10.0;
        counted
            .instructions_per_packet
            .insert(name.to_owned(), rounded);
    }
    if record {
        counted.compiler = compiler()?;
        all.0.insert(PROFILE.to_owned(), counted);
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        return document::write(file, &format!("{text}\n"));
    }
    verdict(&worse, percent, file, &known.compiler, &compiler()?)
}

fn verdict(
    worse: &[&str],
    percent: f64,
    file: &Path,
    before: &str,
    now: &str,
) -> Result<(), String> {
    if worse.is_empty() {
        return Ok(());
    }
    let other = if before == now {
        String::new()
    } else {
        format!(" They were counted with {before:?}, this is {now:?}.")
    };
    Err(format!(
        "{}: more than {percent} % above what {} records for the profile {PROFILE}, or not in \
         it.{other} If that is the price of something, `bench count --record` writes it down.",
        worse.join(", "),
        file.display(),
    ))
}

fn line(name: &str, count: f64, before: Option<f64>) -> String {
    let change = before.map_or("not recorded".to_owned(), |before| {
        format!(
            "{before:.0} recorded, {:+.1} %",
            100.0 * (count / before - 1.0)
        )
    });
    format!("{name:10} {count:7.0} instructions per forwarded packet ({change})")
}

/// Of a run that is not the first: the difference between one and two, so that what is made once for
/// all runs does not count.
fn per_packet(workload: Workload) -> Result<f64, String> {
    let (once, packets) = runs(workload, "1")?;
    let (twice, packets_twice) = runs(workload, "2")?;
    Ok(twice.saturating_sub(once) as f64 / (packets_twice - packets))
}

/// Instructions and forwarded packets of so many runs.
fn runs(workload: Workload, runs: &str) -> Result<(u64, f64), String> {
    let arguments = ["speed", workload.name(), "--seconds", "0", "--runs", runs];
    let (count, output) = callgrind::count(&arguments)?;
    let speed: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    match speed["forwarded"].as_f64() {
        Some(packets) if packets > 0.0 => Ok((count, packets)),
        _ => Err(format!("{}: nothing was forwarded", workload.name())),
    }
}

fn read(file: &Path) -> Result<Record, String> {
    match std::fs::read(file) {
        Ok(text) => serde_json::from_slice(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Record::default()),
        Err(error) => return Err(format!("{}: {error}", file.display())),
    }
    .map_err(|error| format!("{}: {error}", file.display()))
}

fn compiler() -> Result<String, String> {
    let output = std::process::Command::new("rustc")
        .arg("--version")
        .output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_got_slower_is_named_with_the_compilers_if_they_differ() {
        let file = Path::new("figures.json");
        assert_eq!(verdict(&[], 2.0, file, "rustc 1", "rustc 2"), Ok(()));
        let error = verdict(&["large", "floq"], 2.0, file, "rustc 1", "rustc 1").unwrap_err();
        assert!(error.starts_with("large, floq: more than 2 %"), "{error}");
        assert!(error.contains("figures.json") && !error.contains("rustc"));
        let error = verdict(&["large"], 2.0, file, "rustc 1", "rustc 2").unwrap_err();
        assert!(
            error.contains("\"rustc 1\", this is \"rustc 2\""),
            "{error}"
        );
    }

    #[test]
    fn a_change_is_shown_as_a_share_of_what_is_recorded() {
        let text = line("large", 4100.4, Some(4000.0));
        assert!(
            text.contains("4100 instructions") && text.contains("+2.5 %"),
            "{text}"
        );
        assert!(line("large", 1.0, None).contains("not recorded"));
    }

    #[test]
    fn a_broken_record_is_an_error_and_none_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("figures.json");
        assert!(read(&file).unwrap().0.is_empty());
        std::fs::write(&file, "{\"release\": 3}").unwrap();
        let error = read(&file).unwrap_err();
        assert!(error.contains("figures.json"), "{error}");
    }
}
