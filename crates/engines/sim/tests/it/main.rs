//! Whole runs of the simulator.

mod by_hand;
mod common;
mod conference;
mod establishment;
mod follow;
mod hosts;
mod isolation;
mod limits;
mod meters;
mod receiver;
mod senders;
mod small_queues;
mod why;
