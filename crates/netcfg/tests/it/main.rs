//! Changes of a modelled host, undone, failing and interrupted.

mod hostile;
mod lost;
mod model;
mod stated;
mod undo;
