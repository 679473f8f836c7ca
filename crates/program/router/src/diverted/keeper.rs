//! Looks after the rules that lead packets to this process, beside the thread that serves them: another program
//! that flushes them would else leave everything unshaped without a word.

use core::time::Duration;
use netcfg::divert::Kept;
use netcfg::{Changes, Error, Host, Store};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

/// The end of this process waits no longer for a look to begin.
const PATIENCE: Duration = Duration::from_millis(200);
/// Time between two looks where the kernel tells of no changes.
const EACH: Duration = Duration::from_secs(1);
/// The same where it does, should one be lost.
const SELDOM: Duration = Duration::from_secs(30);
/// A firewall that reloads makes many changes at once.
const BETWEEN: Duration = Duration::from_millis(300);
/// How long another analects may change this host's network meanwhile.
const LOCKED: Duration = Duration::from_secs(5);
/// Failures in a row after which this is given up.
const MOST: u32 = 3;

/// The thread.
pub struct Keeper {
    state: Arc<KeeperState>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct KeeperState {
    ends: AtomicBool,
    restored: AtomicU64,
    failed: Mutex<Option<Error>>,
}

impl Keeper {
    /// Looks after `kept` from now on; `folder` has its journal.
    pub fn begin(kept: Kept, folder: PathBuf) -> Self {
        let state = Arc::new(KeeperState::default());
        let of_thread = Arc::clone(&state);
        let thread = std::thread::spawn(move || look_after(kept, &folder, &of_thread));
        Keeper { state, thread }
    }

    /// How often the rules were put back.
    pub fn restored(&self) -> u64 {
        self.state.restored.load(Ordering::Relaxed)
    }

    /// Whether it has given up.
    pub fn has_failed(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends it; the error for which it gave up.
    pub fn end(self) -> Result<(), Error> {
        self.state.ends.store(true, Ordering::Relaxed);
        let ended = self.thread.join();
        ended.map_err(|_| Error::failed("what looks after the rules broke", "report this"))?;
        let mut failed = self.state.failed.lock();
        match failed.as_mut().ok().and_then(|failed| failed.take()) {
            Some(error) => Err(Error {
                message: format!(
                    "another program took the rules away, and they cannot be put back: {}",
                    error.message
                ),
                ..error
            }),
            None => Ok(()),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "when to look again, not a result"
)]
fn look_after(mut kept: Kept, folder: &std::path::Path, state: &KeeperState) {
    let mut host = Host::default();
    let mut changes = Changes::of_rules().ok().filter(|_| kept.are_told());
    let (mut last, mut told, mut failures) = (Instant::now(), false, 0);
    while !state.ends.load(Ordering::Relaxed) {
        match changes.as_ref().map(|changes| changes.wait(PATIENCE)) {
            Some(Ok(now)) => told |= now,
            Some(Err(_)) => changes = None,
            None => std::thread::sleep(PATIENCE),
        }
        let often = if changes.is_some() && failures == 0 {
            SELDOM
        } else {
            EACH
        };
        let since = last.elapsed();
        if since < often && !(told && since >= BETWEEN) {
            continue;
        }
        (last, told) = (Instant::now(), false);
        match restored(&mut kept, &mut host, folder) {
            Ok(false) => failures = 0,
            Ok(true) => {
                failures = 0;
                if state.restored.fetch_add(1, Ordering::Relaxed) == 0 {
                    eprintln!("another program took the rules away; they are there again");
                }
            }
            Err(error) => {
                failures += 1;
                if failures == MOST {
                    if let Ok(mut failed) = state.failed.lock() {
                        *failed = Some(error);
                    }
                    return;
                }
            }
        }
    }
}

/// Puts the rules back if they do not stand; whether that was so.
fn restored(kept: &mut Kept, host: &mut Host, folder: &std::path::Path) -> Result<bool, Error> {
    if kept.stand(host)? {
        return Ok(false);
    }
    let store = Store::open(folder, LOCKED, host)?;
    kept.make_again(host, &store)?;
    Ok(true)
}
