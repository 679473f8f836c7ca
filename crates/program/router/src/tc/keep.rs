//! `analects tc keep`: puts back what other programs take away.

use super::followers::{Followers, Thread};
use crate::cli::TcKeep;
use crate::on_host::{device, host, now};
use crate::page::Board;
use command::Refused;
use netcfg::{Changes, Device, Error, ErrorKind, Found, Host, Runner, Store, Upkeep};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A signal waits no longer than this.
const PATIENCE: Duration = Duration::from_millis(200);
/// Waits between two looks where the kernel tells of changes, should one be lost, and where it does not.
const SELDOM: u32 = 25;
const OFTEN: u32 = 5;
/// Waits between any two looks.
const AT_ONCE: u32 = 4;
/// Failures in a row after which a set-up is given up.
const MOST: u32 = 3;

/// Looks after set-ups until a signal comes, or the one that was named is cleared; a page is told what happens.
pub fn keep(args: &TcKeep, page: Option<Arc<Board>>) -> Result<(), Refused> {
    let named = args
        .dev
        .as_deref()
        .map(|name| device("--dev", name))
        .transpose()?;
    let mut host = host(false)?;
    let mut devices = BTreeMap::new();
    let keeper = SetupKeeper {
        args,
        followers: Followers::new(&args.state, &host, page.clone()),
        page,
    };
    let kept = keeper.rounds(named.as_ref(), &mut host, &mut devices);
    keeper.followers.interrupt();
    for (device, one) in &mut devices {
        one.follower.end(device);
    }
    kept
}

/// A set-up that is looked after.
struct One {
    upkeep: Upkeep,
    told: KeptTold,
    follower: Thread,
}

/// Looks after set-ups.
struct SetupKeeper<'a> {
    args: &'a TcKeep,
    followers: Followers,
    page: Option<Arc<Board>>,
}

impl SetupKeeper<'_> {
    /// Looks after them round by round.
    fn rounds(
        &self,
        named: Option<&Device>,
        host: &mut Host,
        devices: &mut BTreeMap<Device, One>,
    ) -> Result<(), Refused> {
        let told = [Changes::of_queues(), Changes::of_rules()];
        while !host.interrupted() {
            let all = match named {
                Some(device) => vec![device.clone()],
                None => Store::look(&self.args.state).devices()?,
            };
            for device in all {
                let new = || One {
                    upkeep: Upkeep::of(&device),
                    told: KeptTold::default(),
                    follower: Thread::default(),
                };
                let kept = devices.entry(device.clone()).or_insert_with(new);
                match one(self.args, host, &device, kept)? {
                    Some(Found::Nothing) if named.is_some() => {
                        eprintln!("nothing is applied to {device}");
                        return Ok(());
                    }
                    Some(Found::Restored(differences)) => {
                        self.put_back(&device, &differences);
                        self.followers.look(&device, &mut kept.follower)?;
                    }
                    Some(Found::Whole) => self.followers.look(&device, &mut kept.follower)?,
                    Some(Found::Nothing | Found::Gone) | None => (),
                }
            }
            rest(host);
            wait(host, &told);
        }
        Ok(())
    }

    /// Tells the page.
    fn put_back(&self, device: &Device, differences: &[String]) {
        if let Some(page) = &self.page {
            page.put_back(now(), device, &in_words(differences));
        }
    }
}

/// What other programs changed, in a line.
fn in_words(differences: &[String]) -> String {
    scenario::printable(&differences.join("; "), 300)
}

/// Changes come in numbers, with a rate that is followed up to ten times a second: a look is for all of them.
fn rest(host: &Host) {
    for _ in 0..AT_ONCE {
        if !host.interrupted() {
            std::thread::sleep(PATIENCE);
        }
    }
}

/// Waits until the kernel tells of a change, or it is time to look, or a signal came.
fn wait(host: &Host, told: &[Result<Changes, impl Sized>; 2]) {
    let [queues, rules] = told;
    let most = match (queues, rules) {
        (Ok(_), Ok(_)) => SELDOM,
        _ => OFTEN,
    };
    let changed = |changes: &Result<Changes, _>, most| {
        let changes = changes.as_ref().ok();
        changes.map_or(Ok(false), |changes: &Changes| changes.wait(most))
    };
    for _ in 0..most {
        let waited = match queues {
            Ok(_) => changed(queues, PATIENCE),
            Err(_) => {
                std::thread::sleep(PATIENCE);
                Ok(false)
            }
        };
        // A socket that fails is one that tells nothing: the next look is in a second.
        match (waited, changed(rules, Duration::ZERO)) {
            (Ok(false), Ok(false)) if !host.interrupted() => (),
            (Err(_), _) | (_, Err(_)) => return std::thread::sleep(5 * PATIENCE),
            _ => return,
        }
    }
}

/// What was told of a set-up, and its failures in a row.
#[derive(Default)]
struct KeptTold {
    restored: bool,
    gone: bool,
    failures: u32,
}

/// Looks after one; none if that failed, and is to be tried again.
fn one(
    args: &TcKeep,
    host: &mut Host,
    device: &Device,
    One { upkeep, told, .. }: &mut One,
) -> Result<Option<Found>, Refused> {
    let looked = Store::look(&args.state);
    let open = |_: &dyn Runner| -> Result<Store, Error> {
        Store::open(&args.state, PATIENCE, &Host::default())
    };
    match upkeep.look(host, &looked, &open) {
        Ok(found) => {
            told.failures = 0;
            told.tell(device, &found);
            Ok(Some(found))
        }
        Err(error) => {
            told.failures += 1;
            if told.failures < MOST {
                Ok(None)
            } else {
                Err(Error {
                    kind: ErrorKind::Failed,
                    message: format!(
                        "{device}: another program changed the set-up, and it cannot be put back: {}",
                        error.message
                    ),
                    ..error
                }
                .into())
            }
        }
    }
}

impl KeptTold {
    /// Says once what happened, and not again while it goes on.
    fn tell(&mut self, device: &Device, found: &Found) {
        if let Found::Restored(differences) = found
            && !std::mem::replace(&mut self.restored, true)
        {
            let what = in_words(differences);
            eprintln!("{device}: another program changed the set-up ({what}); it is there again");
        }
        let gone = *found == Found::Gone;
        if gone && !self.gone {
            eprintln!("{device} is not there; its set-up comes back with it");
        }
        self.gone = gone;
    }
}
