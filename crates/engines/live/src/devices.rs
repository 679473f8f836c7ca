//! TUN devices: the sources and destinations of packets.

use crate::Error;
use crate::frame::{Frame, VNET};
use crate::may;
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;
use tun_rs::{DeviceBuilder, SyncDevice};

/// The longest packet, with the header before it.
pub const LONGEST: usize = VNET + (64 << 10);

/// A TUN device of IP packets, removed with its last holder.
pub struct Tun {
    device: SyncDevice,
}

/// The addresses of a device.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// Which pair of addresses: 0 to 63.
    pub pair: u8,
    /// Whether it is the end inside.
    pub inside: bool,
}

impl Addresses {
    /// The end's IPv4 and IPv6 addresses: of RFC 6598's space, which no public network has, and of a local
    /// one of RFC 4193's.
    pub fn both(self) -> [String; 2] {
        let number = 4 * u16::from(self.pair) + 1 + u16::from(self.inside);
        [
            format!("100.64.0.{number}"),
            format!("fd61:6e61:6c65:6374::{number:x}"),
        ]
    }

    /// The same of the other end.
    pub fn other(self) -> Addresses {
        Addresses {
            inside: !self.inside,
            ..self
        }
    }
}

/// What the names of all our devices begin with.
const NAME: &str = "analects";

/// The name of both devices of a pair.
pub fn name(pair: u8) -> String {
    format!("{NAME}{pair}")
}

impl Tun {
    /// Makes the device, in this thread's network namespace; none if there is one of that name.
    ///
    /// # Errors
    /// If devices cannot be made.
    pub fn make(pair: u8) -> Result<Option<Tun>, Error> {
        let name = name(pair);
        if std::path::Path::new("/proc/self/net/dev").exists() && exists(&name) {
            return Ok(None);
        }
        let built = DeviceBuilder::new().name(&name).offload(true).build_sync();
        match built {
            Ok(device) => {
                let tun = Tun { device };
                rustix::io::ioctl_fionbio(&tun, true).map_err(|error| broken(&name, &error))?;
                Ok(Some(tun))
            }
            // Another process has it.
            Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => Ok(None),
            Err(error) => Err(Error::new(
                format!("{name} cannot be made: {error}"),
                may::tun(error.kind()),
            )),
        }
    }

    /// Reads a packet into `buffer`, by way of `scratch`; false if there is none.
    pub fn read(&self, scratch: &mut [u8], buffer: &mut Vec<u8>) -> Result<bool, Error> {
        match rustix::io::read(self, &mut *scratch) {
            Ok(length) => {
                buffer.clear();
                buffer.extend_from_slice(&scratch[..length]);
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(error) => Err(broken("the link's device", &error)),
        }
    }

    /// Hands a packet to the kernel; false if the kernel refuses it.
    pub fn write(&self, frame: &Frame) -> bool {
        rustix::io::write(self, frame.bytes()).is_ok()
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

fn broken(name: &str, error: &dyn core::fmt::Display) -> Error {
    Error::new(format!("{name}: {error}"), "begin again")
}

/// Whether there is a device of that name, in this thread's network namespace: `/sys` may be another's.
fn exists(name: &str) -> bool {
    let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let mut names = devices.lines().filter_map(|line| line.split_once(':'));
    names.any(|(found, _)| found.trim() == name)
}

/// Whether the device of a pair can have IPv6, in this thread's network namespace: a kernel may lack it, and
/// many hosts have it switched off by sysctl.
pub fn has_ipv6(pair: u8) -> bool {
    let setting = format!("/proc/sys/net/ipv6/conf/{}/disable_ipv6", name(pair));
    std::fs::read_to_string(setting).is_ok_and(|value| value.trim() == "0")
}

/// Gives a device its addresses, of IPv4 alone if not `ipv6`, and brings it up, in this thread's network
/// namespace. `burst` is the largest size of a packet that is still to be cut into segments.
///
/// # Errors
/// If `ip` cannot be run, or refuses.
pub fn configure(addresses: Addresses, burst: u32, ipv6: bool) -> Result<(), Error> {
    let name = name(addresses.pair);
    let [v4, v6] = addresses.both();
    let segments = (burst / 1500).clamp(1, 64);
    let size = burst.clamp(1500, 65_000);
    ip(&format!(
        "link set dev {name} mtu 1500 txqueuelen 1000 gso_max_size {size} gso_max_segs {segments} up"
    ))?;
    ip(&format!("address add {v4}/30 dev {name}"))?;
    if ipv6 {
        ip(&format!("-6 address add {v6}/126 dev {name} nodad"))?;
    }
    if addresses.inside {
        let [v4, v6] = addresses.other().both();
        ip("link set dev lo up")?;
        ip(&format!("route add default via {v4}"))?;
        if ipv6 {
            ip(&format!("-6 route add default via {v6}"))?;
        }
    }
    Ok(())
}

/// The link that is the way out of this thread's network, which is behind it then.
pub fn way_out() -> Option<String> {
    let routes = std::fs::read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    routes.lines().find_map(|route| {
        let mut fields = route.split_ascii_whitespace();
        let device = fields.next()?;
        let ours = pair(device).is_some() && fields.next() == Some("00000000");
        ours.then(|| device.to_owned())
    })
}

/// The pair that has a device of this name.
fn pair(name: &str) -> Option<u8> {
    name.strip_prefix(NAME)?.parse().ok()
}

/// The largest pair that has a device in this thread's network.
pub fn largest() -> Option<u8> {
    let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let pairs = devices.lines().filter_map(|line| {
        let (name, _) = line.split_once(':')?;
        pair(name.trim())
    });
    pairs.max()
}

/// Runs `ip` in this thread's network namespace.
///
/// # Errors
/// If it cannot be run, or refuses.
pub fn ip(words: &str) -> Result<(), Error> {
    run("ip", words, &may::remedy())
}

/// Runs a program for networks with the words of a line; `help` is what it needs.
///
/// # Errors
/// If it cannot be run, or refuses.
pub fn run(program: &str, words: &str, help: &str) -> Result<(), Error> {
    let mut found = Command::new(program).args(words.split(' ')).output();
    if found.is_err() {
        let place = format!("/sbin/{program}");
        found = Command::new(place).args(words.split(' ')).output();
    }
    let output = found.map_err(|error| {
        let package = match program {
            "nft" => "nftables",
            _ => "iproute2",
        };
        let message = format!("{program} cannot be run: {error}");
        Error::new(message, format!("install {package}"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let message = format!("{program} {words}: {}", complaint.trim());
    Err(Error::new(message, help))
}

/// Packets that the kernel had for a device and dropped, since they were not read in time.
pub fn missed(pair: u8) -> u64 {
    let name = name(pair);
    let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let mut lines = devices.lines().filter_map(|line| line.split_once(':'));
    let Some((_, numbers)) = lines.find(|(found, _)| found.trim() == name) else {
        return 0;
    };
    // Documentation/networking/statistics.rst: eight numbers for reception, then sent bytes,
    // packets, errors, drops.
    let drops = numbers.split_ascii_whitespace().nth(11);
    drops.and_then(|drops| drops.parse().ok()).unwrap_or(0)
}
