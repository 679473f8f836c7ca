//! Every discipline under random traffic, and those that also exist as C in the kernel.

mod invariants;
mod isolation;
mod kernel_c;
