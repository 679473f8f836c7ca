//! Says which rates a line's shaper should have, and sets none.

use super::view::View;
use super::{BEAT, Pilot, controller, object};
use crate::cli::AutorateArgs;
use crate::on_host::{host, now};
use autorate::{Decision, Way, Ways};
use command::{Refused, print};
use netcfg::{Device, Host, Rates, Runner};
use std::time::Duration;

/// How often a change is said at most.
const SAY: Duration = Duration::from_secs(1);
/// How often the device is looked for.
const AGAIN: Duration = Duration::from_millis(500);
/// A rate closer to the last than this part of it is the same.
const STEP: u64 = 100;

/// Observes until a signal comes.
pub fn observe(args: &AutorateArgs, device: &Device) -> Result<(), Refused> {
    let pilot = || Pilot::new(controller(args.favour), Rates::default());
    let mut observer = Observer {
        pilot: pilot()?,
        looked_for: now(),
        said: Ways::default(),
        json: args.json,
        device: device.clone(),
    };
    let host = host(false)?;
    let mut view = View::of(device, None)?;
    eprintln!("{device}: only looking; nothing is changed");
    while !host.interrupted() {
        std::thread::sleep(BEAT);
        if observer.beat(&mut view)? {
            continue;
        }
        eprintln!("{device} is not there; looking for it");
        match returned(&host, device)? {
            Some(again) => view = again,
            None => return Ok(()),
        }
        // It may be another line by now.
        observer.pilot = pilot()?;
        eprintln!("{device} is there again; nothing is known of its line yet");
    }
    Ok(())
}

/// Looks for a device that went away; none if a signal came first.
fn returned(host: &Host, device: &Device) -> Result<Option<View>, Refused> {
    while !host.interrupted() {
        std::thread::sleep(AGAIN);
        if device.index().is_ok() {
            return View::of(device, None).map(Some);
        }
    }
    Ok(None)
}

/// A controller, and what was said of it.
struct Observer {
    pilot: Pilot,
    /// When the device was last looked for.
    looked_for: Duration,
    said: Ways<Option<(Duration, Decision)>>,
    json: bool,
    device: Device,
}

impl Observer {
    /// Says what the controller decides; whether the device is still there.
    fn beat(&mut self, view: &mut View) -> Result<bool, Refused> {
        let decided = self.pilot.beat(view);
        let (at, decision) =
            decided.map_err(|error| Refused::failed(&format!("{}: {error}", self.device), ""))?;
        for way in Way::BOTH {
            self.say(at, way, decision[way])?;
        }
        if at.saturating_sub(self.looked_for) < AGAIN {
            return Ok(true);
        }
        self.looked_for = at;
        Ok(view.see_it())
    }

    fn say(&mut self, at: Duration, way: Way, decision: Decision) -> Result<(), Refused> {
        if let Some((when, last)) = self.said[way] {
            let moved = last.rate.as_bits().abs_diff(decision.rate.as_bits()) * STEP;
            let same = moved <= last.rate.as_bits() && last.why.name() == decision.why.name();
            if same || at.saturating_sub(when) < SAY {
                return Ok(());
            }
        }
        self.said[way] = Some((at, decision));
        let Decision { rate, why, told } = decision;
        let device = &self.device;
        if !self.json {
            return print(&format!("{device} {way}: {rate}, {why} (by {told})\n"));
        }
        let line = object(device, at, way, &decision, rate);
        print(&format!("{line}\n"))
    }
}
