//! What the kernel tells of changes that any program makes.

use core::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::{NETFILTER, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};
use std::os::fd::OwnedFd;

/// `NFNLGRP_NFTABLES` of linux/netfilter/nfnetlink.h: the group with the number 7.
const RULES: u32 = 1 << 6;
/// `RTNLGRP_LINK` and `RTNLGRP_TC` of linux/rtnetlink.h: the groups 1 and 4.
const QUEUES: u32 = 1 << 0 | 1 << 3;

/// A socket that the kernel tells of changes.
#[derive(Debug)]
pub struct Changes {
    socket: OwnedFd,
}

impl Changes {
    /// Of tables, chains and rules of nftables.
    ///
    /// # Errors
    /// If the kernel has no such socket, or this process lacks the privilege.
    pub fn of_rules() -> Result<Self, Errno> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(NETFILTER))?;
        Changes::told(socket, RULES)
    }

    /// Of devices, and of their queues, classes and filters.
    ///
    /// # Errors
    /// If the kernel has no such socket.
    pub fn of_queues() -> Result<Self, Errno> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        // NETLINK_ROUTE is the protocol 0.
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        Changes::told(socket, QUEUES)
    }

    fn told(socket: OwnedFd, groups: u32) -> Result<Self, Errno> {
        bind(&socket, &SocketAddrNetlink::new(0, groups))?;
        Ok(Changes { socket })
    }

    /// Waits for changes, for `most` at most; whether there were any. What they are is to be looked up: a
    /// burst of them may be too long for the socket.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn wait(&self, most: Duration) -> Result<bool, Errno> {
        let timeout = Timespec {
            tv_sec: most.as_secs() as i64,
            tv_nsec: most.subsec_nanos().into(),
        };
        let mut polled = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            Ok(_) => (),
            Err(error) => return Err(error),
        }
        let mut buffer = [0; 4096];
        loop {
            match recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok(_) | Err(Errno::INTR | Errno::NOBUFS) => (),
                Err(Errno::AGAIN) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_changes_it_waits_no_longer_than_it_may() {
        let changes = Changes::of_queues().unwrap();
        assert!(changes.wait(Duration::from_millis(1)).is_ok());
    }
}
