//! The program as seen by its users, and the source tree.

mod again;
mod agreement;
mod bound;
#[cfg(unix)]
mod campaign;
mod commands;
mod common;
#[cfg(unix)]
mod docs;
mod fingerprint;
mod house;
mod import;
mod import_flent;
mod import_trace;
mod listeners;
mod output;
mod outputs;
mod pages;
mod probe;
mod processor_sharing;
#[cfg(unix)]
mod recording;
mod reproduce;
mod sweep;
mod threshold;
mod wrong_input;
