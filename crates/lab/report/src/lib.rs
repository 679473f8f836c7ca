//! Tables, plots and pages: the results of runs, for people and for other programs.
//!
//! [`summarize`] puts one line under each discipline; [`html`] draws a report; [`export`] writes
//! JSON, CSV and a folder with all results, [`plots`] the plots as files; [`taps`] record a run
//! while it goes. It depends on results and events, and on no engine.
//!
//! Not for: deciding what to run, or whether a claim holds (`reproduce`); the meaning of a figure
//! (`measure`).

#![deny(missing_docs)]

pub mod doubts;
pub mod draw;
pub mod export;
mod html;
pub mod limits;
pub mod plots;
mod summary;
mod tables;
pub mod taps;
mod telling;

pub use html::{Course, CourseFigure, Look, Pages, Time, framed, html, looks};
pub use summary::{Cell, Summary, columns, loads, summarize, summarize_selected};
pub use telling::{Telling, telling};
