//! Two probes, over simulated links, and with lying peers.

mod hostile;
mod liar;
mod lies;
mod simulated;
