//! Commands that compare disciplines, and look at what is compared.

pub mod pages;
pub mod run;
pub mod sweep;
pub mod variants;
pub mod why;
