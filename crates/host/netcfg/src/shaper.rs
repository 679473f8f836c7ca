//! The shaper of one direction: an htb class with a discipline in it, or cake with its own.

use crate::{Command, Device, Discipline, Overhead, RateChange, ShaperRate, tc};
use core::fmt;
use serde::{Deserialize, Serialize};
use units::{Bytes, ParseError, Rate};

/// The rate of a shaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct ShapedRate(Rate);

/// Below, a full packet takes longer than disciplines reckon with; above, htb's burst is beyond sense.
const SLOWEST: Rate = Rate::from_bits(64_000);
const FASTEST: Rate = Rate::from_bits(100_000_000_000);

/// A rate that is not shaped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRate {
    /// It is none.
    #[error(transparent)]
    Form(#[from] ParseError),
    /// Nothing shapes to it.
    #[error("{0} is outside {SLOWEST} to {FASTEST}")]
    Outside(Rate),
}

impl ShapedRate {
    /// The least.
    pub const SLOWEST: Self = ShapedRate(SLOWEST);
    /// The greatest.
    pub const FASTEST: Self = ShapedRate(FASTEST);

    /// The rate.
    pub fn get(self) -> Rate {
        self.0
    }
}

impl TryFrom<Rate> for ShapedRate {
    type Error = BadRate;
    fn try_from(rate: Rate) -> Result<Self, BadRate> {
        if (SLOWEST..=FASTEST).contains(&rate) {
            Ok(ShapedRate(rate))
        } else {
            Err(BadRate::Outside(rate))
        }
    }
}

impl core::str::FromStr for ShapedRate {
    type Err = BadRate;
    fn from_str(text: &str) -> Result<Self, BadRate> {
        text.parse::<Rate>()?.try_into()
    }
}

impl TryFrom<u64> for ShapedRate {
    type Error = BadRate;
    fn try_from(bits: u64) -> Result<Self, BadRate> {
        Rate::from_bits(bits).try_into()
    }
}

impl From<ShapedRate> for u64 {
    fn from(rate: ShapedRate) -> u64 {
        rate.0.as_bits()
    }
}

impl fmt::Display for ShapedRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Two handles for one place: a new queue is made with the one that the old queue does not use, and
/// the kernel changes from one to the other at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    /// The one of the first queue.
    First,
    /// The other one.
    Second,
}

impl Slot {
    /// The other one.
    pub fn other(self) -> Slot {
        match self {
            Slot::First => Slot::Second,
            Slot::Second => Slot::First,
        }
    }
}

/// The htb at the root, and its class of all packets.
pub(crate) const HTB: &str = "a1:";
pub(crate) const CLASS: &str = "a1:1";

/// Two bands, in tc's words; packets without a priority of ours go to the first, regardless of
/// their type of service.
pub const PRIO: &str = "prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";

/// Puts a [`PRIO`] into the class of `device`.
pub(crate) fn prio_command(device: &Device) -> Command {
    Command::tc(&format!(
        "qdisc replace dev {device} parent {CLASS} handle {INNER} {PRIO}"
    ))
}

/// The handle of the prio in a class, as tc prints it.
pub const INNER: &str = "b1:";

/// The root of a device. It is recognized by its handle, a1: or a2:.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum RootQdisc {
    /// htb, whose one class shapes.
    Htb {},
    /// prio, whose two bands are levels.
    Prio {},
    /// pfifo_fast, two of whose bands are levels.
    #[serde(rename = "pfifo_fast")]
    PfifoFast {},
    /// cake, which shapes itself.
    Cake {
        /// Which handle it has.
        slot: Slot,
        /// Its bandwidth; without, it does not shape.
        rate: Option<ShapedRate>,
        /// The line's overhead; without, cake counts as the kernel does.
        overhead: Option<Overhead>,
        /// Its settings.
        discipline: Discipline,
        /// Whether it stands behind the bottleneck, and so counts the packets it drops
        /// (tc-cake(8)).
        ingress: bool,
    },
}

