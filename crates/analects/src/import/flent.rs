//! A data file of flent as a scenario.

use super::file::plain;
use super::written::line;
use super::{NAME, Result, rate};
use crate::cli::FlentArgs;
use comfy_table::Cell;
use command::Refused;
use command::cells::{empty, right};
use command::files::{distinct, replace, replaceable};
use command::print;
use measure::interval::mean;
use scenario::printable;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::Rate;

/// Bytes on the wire of a packet, and of its application: TCP with time stamps.
const WIRE: f64 = 1500.0 / 1448.0;
/// The shortest round trip of a scenario, and the longest that a ping measures, in milliseconds.
const RTTS: (f64, f64) = (1.0, 10_000.0);
/// The slowest and the fastest line, in Mbit/s.
const RATES: (f64, f64) = (0.1, 100_000.0);
/// The longest run, in seconds.
const MOST: f64 = 3600.0;
/// The shortest one: less shows no rate.
const LEAST: f64 = 10.0;
/// A test has no more transfers.
const TRANSFERS: usize = 1000;

/// The parts of a data file that are read, of any version since the second.
#[derive(Debug, Deserialize)]
struct File {
    metadata: Metadata,
    x_values: Vec<f64>,
    results: BTreeMap<String, Vec<Option<f64>>>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    #[serde(rename = "NAME")]
    name: String,
    #[serde(rename = "TITLE", default)]
    title: Option<String>,
}

/// What the run had in one direction.
struct Direction {
    transfers: usize,
    /// The sum of their goodput over the middle of the run, in Mbit/s.
    goodput: f64,
    line: Rate,
}

/// What becomes a scenario.
struct Run {
    seconds: f64,
    down: Option<Direction>,
    up: Option<Direction>,
    /// Round trips in the middle of the run, in order, in ms.
    pings: Vec<f64>,
}

/// Makes a scenario.
pub fn run(args: &FlentArgs) -> Result<()> {
    if let Some(out) = &args.out {
        distinct(Some(&args.file), std::slice::from_ref(out))?;
        replaceable(out)?;
    }
    let name = args.file.display().to_string();
    let wrong = |reason: String| {
        let help = "give a file that flent wrote, such as rrul-2026-01-02T120000.title.flent.gz";
        Refused::new(&format!("{name}: {reason}"), help)
    };
    let bytes = plain(&args.file).map_err(wrong)?;
    let file: File = serde_json::from_slice(&bytes).map_err(|error| {
        wrong(format!(
            "{error}: expected metadata, x_values and results, as flent writes them"
        ))
    })?;
    let [down, up] = [("--down", &args.down), ("--up", &args.up)]
        .map(|(option, text)| text.as_deref().map(|text| rate(option, text)).transpose());
    let read = read(&file, [down?, up?]).map_err(wrong)?;
    let text = scenario(&read, &file, &printable(&name, NAME));
    let Some(out) = &args.out else {
        return print(&text);
    };
    replace(out, &text)?;
    print(&format!(
        "{}\n{}: written. Compare:\nanalects run {1} --by-entry --columns bulk_rate,answer_p99:ping\n",
        summary(&read, &file),
        out.display()
    ))
}

/// What the file has, or a sentence with the reason why that is no scenario.
fn read(file: &File, [down, up]: [Option<Rate>; 2]) -> std::result::Result<Run, String> {
    let seconds = file.x_values.iter().copied().fold(0.0, f64::max);
    if !(LEAST..=MOST).contains(&seconds) {
        return Err(format!("it has {seconds:.0} s, expected {LEAST} to {MOST}"));
    }
    // Flent's own delay before and after transfers is 5 s.
    let middle = |name: &str| -> Vec<f64> {
        let points = file.results.get(name).map_or(&[][..], Vec::as_slice);
        let times = file.x_values.iter().zip(points);
        let times = times.filter(|(time, _)| (0.25..=0.85).contains(&(*time / seconds)));
        times
            .filter_map(|(_, value)| *value)
            .filter(|value| value.is_finite() && *value >= 0.0)
            .collect()
    };
    let direction = |word: &str, line: Option<Rate>| {
        let names = file.results.keys().filter(|name| {
            name.starts_with(&format!("TCP {word}"))
                && [" sum", " avg"].iter().all(|end| !name.ends_with(end))
        });
        let sums: Vec<Vec<f64>> = names.map(|name| middle(name)).collect();
        let means = sums
            .iter()
            .filter(|points| !points.is_empty())
            .map(|points| mean(points));
        let means: Vec<f64> = means.take(TRANSFERS).collect();
        let goodput = means.iter().sum::<f64>();
        let found = (goodput * WIRE).clamp(RATES.0, RATES.1);
        (goodput > 0.0).then(|| Direction {
            transfers: means.len(),
            goodput,
            line: line.unwrap_or(Rate::from_bits((found * 1e3).round() as u64 * 1000)),
        })
    };
    let ping = file.results.keys().find(|name| {
        name.starts_with("Ping (ms)") && !name.ends_with(" avg") && !middle(name).is_empty()
    });
    let Some(ping) = ping else {
        return Err(format!("it has no pings, only {}", names(file)));
    };
    let mut pings = middle(ping);
    pings.sort_by(f64::total_cmp);
    let read = Run {
        seconds,
        down: direction("download", down),
        up: direction("upload", up),
        pings,
    };
    match (&read.down, &read.up) {
        (None, None) => Err(format!("it has no transfers, only {}", names(file))),
        _ => Ok(read),
    }
}

