//! From the user's settings and a device's state to a list of changes.

use crate::observe::{Observed, Snapshot};
use crate::{
    AgeTable, Before, Change, Class, Device, Discipline, Error, Follow, Leaf, Overhead,
    ParentHandle, Rates, RootQdisc, ShapedRate, Slot, Split, Threshold,
};
use qdisc::Home;
use serde::{Deserialize, Serialize};

/// The user's settings of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The rate at which it sends; without, it is not shaped, which only two levels can be.
    pub rate: Option<ShapedRate>,
    /// The rate at which it receives, if that is shaped.
    pub ingress: Option<ShapedRate>,
    /// The bytes that the line adds to each packet; without, the kernel's count.
    pub overhead: Option<Overhead>,
    /// The discipline of what it sends, and of what it receives if `received` has no other.
    pub discipline: Discipline,
    /// The discipline of what it receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<Discipline>,
    /// Bytes up to which a flow is young: there are then two levels of the discipline, and received
    /// packets are not shaped.
    #[serde(default)]
    pub threshold: Option<Threshold>,
    /// Which of its rates are to follow the line; those here are the first ones then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<Follow>,
}

impl Settings {
    /// The rates of both directions.
    pub fn rates(&self) -> Rates {
        Rates {
            down: self.ingress,
            up: self.rate,
        }
    }

    /// The discipline of what the device receives, or of what it sends.
    fn discipline(&self, ingress: bool) -> &Discipline {
        let received = self.received.as_ref().filter(|_| ingress);
        received.unwrap_or(&self.discipline)
    }

    /// The table that classifies packets of the two levels, if there are two.
    pub(crate) fn table(&self) -> Option<AgeTable> {
        let threshold = self.threshold?;
        let split = match self.discipline.name() {
            "cake" => Split::Tins,
            "pfifo_fast" => Split::Fast,
            _ if self.rate.is_some() => Split::Class,
            _ => Split::Root,
        };
        Some(AgeTable { threshold, split })
    }
}

/// Changes in their order, and notes on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The changes.
    pub changes: Vec<Change>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The present state of the places that are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// At the root of the device.
    pub root: Before,
    /// The hook for received packets.
    pub hook: Hook,
    /// Whether the bytes of connections count; none if connections are not tracked.
    pub accounting: Option<bool>,
}

/// The hook for a device's received packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    None,
    /// One without filters, which is used and left there.
    Empty,
    /// One with filters, which have to be removed.
    Filtered {
        clsact: bool,
    },
}

const LOSING: &str = "put it back yourself afterwards, with the commands that made it; \
                      --replace does without it, and leaves the kernel's default behind";

impl Places {
    /// The state of `observed`.
    ///
    /// # Errors
    /// If it could not be restored exactly, and `replace` does not allow its removal.
    pub fn of(device: &Device, observed: &Observed, replace: bool) -> Result<Self, Error> {
        let root = match Before::of(observed) {
            Ok(before) => before,
            Err(_) if replace => Before::Lost {},
            Err(why) => {
                let message = format!("{device}: {why}, which could not be put back exactly");
                return Err(Error::refused(message, LOSING));
            }
        };
        let hook = match observed.ingress() {
            None => Hook::None,
            Some(_) if observed.ingress_filters.entries == 0 => Hook::Empty,
            Some(qdisc) => Hook::Filtered {
                clsact: qdisc.kind == "clsact",
            },
        };
        Ok(Places {
            root,
            hook,
            accounting: None,
        })
    }
}

/// The changes that give `device` the `settings`, if no changes of ours are in place yet.
///
/// Parts that no packet passes yet come first, so that missing prerequisites are found before
/// anything is changed.
///
/// # Errors
/// If there is an obstacle.
pub(crate) fn fresh(
    device: &Device,
    settings: &Settings,
    places: &Places,
    now: &Snapshot,
    replace: bool,
) -> Result<Plan, Error> {
    let ethernet = now.of(device).is_none_or(|observed| observed.ethernet);
    possible(settings)?;
    let mut plan = Plan::default();
    if places.root == (Before::Lost {}) {
        let note = format!("what {device} had at its root is lost: clear leaves the default there");
        plan.notes.push(note);
    }
    if let Some(table) = settings.table() {
        let before = places.accounting;
        plan.changes.push(Change::Accounting {
            device: device.clone(),
            before,
        });
        plan.changes.push(Change::Ages {
            device: device.clone(),
            table,
            before: None,
        });
    }
    let ifb = match settings.ingress {
        None => None,
        Some(rate) => {
            let ifb = free_ifb(device, now)?;
            plan.changes.push(Change::AddIfb { name: ifb.clone() });
            plan.changes.push(Change::SetUp { name: ifb.clone() });
            shape(
                &mut plan,
                &ifb,
                Some(rate),
                settings,
                true,
                ethernet,
                Before::Gone {},
            );
            Some(ifb)
        }
    };
    let before = places.root.clone();
    shape(
        &mut plan,
        device,
        settings.rate,
        settings,
        false,
        ethernet,
        before,
    );
    if let Some(through) = ifb {
        hook(&mut plan, device, places.hook, replace)?;
        let device = device.clone();
        plan.changes.push(Change::Redirect { device, through });
    }
    note_excess(&mut plan, settings, ethernet);
    Ok(plan)
}

