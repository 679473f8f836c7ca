//! Controllers on simple lines.

mod any;
mod cake;
mod drain;
mod line;
