//! Two end points, against each other and compared with standards.

mod closed_forms;
mod common;
mod l4s;
mod quic;
mod tcp;
mod tcp_call;
mod tcp_random;
mod tcp_timer;
