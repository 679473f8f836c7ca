//! Follows the line of a router that shapes what it forwards by itself.

use super::standing::Standing;
use super::view::View;
use super::{Pilot, changed, controller};
use crate::cli::Favoured;
use crate::on_host::now;
use autorate::{Way, Ways};
use command::Refused;
use netcfg::{Device, Limits, Rates, ShapedRate};
use std::time::Duration;

/// How often the devices are looked for.
const AGAIN: Duration = Duration::from_millis(500);

/// What passes between two devices, and the rates that stand.
pub struct Forwarded {
    inside: Device,
    outside: Device,
    favour: Favoured,
    /// The rates at first, and again when a device comes back.
    firsts: Rates,
    pilot: Pilot,
    /// None while a device is not there.
    view: Option<View>,
    /// Of the directions that are followed.
    standing: Ways<Option<Standing>>,
    began: Duration,
    looked_for: Duration,
}

impl Forwarded {
    /// Looks at both devices from now on, and follows within `limits`; the packets towards the home leave by
    /// `inside`, those that come from the line come by `outside`.
    ///
    /// # Errors
    /// If a device is not there, or this may not look.
    pub fn of(
        [inside, outside]: [Device; 2],
        favour: Favoured,
        limits: Ways<Option<Limits>>,
        firsts: Rates,
    ) -> Result<Self, Refused> {
        let at = now();
        let first = |way: Way, limits: Option<Limits>, rate: Option<ShapedRate>| {
            let (limits, rate) = (limits?, rate?);
            eprintln!("{outside} {way}: {rate} at first, then as the line carries, {limits}");
            Some(Standing {
                rate,
                since: at,
                limits,
            })
        };
        let standing = Ways {
            down: first(Way::Down, limits.down, firsts.down),
            up: first(Way::Up, limits.up, firsts.up),
        };
        Ok(Forwarded {
            pilot: Pilot::new(controller(favour), firsts)?,
            view: Some(View::of(&outside, Some(&inside))?),
            inside,
            outside,
            favour,
            firsts,
            standing,
            began: at,
            looked_for: at,
        })
    }

    /// From now on the rate of `way` stays.
    pub fn fix(&mut self, way: Way) {
        if self.standing[way].take().is_some() {
            eprintln!("{} {way}: its rate stays from now on", self.outside);
        }
    }

    /// Gives `set` each rate that is to change now.
    ///
    /// # Errors
    /// If a device cannot be looked at.
    pub fn beat(&mut self, set: &mut dyn FnMut(Way, ShapedRate)) -> Result<(), Refused> {
        if now().saturating_sub(self.looked_for) >= AGAIN {
            self.looked_for = now();
            self.look_for_devices(set)?;
        }
        let Some(view) = &mut self.view else {
            return Ok(());
        };
        let decided = self.pilot.beat(view);
        let failed = |error| Refused::failed(&format!("{}: {error}", self.outside), "");
        let (at, decision) = decided.map_err(failed)?;
        for way in Way::BOTH {
            let Some(standing) = self.standing[way] else {
                continue;
            };
            let Some(next) = standing.next(at, &decision[way]) else {
                continue;
            };
            set(way, next.rate);
            self.standing[way] = Some(next);
            let passed = at.saturating_sub(self.began);
            let rates = [standing.rate, next.rate];
            eprintln!(
                "{}",
                changed(passed, &self.outside, way, rates, &decision[way])
            );
        }
        Ok(())
    }

    /// One that went away leaves the rates as they are. One that came back may lead to another line.
    fn look_for_devices(&mut self, set: &mut dyn FnMut(Way, ShapedRate)) -> Result<(), Refused> {
        let devices = [&self.outside, &self.inside];
        if self.view.as_ref().is_some_and(View::see_all) {
            return Ok(());
        }
        if self.view.take().is_some() {
            eprintln!(
                "{} or {} is not there; looking for it",
                devices[0], devices[1]
            );
        }
        if devices.iter().any(|device| device.index().is_err()) {
            return Ok(());
        }
        self.view = Some(View::of(&self.outside, Some(&self.inside))?);
        self.pilot = Pilot::new(controller(self.favour), self.firsts)?;
        let at = now();
        for (way, first) in [(Way::Down, self.firsts.down), (Way::Up, self.firsts.up)] {
            let (Some(standing), Some(rate)) = (&mut self.standing[way], first) else {
                continue;
            };
            (standing.rate, standing.since) = (rate, at);
            set(way, rate);
        }
        let outside = &self.outside;
        eprintln!(
            "{outside}: both devices are there; its line is followed from the first rates on"
        );
        Ok(())
    }
}
