//! Commands of this host that a router has not.

pub mod browser;
pub mod check;
pub mod link;
mod place;
pub mod your_line;
