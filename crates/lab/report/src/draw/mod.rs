//! Drawing: axes, curves, bars and boxes as SVG, without a notion of the data drawn.

pub mod axis;
mod drawing;
mod labels;
pub mod marker;
pub mod palette;
pub mod plot;
pub mod spread;
pub mod svg;
mod thin;
mod ticks;
pub mod values;

pub use drawing::{Drawing, GROUND, STYLE};
pub use labels::CHARACTER;
pub use thin::{Point, thin};
pub use ticks::abscissa;
