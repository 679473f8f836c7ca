//! The two sides of a scenario: a network namespace each, with a TUN device as the only way out.

use crate::devices::{Tun, ip, name};
use crate::{Error, may};
use guest::MTU;
use nix::sched::{CloneFlags, unshare};
use std::fs::File;

/// A side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The side of the servers.
    Net,
    /// Where computers at home are.
    Home,
}

/// A side's namespace, which exists as long as it is open in some process, and its device.
pub struct Namespace {
    /// The namespace.
    pub namespace: File,
    /// The way out of it.
    pub tun: Tun,
}

/// Which of the numbered devices it is: each namespace has only one.
const FIRST: u8 = 0;

impl Namespace {
    /// Makes a side. The calling thread stays in its namespace.
    ///
    /// # Errors
    /// If that is not permitted, or the kernel lacks a part.
    pub fn make(side: Side, ecn: bool) -> Result<Namespace, Error> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| {
            let message = format!("a network namespace cannot be made: {error}");
            Error::new(message, may::remedy())
        })?;
        let path = "/proc/thread-self/ns/net";
        let namespace = File::open(path).map_err(|error| failed(path, &error))?;
        let tun = Tun::make(FIRST)?.ok_or_else(|| failed(&name(FIRST), &"it is there already"))?;
        settle(ecn)?;
        wire(side)?;
        Ok(Namespace { namespace, tun })
    }
}

fn failed(what: &str, error: &dyn core::fmt::Display) -> Error {
    Error::new(format!("{what}: {error}"), "begin again")
}

/// Applies settings of Linux that differ from its defaults, as in the kernel engine.
fn settle(ecn: bool) -> Result<(), Error> {
    for (path, value) in [
        ("ipv6/conf/all/disable_ipv6", "1"),
        ("ipv6/conf/default/disable_ipv6", "1"),
        ("ipv4/conf/all/rp_filter", "0"),
        ("ipv4/conf/default/rp_filter", "0"),
        // The experience of one connection must not help the next one.
        ("ipv4/tcp_no_metrics_save", "1"),
        ("ipv4/tcp_ecn", if ecn { "1" } else { "0" }),
        // Applications are notified of free room as those in the simulator are.
        ("ipv4/tcp_notsent_lowat", "32768"),
    ] {
        let path = format!("/proc/sys/net/{path}");
        std::fs::write(&path, value).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Addresses and routes. All of a side's network is its own, and the rest is behind the device.
fn wire(side: Side) -> Result<(), Error> {
    let (number, device) = (1 + side as u8, name(FIRST));
    ip("link set dev lo up")?;
    ip(&format!(
        "link set dev {device} mtu {MTU} txqueuelen 1000 gso_max_segs 1 up"
    ))?;
    ip(&format!("address add 10.0.{number}.2/30 dev {device}"))?;
    ip(&format!("route add local 10.{number}.0.0/16 dev lo"))?;
    ip(&format!("route add default dev {device}"))
}
