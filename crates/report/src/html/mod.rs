//! A report: one HTML file with everything in it, to be read, printed and passed on.
//!
//! No script and nothing from elsewhere. Colours are CSS variables, so that plots follow the
//! reader's light or dark scheme; each discipline has a colour (Okabe and Ito's, which the colour
//! blind can tell apart), a dash and a marker. Ticks in the comparison's first column choose which
//! disciplines are drawn, by style sheet alone.

mod about;
mod bounds;
mod children;
mod classes;
mod comparison;
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
mod sojourn;
mod subject;
#[cfg(test)]
mod tests;
mod tradeoff;
mod words;

pub use frame::framed;
pub use look::{look, shape, swatch};
pub use page::html;
