//! Pages from their plan to their load, over a toy network.

mod client;
mod generated;
mod toy;
