//! Changes of a modelled host, undone, failing and interrupted, and followed rates.

mod followed;
mod hostile;
mod keep;
mod lost;
mod model;
mod stated;
mod undo;
