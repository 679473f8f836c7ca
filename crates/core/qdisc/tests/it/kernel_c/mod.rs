//! The disciplines in `kernel/` against those in Rust.

mod confucius;
mod floq;
pub mod harness;
mod memory;
mod mencius;
