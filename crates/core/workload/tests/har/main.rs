//! HAR files in the dialects of their exporters, and damaged ones.

mod damaged;
mod dialects;
mod graph;
mod left_out;
mod real;
mod samples;