/// Settings of cake that a root has for itself.
const ITS_OWN: &[&str] = &["bandwidth", "overhead", "mpu", "atm", "ingress"];

impl RootQdisc {
    /// The kernel's name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            RootQdisc::Htb {} => "htb",
            RootQdisc::Prio {} => "prio",
            RootQdisc::PfifoFast {} => "pfifo_fast",
            RootQdisc::Cake { .. } => "cake",
        }
    }

    /// Its handle as tc prints it.
    pub fn handle(&self) -> &'static str {
        match self {
            RootQdisc::Cake {
                slot: Slot::Second, ..
            } => "a2:",
            _ => HTB,
        }
    }

    /// Gives it another rate where it is the root of `device`; none if it does not shape itself.
    pub fn change_rate(&self, device: &Device, rate: ShapedRate) -> Option<RateChange> {
        let itself = matches!(self, RootQdisc::Cake { rate: Some(_), .. });
        itself.then(|| RateChange {
            device: device.clone(),
            shaper: ShaperRate::Cake {
                handle: self.handle(),
                rate,
            },
        })
    }

    /// Makes it the root of `device`.
    pub fn command(&self, device: &Device) -> Command {
        let handle = self.handle();
        let words = match self {
            RootQdisc::Htb {} => "htb default 1".to_owned(),
            RootQdisc::Prio {} => PRIO.to_owned(),
            RootQdisc::PfifoFast {} => "pfifo_fast".to_owned(),
            RootQdisc::Cake {
                rate,
                overhead,
                discipline,
                ingress,
                ..
            } => {
                let settings = discipline.settings_words(ITS_OWN);
                let ingress = if *ingress { "ingress" } else { "egress" };
                let overhead = overhead.map_or("raw".to_owned(), |it| it.to_string());
                let rate = rate.map_or("unlimited".to_owned(), |rate| {
                    format!("bandwidth {}", tc::rate(rate.get()))
                });
                format!("cake {rate} {settings} {ingress} {overhead}")
            }
        };
        Command::tc(&format!(
            "qdisc replace dev {device} root handle {handle} {words}"
        ))
    }
}

/// An htb class that shapes all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// bit/s.
    pub rate: u64,
    /// Bytes added to the kernel's count for a packet.
    pub overhead: u16,
    /// The least that a packet takes, bytes.
    pub mpu: u16,
    /// Whether packets are cut into ATM cells.
    pub atm: bool,
}

/// A burst is the number of bytes that may leave at once. With the bytes of this time, one timer a
/// millisecond is enough, and adds a millisecond of delay behind the shaper at most.
const BURST: units::Duration = units::Duration::from_millis(1);
/// Two full packets: with less, a class waits for tokens in the middle of one.
const LEAST_BURST: u64 = 2 * QUANTUM;
/// A full packet with its Ethernet header. A quantum divides the rate that classes lend one
/// another, which does not occur here; without it htb guesses, and warns of the guess.
pub(crate) const QUANTUM: u64 = 1514;

impl Class {
    /// How many bytes may leave at once.
    pub(crate) fn burst(&self) -> u64 {
        let rate = Rate::from_bits(self.rate);
        rate.bytes_in(BURST).max(LEAST_BURST)
    }

    /// Makes it below the htb of `device`, or changes it.
    pub fn command(&self, device: &Device, change: bool) -> Command {
        let verb = if change { "change" } else { "add" };
        let rate = tc::rate(Rate::from_bits(self.rate));
        let burst = tc::size(Bytes::new(self.burst()));
        let mut words = format!(
            "class {verb} dev {device} parent {HTB} classid {CLASS} htb rate {rate} ceil {rate} \
             burst {burst} cburst {burst} quantum {QUANTUM}"
        );
        if self.overhead > 0 || self.mpu > 0 {
            words += &format!(" overhead {} mpu {}", self.overhead, self.mpu);
        }
        if self.atm {
            words += " linklayer atm";
        }
        Command::tc(&words)
    }
}

