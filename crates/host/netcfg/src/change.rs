//! One change of the host's network: its command, and how it is undone.

use crate::observe::{Filters, Observed, Snapshot};
use crate::shaper::prio_command;
use crate::{AgeTable, Before, Class, Command, Device, Leaf, Netfilter, RootQdisc};
use serde::{Deserialize, Serialize};

/// One change of the host's network, made by one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// An ifb device is made.
    AddIfb {
        /// Its name.
        name: Device,
    },
    /// That device is set up. No other device's link state is ever touched.
    SetUp {
        /// Its name.
        name: Device,
    },
    /// A device gets a root.
    Root {
        /// The device.
        device: Device,
        /// The new root.
        root: RootQdisc,
        /// The former root.
        before: Before,
    },
    /// The htb of a device gets its class, or the class another rate.
    Class {
        /// The device.
        device: Device,
        /// The class from now on.
        class: Class,
        /// The class as it was.
        before: Option<Class>,
    },
    /// The class of a device gets a prio, whose two bands are levels.
    Prio {
        /// The device.
        device: Device,
    },
    /// A class of a device gets a discipline.
    Leaf {
        /// The device.
        device: Device,
        /// The discipline from now on.
        leaf: Leaf,
        /// The former one.
        before: Option<Leaf>,
    },
    /// The kernel counts the bytes of connections, as the table needs it.
    Accounting {
        /// The device that needs it first.
        device: Device,
        /// Whether it did; none if connections were not tracked, and so the module is loaded.
        before: Option<bool>,
    },
    /// The packets that leave by a device get priorities by the age of their flows.
    Ages {
        /// The device.
        device: Device,
        /// The table from now on.
        table: AgeTable,
        /// The table as it was.
        before: Option<AgeTable>,
    },
    /// Removes a hook for received packets with its filters, which cannot be restored; the user
    /// allowed it.
    DropIngress {
        /// The device.
        device: Device,
        /// Whether it is a clsact.
        clsact: bool,
    },
    /// Adds a hook for received packets to a device.
    Ingress {
        /// The device.
        device: Device,
    },
    /// All packets that a device receives pass another one first.
    Redirect {
        /// The device.
        device: Device,
        /// The other one.
        through: Device,
    },
}

/// The filter that redirects. u32 with a mask of zero matches every packet, and is in kernels that
/// have no matchall; tc-u32(8).
const FILTER: &str = "protocol all pref 10 u32";

impl Change {
    /// The command that makes it.
    pub fn command(&self) -> Command {
        match self {
            Change::AddIfb { name } => Command::ip(&format!("link add name {name} type ifb")),
            Change::SetUp { name } => Command::ip(&format!("link set dev {name} up")),
            Change::Root { device, root, .. } => root.command(device),
            Change::Class {
                device,
                class,
                before,
            } => class.command(device, before.is_some()),
            Change::Prio { device } => prio_command(device),
            Change::Leaf {
                device,
                leaf,
                before,
            } => {
                let stands = |before: &Leaf| before.handle() == leaf.handle();
                leaf.command(device, before.as_ref().is_some_and(stands))
            }
            // Once it is loaded, the table's rules switch it on: nft_ct_get_init() of
            // net/netfilter/nft_ct.c.
            Change::Accounting { before: None, .. } => Command::modprobe("nf_conntrack"),
            Change::Accounting { .. } => Netfilter::set_accounting(true),
            Change::Ages {
                device,
                table,
                before,
            } => match before {
                None => table.command(device),
                Some(_) => table.swap(device),
            },
            Change::DropIngress { device, clsact } => {
                let kind = if *clsact { "clsact" } else { "ingress" };
                Command::tc(&format!("qdisc del dev {device} {kind}"))
            }
            Change::Ingress { device } => {
                Command::tc(&format!("qdisc add dev {device} handle ffff: ingress"))
            }
            Change::Redirect { device, through } => Command::tc(&format!(
                "filter add dev {device} ingress {FILTER} match u32 0 0 \
                 action mirred egress redirect dev {through}"
            )),
        }
    }

