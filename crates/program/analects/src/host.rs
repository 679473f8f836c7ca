//! Commands of this host that a router has not.

pub mod browser;
pub mod link;
pub mod your_line;
