//! Gives the shapers of a device the rates that its line carries.

use super::limits::limits;
use super::standing::Standing;
use super::view::View;
use super::{BEAT, Pilot, changed, controller, object};
use crate::cli::AutorateArgs;
use crate::on_host::{host, now};
use crate::others;
use crate::page::Board;
use autorate::{Decision, Way, Ways};
use command::{Refused, print};
use netcfg::{Changes, Claim, Device, Direction, FollowedDevice, Host, Limits, Runner, ShapedRate};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use units::Choice;

/// How often the set-up is looked at where the kernel tells of a change, and where it tells of none.
const SOON: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(5);

/// Follows as the command line says, until a signal comes, or the set-up is another program's.
/// A page is told of it.
pub fn by_hand(
    args: &AutorateArgs,
    device: &Device,
    page: Option<Arc<Board>>,
) -> Result<(), Refused> {
    let how = How {
        controller: controller(args.favour),
        limits: Ways {
            down: Some(limits(Way::Down, args.down.as_deref())?),
            up: Some(limits(Way::Up, args.up.as_deref())?),
        },
        keep: args.keep,
        json: args.json,
        page,
    };
    device.index()?;
    let mut host = host(args.dry_run)?;
    // Without a set-up nothing is written.
    let looked = FollowedDevice::of(&mut host, &args.state, device, None)?;
    if args.down.is_some() && looked.set().down.is_none() {
        let message = format!("--down: what {device} receives is not shaped");
        let help = "give `analects tc apply` a rate for it first, or leave --down out here";
        return Err(Refused::new(&message, help));
    }
    if args.dry_run {
        return how.announce(&looked, true);
    }
    others::look(&[device, &device.shaped_ingress()], false)?;
    let claim = Claim::of(&args.state, device)?;
    let followed = FollowedDevice::of(&mut host, &args.state, device, Some(claim))?;
    how.follow(&mut host, followed)
}

/// Follows as was asked for when the set-up of `device` was applied; nothing if it was not. A page is told of it.
///
/// # Errors
/// As for what is said on the command line.
pub fn as_applied(
    host: &mut Host,
    state: &Path,
    device: &Device,
    claim: Claim,
    page: Option<Arc<Board>>,
) -> Result<(), Refused> {
    let followed = FollowedDevice::of(host, state, device, Some(claim))?;
    let Some(follow) = followed.follow().cloned() else {
        return Ok(());
    };
    let controller = follow.controller.parse();
    let bad = |refusal| Refused::because(refusal, "`analects tc apply` sets it up anew");
    let how = How {
        controller: controller.map_err(bad)?,
        limits: Ways {
            down: follow.of(Direction::Down),
            up: follow.of(Direction::Up),
        },
        keep: false,
        json: false,
        page,
    };
    how.follow(host, followed)
}

/// How a line is followed.
struct How {
    controller: Choice,
    /// Of the directions that are.
    limits: Ways<Option<Limits>>,
    /// The last rates stay at the end.
    keep: bool,
    json: bool,
    page: Option<Arc<Board>>,
}

impl How {
    fn follow(&self, host: &mut Host, mut followed: FollowedDevice) -> Result<(), Refused> {
        let device = followed.device().clone();
        self.announce(&followed, false)?;
        let ended = RateFollower::new(self, &followed)
            .and_then(|mut follower| follower.run(host, &mut followed));
        if self.keep {
            eprintln!("{device}: the last rates stay; `analects tc apply` sets others");
            return ended;
        }
        let restored = followed.restore(host);
        if restored == Ok(true) {
            eprintln!("{device}: the rates of `analects tc apply` are put back");
        }
        match (ended, restored) {
            (Ok(()), restored) => Ok(restored.map(|_| ())?),
            (Err(refused), Ok(_)) => Err(refused),
            (Err(refused), Err(error)) => {
                let message = format!("{refused}; and its rates could not be put back: {error}");
                Err(Refused::failed(&message, &error.help))
            }
        }
    }

    /// Says what stands and how far it will be followed; if `dry`, prints by which commands.
    fn announce(&self, followed: &FollowedDevice, dry: bool) -> Result<(), Refused> {
        let device = followed.device();
        for way in Way::BOTH {
            let Some(rate) = followed.rates().of(direction(way)) else {
                eprintln!("{device} {way}: not shaped");
                continue;
            };
            let Some(limits) = self.limits[way] else {
                eprintln!("{device} {way}: {rate}, which stays");
                continue;
            };
            eprintln!("{device} {way}: {rate} at first, then as the line carries, {limits}");
            let change = followed.rate_change(direction(way), limits.hold(rate.get()));
            if let Some(change) = change.filter(|_| dry) {
                print(&format!("{}\n", change.command()))?;
            }
        }
        Ok(())
    }
}