    /// The command that undoes it where `now` still has it: none if it was not made, was undone, or
    /// went with its device.
    pub fn undo(&self, now: &Snapshot) -> Option<Command> {
        match self {
            Change::AddIfb { name } => {
                now.of(name)?;
                Some(Command::ip(&format!("link del dev {name}")))
            }
            Change::Root {
                device,
                root,
                before,
            } => {
                // Another one of ours, if a change of it was interrupted.
                let found = now.of(device)?.root()?;
                let ours = found.kind == root.kind() && is_root_handle(&found.handle);
                ours.then(|| before.restore(device))?
            }
            Change::Class { device, before, .. } => {
                now.of(device)?.class_rate?;
                Some((*before)?.command(device, true))
            }
            Change::Leaf {
                device,
                leaf,
                before,
            } => {
                let found = now.of(device)?.child(leaf.place.parent())?;
                let before = before.as_ref()?;
                Some(before.command(device, found.handle == before.handle()))
            }
            Change::Accounting { device, before } => {
                let netfilter = now.netfilter.as_ref()?;
                let ours = netfilter.accounting == Some(true) && *before != Some(true);
                (ours && !netfilter.others(device)).then(|| Netfilter::set_accounting(false))
            }
            Change::Ages { device, before, .. } => {
                now.netfilter.as_ref()?.of(device)?;
                Some(match before {
                    Some(before) => before.swap(device),
                    None => AgeTable::delete(device),
                })
            }
            Change::Ingress { device } => {
                let observed = now.of(device)?;
                let ours = observed.ingress()?.kind == "ingress" && only_ours(observed, device);
                ours.then(|| Command::tc(&format!("qdisc del dev {device} ingress")))
            }
            Change::Redirect { device, through } => {
                let redirects = &now.of(device)?.ingress_filters.redirects;
                let ours = redirects.iter().any(|to| leads(to, through));
                ours.then(|| Command::tc(&format!("filter del dev {device} ingress {FILTER}")))
            }
            Change::SetUp { .. } | Change::Prio { .. } | Change::DropIngress { .. } => None,
        }
    }

    /// Whether [`Netfilter::take`] looks at what it changes.
    pub(crate) fn is_of_netfilter(&self) -> bool {
        matches!(self, Change::Accounting { .. } | Change::Ages { .. })
    }

    /// Removes from `after` what undoing this removes; the former root is not known here.
    pub(crate) fn suppose_undone(&self, now: &Snapshot, after: &mut Snapshot) {
        if self.undo(now).is_none() {
            return;
        }
        let hook = |kind: &str| matches!(kind, "ingress" | "clsact");
        match self {
            Change::AddIfb { name } => after.without(name),
            Change::Root { device, .. } => {
                if let Some(observed) = after.of_mut(device) {
                    observed.qdiscs.retain(|qdisc| hook(&qdisc.kind));
                }
            }
            Change::Ingress { device } => {
                if let Some(observed) = after.of_mut(device) {
                    observed.qdiscs.retain(|qdisc| !hook(&qdisc.kind));
                }
            }
            Change::Redirect { device, .. } => {
                if let Some(observed) = after.of_mut(device) {
                    observed.ingress_filters = Filters::default();
                }
            }
            Change::Accounting { before, .. } => {
                if let Some(netfilter) = &mut after.netfilter {
                    netfilter.accounting = before.or(Some(false));
                }
            }
            Change::Ages { device, .. } => {
                if let Some(netfilter) = &mut after.netfilter {
                    netfilter.without(device);
                }
            }
            _ => (),
        }
    }

    /// The devices that it names.
    pub(crate) fn devices(&self) -> Vec<&Device> {
        match self {
            Change::AddIfb { name } | Change::SetUp { name } => vec![name],
            Change::Root { device, .. }
            | Change::Class { device, .. }
            | Change::Prio { device }
            | Change::Accounting { device, .. }
            | Change::Ages { device, .. }
            | Change::Leaf { device, .. }
            | Change::DropIngress { device, .. }
            | Change::Ingress { device } => vec![device],
            Change::Redirect { device, through } => vec![device, through],
        }
    }
}

fn is_root_handle(handle: &str) -> bool {
    matches!(handle, "a1:" | "a2:")
}

/// Whether a filter that redirects to `to` is the one through `ifb`, or what is left of it once that device is
/// gone: tc prints a star for a device that is no more, and the kernel drops all packets there.
fn leads(to: &str, ifb: &Device) -> bool {
    to == ifb.as_str() || to == "*"
}

/// Whether the hook of `device` has no filter but the one that we put there.
fn only_ours(observed: &Observed, device: &Device) -> bool {
    let filters = &observed.ingress_filters;
    let ifb = device.shaped_ingress();
    let ours = |to: &String| leads(to, &ifb);
    filters.entries == 0 || (filters.redirects.len() == 1 && filters.redirects.iter().all(ours))
}
