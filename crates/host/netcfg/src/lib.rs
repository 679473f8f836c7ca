//! Plans, shows, applies, journals and undoes changes of a host's network.
//!
//! This is the only place that changes a host's network. A change is a typed [`Change`], from which
//! its command and its undoing are made; a journal on disk names a change before it is made, and
//! undoing looks at the present state, so that it can be repeated, after a crash too.
//!
//! Not for: deciding which discipline is good (`reproduce`); building an experiment's network
//! (`guest`).

#![deny(missing_docs)]

mod apply;
mod before;
mod change;
mod changes;
mod classes;
mod command;
mod device;
mod discipline;
pub mod divert;
mod ended;
mod error;
mod flowtables;
mod follow;
mod followed;
mod journal;
mod keep;
mod levels;
mod look;
mod modules;
mod netfilter;
mod observe;
mod overhead;
mod plan;
mod privileges;
mod rate_change;
mod rates;
mod recognized;
mod routes;
mod rtnetlink;
mod shaper;
mod show;
pub mod tc;
mod update;

pub use apply::{Prepared, apply, clear, prepare, undoing};
pub use before::{Before, Simple};
pub use change::Change;
pub use changes::Changes;
pub use classes::{Classes, Computer, Flow, classes};
pub use command::{Command, Host, Output, Program, Runner};
pub use device::{BadDevice, Device};
pub use discipline::Discipline;
pub use ended::{Ended, EndedFlows, Sent};
pub use error::{Error, ErrorKind};
pub use flowtables::Flowtable;
pub use follow::{Follow, Limits};
pub use followed::{Claim, FollowedDevice};
pub use journal::{Journal, STATE, Store};
pub use keep::{Found, Upkeep};
pub use levels::{AgeTable, BadThreshold, Split, Threshold};
pub use netfilter::Netfilter;
pub use observe::{Filters, Observed, Qdisc, Snapshot};
pub use overhead::{BadOverhead, Cells, ClassOverhead, Overhead};
pub use plan::{Plan, Settings};
pub use privileges::{Capability, IN_CONTAINER, NO_TUN, Privileges};
pub use rate_change::{RateChange, ShaperRate};
pub use rates::{Direction, Rates};
pub use recognized::lost;
pub use routes::{RouteBy, Routes};
pub use shaper::{BadRate, Class, INNER, Leaf, PRIO, ParentHandle, RootQdisc, ShapedRate, Slot};
pub use show::{Level, Queue, Status, status};
