//! What to do where this process may not make a link: the words that `doctor` has for it, too.

use netcfg::{Capability, Privileges};
use std::io::ErrorKind;

/// What a link takes.
const NEEDED: [Capability; 2] = [Capability::NetAdmin, Capability::SysAdmin];

/// The capability that lacks, and how to get it; empty if none lacks.
pub fn remedy() -> String {
    let lack = Privileges::here().lack(&NEEDED);
    lack.map_or(String::new(), |(lack, remedy)| format!("{lack}: {remedy}"))
}

/// The same where a TUN device cannot be made, for an error of this kind.
pub fn tun(kind: ErrorKind) -> String {
    let capability = remedy();
    match kind {
        ErrorKind::PermissionDenied if !capability.is_empty() => capability,
        _ => netcfg::NO_TUN.to_owned(),
    }
}
