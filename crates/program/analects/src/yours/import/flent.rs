//! A data file of flent as a scenario.

mod series;

use super::file::plain;
use super::line::{constant, section};
use super::{NAME, Result};
use crate::cli::FlentArgs;
use comfy_table::Cell;
use command::Refused;
use command::cells::{empty, right};
use command::files::{distinct, replace, replaceable};
use command::print;
use scenario::printable;
use series::{DataWay, File, Latency, Source, Transfer};
use std::fmt::Write as _;
use units::{Duration, Rate, Refusal};

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
/// The part of the time in which all transfers run that counts: after slow start, and before the first ends.
const MIDDLE: (f64, f64) = (0.25, 0.85);
/// Transfers that run all at once for less of the time have rates at different times.
const APART: f64 = 0.5;
/// Hosts whose round trips differ by this factor are several distances.
const FARTHER: f64 = 1.5;
/// The file's own sum is of the whole run, slow start included: so much may differ from it.
const OFF: f64 = 0.25;

/// What the run had in one direction.
struct FlentDirection {
    transfers: usize,
    /// The sum of their goodput over the middle of the run, in Mbit/s.
    goodput: f64,
    /// The same as the file has it.
    own_sum: Option<f64>,
    line: Rate,
}

/// What becomes a scenario.
struct FlentRun {
    seconds: f64,
    down: Option<FlentDirection>,
    up: Option<FlentDirection>,
    /// The line's round trip in ms.
    rtt: f64,
    /// Round trips in the middle of the run.
    latency: Option<Latency>,
    /// The shortest pings to the nearest and the farthest host, in ms.
    distances: Option<(f64, f64)>,
    /// How far its transfers did not run at the same time.
    apart: Option<String>,
    /// Series of rates that are no part of the scenario.
    left_out: Vec<String>,
}

