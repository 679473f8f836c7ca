//! Every discipline under random traffic, and those that a kernel has beside its C.

mod invariants;
mod kernel_c;
