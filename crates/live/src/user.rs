//! The network at the far side of a link: this one for root, and for plain users that of a user namespace
//! of their own.

use crate::devices::ip;
use crate::{Error, may};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use std::fs::{read_to_string, write};

/// Ubuntu's switch, since 23.10.
const RESTRICTED: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Enters a network of its own, and a user namespace unless this process is root: for root only if it
/// `leaves` the network that it is in. Must be called before there are threads. Returns whether it stayed.
///
/// # Errors
/// If the system does not permit it.
pub fn enter(leaves: bool) -> Result<bool, Error> {
    match geteuid().is_root() {
        true if !leaves => return Ok(true),
        true => unshare(CloneFlags::CLONE_NEWNET).map_err(|error| refused(&error))?,
        false => become_root()?,
    }
    ip("link set dev lo up")?;
    Ok(false)
}

/// Enters a user namespace as its root, and a network and mounts of its own.
fn become_root() -> Result<(), Error> {
    let (user, group) = (geteuid(), getegid());
    let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS;
    unshare(flags).map_err(|error| refused(&error))?;
    // user_namespaces(7): a group can be mapped only where groups cannot be given up.
    for (file, line) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {} 1", user.as_raw())),
        ("gid_map", format!("0 {} 1", group.as_raw())),
    ] {
        write(format!("/proc/self/{file}"), line).map_err(|error| refused(&error))?;
    }
    Ok(())
}

fn refused(error: &dyn core::fmt::Display) -> Error {
    let message = format!("this system permits no network of its own: {error}");
    let restricted = read_to_string(RESTRICTED).is_ok_and(|set| set.trim() == "1");
    let help = match restricted {
        true => format!("run it with sudo, or let root set {RESTRICTED} to 0"),
        false => may::remedy(),
    };
    Error::new(message, help)
}
