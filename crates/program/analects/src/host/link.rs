//! `analects link`: a command behind a link of one's choice.

mod declared;
mod records;
mod taps;
mod view;

use crate::cli::LinkArgs;
use command::Refused;
use command::files::unwritable;
use declared::DeclaredLink;
pub use declared::{CHOICES, check_capacity};
use live::{Done, Ended, FAR, FarSide, Setup, SharedTap, WayCounts};
use serde_json::json;
use std::cell::RefCell;
use std::ffi::OsString;
use std::rc::Rc;
use taps::Taps;

type Result<T> = core::result::Result<T, Refused>;

/// What `env` and `timeout` end with where they fail themselves, and the command may not even have begun.
pub const FAILED: u8 = 125;

/// Runs the command, and returns its status; [`FAILED`] or another one of theirs if it did not run.
pub fn run(args: &LinkArgs) -> u8 {
    ran(args).unwrap_or_else(|(refused, status)| {
        eprintln!("{}", refused.rendered());
        status
    })
}

fn ran(args: &LinkArgs) -> core::result::Result<u8, (Refused, u8)> {
    let failed = |refused| (refused, FAILED);
    let setup = setup(args).map_err(failed)?;
    let taps = Taps::of(args).map_err(failed)?;
    let taps = taps.map(|taps| Rc::new(RefCell::new(taps)));
    let tap = taps.clone().map(|taps| taps as SharedTap);
    let done = live::run(Setup { tap, ..setup });
    let done = done.map_err(|error| {
        let refused = far_told(args, &error);
        let refused = refused.unwrap_or(Refused::failed(&error.message, &error.help));
        (refused, error.status)
    })?;
    eprint!("{}", described(&done));
    if done.unanswered {
        let firewall = (done.far_side == FarSide::Host).then(router::firewall);
        eprint!("{}", silent(firewall.flatten().as_deref(), args, &done));
    }
    if let Some(taps) = taps {
        taps.borrow_mut().finish().map_err(failed)?;
    }
    if let Some(file) = &args.json {
        let text = format!("{:#}\n", as_json(&done));
        std::fs::write(file, text).map_err(|error| failed(unwritable(file, &error)))?;
    }
    Ok(done.status)
}

fn setup(args: &LinkArgs) -> Result<Setup> {
    let DeclaredLink { down, up, rtt } = DeclaredLink::of(args)?;
    Ok(Setup {
        down,
        up,
        command: command(args),
        far: args.far.clone(),
        far_ready: args.far_ready,
        host: args.host,
        internet: args.internet,
        rtt,
        tap: None,
    })
}

fn command(args: &LinkArgs) -> Vec<OsString> {
    if args.command.is_empty() {
        return vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())];
    }
    args.command.clone()
}

fn mbit(counts: &WayCounts, seconds: f64) -> f64 {
    counts.sent_bytes as f64 * 8.0 / 1e6 / seconds.max(1e-9)
}

fn mean_ms(counts: &WayCounts) -> f64 {
    counts.sojourn_ns as f64 / 1e6 / (counts.sent.max(1)) as f64
}

/// Tells who asked for JSON that the far side's command is at fault; what failed, if that cannot be written.
fn far_told(args: &LinkArgs, error: &live::Error) -> Option<Refused> {
    let (file, far) = (args.json.as_ref()?, error.far.as_ref()?);
    let text = format!("{:#}\n", json!({ "far_failed": far }));
    std::fs::write(file, text)
        .err()
        .map(|error| unwritable(file, &error))
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
    text += &format!("packets were carried by {}\n", done.class);
    if done.far_side == FarSide::Host && done.far != "100.64.0.1" {
        text += &format!(
            "the far side was {}, since this host has 100.64.0.1 elsewhere\n",
            done.far
        );
    }
    if let Some(why) = &done.cut_off {
        text += &format!("the far side of the link before this one was not reached: {why}\n");
    }
    if !done.ipv6 {
        text += "this host has IPv6 switched off (net.ipv6.conf.default.disable_ipv6): the link had IPv4 alone\n";
    }
    if done.names_asked > 0 {
        text +=
            "the command asked for names, and was told that there are none: they need --internet\n";
    }
    if let Some(Ended { seconds, status }) = done.far_ended {
        text += &format!(
            "what --far ran ended after {seconds:.1} s, with status {status}, before the command did\n"
        );
    }
    if let Some(doubt) = &done.doubt {
        text += &format!("not to be believed: {doubt}\n");
    }
    text
}

/// What is said where packets went out and none came back; `firewall` is the chain that drops them.
fn silent(firewall: Option<&str>, args: &LinkArgs, done: &Done) -> String {
    let why = match (done.far_side, firewall) {
        (FarSide::Host, Some(chain)) => format!(
            "this host's firewall drops what comes from the link ({chain}): permit -i analects+, or run the server by \
             --far, without --host; `analects doctor link` tells"
        ),
        (FarSide::Host, None) => "no firewall was found to drop it; does anything here answer it?".to_owned(),
        (FarSide::Behind, _) => format!(
            "the link before this one, or its far side, does not answer; ${FAR} was {}",
            done.far
        ),
        (FarSide::Own, _) if args.internet => {
            "the Internet does not answer: does this host reach it itself? Pings need net.ipv4.ping_group_range there"
                .to_owned()
        }
        (FarSide::Own, _) => format!(
            "the far side is a network of its own, and only {} (${FAR}) is there: {}; --internet and --host lead further",
            done.far,
            match (&args.far, done.far_ended) {
                (None, _) => "nothing runs at it, without --far",
                (Some(_), Some(_)) => "what --far ran there had ended",
                (Some(_), None) => "what --far runs did not answer",
            }
        ),
    };
    format!("nothing came back through the link: {why}\n")
}

fn as_json(done: &Done) -> serde_json::Value {
    let way = |counts: &WayCounts| {
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
        "far_side": match done.far_side {
            FarSide::Own => "own",
            FarSide::Host => "host",
            FarSide::Behind => "behind",
        },
        "far_ended": done.far_ended,
        "cut_off": done.cut_off,
        "ipv6": done.ipv6,
        "names_asked": done.names_asked,
        "unanswered": done.unanswered,
        "down": way(&done.down),
        "up": way(&done.up),
        "missed": done.missed,
        "late_us": {
            "p50": done.late.us(0.5),
            "p99": done.late.us(0.99),
            "max": done.late.us(1.0),
        },
        "scheduling": { "class": done.class.name(), "described": done.class.to_string() },
        "believed": done.doubt.is_none(),
        "doubt": done.doubt,
    })
}
