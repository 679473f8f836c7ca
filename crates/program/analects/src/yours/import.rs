//! `analects import`: what was recorded elsewhere, as a scenario.

mod axis;
mod dump;
mod file;
mod flent;
mod line;
mod page;
mod read;
mod recorded;
mod rtcstats;
mod timeline;
mod times;
mod trace;
mod wanted;
mod written;

use crate::cli::{ImportCommand, InternalsArgs};
use comfy_table::Cell;
use command::Refused;
use command::cells::{empty, right};
use command::files::{distinct, replace, replaceable};
use command::print;
use dump::{Dump, DumpConnection};
use line::CallPart;
use recorded::Recorded;
use scenario::printable;
use std::fmt::Write as _;

/// Longest names in a table and in errors.
const NAME: usize = 40;
/// The most times of trouble that the choice of a part looks at, and those that are printed.
const TIMES: usize = 1000;
const ROWS: usize = 60;

type Result<T> = std::result::Result<T, Refused>;

/// Makes a scenario.
pub fn run(command: &ImportCommand) -> Result<()> {
    match command {
        ImportCommand::WebrtcInternals(args) => call(args),
        ImportCommand::Flent(args) => flent::run(args),
        ImportCommand::Trace(args) => trace::run(args),
    }
}

fn call(args: &InternalsArgs) -> Result<()> {
    let written: Vec<_> = args.out.iter().chain(&args.report).cloned().collect();
    distinct(Some(&args.dump), &written)?;
    written.iter().try_for_each(|file| replaceable(file))?;
    let file = args.dump.display().to_string();
    let wrong = |reason: String| {
        let help =
            "open chrome://webrtc-internals before the call, and create the dump while it lasts";
        Refused::new(&format!("{file}: {reason}"), help)
    };
    let dump = read::dump(&args.dump).map_err(wrong)?;
    let (id, connection) = chosen(&dump, args.connection.as_deref(), &file)?;
    if connection.is_legacy() {
        let message = format!("{file}: it is of the old form, of Chrome before 122");
        return Err(Refused::new(
            &message,
            "record the call again with a newer one",
        ));
    }
    let call = recorded::call(connection)
        .map_err(|reason| wrong(format!("connection {}: {reason}", printable(id, NAME))))?;
    let (from, until) = part(args, &call)?;
    let name = printable(&file, NAME);
    let part = CallPart {
        name: &name,
        down: args.down,
        up: args.up,
        from,
        until,
    };
    let text = written::scenario(&call, &part);
    if let Some(report) = &args.report {
        replace(report, &page::page(connection, &call))?;
    }
    let timeline = timeline(connection, &call);
    let Some(out) = &args.out else {
        eprint!("{timeline}");
        return print(&text);
    };
    replace(out, &text)?;
    let others = dump.connections.len() - 1;
    print(&format!(
        "{}\n{timeline}\n{}: written. Compare:\nanalects run {1} --by-entry --columns {}\n",
        summary(id, connection, &call, &part, others),
        out.display(),
        if call.sounds.is_empty() {
            "freezes,stall,call_rate"
        } else {
            "sojourn,drops"
        }
    ))
}

/// The connection that was asked for, or the one with most video; without any, with most sound.
fn chosen<'a>(
    dump: &'a Dump,
    wanted: Option<&str>,
    file: &str,
) -> Result<(&'a str, &'a DumpConnection)> {
    let mut connections = dump.connections.iter().map(|(id, of)| (id.as_str(), of));
    let found = match wanted {
        Some(wanted) => connections.find(|(id, _)| *id == wanted),
        None => connections.max_by(|(_, a), (_, b)| {
            let by = |of| recorded::bytes_of(a, of).total_cmp(&recorded::bytes_of(b, of));
            by("video").then_with(|| by("audio"))
        }),
    };
    found.ok_or_else(|| {
        let names: Vec<String> = dump
            .connections
            .keys()
            .map(|id| printable(id, NAME))
            .collect();
        match wanted {
            Some(wanted) => Refused::new(
                &format!("--connection {wanted}: {file} has no such connection"),
                &format!("it has: {}", names.join(", ")),
            ),
            None => Refused::new(
                &format!("{file}: it has no connection"),
                "open chrome://webrtc-internals before the call begins",
            ),
        }
    })
}

/// The seconds of the call that the scenario covers.
fn part(args: &InternalsArgs, call: &Recorded) -> Result<(usize, usize)> {
    let most = args.most.as_secs_f64() as usize;
    let from = match args.from {
        Some(from) => from.as_secs_f64() as usize,
        None => worst(call, most),
    };
    // Two seconds are the least of a call.
    if from + 2 > call.axis.seconds {
        let message = format!("--from {from}s: the call has {} s", call.axis.seconds);
        return Err(Refused::new(&message, "give an earlier time"));
    }
    Ok((from, call.axis.seconds.min(from + most)))
}

