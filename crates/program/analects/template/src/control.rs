//! `window`: a sender that never has more than a fixed number of bytes on the way.
//!
//! Not for: the internet; it answers no loss.

use analects::cca::{Ack, Congestion, Control, ControlEntry};
use analects::units::{Bytes, Instant};

analects::units::params! {
    /// Parameters of `window`.
    pub struct WindowParams {
        /// Bytes on the way.
        size: Bytes = "64kB", range "3kB".."1GB", source "this program";
    }
}

/// `window` for the registry.
pub const ENTRY: ControlEntry = ControlEntry {
    name: "window",
    summary: "a fixed number of bytes on the way",
    about: "The window never changes.\n\nNot for the internet: it answers no loss.",
    source: "this program",
    params: WindowParams::SPECS,
    children: &[],
    build: |parts| Ok(Box::new(Window(WindowParams::parse(parts.settings)?.size))),
};

/// The control.
struct Window(Bytes);

impl Control for Window {
    fn on_ack(&mut self, _: Instant, _: &Ack) {}

    fn on_congestion(&mut self, _: Instant, _: &Congestion) {}

    fn on_timeout(&mut self, _: Instant, _in_flight: u64) {}

    fn window(&self) -> u64 {
        self.0.get()
    }
}
