//! `--down auto --up auto`: rates that find themselves, from a safe first one on.

use super::limits::{asked, first};
use autorate::{Way, Ways};
use command::Refused;
use netcfg::{Limits, Rates, ShapedRate};

/// What of the options `--down` and `--up` is to find itself.
#[derive(Debug)]
pub struct Auto {
    /// How far; of the others none.
    pub limits: Ways<Option<Limits>>,
}

impl Auto {
    /// As the command line says; such options are taken out of it.
    ///
    /// # Errors
    /// If limits are none.
    pub fn take(down: &mut Option<String>, up: &mut Option<String>) -> Result<Self, Refused> {
        let auto = Auto {
            limits: Ways {
                down: asked(Way::Down, down.as_deref())?,
                up: asked(Way::Up, up.as_deref())?,
            },
        };
        for (way, option) in [(Way::Down, down), (Way::Up, up)] {
            if auto.limits[way].is_some() {
                *option = None;
            }
        }
        Ok(auto)
    }

    /// Whether anything is.
    pub fn is_any(&self) -> bool {
        self.limits != Ways::default()
    }

    /// Those ends of the limits.
    pub fn rates(&self, end: fn(Limits) -> ShapedRate) -> Rates {
        Rates {
            down: self.limits.down.map(end),
            up: self.limits.up.map(end),
        }
    }

    /// Puts a first rate where one finds itself: the measured one that is there by now, or the least that was named.
    ///
    /// # Errors
    /// If nothing says one.
    pub fn begin(&self, down: &mut Option<String>, up: &mut Option<String>) -> Result<(), Refused> {
        for (way, option) in [(Way::Down, down), (Way::Up, up)] {
            let Some(limits) = self.limits[way] else {
                continue;
            };
            let measured = option.as_deref().map(str::parse).transpose();
            let measured: Option<ShapedRate> =
                measured.map_err(|error| Refused::new(&format!("--{way}: {error}"), ""))?;
            *option = Some(first(way, limits, measured)?.to_string());
        }
        Ok(())
    }
}