fn names(file: &File) -> String {
    let names = file.results.keys().map(|name| printable(name, NAME));
    names.take(5).collect::<Vec<_>>().join(", ")
}

/// The value that so many of `sorted` do not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * (sorted.len() - 1) as f64).round() as usize;
    sorted[place]
}

/// The scenario's text.
fn scenario(run: &Run, file: &File, name: &str) -> String {
    let rtt = run.pings[0].clamp(RTTS.0, RTTS.1);
    let other = run.down.as_ref().or(run.up.as_ref());
    let [down, up] = [&run.down, &run.up].map(|of| of.as_ref().or(other).map(|of| of.line));
    let mut text = format!(
        "# The run of {name}, by `analects import flent`.\n\
         name = \"imported\"\n\
         summary = \"the transfers of a run of flent, test {test}\"\n\
         duration = \"{seconds:.0}s\"\n\
         warmup = \"{warmup:.0}s\"\n\
         disciplines = [\"pfifo\", \"fq_codel\", \"cake\", \"mencius\"]\n\
         \n\
         # The rates are what the run's transfers had together, with headers: a line that was not full is faster.\n\
         # The round trip is the shortest ping. A file does not know the discipline on the line.\n\
         {line}",
        test = plain_word(&file.metadata.name),
        seconds = run.seconds,
        warmup = run.seconds / 4.0,
        line = line(
            down.unwrap_or(Rate::from_bits(1_000_000)),
            up.unwrap_or(Rate::from_bits(1_000_000)),
            rtt
        ),
    );
    for (entry, direction, of) in [("download", "down", &run.down), ("upload", "up", &run.up)] {
        let Some(of) = of else { continue };
        _ = write!(
            text,
            "\n# In the run: {:.2} Mbit/s together.\n\
             [[traffic]]\n\
             name = \"{entry}\"\n\
             kind = \"bulk\"\n\
             count = {}\n\
             direction = \"{direction}\"\n\
             start = \"{:.1}s\"\n",
            of.goodput,
            of.transfers,
            (run.seconds / 10.0).min(5.0),
        );
    }
    _ = write!(
        text,
        "\n# In the run: {:.1} ms in the median, {:.1} at the 99th percentile.\n\
         [[traffic]]\n\
         name = \"ping\"\n\
         kind = \"udp\"\n\
         rate = \"2.4kbit\"\n\
         packet = \"60B\"\n\
         answer = \"60B\"\n",
        quantile(&run.pings, 0.5),
        quantile(&run.pings, 0.99),
    );
    text
}

/// Letters, digits and underscores of a name: what tests of flent have.
fn plain_word(name: &str) -> String {
    let letters = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_');
    letters.take(NAME).collect()
}

/// What the file shows, with the columns of the command that follows.
fn summary(run: &Run, file: &File) -> String {
    let mut table = empty();
    let headings = [
        "transfers",
        "Mbit/s together",
        "median ms",
        "99th percentile ms",
    ];
    table.set_header([Cell::new("")].into_iter().chain(headings.map(right)));
    let none = || right("-");
    for (name, of) in [("download", &run.down), ("upload", &run.up)] {
        if let Some(of) = of {
            let rate = right(&format!("{:.2}", of.goodput));
            table.add_row([
                Cell::new(name),
                right(&of.transfers.to_string()),
                rate,
                none(),
                none(),
            ]);
        }
    }
    let [median, most] =
        [0.5, 0.99].map(|share| right(&format!("{:.1}", quantile(&run.pings, share))));
    table.add_row([Cell::new("ping"), none(), none(), median, most]);
    let title = file.metadata.title.as_deref().unwrap_or_default();
    format!(
        "{} {}: {:.0} s, of which the middle counts here; shortest ping {:.1} ms\n\n{table}\n",
        printable(&file.metadata.name, NAME),
        printable(title, NAME),
        run.seconds,
        run.pings[0],
    )
}
