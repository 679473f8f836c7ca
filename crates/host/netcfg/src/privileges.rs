//! The privileges of this process, and the words about one that lacks: the same in `doctor` and in each error.

use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities};
use std::path::Path;

/// What a command may need (capabilities(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Devices, addresses, rules, queues.
    NetAdmin,
    /// The raw sockets of `iptables`.
    NetRaw,
    /// Namespaces, and mounts in them.
    SysAdmin,
}

impl Capability {
    /// As the kernel's documents name it.
    pub const fn name(self) -> &'static str {
        match self {
            Capability::NetAdmin => "CAP_NET_ADMIN",
            Capability::NetRaw => "CAP_NET_RAW",
            Capability::SysAdmin => "CAP_SYS_ADMIN",
        }
    }

    /// As the kernel has it.
    const fn set(self) -> CapabilitySet {
        match self {
            Capability::NetAdmin => CapabilitySet::NET_ADMIN,
            Capability::NetRaw => CapabilitySet::NET_RAW,
            Capability::SysAdmin => CapabilitySet::SYS_ADMIN,
        }
    }
}

/// What a container is to be started with for all commands.
pub const IN_CONTAINER: &str =
    "docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN --device /dev/net/tun";

/// The remedy where `/dev/net/tun` cannot be used.
pub const NO_TUN: &str = "it needs a kernel with tun, and a /dev/net/tun that may be opened: on a host run it with \
     sudo, or let root run modprobe tun, and chmod 666 /dev/net/tun, as it is on most systems; a container gets it by \
     docker run --device /dev/net/tun (docs/guide-containers.md)";

/// What this process may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privileges {
    /// Whether its user is root.
    pub root: bool,
    /// Whether it runs in a container, as Docker and Podman mark theirs.
    pub container: bool,
    /// What it may do.
    pub held: CapabilitySet,
}

impl Privileges {
    /// Those of this thread. What cannot be asked is not held.
    pub fn here() -> Self {
        let marks = ["/.dockerenv", "/run/.containerenv"];
        let held = capabilities(None).map(|sets| sets.effective);
        Privileges {
            root: geteuid().is_root(),
            container: marks.iter().any(|mark| Path::new(mark).exists()),
            held: held.unwrap_or(CapabilitySet::empty()),
        }
    }

    /// Those of `needed` that lack.
    pub fn lacking(&self, needed: &[Capability]) -> Vec<Capability> {
        let lacks = |capability: &&Capability| !self.held.contains(capability.set());
        needed.iter().filter(lacks).copied().collect()
    }

    /// The finding, and the remedy, if one of `needed` lacks. A root without it is a container's, marked or not.
    pub fn lack(&self, needed: &[Capability]) -> Option<(String, String)> {
        let lacking = self.lacking(needed);
        if lacking.is_empty() {
            return None;
        }
        let names: Vec<&str> = lacking.iter().map(|capability| capability.name()).collect();
        let names = names.join(" and ");
        Some(if self.root || self.container {
            (
                format!("this process lacks {names}, as in a container"),
                format!("start the container with more: {IN_CONTAINER} (docs/guide-containers.md)"),
            )
        } else {
            (
                format!("this process lacks {names}"),
                "run it with sudo".to_owned(),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Capability::{NetAdmin, NetRaw, SysAdmin};

    #[test]
    fn what_lacks_is_named_with_a_remedy_for_that_place() {
        let mut it = Privileges {
            root: true,
            container: false,
            held: CapabilitySet::NET_ADMIN,
        };
        assert_eq!(it.lack(&[NetAdmin]), None);
        let (message, help) = it.lack(&[NetAdmin, SysAdmin, NetRaw]).unwrap();
        assert!(
            message.contains("CAP_SYS_ADMIN and CAP_NET_RAW"),
            "{message}"
        );
        assert!(help.contains(IN_CONTAINER), "{help}");
        it.root = false;
        let (_, help) = it.lack(&[SysAdmin]).unwrap();
        assert_eq!(help, "run it with sudo");
        it.container = true;
        let (_, help) = it.lack(&[SysAdmin]).unwrap();
        assert!(help.contains("docker run"), "{help}");
    }
}
