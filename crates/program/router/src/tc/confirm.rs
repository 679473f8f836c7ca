//! A set-up on trial: undone, unless its owner says in time that it may stay.

use super::{apply_settings, clear_device};
use crate::cli::TcApply;
use command::Refused;
use netcfg::{Device, Host, Runner, Settings};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::BufRead as _;
use std::time::{Duration, Instant};

/// How often a signal is looked for.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};
/// What confirms.
const WORD: &str = "yes";

/// Waits for a word of the owner until `span` is over or a signal comes. Without it, `device` gets `before` again,
/// or what it had before any set-up.
///
/// # Errors
/// If it was not confirmed, or cannot be undone.
pub fn confirm(
    args: &TcApply,
    host: &Host,
    device: &Device,
    before: Option<&Settings>,
    span: Duration,
) -> Result<(), Refused> {
    eprintln!(
        "{device}: on trial: type {WORD} and Enter within {} s, or it is undone, as it is if this terminal goes",
        span.as_secs()
    );
    if said(host, span) {
        eprintln!("{device}: it stays");
        return Ok(());
    }
    // A signal that came does not keep it from being undone.
    let mut host = Host::default();
    match before {
        Some(before) => apply_settings(args, &mut host, device, before)?,
        None => clear_device(&args.state, &mut host, device)?,
    }
    let message = format!("{device}: it was not confirmed, and is undone");
    Err(Refused::failed(
        &message,
        "apply it without --confirm once it is good",
    ))
}

/// Whether the word came in time.
#[expect(clippy::disallowed_methods, reason = "a span of this host's own time")]
fn said(host: &Host, span: Duration) -> bool {
    let (began, stdin) = (Instant::now(), std::io::stdin());
    let mut ended = false;
    while began.elapsed() < span && !host.interrupted() {
        if ended {
            std::thread::sleep(Duration::from_millis(200));
            continue;
        }
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut ready, Some(&LOOK)).is_ok_and(|ready| ready > 0) {
            let mut line = String::new();
            // Nobody types where there is no more input: the time runs on.
            ended = stdin
                .lock()
                .read_line(&mut line)
                .map_or(true, |read| read == 0);
            if line.trim() == WORD {
                return true;
            }
        }
    }
    false
}
