//! Congestion controls against hostile input, and compared with other implementations.

mod hostile;
mod witness;
