//! `analects tc apply --up auto --down auto`: rates that find themselves, from a safe first one on.

use super::rate;
use crate::autorate::controller;
use crate::autorate::limits::{asked, first};
use crate::cli::TcApply;
use autorate::{Way, Ways};
use command::Refused;
use netcfg::{Follow, Limits};

/// What of the options `--down` and `--up` is to find itself.
#[derive(Debug)]
pub struct Auto(Ways<Option<Limits>>);

impl Auto {
    /// As the command line says; such options are taken out of `args`.
    ///
    /// # Errors
    /// If limits are none, or others than a rate would have to follow as well.
    pub fn take(args: &mut TcApply) -> Result<Self, Refused> {
        let auto = Auto(Ways {
            down: asked(Way::Down, args.down.as_deref())?,
            up: asked(Way::Up, args.up.as_deref())?,
        });
        if auto.0.down.is_some() {
            args.down = None;
        }
        if auto.0.up.is_some() {
            args.up = None;
        }
        if args.watch && auto.is_any() {
            let message =
                "--watch follows the sizes of flows, not a rate that finds itself as well";
            return Err(Refused::new(message, "name a rate, or leave --watch out"));
        }
        Ok(auto)
    }

    fn is_any(&self) -> bool {
        self.0 != Ways::default()
    }

    /// Puts a first rate where one finds itself: the measured one that `args` have by now, or the least that was
    /// named.
    ///
    /// # Errors
    /// If nothing says one.
    pub fn begin(&self, args: &mut TcApply) -> Result<Option<Follow>, Refused> {
        for way in Way::BOTH {
            let Some(limits) = self.0[way] else {
                continue;
            };
            let place = match way {
                Way::Down => &mut args.down,
                Way::Up => &mut args.up,
            };
            let option = format!("--{way}");
            let measured = place.as_deref().map(|text| rate(&option, text));
            *place = Some(first(way, limits, measured.transpose()?)?.to_string());
        }
        let Auto(Ways { down, up }) = self;
        Ok(self.is_any().then(|| Follow {
            controller: controller(args.favour).to_string(),
            down: *down,
            up: *up,
        }))
    }
}