fn direction(way: Way) -> Direction {
    match way {
        Way::Down => Direction::Down,
        Way::Up => Direction::Up,
    }
}

/// What is followed, and how it stands.
struct RateFollower {
    device: Device,
    pilot: Pilot,
    view: View,
    /// Of the directions that are followed.
    standing: Ways<Option<Standing>>,
    json: bool,
    page: Option<Arc<Board>>,
    began: Duration,
    /// What tells of other programs' changes, whether it did, and when the set-up was last looked at.
    told: Option<Changes>,
    changed: bool,
    looked: Duration,
}

impl RateFollower {
    fn new(how: &How, followed: &FollowedDevice) -> Result<Self, Refused> {
        let (at, rates) = (now(), followed.rates());
        let standing = |way| {
            let rate = rates.of(direction(way))?;
            Some(Standing {
                rate,
                since: at,
                limits: how.limits[way]?,
            })
        };
        Ok(RateFollower {
            device: followed.device().clone(),
            pilot: Pilot::new(how.controller.clone(), rates)?,
            view: View::of(followed.device(), followed.ifb().as_ref())?,
            standing: Ways {
                down: standing(Way::Down),
                up: standing(Way::Up),
            },
            json: how.json,
            page: how.page.clone(),
            began: at,
            told: Changes::of_queues().ok(),
            changed: true,
            looked: at,
        })
    }

    fn run(&mut self, host: &mut Host, followed: &mut FollowedDevice) -> Result<(), Refused> {
        while !host.interrupted() {
            std::thread::sleep(BEAT);
            self.look(host, followed)?;
            let failed = |error| Refused::failed(&format!("{}: {error}", self.device), "");
            let (at, decision) = self.pilot.beat(&mut self.view).map_err(failed)?;
            for way in Way::BOTH {
                self.change(host, followed, at, way, &decision[way])?;
            }
        }
        Ok(())
    }

    /// Looks whether the set-up is still ours, when it is time.
    fn look(&mut self, host: &mut Host, followed: &FollowedDevice) -> Result<(), Refused> {
        let at = now();
        // A socket that fails, or is none, tells nothing: the next look is soon.
        self.changed |= self.hears().unwrap_or(true);
        let since = at.saturating_sub(self.looked);
        if since < SOON || since < SELDOM && !self.changed {
            return Ok(());
        }
        (self.looked, self.changed) = (at, false);
        followed.look(host)?;
        Ok(())
    }

    /// Whether the kernel tells of changes since the last time.
    fn hears(&self) -> Option<bool> {
        self.told.as_ref()?.wait(Duration::ZERO).ok()
    }

    /// Gives one direction the rate that is decided, if that is worth it, and says so.
    fn change(
        &mut self,
        host: &mut Host,
        followed: &mut FollowedDevice,
        at: Duration,
        way: Way,
        decision: &Decision,
    ) -> Result<(), Refused> {
        let Some(standing) = self.standing[way] else {
            return Ok(());
        };
        if let Some(page) = &self.page {
            let wait = decision.why.wait();
            let wait = wait.map(|wait| Duration::from_nanos(wait.as_nanos()));
            page.note(at, &self.device, way, standing.rate.into(), wait);
        }
        let Some(next) = standing.next(at, decision) else {
            return Ok(());
        };
        followed.change(host, direction(way), next.rate)?;
        // What it tells of now is this change.
        self.hears();
        self.standing[way] = Some(next);
        self.say(at, way, decision, standing.rate, next.rate)
    }

    fn say(
        &self,
        at: Duration,
        way: Way,
        decision: &Decision,
        from: ShapedRate,
        to: ShapedRate,
    ) -> Result<(), Refused> {
        let device = &self.device;
        let object = || {
            let mut line = object(device, at, way, decision, to.get());
            line["from_bps"] = u64::from(from).into();
            line
        };
        if let Some(page) = &self.page {
            page.changed(at, device, way, object());
        }
        if self.json {
            return print(&format!("{}\n", object()));
        }
        let passed = at.saturating_sub(self.began);
        print(&format!(
            "{}\n",
            changed(passed, device, way, [from, to], decision)
        ))
    }
}
