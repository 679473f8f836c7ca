//! Changes of a modelled host, undone, failing and interrupted.

mod hostile;
mod model;
mod stated;
mod undo;
