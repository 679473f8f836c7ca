//! Rates that are told, and stay: what a user who measured a line sets. For comparisons.

use crate::{Controller, Decision, Entry, Signal, Told, Ways, Why};
use units::{Instant, Rate};

units::params! {
    /// Parameters of `constant`.
    pub struct ConstantParams {
        /// Rate towards the home.
        down: Rate = "10mbit", range "10kbit".."1000gbit", source "ours";
        /// Rate away from the home.
        up: Rate = "10mbit", range "10kbit".."1000gbit", source "ours";
    }
}

/// `constant` for the registry.
pub const ENTRY: Entry = Entry {
    name: "constant",
    summary: "a rate that is told and stays",
    about: "Sets the rates that it is told, whatever is seen. What a user has who measured a line \
        once, and what a controller has to beat.",
    source: "ours",
    params: ConstantParams::SPECS,
    build: |settings| {
        let ConstantParams { down, up } = ConstantParams::parse(settings)?;
        Ok(Box::new(Constant(Ways { down, up })))
    },
};

struct Constant(Ways<Rate>);

impl Controller for Constant {
    fn tell(&mut self, _: Instant, _: &Signal) {}

    fn decide(&mut self, _: Instant) -> Ways<Decision> {
        let set = |rate| Decision {
            rate,
            why: Why::Set,
            told: Told::Nothing,
        };
        Ways {
            down: set(self.0.down),
            up: set(self.0.up),
        }
    }
}