/// The first second of the part with most seconds of trouble; the call's, if the whole fits.
fn worst(call: &Recorded, most: usize) -> usize {
    let last = call.axis.seconds.saturating_sub(most);
    let trouble = call.findings.iter().filter(|of| of.cause.is_trouble());
    let times: Vec<(f64, f64)> = trouble.map(|of| (of.from, of.until)).take(TIMES).collect();
    let within = |from: usize| -> f64 {
        let (first, end) = (from as f64, (from + most) as f64);
        let overlap = |of: &(f64, f64)| (of.1.min(end) - of.0.max(first)).max(0.0);
        times.iter().map(overlap).sum()
    };
    // Some seconds before it belong to trouble: the call has to settle first.
    let starts = times
        .iter()
        .map(|of| (of.0 as usize).saturating_sub(most / 4).min(last));
    let best = starts.max_by(|a, b| within(*a).total_cmp(&within(*b)).then(b.cmp(a)));
    best.unwrap_or_default()
}

/// What the dump shows, with the columns of the command that follows.
fn summary(
    id: &str,
    connection: &DumpConnection,
    call: &Recorded,
    part: &CallPart<'_>,
    others: usize,
) -> String {
    let mut table = empty();
    let headings = [
        "picture", "frames/s", "Mbit/s", "lost %", "freezes", "frozen s",
    ];
    table.set_header([Cell::new("")].into_iter().chain(headings.map(right)));
    let streams = call.received.iter().map(|of| ("received", of));
    for (name, media) in streams.chain(call.sent.iter().map(|of| ("sent", of))) {
        let picture = media
            .size
            .map(|(width, height)| format!("{width:.0}x{height:.0}"));
        let counted = |values: &[f64], digits: usize| match values.get(part.from..part.until) {
            Some(values) => format!("{:.digits$}", values.iter().sum::<f64>()),
            None => "-".to_owned(),
        };
        table.add_row([
            Cell::new(name),
            right(&picture.unwrap_or_else(|| "-".to_owned())),
            right(&format!("{:.0}", media.fps)),
            right(&format!("{:.2}", media.mean() / 1e6)),
            right(
                &media
                    .lost
                    .map_or("-".to_owned(), |lost| format!("{:.1}", 100.0 * lost)),
            ),
            right(&counted(&media.freezes, 0)),
            right(&counted(&media.frozen, 1)),
        ]);
    }
    for sound in &call.sounds {
        let none = || right("-");
        table.add_row([
            Cell::new(if sound.up {
                "sound sent"
            } else {
                "sound received"
            }),
            none(),
            none(),
            right(&format!("{:.3}", sound.packets * sound.bytes * 8e-6)),
            right(&format!("{:.1}", 100.0 * sound.lost)),
            none(),
            none(),
        ]);
    }
    let way = timeline::path(connection).map_or_else(String::new, |way| format!("; {way}"));
    let more = match others {
        0 => String::new(),
        1 => "; another connection is left out (--connection)".to_owned(),
        more => format!("; {more} other connections are left out (--connection)"),
    };
    format!(
        "connection {} of {}: {} s, of which {} to {} here; round trip from {:.0} ms{way}{more}\n\n{table}\n",
        printable(id, NAME),
        printable(&connection.url, NAME),
        call.axis.seconds,
        part.from,
        part.until,
        1e3 * call.rtt,
    )
}

/// When what happened, as the dump itself knows it, and what it does not know.
fn timeline(connection: &DumpConnection, call: &Recorded) -> String {
    let mut text = String::new();
    if call.findings.is_empty() {
        text += "The dump shows no loss, outage, freeze, or limit of the encoder.\n";
    } else {
        let mut table = empty();
        table.set_header([
            right("from s"),
            right("to s"),
            Cell::new("what"),
            Cell::new("as told by"),
        ]);
        for of in call.findings.iter().take(ROWS) {
            table.add_row([
                right(&format!("{:.1}", of.from)),
                right(&format!("{:.1}", of.until)),
                Cell::new(of.cause.name()),
                Cell::new(&of.told),
            ]);
        }
        _ = writeln!(
            text,
            "What the dump knows, in seconds of the call:\n{table}"
        );
    }
    let more = call.findings.len().saturating_sub(ROWS);
    if more > 0 {
        _ = writeln!(text, "{more} more times are not printed.");
    }
    text += "What it does not know:\n";
    for sentence in timeline::unknown(connection, &call.axis) {
        _ = writeln!(text, "- {sentence}");
    }
    text
}
