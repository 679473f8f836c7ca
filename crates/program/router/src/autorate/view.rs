//! What passes a line and its shaper, as signals.

use super::eyes::{Eyes, Seen};
use autorate::{Signal, Way};
use command::Refused;
use netcfg::Device;
use std::io;
use std::time::Duration;

/// Looks at a device, and at the one that shapes what it receives.
pub struct View {
    line: Eyes,
    /// What comes passes it behind the first look; none if nothing holds what comes.
    ifb: Option<Eyes>,
}

impl View {
    /// Looks at both from now on.
    ///
    /// # Errors
    /// If there is no such device, or this may not look.
    pub fn of(device: &Device, ifb: Option<&Device>) -> Result<Self, Refused> {
        Ok(View {
            line: Eyes::of(device)?,
            ifb: ifb.map(Eyes::of).transpose()?,
        })
    }

    /// Whether the line's device is still the one that this looks at.
    pub fn see_it(&self) -> bool {
        self.line.see_it()
    }

    /// Whether both devices are those that this looks at.
    pub fn see_all(&self) -> bool {
        self.see_it() && self.ifb.as_ref().is_none_or(Eyes::see_it)
    }

    /// What passed since the last look, and how long ago.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn look(&mut self, tell: &mut dyn FnMut(Duration, Signal)) -> io::Result<()> {
        let held = self.ifb.is_some();
        self.line.look(&mut |Seen {
                                  ago,
                                  leaves,
                                  packet,
                              }| {
            if leaves {
                return tell(ago, Signal::Shaped(Way::Up, packet));
            }
            tell(ago, Signal::Came(packet));
            if !held {
                tell(ago, Signal::Shaped(Way::Down, packet));
            }
        })?;
        let Some(ifb) = &mut self.ifb else {
            return Ok(());
        };
        ifb.look(&mut |Seen {
                           ago,
                           leaves,
                           packet,
                       }| {
            if leaves {
                tell(ago, Signal::Shaped(Way::Down, packet));
            }
        })
    }
}
