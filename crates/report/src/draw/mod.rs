//! Drawing: axes, curves and bars as SVG, without a notion of what is drawn.

pub mod axis;
pub mod plot;
pub mod svg;
mod thin;

pub use thin::{Point, thin};