/// Makes a scenario.
pub fn run(args: &FlentArgs) -> Result<()> {
    if let Some(out) = &args.out {
        distinct(Some(&args.file), std::slice::from_ref(out))?;
        replaceable(out)?;
    }
    let name = args.file.display().to_string();
    let wrong = |refusal: Refusal| {
        let help = "give a file that flent wrote, such as rrul-2026-01-02T120000.title.flent.gz";
        Refused::because(refusal.within(&name), help)
    };
    let bytes = plain(&args.file).map_err(|reason| wrong(Refusal::new(reason)))?;
    let file: File = serde_json::from_slice(&bytes).map_err(|error| {
        wrong(Refusal::new(format!(
            "{error}: expected metadata, x_values and results, as flent writes them"
        )))
    })?;
    let read = read(&file, args).map_err(wrong)?;
    let text = scenario(&read, &file, &printable(&name, NAME));
    warn(&read, &name);
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

/// What the file has where `said` says nothing else, or the reason why that is no scenario.
fn read(file: &File, said: &FlentArgs) -> std::result::Result<FlentRun, Refusal> {
    let seconds = file.x_values.iter().copied().fold(0.0, f64::max);
    if !(LEAST..=MOST).contains(&seconds) {
        let message = format!("it has {seconds:.0} s, expected {LEAST} to {MOST}");
        return Err(Refusal::new(message));
    }
    let transfers = file.transfers();
    let times = TransferTimes::of(file, &transfers, seconds);
    let part = times.middle();
    let direction = |way, line| direction(file, &transfers, part, way, line);
    let (down, up) = (
        direction(DataWay::Down, said.down),
        direction(DataWay::Up, said.up),
    );
    if let (None, None) = (&down, &up) {
        return Err(Refusal::new(format!(
            "it has no transfers, only {}",
            names(file)
        )));
    }
    let latency = file.latency(part);
    let shortest = latency
        .as_ref()
        .map(|of| of.sorted[0].clamp(RTTS.0, RTTS.1));
    let rtt = said
        .rtt
        .map(Duration::as_millis_f64)
        .or(shortest)
        .ok_or_else(|| {
            let message = format!("it has no round trips, only {}", names(file));
            Refusal::new(message).with_help("say the line's round trip, such as --rtt 20ms")
        })?;
    let left_out = transfers.iter().filter(|of| of.flood || of.way.is_none());
    Ok(FlentRun {
        seconds,
        down,
        up,
        rtt,
        latency,
        distances: file.distances(part),
        apart: times.apart(),
        left_out: left_out.map(|of| printable(of.name, NAME)).collect(),
    })
}

/// When the transfers ran.
struct TransferTimes {
    /// From the first one's begin to the last one's end; of a file without any, the run.
    whole: (f64, f64),
    /// When all of them ran at once.
    together: Option<(f64, f64)>,
}

impl TransferTimes {
    fn of(file: &File, transfers: &[Transfer<'_>], seconds: f64) -> Self {
        let spans = transfers.iter().filter_map(|of| file.span(of.name));
        let both = spans
            .map(|span| (span, span))
            .reduce(|(whole, all), (span, _)| {
                let whole = (whole.0.min(span.0), whole.1.max(span.1));
                (whole, (all.0.max(span.0), all.1.min(span.1)))
            });
        let is_some_time = |&(first, last): &(f64, f64)| first < last;
        let whole = both.map(|(whole, _)| whole).filter(is_some_time);
        TransferTimes {
            whole: whole.unwrap_or((0.0, seconds)),
            together: both.map(|(_, all)| all).filter(is_some_time),
        }
    }

    /// The part that counts.
    fn middle(&self) -> (f64, f64) {
        let (first, last) = self.together.unwrap_or(self.whole);
        let at = |share: f64| first + share * (last - first);
        (at(MIDDLE.0), at(MIDDLE.1))
    }

    /// Why the file's own sum is not what they had together: it adds what each had in its own time.
    fn apart(&self) -> Option<String> {
        let long = |(first, last): (f64, f64)| last - first;
        match self.together {
            None => Some("they never ran all at once".to_owned()),
            Some(all) if long(all) < APART * long(self.whole) => Some(format!(
                "they ran all at once from {:.1} to {:.1} s only",
                all.0, all.1
            )),
            Some(_) => None,
        }
    }
}

/// The transfers of one direction.
fn direction(
    file: &File,
    transfers: &[Transfer<'_>],
    part: (f64, f64),
    way: DataWay,
    line: Option<Rate>,
) -> Option<FlentDirection> {
    let of = transfers
        .iter()
        .filter(|of| of.way == Some(way) && !of.flood && file.span(of.name).is_some());
    let means = of.map(|of| of.unit * file.mean(of.name, part));
    let means: Vec<f64> = means.take(TRANSFERS).collect();
    let goodput = means.iter().sum::<f64>();
    let found = (goodput * WIRE).clamp(RATES.0, RATES.1);
    (goodput > 0.0).then(|| FlentDirection {
        transfers: means.len(),
        goodput,
        own_sum: file.own_sum(way, part),
        line: line.unwrap_or(Rate::from_bits((found * 1e3).round() as u64 * 1000)),
    })
}

fn names(file: &File) -> String {
    let names = file.results.keys().map(|name| printable(name, NAME));
    names.take(5).collect::<Vec<_>>().join(", ")
}

/// Says what does not go into the scenario, or not as the file has it.
fn warn(run: &FlentRun, name: &str) {
    let name = printable(name, NAME);
    if !run.left_out.is_empty() {
        let list = printable(&run.left_out.join(", "), 300);
        eprintln!("{name}: left out, for it is UDP or has no direction: {list}");
    }
    if let Some((near, far)) = run.distances
        && far > FARTHER * near
    {
        eprintln!(
            "{name}: its hosts are {near:.1} to {far:.1} ms away; here all are {:.1} ms away. An entry's rtt is its own",
            run.rtt
        );
    }
    for (way, of) in [("downloads", &run.down), ("uploads", &run.up)] {
        let Some((of, own)) = of.as_ref().and_then(|of| Some((of, of.own_sum?))) else {
            continue;
        };
        if run.apart.is_some() || (of.goodput / own - 1.0).abs() > OFF {
            let why = run
                .apart
                .as_ref()
                .map(|apart| format!(", which adds what each had in its own time: {apart}"));
            eprintln!(
                "{name}: {way} have {:.2} Mbit/s together, and {own:.2} by the file's own sum{}",
                of.goodput,
                why.unwrap_or_default()
            );
        }
    }
}

/// The value that so many of `sorted` do not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * (sorted.len() - 1) as f64).round() as usize;
    sorted[place]
}

/// The scenario's text.
fn scenario(run: &FlentRun, file: &File, name: &str) -> String {
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
         # The round trip is {rtt_is}. A file does not know the discipline on the line.\n\
         {line}",
        test = plain_word(&file.metadata.name),
        seconds = run.seconds,
        warmup = run.seconds / 4.0,
        line = section(
            &constant(down.unwrap_or(Rate::from_bits(1_000_000))),
            &constant(up.unwrap_or(Rate::from_bits(1_000_000))),
            run.rtt,
            "",
        ),
        rtt_is = match &run.latency {
            Some(of) if run.rtt == of.sorted[0] => format!("the shortest {}", of.source.name()),
            _ => "not the file's".to_owned(),
        },
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
    let told = match &run.latency {
        None => "# The run has no round trips.".to_owned(),
        Some(of) => format!(
            "# In the run: {:.1} ms in the median, {:.1} at the 99th percentile{}.",
            quantile(&of.sorted, 0.5),
            quantile(&of.sorted, 0.99),
            match of.source {
                Source::Ping => String::new(),
                other => format!(", as the {}", other.name()),
            }
        ),
    };
    _ = write!(
        text,
        "\n{told}\n\
         [[traffic]]\n\
         name = \"ping\"\n\
         kind = \"udp\"\n\
         rate = \"2.4kbit\"\n\
         packet = \"60B\"\n\
         answer = \"60B\"\n",
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
fn summary(run: &FlentRun, file: &File) -> String {
    let mut table = empty();
    let headings = [
        "transfers",
        "Mbit/s together",
        "by the file's sum",
        "median ms",
        "99th percentile ms",
    ];
    table.set_header([Cell::new("")].into_iter().chain(headings.map(right)));
    let none = || right("-");
    for (name, of) in [("download", &run.down), ("upload", &run.up)] {
        if let Some(of) = of {
            let rate = |rate: f64| right(&format!("{rate:.2}"));
            table.add_row([
                Cell::new(name),
                right(&of.transfers.to_string()),
                rate(of.goodput),
                of.own_sum.map_or_else(none, rate),
                none(),
                none(),
            ]);
        }
    }
    if let Some(of) = &run.latency {
        let [median, most] =
            [0.5, 0.99].map(|share| right(&format!("{:.1}", quantile(&of.sorted, share))));
        let name = Cell::new(of.source.name());
        table.add_row([name, none(), none(), none(), median, most]);
    }
    let title = file.metadata.title.as_deref().unwrap_or_default();
    format!(
        "{} {}: {:.0} s, of which the middle counts here; round trip {:.1} ms\n\n{table}\n",
        printable(&file.metadata.name, NAME),
        printable(title, NAME),
        run.seconds,
        run.rtt,
    )
}
