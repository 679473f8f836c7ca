//! `analects link`: a command behind a link of one's choice.

mod records;
mod taps;
mod view;

use crate::cli::LinkArgs;
use command::Refused;
use link::{Capacity, Chance, Line, Link};
use live::{Counts, Done, Frame, Setup, SharedTap};
use qdisc::{Choice, Env, Home, Registry};
use scenario::{Buffer, files};
use serde_json::json;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;
use taps::Taps;
use units::{Duration, Rate};

type Result<T> = core::result::Result<T, Refused>;

const LONGEST: Duration = Duration::from_secs(60);

/// Runs the command, and returns its status.
pub fn run(args: &LinkArgs) -> Result<u8> {
    let setup = setup(args)?;
    let taps = Taps::of(args)?.map(|taps| Rc::new(RefCell::new(taps)));
    let tap = taps.clone().map(|taps| taps as SharedTap);
    let done = live::run(Setup { tap, ..setup });
    let done = done.map_err(|error| Refused::failed(&error.message, &error.help))?;
    eprint!("{}", described(&done));
    if done.unanswered {
        let firewall = done.far_is_host.then(router::firewall).flatten();
        eprint!("{}", silent(firewall.as_deref(), &done));
    }
    if let Some(taps) = taps {
        taps.borrow_mut().finish()?;
    }
    if let Some(file) = &args.json {
        let text = format!("{:#}\n", as_json(&done));
        let failed = |error: std::io::Error| {
            Refused::failed(&format!("{}: {error}", file.display()), "name another file")
        };
        std::fs::write(file, text).map_err(failed)?;
    }
    Ok(done.status)
}

impl LinkArgs {
    fn choice(&self) -> Result<Choice> {
        let parsed = self.discipline.parse::<Choice>();
        parsed.map_err(|refusal| Refused::because(refusal.within("--discipline"), CHOICES))
    }
}

/// Where disciplines are listed.
pub const CHOICES: &str = "`analects list disciplines` lists the disciplines";

fn setup(args: &LinkArgs) -> Result<Setup> {
    let rtt = time("--rtt", &args.rtt)?;
    let loss = share("--loss", &args.loss)?;
    let buffer = args.buffer.as_deref().map(buffer).transpose()?;
    let capacities = [
        capacity("--down", args.down.as_deref())?,
        capacity("--up", args.up.as_deref())?,
    ];
    let burst = capacities.iter().map(burst).min().unwrap_or_default();
    let choice = args.choice()?;
    let build = |capacity: Capacity, name: &str, home: Home| {
        let env = Env {
            rate: match capacity {
                Capacity::Constant(rate) => Some(rate),
                Capacity::Trace(_) => None,
            },
            limit: buffer.map(|buffer| buffer.limit(capacity.nominal(), rtt)),
            home: Some(home),
            ..Env::default()
        };
        let queue = Registry::<Frame>::builtin().build(&choice, &env);
        let queue =
            queue.map_err(|refusal| Refused::because(refusal.within("--discipline"), CHOICES))?;
        let chance = Chance::new(loss, 1.0, Duration::ZERO, env.seed, name);
        let line = Line {
            delay: Duration::from_nanos(rtt.as_nanos() / 2),
            chance: (loss > 0.0).then_some(chance),
            ..Line::new(capacity)
        };
        Ok::<_, Refused>(Link::new(queue, line))
    };
    let [down, up] = capacities;
    Ok(Setup {
        down: build(down, "down", Home::Receivers)?,
        up: build(up, "up", Home::Senders)?,
        burst,
        command: command(args),
        far: args.far.clone(),
        internet: args.internet,
        tap: None,
    })
}

fn command(args: &LinkArgs) -> Vec<OsString> {
    if args.command.is_empty() {
        return vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())];
    }
    args.command.clone()
}

/// A rate, or the contents of a file.
pub fn capacity(option: &str, text: Option<&str>) -> Result<Capacity> {
    let Some(text) = text else {
        return Ok(Capacity::Constant(Rate::from_bits(1_000_000_000_000)));
    };
    if let Ok(rate) = text.parse::<Rate>() {
        if (1_000..=1_000_000_000_000).contains(&rate.as_bits()) {
            return Ok(Capacity::Constant(rate));
        }
        let message = format!("{option}: {text} is not in 1kbit to 1tbit");
        return Err(Refused::new(&message, "write for example 20mbit"));
    }
    if !Path::new(text).exists() {
        let why = files::tilde(Path::new(text)).map_or(String::new(), |why| format!(": {why}"));
        let message = format!("{option}: {text:?} is no rate, and no file{why}");
        let help = "write a rate such as 20mbit, or the name of a trace";
        return Err(Refused::new(&message, help));
    }
    let trace = files::trace(text).map_err(|error| {
        let place = match error.file.as_str() {
            "" => option.to_owned(),
            file => format!("{option}: {file}"),
        };
        Refused::new(&format!("{place}: {}", error.message), &error.help)
    })?;
    eprintln!("{}", files::told(text, &trace));
    Ok(Capacity::Trace(trace.into()))
}