/// Refuses settings that cannot be set up.
fn possible(settings: &Settings) -> Result<(), Error> {
    if settings.threshold.is_some() && settings.ingress.is_some() {
        return Err(Error::refused(
            "what a device receives cannot have two levels: it passes the queue before its connection is known",
            "give the two levels to the device by which it leaves, towards the home, with its --rate",
        ));
    }
    if settings.threshold.is_none() && settings.rate.is_none() {
        return Err(Error::refused(
            "there is no rate",
            "write 85 to 95 % of what a speed test shows, such as --up 45mbit",
        ));
    }
    Ok(())
}

/// The name of the ifb device, which must not exist yet.
fn free_ifb(device: &Device, now: &Snapshot) -> Result<Device, Error> {
    let ifb = device.shaped_ingress();
    if now.of(&ifb).is_some() {
        let message =
            format!("there is a device {ifb} already, and no journal says that it is ours");
        return Err(Error::refused(
            message,
            format!("if nothing needs it: ip link del dev {ifb}"),
        ));
    }
    Ok(ifb)
}

fn hook(plan: &mut Plan, device: &Device, hook: Hook, replace: bool) -> Result<(), Error> {
    let device = device.clone();
    match hook {
        Hook::Empty => return Ok(()),
        Hook::None => (),
        Hook::Filtered { clsact } if replace => {
            let note =
                format!("the filters of what {device} receives are lost: nothing brings them back");
            plan.notes.push(note);
            let device = device.clone();
            plan.changes.push(Change::DropIngress { device, clsact });
        }
        Hook::Filtered { .. } => {
            let message = format!(
                "{device}: there are filters on what it receives, which could not be put back exactly"
            );
            return Err(Error::refused(message, LOSING));
        }
    }
    plan.changes.push(Change::Ingress { device });
    Ok(())
}

/// The parts of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlannedShaper {
    root: RootQdisc,
    class: Option<Class>,
    /// Whether there is a prio in the class.
    prio: bool,
    leaves: Vec<Leaf>,
}

impl PlannedShaper {
    fn of(settings: &Settings, rate: Option<ShapedRate>, ingress: bool, ethernet: bool) -> Self {
        let home = if ingress {
            Home::Receivers
        } else {
            Home::Senders
        };
        let discipline = settings.discipline(ingress);
        let discipline = discipline.facing(home, rate.map(ShapedRate::get));
        let split = settings.table().map(|table| table.split);
        let root = match (discipline.name(), rate) {
            ("cake", _) => RootQdisc::Cake {
                slot: Slot::First,
                rate,
                overhead: settings.overhead,
                discipline: discipline.clone(),
                ingress,
            },
            (_, Some(_)) => RootQdisc::Htb {},
            ("pfifo_fast", None) => RootQdisc::PfifoFast {},
            (_, None) => RootQdisc::Prio {},
        };
        let places: &[ParentHandle] = match (&root, split) {
            (RootQdisc::Cake { .. } | RootQdisc::PfifoFast {}, _) => &[],
            (_, Some(Split::Class)) => &[ParentHandle::InnerFirst, ParentHandle::InnerSecond],
            (_, Some(Split::Root)) => &[ParentHandle::First, ParentHandle::Second],
            _ => &[ParentHandle::First],
        };
        let leaf = |place: &ParentHandle| Leaf {
            place: *place,
            slot: Slot::First,
            discipline: discipline.clone(),
        };
        PlannedShaper {
            class: rate
                .filter(|_| root == RootQdisc::Htb {})
                .map(|rate| class(rate, settings.overhead, ethernet)),
            root,
            prio: split == Some(Split::Class),
            leaves: places.iter().map(leaf).collect(),
        }
    }
}

/// A class of that rate.
pub(crate) fn class(rate: ShapedRate, overhead: Option<Overhead>, ethernet: bool) -> Class {
    let told = overhead.map(|overhead| overhead.for_class(rate.get(), ethernet));
    Class {
        rate: told.map_or(rate.get(), |told| told.rate).as_bits(),
        overhead: told.map_or(0, |told| told.bytes),
        mpu: told.map_or(0, |told| told.mpu),
        atm: told.is_some_and(|told| told.atm),
    }
}

fn shape(
    plan: &mut Plan,
    device: &Device,
    rate: Option<ShapedRate>,
    settings: &Settings,
    ingress: bool,
    ethernet: bool,
    before: Before,
) {
    let shaper = PlannedShaper::of(settings, rate, ingress, ethernet);
    plan.changes.push(Change::Root {
        device: device.clone(),
        root: shaper.root,
        before,
    });
    plan.changes.extend(shaper.class.map(|class| Change::Class {
        device: device.clone(),
        class,
        before: None,
    }));
    if shaper.prio {
        let device = device.clone();
        plan.changes.push(Change::Prio { device });
    }
    let leaves = shaper.leaves.into_iter().map(|leaf| Change::Leaf {
        device: device.clone(),
        leaf,
        before: None,
    });
    plan.changes.extend(leaves);
}

/// htb cannot count a packet smaller than the kernel does.
fn note_excess(plan: &mut Plan, settings: &Settings, ethernet: bool) {
    let (Some(overhead), Some(rate)) = (settings.overhead, settings.rate) else {
        return;
    };
    let told = overhead.for_class(rate.get(), ethernet);
    let by_class = |ingress| settings.discipline(ingress).name() != "cake";
    let by_class = by_class(false) || settings.ingress.is_some() && by_class(true);
    if by_class && told.excess > 0 {
        plan.notes.push(format!(
            "htb counts {} bytes too many for each packet, since it cannot subtract: raise the rates a little, or use cake",
            told.excess
        ));
    }
}
