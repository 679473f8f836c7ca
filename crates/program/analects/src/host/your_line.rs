//! `analects measure`: a line as its user has it, what a call makes of it, and what would help.

mod evening;
mod figures;
mod open;
mod scenario;
mod server;

use crate::cli::{FAIR, MeasureArgs};
use ::scenario::Shaper;
use command::files::unwritable;
use command::{Refused, print};
use figures::Figures;
use line::client::{ClientProgress, Way, Wish, measure};
use line::losses::Drops;
use line::measured::{Measured, MeasuredDirection, Queue};
use line::{Problem, Trust, Trusted};
use scenario::FoundLine;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::Bytes;

type Result<T> = std::result::Result<T, Refused>;

/// What a metered line is asked for.
const METERED: (u16, u64) = (4, 25_000_000);

/// Measures, and tells.
pub fn run(args: &MeasureArgs) -> Result<()> {
    let wish = wished(args)?;
    let before = args.before.as_deref().map(Figures::read).transpose()?;
    if let Some(path) = &args.out {
        command::files::distinct(args.before.as_deref(), std::slice::from_ref(path))?;
        command::files::writable(path)?;
    }
    eprintln!(
        "measuring against {} for at most {} s with at most {} of load; Ctrl-C ends it with what is known",
        wish.host,
        2 * wish.span.as_secs() + 2,
        Bytes::new(wish.bytes)
    );
    let stop = interrupted()?;
    let mut found = measure(&wish, &stop, &mut progress()).map_err(refused)?;
    // Nothing looks at it any more: the next Ctrl-C ends the program, however long evenings take.
    stop.store(true, Ordering::Relaxed);
    // A household without a limit one way would be simulated for hours.
    if let Some(way) = [Way::Down, Way::Up]
        .into_iter()
        .find(|way| found.way(*way).is_none())
    {
        eprintln!(
            "{} was not measured: there is nothing to simulate, nor to write",
            way.name()
        );
        return print(&if args.json {
            json(&found, None, None, &[], before.as_ref())
        } else {
            found.text()
        });
    }
    let said = said(args.queue.as_deref(), &mut found);
    let line = FoundLine {
        found: &found,
        said,
    };
    let document = scenario::line(line, &scenario::disciplines(line))?;
    let shaper = document.shaper()?;
    let evenings = evening::simulated(line, args.compare.then_some(&shaper))?;
    let figures = Figures::of(&found, &evenings);
    if let Some(path) = &args.out {
        let text = scenario::text(line, &document) + "\n" + &figures.text()?;
        std::fs::write(path, text).map_err(|error| unwritable(path, &error))?;
    }
    if args.json {
        return print(&json(
            &found,
            said,
            Some(&shaper),
            &evenings,
            before.as_ref(),
        ));
    }
    print(&(found.text() + &evening::grade(&evenings)))?;
    if let Some(before) = &before {
        print(&figures.beside(before))?;
    }
    if args.compare {
        print(&(evening::table(&evenings) + &evening::commands(&shaper, args.out.as_deref())))?;
    }
    match &args.out {
        Some(path) => print(&format!("the line as a scenario: {}\n", path.display())),
        None => Ok(()),
    }
}

fn wished(args: &MeasureArgs) -> Result<Wish> {
    let trusted = match (args.pin, args.trust_anyone) {
        (Some(pin), _) => Trusted::Own(Trust::Pin(pin)),
        (None, true) => Trusted::Own(Trust::Anyone),
        (None, false) => Trusted::Public,
    };
    let named = server::named(args.server.as_deref(), trusted)?;
    let (seconds, bytes) = if args.metered {
        METERED
    } else {
        (args.seconds, args.max_bytes.get())
    };
    Ok(Wish {
        host: named.host,
        port: named.port,
        config: named.config,
        trusted,
        span: Duration::from_secs(seconds.into()),
        bytes,
    })
}

/// The discipline that the owner says the line has, if it may have it.
fn said(named: Option<&str>, found: &mut Measured) -> Option<&'static str> {
    let said = FAIR.into_iter().find(|fair| Some(*fair) == named)?;
    let may = |direction: &MeasuredDirection| match direction.queue {
        Queue::Fair => true,
        Queue::Short => direction.drops != Some(Drops::Full),
        Queue::Long | Queue::Policed => false,
    };
    for way in [Way::Down, Way::Up] {
        if found.way(way).is_some_and(|direction| !may(direction)) {
            found.notes.push(format!(
                "{}: it does not look like {said}, and is simulated as it looks",
                way.name()
            ));
        }
    }
    Some(said)
}

/// Set by Ctrl-C and by SIGTERM. Once it is set, the next one ends the program: a look-up of a name may not end.
fn interrupted() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, stop.clone())
            .and_then(|_| signal_hook::flag::register(signal, stop.clone()))
            .map_err(|error| Refused::failed(&format!("signals: {error}"), ""))?;
    }
    Ok(stop)
}

/// What comes about, on standard error: one line that is written over on a terminal.
fn progress() -> impl FnMut(ClientProgress) + Send {
    let terminal = std::io::stderr().is_terminal();
    move |seen| {
        let text = match seen {
            ClientProgress::Idle(ms) => format!("idle: {ms:.1} ms"),
            ClientProgress::Second(way, at, mbit) => {
                format!("{} {at:.0} s: {mbit:.1} Mbit/s", way.name())
            }
        };
        let (start, end) = if terminal {
            ("\r\x1b[K", "")
        } else {
            ("", "\n")
        };
        // Nobody may look.
        let _ = write!(std::io::stderr(), "{start}{text}{end}");
        if terminal && matches!(seen, ClientProgress::Idle(_)) {
            eprintln!();
        }
    }
}

fn refused(problem: Problem) -> Refused {
    let text = problem.to_string();
    match problem {
        Problem::Refused(_) => Refused::new(&text, ""),
        Problem::Server(_) | Problem::System { .. } | Problem::Interrupted => {
            Refused::failed(&text, "")
        }
        Problem::Unreachable(_) => Refused::failed(
            &text,
            "is the name right, and does its firewall let the TCP port through? A server of your own runs `analects \
             probe serve`; where the way out is a proxy, its line cannot be measured from here",
        ),
    }
}

/// The rates of a shaper, as its commands take them.
fn rates(shaper: &Shaper) -> serde_json::Value {
    serde_json::json!({
        "down": shaper.down.rate.to_string(),
        "up": shaper.up.map(|part| part.rate.to_string()),
    })
}

fn json(
    found: &Measured,
    said: Option<&str>,
    shaper: Option<&Shaper>,
    evenings: &[evening::Evening],
    before: Option<&Figures>,
) -> String {
    // A measurement has finite numbers and plain names: JSON can represent all of it.
    let mut value = serde_json::to_value(found).unwrap_or_default();
    value["version"] = crate::own::version_of_results().into();
    value["queue_said"] = said.into();
    value["shaper"] = shaper.map(rates).into();
    value["evenings"] = serde_json::to_value(evenings).unwrap_or_default();
    value["before"] = serde_json::to_value(before).unwrap_or_default();
    value.to_string() + "\n"
}
