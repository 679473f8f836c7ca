//! Names of network devices.

use crate::Error;
use core::fmt;
use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType, socket};
use serde::{Deserialize, Serialize};

/// Longest name: IFNAMSIZ of include/uapi/linux/if.h, without the terminating zero.
const LONGEST: usize = 15;

/// The prefix that [`Device::shaped_ingress`] puts before a device's name.
const IFB_PREFIX: &str = "ifb-";

/// Letters of a long name that stay, with a hash of five digits behind.
const KEPT: usize = 5;

/// The 32-bit FNV-1a hash (draft-eastlake-fnv), the same in every version of this program.
fn fnv(bytes: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811c_9dc5, step)
}

/// The name of a network device: 1 to 15 letters, digits, `.`, `_` and `-`, the first of them no `-`.
///
/// The kernel takes more (`dev_valid_name` of net/core/dev.c); a name that could be read as an
/// option or as two words is not taken here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Device(String);

impl Device {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether only this host's own packets pass it.
    pub fn is_loopback(&self) -> bool {
        self.0 == "lo"
    }

    /// The number that the kernel has for it, in this network namespace.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn index(&self) -> Result<u32, Error> {
        // Not by /sys, which may be another network namespace's.
        let socket = socket(AddressFamily::INET, SocketType::DGRAM, None);
        let index = socket.and_then(|socket| name_to_index(&socket, &self.0));
        index.map_err(|error| {
            let message = match error {
                Errno::NODEV => format!("there is no device {self}"),
                _ => format!("{self}: {error}"),
            };
            Error::failed(message, "`ip link` lists what there is")
        })
    }

    /// The name of the ifb device that shapes packets received by `self`. Where that of `self` is too
    /// long for a prefix, as of every USB adapter, its beginning and a hash of it stand for it.
    pub fn shaped_ingress(&self) -> Device {
        let name = format!("{IFB_PREFIX}{}", self.0);
        if name.len() <= LONGEST {
            return Device(name);
        }
        let hash = fnv(self.0.as_bytes()) & 0xf_ffff;
        Device(format!("{IFB_PREFIX}{}-{hash:05x}", &self.0[..KEPT]))
    }
}

/// A text that is no name of a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a name of a network device: expected 1 to {LONGEST} letters, digits, \".\", \"_\" and \"-\", not beginning with \"-\""
)]
pub struct BadDevice(String);

impl core::str::FromStr for Device {
    type Err = BadDevice;
    fn from_str(text: &str) -> Result<Self, BadDevice> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let good = (1..=LONGEST).contains(&text.len())
            && text.chars().all(allowed)
            && !text.starts_with('-')
            && !matches!(text, "." | "..");
        if good {
            Ok(Device(text.to_owned()))
        } else {
            Err(BadDevice(text.chars().take(60).collect()))
        }
    }
}

impl TryFrom<String> for Device {
    type Error = BadDevice;
    fn try_from(text: String) -> Result<Self, BadDevice> {
        text.parse()
    }
}

impl From<Device> for String {
    fn from(device: Device) -> String {
        device.0
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in [
            "eth0",
            "eth0.100",
            "br-lan",
            "wlan_0",
            "a",
            "123456789012345",
        ] {
            assert_eq!(good.parse::<Device>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "1234567890123456",
            "-h",
            "eth0 root",
            "eth0/1",
            "eth0:1",
            "..",
            ".",
            "eth\u{e9}",
            "eth0\n",
            "$(reboot)",
        ] {
            assert!(bad.parse::<Device>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_ifb_is_called_after_its_device() {
        let name = |text: &str| text.parse::<Device>().unwrap().shaped_ingress();
        assert_eq!(name("eth0").as_str(), "ifb-eth0");
        assert_eq!(name("enp0s31f6ab").as_str(), "ifb-enp0s31f6ab");
    }

    #[test]
    fn an_ifb_of_a_long_name_has_a_hash_of_it() {
        // From draft-eastlake-fnv, appendix C.
        assert_eq!([fnv(b""), fnv(b"foobar")], [0x811c_9dc5, 0xbf9c_f968]);
        let names = [
            "enx78e7d1ea46da",
            "enx78e7d1ea46db",
            "wlx00e04c3b16d2",
            "enp129s0f1np1",
            "enp129s0f0np0",
            "enp0s31f6.10",
            "enp0s31f6.1000",
        ];
        let ifbs = names.map(|name| name.parse::<Device>().unwrap().shaped_ingress());
        for (name, ifb) in names.iter().zip(&ifbs) {
            assert!(ifb.as_str().parse::<Device>().is_ok(), "{ifb}");
            assert!(
                ifb.as_str().starts_with(&format!("ifb-{}-", &name[..5])),
                "{ifb}"
            );
            assert_eq!(
                ifbs.iter().filter(|other| *other == ifb).count(),
                1,
                "{ifb}"
            );
        }
    }
}
