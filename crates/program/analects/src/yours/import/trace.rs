//! Recorded capacity in another form as a trace of `seconds megabits_per_second`.

mod moment;
mod pattern;
mod table;
mod unit;

use super::Result;
use crate::cli::TraceArgs;
use command::Refused;
use command::files::{distinct, replace, replaceable};
use command::print;
use scenario::files;
use std::fmt::Write as _;
use units::Refusal;

/// Larger files, after decompression, are no trace.
const MOST: u64 = 256 << 20;
const HELP: &str = "say which columns: --time 1 --rate 3 --unit kbit, or --bytes 5 --ms 6";

/// What a file has: samples, each of which holds until the next.
#[derive(Debug, PartialEq)]
pub struct TraceSamples {
    /// What was understood of the file.
    pub understood: String,
    /// Times in seconds from the first on, and rates in Mbit/s.
    pub points: Vec<(f64, f64)>,
    /// When the last one ends, if the file says.
    pub end: Option<f64>,
}

/// Prints the trace, or writes it.
pub fn run(args: &TraceArgs) -> Result<()> {
    if let Some(out) = &args.out {
        distinct(Some(&args.file), std::slice::from_ref(out))?;
        replaceable(out)?;
    }
    let name = args.file.display().to_string();
    let wrong = |refusal: Refusal| Refused::because(refusal.within(&name), HELP);
    let bytes = files::unpacked(&args.file, MOST).map_err(|reason| wrong(reason.into()))?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_json = text.trim_start().starts_with(['{', '[']);
    let samples = if is_json {
        pattern::read(text, args)
    } else {
        table::read(text, args)
    };
    let samples = samples.map_err(wrong)?;
    let written = written(&samples);
    let trace = link::Trace::parse(&written).map_err(|error| {
        let place = format!("as {}: {}", samples.understood, error.found);
        wrong(Refusal::new(format!(
            "{place}, expected {}",
            error.expected
        )))
    })?;
    eprintln!("{name}: {}", samples.understood);
    eprintln!("{}", files::told(&name, &trace));
    match &args.out {
        None => print(&written),
        Some(out) => {
            replace(out, &written)?;
            print(&format!("{}: written\n", out.display()))
        }
    }
}

/// The trace's text. Its last sample holds as long as the one before it: where it is to hold for another
/// time, it stands there in two halves.
fn written(samples: &TraceSamples) -> String {
    let mut points = samples.points.clone();
    if let (Some(end), Some(&(last, rate))) = (samples.end, points.last()) {
        let before = points.len().checked_sub(2).map(|place| points[place].0);
        let held = before.map_or(1.0, |before| last - before);
        if (end - last - held).abs() > 1e-9 {
            points.push((f64::midpoint(last, end), rate));
        }
    }
    let mut text = String::new();
    for (time, rate) in points {
        // Writing to a string does not fail.
        _ = writeln!(text, "{} {}", plain(time, 6), plain(rate, 9));
    }
    text
}

/// A number with at most so many digits behind the point. Times since 1970 are known to the microsecond.
fn plain(number: f64, behind: usize) -> String {
    let text = format!("{number:.behind$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
