//! Changes of a modelled host, undone, failing and interrupted; and what tc is told.

mod declared;
mod hostile;
mod model;
mod undo;
