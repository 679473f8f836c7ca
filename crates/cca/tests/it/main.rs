//! Congestion controls among the hostile, and beside those of others.

mod hostile;
mod witness;
