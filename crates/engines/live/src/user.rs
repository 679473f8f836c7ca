//! The network at the far side of a link: one of its own, in a user namespace of their own for plain users; or the
//! one that the link is started in.

use crate::devices::{ip, way_out};
use crate::{Error, may};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use std::fs::{read_to_string, write};

/// Ubuntu's switch, since 23.10.
const RESTRICTED: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Where the far side of a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarSide {
    /// In a network of its own, which nothing else is in.
    Own,
    /// This host's own network, with its servers, its addresses and its firewall.
    Host,
    /// Behind another link, in whose command this one runs: that link's far side is reached through both.
    Behind,
}

/// Enters the network of the far side: that of this `host` if it is asked for, and otherwise one of its own, and a
/// user namespace unless this process is root. A link that is started behind another one stays there, unless it has
/// the `internet` by itself. Must be called before there are threads.
///
/// # Errors
/// If the system does not permit it.
pub fn enter(host: bool, internet: bool) -> Result<FarSide, Error> {
    let root = geteuid().is_root();
    match (root, host, internet) {
        (true, _, false) if way_out().is_some() => return Ok(FarSide::Behind),
        (true, true, _) => return Ok(FarSide::Host),
        (false, true, _) => {
            let message = "--host: only root makes a device in this host's network";
            return Err(Error::new(
                message,
                "run it with sudo, or run the server by --far",
            ));
        }
        (true, false, _) => {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|error| refused(&error))?;
        }
        (false, false, _) => become_root()?,
    }
    ip("link set dev lo up")?;
    for which in ["all", "default"] {
        // A host may have it switched off for all new networks. Where that cannot be changed, there is IPv4.
        _ = write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "0");
    }
    Ok(FarSide::Own)
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
    let help = if restricted {
        format!("run it with sudo, or let root set {RESTRICTED} to 0")
    } else {
        may::remedy()
    };
    Error::new(message, help)
}
