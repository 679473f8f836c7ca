//! The program as seen by its users, and the source tree.

mod again;
mod agreement;
mod bound;
#[cfg(unix)]
mod campaign;
mod causes;
#[cfg(unix)]
mod check;
mod commands;
mod common;
#[cfg(unix)]
mod diverted;
#[cfg(unix)]
mod docs;
mod evaluate;
mod evidence;
mod fingerprint;
#[cfg(unix)]
mod fresh;
mod house;
mod import;
mod import_flent;
mod import_timeline;
mod import_trace;
mod lab;
mod listeners;
mod names;
mod output;
mod outputs;
mod pages;
#[cfg(unix)]
mod pictures;
mod probe;
mod processor_sharing;
#[cfg(unix)]
mod recording;
mod reproduce;
mod sweep;
#[cfg(unix)]
mod tc;
mod threshold;
mod wrong_input;
#[cfg(unix)]
mod your_line;
