//! The scenario to run: links, traffic, and the disciplines to compare.
//!
//! A [`Document`] is the text of a scenario, with all settings; [`Document::resolve`] makes a
//! [`Scenario`] of it: every unit parsed, every file read, every default filled in.
//!
//! Not for: the results of a run (`measure`), or its execution (the engines).

#![deny(missing_docs)]

pub mod addresses;
mod capacity;
mod complete;
mod document;
mod dscp;
mod error;
pub mod files;
mod key;
pub mod keys;
mod model;
mod names;
mod noise;
pub mod presets;
mod read;
mod reflectors;
mod resolve;
mod section;
mod shaper;
mod told;
mod traffic;
mod unpacked;
mod via;
mod wire;

pub use document::{CAPACITIES, Document, OF_LINK};
pub use dscp::Dscp;
pub use error::{ScenarioError, printable};
pub use model::{Buffer, Follow, Link, Path, Scenario, Stack, Traffic, Uplink, Via};
pub use names::{AnyNames, Names};
pub use read::name;
pub use reflectors::Reflectors;
pub use resolve::MEASURED;
pub use section::{Section, SettingPlaces, Text};
pub use shaper::{Part, Shaper};
pub use units::Choice;
pub use wire::{Share, Wire};
