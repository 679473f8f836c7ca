//! Two probes, over links that are simulated, and beside peers that lie.

mod hostile;
mod simulated;
