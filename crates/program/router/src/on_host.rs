//! This host, its clock, and its devices as commands name them.

use command::Refused;
use netcfg::{Device, Host};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time since the machine started, its sleep included: the far ends' clocks go on meanwhile.
pub fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

/// This host; during changes, a signal does not end this process.
pub fn host(only_looks: bool) -> Result<Host, Refused> {
    if only_looks {
        return Ok(Host::default());
    }
    Host::catching_signals().map_err(|error| {
        let message = format!("signals cannot be caught: {error}");
        Refused::failed(&message, "nothing was changed")
    })
}

/// The device that an option names.
pub fn device(option: &str, text: &str) -> Result<Device, Refused> {
    text.parse()
        .map_err(|error| Refused::new(&format!("{option}: {error}"), "`ip link` lists the devices"))
}
