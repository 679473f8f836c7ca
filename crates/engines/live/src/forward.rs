//! A network of ours that passes packets on, from a link to another way out.

use crate::Error;
use crate::devices::run;
use std::fs::write;
use std::io::ErrorKind;

/// How a container may set what is of its own networks.
const WRITABLE: &str =
    "a container has /proc/sys writable with docker run --security-opt systempaths=unconfined";

/// Lets this thread's network pass on packets that leave by `device`, as from itself: over IPv4, and over IPv6 if
/// that is there.
///
/// # Errors
/// If the kernel lacks a part, or there is no nft.
pub fn forward(device: &str, ipv6: bool) -> Result<(), Error> {
    let families = [
        ("ip", "ipv4/ip_forward"),
        ("ip6", "ipv6/conf/all/forwarding"),
    ];
    for (family, switch) in families.into_iter().take(1 + usize::from(ipv6)) {
        let switch = format!("/proc/sys/net/{switch}");
        write(&switch, "1").map_err(|error| {
            let help = match error.kind() {
                ErrorKind::ReadOnlyFilesystem => WRITABLE,
                _ => "begin again",
            };
            Error::new(format!("{switch}: {error}"), help)
        })?;
        for words in [
            "add table FAMILY analects",
            "add chain FAMILY analects out { type nat hook postrouting priority 100 ; }",
            // A link before this one may have put the same rule here.
            "flush chain FAMILY analects out",
            &format!("add rule FAMILY analects out oifname {device} masquerade"),
        ] {
            let help = "install nftables; the kernel needs nf_tables with NAT";
            run("nft", &words.replace("FAMILY", family), help)?;
        }
    }
    Ok(())
}
