//! One change of the host's network: its command, and how it is undone.

use crate::observe::{Filters, Observed, Snapshot};
use crate::{Before, Class, Command, Device, Leaf, RootQdisc};
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
        /// What stands there from now on.
        root: RootQdisc,
        /// What stood there.
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
    /// The class of a device gets a discipline.
    Leaf {
        /// The device.
        device: Device,
        /// The discipline from now on.
        leaf: Leaf,
        /// The one that there was.
        before: Option<Leaf>,
    },
    /// A hook for what a device receives is taken away with its filters, which nothing brings back;
    /// the user said so.
    DropIngress {
        /// The device.
        device: Device,
        /// Whether it is a clsact.
        clsact: bool,
    },
    /// A device gets a hook for what it receives.
    Ingress {
        /// The device.
        device: Device,
    },
    /// Everything that a device receives goes through another one first.
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
            Change::Leaf { device, leaf, .. } => leaf.command(device),
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
            Change::Leaf { device, before, .. } => {
                now.of(device)?.child(Leaf::PARENT)?;
                Some(before.as_ref()?.command(device))
            }
            Change::Ingress { device } => {
                let observed = now.of(device)?;
                let ours = observed.ingress()?.kind == "ingress" && only_ours(observed, device);
                ours.then(|| Command::tc(&format!("qdisc del dev {device} ingress")))
            }
            Change::Redirect { device, through } => {
                let redirects = &now.of(device)?.ingress_filters.redirects;
                let ours = redirects.iter().any(|to| to == through.as_str());
                ours.then(|| Command::tc(&format!("filter del dev {device} ingress {FILTER}")))
            }
            Change::SetUp { .. } | Change::DropIngress { .. } => None,
        }
    }

    /// Takes from `after` what undoing this takes away; what was at a root before is not known here.
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
            _ => (),
        }
    }

    /// The devices that it names.
    pub(crate) fn devices(&self) -> Vec<&Device> {
        match self {
            Change::AddIfb { name } | Change::SetUp { name } => vec![name],
            Change::Root { device, .. }
            | Change::Class { device, .. }
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

/// Whether the hook of `device` has no filter but the one that we put there.
fn only_ours(observed: &Observed, device: &Device) -> bool {
    let filters = &observed.ingress_filters;
    let ifb = device.shaped_ingress();
    let ours = |to: &String| ifb.as_ref().is_ok_and(|ifb| ifb.as_str() == to);
    filters.entries == 0 || (filters.redirects.len() == 1 && filters.redirects.iter().all(ours))
}