/// The bytes of a millisecond: a longer packet is cut into segments before it gets here.
fn burst(capacity: &Capacity) -> u32 {
    match capacity {
        Capacity::Constant(rate) => {
            let bytes = rate.bytes_in(Duration::from_millis(1));
            u32::try_from(bytes).unwrap_or(u32::MAX)
        }
        // It may be slow at any time.
        Capacity::Trace(_) => 0,
    }
}

fn time(option: &str, text: &str) -> Result<Duration> {
    let help = "write for example 40ms: 0ms to 60s";
    let time = text
        .parse::<Duration>()
        .map_err(|error| Refused::new(&format!("{option}: {error}"), help))?;
    if time > LONGEST {
        return Err(Refused::new(
            &format!("{option}: {time} is more than 60s"),
            help,
        ));
    }
    Ok(time)
}

fn share(option: &str, text: &str) -> Result<f64> {
    let percent = text.trim().strip_suffix('%');
    let number: Option<f64> = percent.unwrap_or(text).trim().parse().ok();
    let share = number.map(|number| {
        if percent.is_some() {
            number / 100.0
        } else {
            number
        }
    });
    let message = format!("{option}: {text:?} is no share from 0 to below 1");
    share
        .filter(|share| (0.0..1.0).contains(share))
        .ok_or_else(|| Refused::new(&message, "write for example 1% or 0.01"))
}

fn buffer(text: &str) -> Result<Buffer> {
    let help = "write for example 250p, 375kB or 1.5bdp";
    text.parse()
        .map_err(|error| Refused::new(&format!("--buffer: {error}"), help))
}

fn mbit(counts: &Counts, seconds: f64) -> f64 {
    counts.sent_bytes as f64 * 8.0 / 1e6 / seconds.max(1e-9)
}

fn mean_ms(counts: &Counts) -> f64 {
    counts.sojourn_ns as f64 / 1e6 / (counts.sent.max(1)) as f64
}

fn late_us(done: &Done, quantile: f64) -> f64 {
    done.late.value_at_quantile(quantile) as f64 / 1e3
}

fn described(done: &Done) -> String {
    let mut text = String::new();
    for (name, counts) in [("down", &done.down), ("up", &done.up)] {
        text += &format!(
            "{name}: {} packets, {:.3} Mbit/s on average; waited {:.2} ms on average, {:.2} ms at most; \
             dropped {}, marked {}, lost {}\n",
            counts.sent,
            mbit(counts, done.seconds),
            mean_ms(counts),
            counts.longest_ns as f64 / 1e6,
            counts.drops,
            counts.marks,
            counts.lost,
        );
    }
    if done.far != "100.64.0.1" {
        text += &format!(
            "the far side was {}, since this host has 100.64.0.1 elsewhere\n",
            done.far
        );
    }
    if !done.ipv6 {
        text += "this host has IPv6 switched off (net.ipv6.conf.default.disable_ipv6): the link had IPv4 alone\n";
    }
    if done.names_asked > 0 {
        text +=
            "the command asked for names, and was told that there are none: they need --internet\n";
    }
    let late = late_us(done, 0.99);
    if late > live::BELIEVED_US || done.missed > 0 {
        text += &format!(
            "not to be believed: this host was too slow. Of 100 packets one was {:.1} ms late or more, and \
             {} were not read at all\n",
            late / 1e3,
            done.missed
        );
    }
    text
}

/// What is said where packets went out and none came back; `firewall` is the chain that drops them.
fn silent(firewall: Option<&str>, done: &Done) -> String {
    let why = match firewall {
        Some(chain) => format!(
            "this host's firewall drops what comes from the link ({chain}): permit -i analects+, or run it as a \
             plain user with --far; `analects doctor link` tells"
        ),
        None if done.far_is_host => "no firewall was found to drop it; does anything here answer it?".to_owned(),
        None => "the far side is a network of its own: it has what --far runs, and with --internet the Internet"
            .to_owned(),
    };
    format!("nothing came back through the link: {why}\n")
}

fn as_json(done: &Done) -> serde_json::Value {
    let way = |counts: &Counts| {
        json!({
            "counts": counts,
            "mbit_per_s": mbit(counts, done.seconds),
            "sojourn_ms": mean_ms(counts),
        })
    };
    json!({
        "seconds": done.seconds,
        "processor_seconds": done.processor_seconds,
        "status": done.status,
        "far": done.far,
        "ipv6": done.ipv6,
        "names_asked": done.names_asked,
        "unanswered": done.unanswered,
        "down": way(&done.down),
        "up": way(&done.up),
        "missed": done.missed,
        "late_us": {
            "p50": late_us(done, 0.5),
            "p99": late_us(done, 0.99),
            "max": done.late.max() as f64 / 1e3,
        },
    })
}
