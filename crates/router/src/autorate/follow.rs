//! Gives the shapers of a device the rates that its line carries.

use super::limits::Limits;
use super::standing::Standing;
use super::view::View;
use super::{BEAT, Pilot, now, object};
use crate::cli::AutorateArgs;
use crate::tc;
use autorate::{Decision, Way, Ways};
use command::{Refused, print};
use netcfg::{Changes, Device, Direction, Followed, Host, Runner, ShapedRate};
use std::time::Duration;

/// How often the set-up is looked at where the kernel tells of a change, and where it tells of none.
const SOON: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(5);

/// Follows until a signal comes, or the set-up is another program's.
pub fn follow(args: &AutorateArgs, device: &Device) -> Result<(), Refused> {
    let limits = Ways {
        down: Limits::of(Way::Down, args.down.as_deref())?,
        up: Limits::of(Way::Up, args.up.as_deref())?,
    };
    device.index()?;
    let mut host = tc::host(args.dry_run)?;
    let mut followed = Followed::of(&mut host, &args.state, device, args.dry_run)?;
    if args.down.is_some() && followed.set().down.is_none() {
        let message = format!("--down: what {device} receives is not shaped");
        let help = "give `analects tc apply` a rate for it first, or leave --down out here";
        return Err(Refused::new(&message, help));
    }
    for way in Way::BOTH {
        announce(&followed, way, limits[way], args.dry_run)?;
    }
    if args.dry_run {
        return Ok(());
    }
    let ended = Follower::new(args, &followed, limits)
        .and_then(|mut follower| follower.run(&mut host, &mut followed));
    if args.keep {
        eprintln!("{device}: the last rates stay; `analects tc apply` sets others");
        return ended;
    }
    let restored = followed.restore(&mut host);
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

fn direction(way: Way) -> Direction {
    match way {
        Way::Down => Direction::Down,
        Way::Up => Direction::Up,
    }
}

/// Says what stands and how far it will be followed; if `dry`, prints by which command.
fn announce(followed: &Followed, way: Way, limits: Limits, dry: bool) -> Result<(), Refused> {
    let device = followed.device();
    let Some(rate) = followed.rates().of(direction(way)) else {
        eprintln!("{device} {way}: not shaped");
        return Ok(());
    };
    let Limits { least, most } = limits;
    eprintln!("{device} {way}: {rate} at first, then as the line carries, from {least} to {most}");
    match followed.command(direction(way), limits.hold(rate.get())) {
        Some(command) if dry => print(&format!("{command}\n")),
        _ => Ok(()),
    }
}

/// What is followed, and how it stands.
struct Follower {
    device: Device,
    pilot: Pilot,
    view: View,
    limits: Ways<Limits>,
    /// Of the directions that are shaped.
    standing: Ways<Option<Standing>>,
    json: bool,
    began: Duration,
    /// What tells of other programs' changes, whether it did, and when the set-up was last looked at.
    told: Option<Changes>,
    changed: bool,
    looked: Duration,
}

impl Follower {
    fn new(
        args: &AutorateArgs,
        followed: &Followed,
        limits: Ways<Limits>,
    ) -> Result<Self, Refused> {
        let (at, rates) = (now(), followed.rates());
        let standing = |way| {
            let rate = rates.of(direction(way))?;
            Some(Standing { rate, since: at })
        };
        Ok(Follower {
            device: followed.device().clone(),
            pilot: Pilot::new(args.favour, rates)?,
            view: View::of(followed.device(), followed.ifb().as_ref())?,
            limits,
            standing: Ways {
                down: standing(Way::Down),
                up: standing(Way::Up),
            },
            json: args.json,
            began: at,
            told: Changes::of_queues().ok(),
            changed: true,
            looked: at,
        })
    }

    fn run(&mut self, host: &mut Host, followed: &mut Followed) -> Result<(), Refused> {
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
    fn look(&mut self, host: &mut Host, followed: &Followed) -> Result<(), Refused> {
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
        followed: &mut Followed,
        at: Duration,
        way: Way,
        decision: &Decision,
    ) -> Result<(), Refused> {
        let Some(standing) = self.standing[way] else {
            return Ok(());
        };
        let wanted = self.limits[way].hold(decision.rate);
        if !standing.yields(at, wanted, decision.told) {
            return Ok(());
        }
        followed.change(host, direction(way), wanted)?;
        // What it tells of now is this change.
        self.hears();
        let now = Standing {
            rate: wanted,
            since: at,
        };
        self.standing[way] = Some(now);
        self.say(at, way, decision, standing.rate, wanted)
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
        if self.json {
            let mut line = object(device, at, way, decision, to.get());
            line["from_bps"] = u64::from(from).into();
            return print(&format!("{line}\n"));
        }
        let seconds = at.saturating_sub(self.began).as_secs_f64();
        let Decision { why, told, .. } = decision;
        print(&format!(
            "{seconds:.1} s: {device} {way}: {from} -> {to}, {why} (by {told})\n"
        ))
    }
}