/// The parent of a discipline that is not at the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParentHandle {
    /// The class of the htb at the root, or the first band of the prio there.
    #[default]
    First,
    /// The second band of the prio at the root.
    Second,
    /// The first band of the prio in the class.
    InnerFirst,
    /// Its second band.
    InnerSecond,
}

impl ParentHandle {
    /// The class, as tc prints it.
    pub fn parent(self) -> &'static str {
        match self {
            ParentHandle::First => CLASS,
            ParentHandle::Second => "a1:2",
            ParentHandle::InnerFirst => "b1:1",
            ParentHandle::InnerSecond => "b1:2",
        }
    }

    /// The two handles that a discipline can have there, as tc prints them.
    pub fn handles(self) -> [&'static str; 2] {
        match self {
            ParentHandle::First => [INNER, "b2:"],
            ParentHandle::Second => ["c1:", "c2:"],
            ParentHandle::InnerFirst => ["d1:", "d2:"],
            ParentHandle::InnerSecond => ["e1:", "e2:"],
        }
    }

    /// Whether it is that of old packets if there are two levels.
    pub fn is_second(self) -> bool {
        matches!(self, ParentHandle::Second | ParentHandle::InnerSecond)
    }
}

/// A discipline below the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaf {
    /// Its place.
    #[serde(default)]
    pub place: ParentHandle,
    /// Which handle it has.
    pub slot: Slot,
    /// The discipline.
    pub discipline: Discipline,
}

impl Leaf {
    /// Its handle as tc prints it.
    pub fn handle(&self) -> &'static str {
        let [first, second] = self.place.handles();
        match self.slot {
            Slot::First => first,
            Slot::Second => second,
        }
    }

    /// Puts it there, or if a queue of its handle `stands` there, gives that one its settings.
    pub fn command(&self, device: &Device, stands: bool) -> Command {
        let (parent, handle) = (self.place.parent(), self.handle());
        let words = self.discipline.words(stands);
        Command::tc(&format!(
            "qdisc replace dev {device} parent {parent} handle {handle} {words}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> Device {
        "eth0".parse().unwrap()
    }

    #[test]
    fn cake_has_its_rate_and_overhead_in_its_own_words() {
        let choice = "cake,rtt=30ms".parse().unwrap();
        let cake = RootQdisc::Cake {
            slot: Slot::Second,
            rate: Some(45_000_000.try_into().unwrap()),
            overhead: Some("docsis".parse().unwrap()),
            discipline: Discipline::new(&choice).unwrap(),
            ingress: true,
        };
        assert_eq!(
            cake.command(&device()).to_string(),
            "tc qdisc replace dev eth0 root handle a2: cake bandwidth 45mbit diffserv3 triple-isolate \
             rtt 30ms ingress overhead 18 mpu 64 noatm"
        );
    }

    #[test]
    fn a_class_bursts_for_a_millisecond_but_no_less_than_two_packets() {
        let class = |rate| Class {
            rate,
            overhead: 4,
            mpu: 64,
            atm: false,
        };
        assert_eq!(
            class(100_000_000).command(&device(), true).to_string(),
            "tc class change dev eth0 parent a1: classid a1:1 htb rate 100mbit ceil 100mbit \
             burst 12500 cburst 12500 quantum 1514 overhead 4 mpu 64"
        );
        let slow = class(1_000_000).command(&device(), false).to_string();
        assert!(slow.contains("burst 3028 "), "{slow}");
    }

    #[test]
    fn rates_have_limits() {
        assert!(ShapedRate::try_from(63_999).is_err());
        assert!(ShapedRate::try_from(64_000).is_ok());
        assert!(ShapedRate::try_from(100_000_000_001).is_err());
    }
}
