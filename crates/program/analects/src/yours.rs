//! Commands for what is your own: recordings, and programs.

pub mod import;
pub mod new;
