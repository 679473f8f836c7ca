//! What others read: one JSON document, CSV, and a folder with everything.

use measure::{RunResult, Series};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// The JSON document of `analects run`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// The program's version.
    pub version: &'a str,
    /// The engine.
    pub engine: &'a str,
    /// The scenario, with everything that was set on the command line.
    pub scenario: &'a serde_json::Value,
    /// The results.
    pub results: &'a [RunResult],
}

/// The document as text, ending in a newline.
///
/// # Errors
/// None in practice: everything in it can be written.
pub fn json(document: &Document<'_>) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| text + "\n")
}

/// All figures as CSV, one a line: what it is of, its name, the figure, its value. A figure that
/// could not be observed has an empty value.
///
/// # Errors
/// None in practice: everything can be written.
pub fn csv(results: &[RunResult]) -> serde_json::Result<String> {
    let mut text = String::from("discipline,seed,variant,of,name,figure,value\n");
    for result in results {
        let variant: Vec<String> = result
            .variant
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let head = format!(
            "{},{},{}",
            quoted(&result.discipline),
            result.seed,
            quoted(&variant.join(" "))
        );
        let value = serde_json::to_value(result)?;
        for of in ["calls", "pages", "flows", "links"] {
            for entry in value[of].as_array().into_iter().flatten() {
                let name = match (entry["name"].as_str(), entry["load"].as_u64()) {
                    (Some(name), Some(load)) => format!("{name}#{load}"),
                    (name, _) => name.unwrap_or_default().to_owned(),
                };
                figures(
                    &mut text,
                    &format!("{head},{of},{}", quoted(&name)),
                    "",
                    entry,
                );
            }
        }
        figures(&mut text, &format!("{head},run,"), "jfi", &value["jfi"]);
    }
    Ok(text)
}

/// A line for each number in `value`.
fn figures(text: &mut String, head: &str, path: &str, value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, inner) in fields.iter().filter(|(key, _)| *key != "load") {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                figures(text, head, &path, inner);
            }
        }
        // Writing to a string does not fail.
        serde_json::Value::Number(number) => _ = writeln!(text, "{head},{path},{number}"),
        // The only list within an entry: shares by flow and class.
        serde_json::Value::Array(items) => {
            for item in items {
                if let (Some(flow), Some(class)) = (item["flow"].as_str(), item["class"].as_str()) {
                    let path = format!("{path}.{flow}.{class}");
                    figures(text, head, &path, &item["share"]);
                }
            }
        }
        serde_json::Value::Null => _ = writeln!(text, "{head},{path},"),
        _ => {}
    }
}

/// A CSV field (RFC 4180).
pub fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Writes into `folder`: `results.json`, `results.csv`, `scenario.toml` as resolved, and for each
/// run whose series was kept a folder with `frames.csv`, `share.csv`, `sojourn.csv`, `classes.csv`.
///
/// # Errors
/// If a file cannot be written.
pub fn folder(folder: &Path, document: &Document<'_>, scenario: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("results.json"), json(document)?)?;
    std::fs::write(folder.join("results.csv"), csv(document.results)?)?;
    std::fs::write(folder.join("scenario.toml"), scenario)?;
    for (number, result) in document.results.iter().enumerate() {
        let Some(series) = &result.series else {
            continue;
        };
        let plain: String = result
            .discipline
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let run = folder.join(format!("{number:03}-{plain}-seed{}", result.seed));
        std::fs::create_dir_all(&run)?;
        std::fs::write(run.join("frames.csv"), frames(series))?;
        std::fs::write(run.join("share.csv"), share(series))?;
        let links: Vec<&str> = result.links.iter().map(|link| link.name.as_str()).collect();
        std::fs::write(run.join("sojourn.csv"), sojourn(series, &links))?;
        std::fs::write(run.join("classes.csv"), classes(series, &links))?;
    }
    Ok(())
}

fn frames(series: &Series) -> String {
    let mut text = String::from("call,time_s,delay_ms\n");
    for (call, time, delay) in &series.frames {
        let delay = delay.map(|delay| delay.to_string()).unwrap_or_default();
        _ = writeln!(text, "{},{time},{delay}", quoted(&series.calls[*call]));
    }
    text
}

fn share(series: &Series) -> String {
    let mut text = String::from("flow,time_s,mbps\n");
    for (flow, bins) in series.flows.iter().zip(&series.share) {
        for (bin, bytes) in bins.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            let time = bin as f64 * series.bin_s;
            let mbps = *bytes as f64 * 8e-6 / series.bin_s;
            _ = writeln!(text, "{},{time:.1},{mbps}", quoted(flow));
        }
    }
    text
}

fn sojourn(series: &Series, links: &[&str]) -> String {
    let mut text = String::from("link,time_s,mean_ms,max_ms\n");
    for (link, bins) in links.iter().zip(&series.sojourn) {
        for (bin, value) in bins.iter().enumerate() {
            let time = bin as f64 * series.bin_s;
            if let Some((mean, max)) = value {
                _ = writeln!(text, "{},{time:.1},{mean},{max}", quoted(link));
            }
        }
    }
    text
}

fn classes(series: &Series, links: &[&str]) -> String {
    let mut text = String::from("time_s,link,flow,class\n");
    for &(time, link, flow, class) in &series.moves {
        let name = &series.classes[link][usize::from(class)];
        _ = writeln!(
            text,
            "{time},{},{},{name}",
            quoted(links[link]),
            quoted(&series.flows[flow])
        );
    }
    text
}
