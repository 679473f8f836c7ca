//! `analects autorate`: the rates that a line's shaper should have, by what passes.

mod eyes;
mod headers;

use crate::cli::AutorateArgs;
use crate::tc;
use autorate::{Controller, Decision, Registry, Signal, Way, Ways};
use command::{Refused, print};
use eyes::{Eyes, Seen};
use netcfg::{Device, Host, Runner};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::time::Duration;
use units::{Choice, Instant};

/// How often packets are looked at and the controller is asked.
const BEAT: Duration = Duration::from_millis(5);
/// How often a change is said at most.
const SAY: Duration = Duration::from_secs(1);
/// How often the device is looked for.
const AGAIN: Duration = Duration::from_millis(500);
/// A rate closer to the last than this part of it is the same.
const STEP: u64 = 100;

/// Observes until a signal comes.
pub fn run(args: &AutorateArgs) -> Result<(), Refused> {
    let device = tc::device(&args.dev)?;
    let controller: Choice = format!("drain,favour={}", args.favour)
        .parse()
        .map_err(|refusal| Refused::because(refusal, "write --favour calls, both or downloads"))?;
    let build = || {
        let built = Registry::builtin().build(&controller);
        built
            .map_err(|refusal| Refused::because(refusal, "write --favour calls, both or downloads"))
    };
    let mut observer = Observer {
        controller: build()?,
        last: Duration::ZERO,
        looked_for: now(),
        said: Ways::default(),
        json: args.json,
        device: device.clone(),
    };
    let host = tc::host(false)?;
    let mut eyes = Eyes::of(&device)?;
    eprintln!("{device}: only looking; nothing is changed");
    while !host.interrupted() {
        std::thread::sleep(BEAT);
        if observer.beat(&mut eyes)? {
            continue;
        }
        eprintln!("{device} is not there; looking for it");
        match returned(&host, &device)? {
            Some(again) => eyes = again,
            None => return Ok(()),
        }
        // It may be another line by now.
        observer.controller = build()?;
        eprintln!("{device} is there again; nothing is known of its line yet");
    }
    Ok(())
}

/// Looks for a device that went away; none if a signal came first.
fn returned(host: &Host, device: &Device) -> Result<Option<Eyes>, Refused> {
    while !host.interrupted() {
        std::thread::sleep(AGAIN);
        if device.index().is_ok() {
            return Eyes::of(device).map(Some);
        }
    }
    Ok(None)
}

/// The time since the machine started, its sleep included: the far ends' clocks go on meanwhile.
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

fn instant(at: Duration) -> Instant {
    let nanos = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
    Instant::ZERO + units::Duration::from_nanos(nanos)
}

/// A controller, and what was said of it.
struct Observer {
    controller: Box<dyn Controller>,
    /// When the device was last looked for.
    looked_for: Duration,
    /// The last moment that it was told of.
    last: Duration,
    said: Ways<Option<(Duration, Decision)>>,
    json: bool,
    device: Device,
}

impl Observer {
    /// Tells the controller what passed, and says what it decides; whether the device is still there.
    fn beat(&mut self, eyes: &mut Eyes) -> Result<bool, Refused> {
        let at = now();
        let (controller, last) = (&mut self.controller, &mut self.last);
        let looked = eyes.look(&mut |seen| {
            // Its moments never run backwards, whatever happens to the host's clock.
            *last = at.saturating_sub(seen.ago).max(*last);
            tell(controller.as_mut(), instant(*last), &seen);
        });
        looked.map_err(|error| Refused::failed(&format!("{}: {error}", self.device), ""))?;
        self.last = at.max(self.last);
        let decision = self.controller.decide(instant(self.last));
        for way in Way::BOTH {
            self.say(at, way, decision[way])?;
        }
        if at.saturating_sub(self.looked_for) < AGAIN {
            return Ok(true);
        }
        self.looked_for = at;
        Ok(eyes.see_it())
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
        if !self.json {
            let device = &self.device;
            return print(&format!("{device} {way}: {rate}, {why} (by {told})\n"));
        }
        let line = json!({
            "time_s": at.as_secs_f64(),
            "device": self.device,
            "way": way.to_string(),
            "rate_bps": rate.as_bits(),
            "reason": why.name(),
            "why": why.to_string(),
            "told_by": told.to_string(),
        });
        print(&format!("{line}\n"))
    }
}

/// Tells a controller of a packet. What comes is not held here, so it is past the shaper as well.
fn tell(controller: &mut dyn Controller, when: Instant, seen: &Seen) {
    if seen.leaves {
        return controller.tell(when, &Signal::Shaped(Way::Up, seen.packet));
    }
    controller.tell(when, &Signal::Came(seen.packet));
    controller.tell(when, &Signal::Shaped(Way::Down, seen.packet));
}
