//! What the commands that make runs have in common: engines, many runs, tables, the doubts and files of each.

pub mod engines;
pub mod left_out;
pub mod many;
pub mod plans;
pub mod progress;
pub mod recording;
pub mod resolved;
pub mod selected;
pub mod so_far;
pub mod table;
pub mod traces;
pub mod validity;
