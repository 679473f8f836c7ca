//! A report: one HTML file with all data in it, to be read, printed and passed on.
//!
//! No scripts and no external resources. Colours are CSS variables, so that plots follow the
//! reader's light or dark scheme; each discipline has a colour, a dash and a marker, the same on
//! every page. The data of a plot can be read under it as a table. Ticks in the comparison's first
//! column choose which disciplines are drawn, by style sheet alone.

mod about;
mod boxes;
mod children;
mod classes;
mod comparison;
mod course;
mod distribution;
mod flows;
mod frame;
mod frames;
mod headline;
mod loads;
mod look;
mod page;
mod report;
mod rows;
mod senders;
mod sojourn;
mod subject;
#[cfg(test)]
mod tests;
mod tradeoff;
mod why;
mod words;

pub use course::{Course, CourseFigure, Time};
pub use frame::framed;
pub use look::{Look, looks};
pub use page::{Pages, html};
