//! The privileges that a process which carries packets keeps.

use command::Refused;
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs,
};

/// What making rules takes: with `iptables-legacy`, raw sockets and modules.
pub const RULES: CapabilitySet = SERVING.union(CapabilitySet::SYS_MODULE);
/// What verdicts, and taking the rules away, take.
pub const SERVING: CapabilitySet = CapabilitySet::NET_ADMIN.union(CapabilitySet::NET_RAW);

/// Gives up all others of this thread, for good: what it runs has no more, either (capabilities(7),
/// `PR_SET_NO_NEW_PRIVS`).
///
/// # Errors
/// If the kernel refuses.
pub fn keep(kept: CapabilitySet) -> Result<(), Refused> {
    let refused = |error: Errno| {
        let message = format!("privileges cannot be given up: {error}");
        Refused::failed(&message, "nothing was changed")
    };
    set_no_new_privs(true).map_err(refused)?;
    let held = capabilities(None).map_err(refused)?.permitted;
    let sets = CapabilitySets {
        effective: held & kept,
        permitted: held & kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(refused)
}
