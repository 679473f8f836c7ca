//! The bytes that a line adds to each packet, in the words of tc-cake(8).

use core::fmt;
use serde::{Deserialize, Serialize};
use units::Rate;

/// How a line cuts packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cells {
    /// Not at all.
    No,
    /// Into cells of 48 bytes in 53: ADSL (ITU-T I.363.5).
    Atm,
    /// 64 bytes in 65: VDSL2 (ITU-T G.992.3, annex N).
    Ptm,
}

/// Bytes on the line for each IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedOverhead")]
pub struct Overhead {
    /// Bytes in addition to the IP packet, -64 to 256.
    bytes: i16,
    /// The least that a packet takes, bytes, 0 to 256; the overhead counts.
    mpu: u16,
    cells: Cells,
}

/// As it is written in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedOverhead {
    bytes: i16,
    mpu: u16,
    cells: Cells,
}

impl TryFrom<UncheckedOverhead> for Overhead {
    type Error = BadOverhead;
    fn try_from(it: UncheckedOverhead) -> Result<Self, BadOverhead> {
        if (LEAST..=MOST).contains(&it.bytes) && it.mpu <= MOST as u16 {
            Ok(overhead(it.bytes, it.mpu, it.cells))
        } else {
            Err(BadOverhead(format!("{} mpu {}", it.bytes, it.mpu)))
        }
    }
}

/// Least and most bytes that cake takes, tc-cake(8).
const LEAST: i16 = -64;
const MOST: i16 = 256;

const fn overhead(bytes: i16, mpu: u16, cells: Cells) -> Overhead {
    Overhead { bytes, mpu, cells }
}

/// The keywords of tc-cake(8), "Overhead compensation parameters", with their meanings.
const PRESETS: &[(&str, Overhead)] = &[
    ("docsis", overhead(18, 64, Cells::No)),
    ("ethernet", overhead(38, 84, Cells::No)),
    ("pppoe-ptm", overhead(30, 0, Cells::Ptm)),
    ("bridged-ptm", overhead(22, 0, Cells::Ptm)),
    ("pppoa-vcmux", overhead(10, 0, Cells::Atm)),
    ("pppoa-llc", overhead(14, 0, Cells::Atm)),
    ("pppoe-vcmux", overhead(32, 0, Cells::Atm)),
    ("pppoe-llcsnap", overhead(40, 0, Cells::Atm)),
    ("bridged-vcmux", overhead(24, 0, Cells::Atm)),
    ("bridged-llcsnap", overhead(32, 0, Cells::Atm)),
    ("ipoa-vcmux", overhead(8, 0, Cells::Atm)),
    ("ipoa-llcsnap", overhead(16, 0, Cells::Atm)),
    ("conservative", overhead(48, 0, Cells::Atm)),
];

/// A text that is no overhead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an overhead: expected bytes from {LEAST} to {MOST}, or one of {list}", list = names())]
pub struct BadOverhead(String);

fn names() -> String {
    let names: Vec<_> = PRESETS.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

impl core::str::FromStr for Overhead {
    type Err = BadOverhead;
    fn from_str(text: &str) -> Result<Self, BadOverhead> {
        let text = text.trim();
        let preset = PRESETS.iter().find(|(name, _)| *name == text);
        if let Some((_, overhead)) = preset {
            return Ok(*overhead);
        }
        let bytes: Option<i16> = text.parse().ok();
        bytes
            .filter(|bytes| (LEAST..=MOST).contains(bytes))
            .map(|bytes| overhead(bytes, 0, Cells::No))
            .ok_or_else(|| BadOverhead(text.chars().take(60).collect()))
    }
}

/// In cake's words.
impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = match self.cells {
            Cells::No => "noatm",
            Cells::Atm => "atm",
            Cells::Ptm => "ptm",
        };
        write!(f, "overhead {} mpu {} {cells}", self.bytes, self.mpu)
    }
}

/// An Ethernet header, which the kernel counts as part of a packet (ETH_HLEN).
const ETHERNET_HEADER: i16 = 14;

/// The settings of a line in an htb class.
///
/// htb uses the kernel's count, the IP packet and the device's own header, whereas cake counts the
/// IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassOverhead {
    /// Bytes added to each packet.
    pub bytes: u16,
    /// The least that a packet takes, bytes.
    pub mpu: u16,
    /// Whether packets are cut into cells.
    pub atm: bool,
    /// How many bytes too many are counted, since htb cannot subtract.
    pub excess: u16,
    /// The rate, reduced by 64b/65b coding, which htb does not model.
    pub rate: Rate,
}

impl Overhead {
    /// The settings of an htb class with `rate`, on a device that has an Ethernet header or not.
    pub fn for_class(self, rate: Rate, ethernet: bool) -> ClassOverhead {
        let bytes = self.bytes - if ethernet { ETHERNET_HEADER } else { 0 };
        ClassOverhead {
            bytes: bytes.max(0).unsigned_abs(),
            mpu: self.mpu,
            atm: self.cells == Cells::Atm,
            excess: (-bytes).max(0).unsigned_abs(),
            rate: match self.cells {
                Cells::Ptm => rate.scale(64, 65),
                Cells::No | Cells::Atm => rate,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_and_numbers() {
        let text = |text: &str| text.parse::<Overhead>().unwrap().to_string();
        assert_eq!(text("docsis"), "overhead 18 mpu 64 noatm");
        assert_eq!(text("pppoe-ptm"), "overhead 30 mpu 0 ptm");
        assert_eq!(text("conservative"), "overhead 48 mpu 0 atm");
        assert_eq!(text("-8"), "overhead -8 mpu 0 noatm");
        for bad in ["", "257", "-65", "docsi", "1e2", "18 mpu 64"] {
            assert!(bad.parse::<Overhead>().is_err(), "{bad}");
        }
    }

    #[test]
    fn htb_counts_the_header_itself() {
        let rate = Rate::from_bits(65_000_000);
        let class = |text: &str, ethernet| {
            let overhead: Overhead = text.parse().unwrap();
            overhead.for_class(rate, ethernet)
        };
        assert_eq!(class("docsis", true).bytes, 4);
        assert_eq!(class("docsis", false).bytes, 18);
        assert_eq!(class("bridged-ptm", true).rate.as_bits(), 64_000_000);
        let too_many = class("ipoa-vcmux", true);
        assert_eq!((too_many.bytes, too_many.excess), (0, 6));
        assert!(too_many.atm);
        assert_eq!(
            (class("-64", true).bytes, class("-64", true).excess),
            (0, 78)
        );
    }
}
