//! A WebRTC call between two headless Chromiums, and pages that a third loads beside it.
//!
//! The caller and a web server are at the far side of a link, the other two browsers behind it. All
//! they do is told by their pages: the scripts in `site/` send the browser's own statistics
//! (`getStats`) to the server, which writes them down. So no browser is driven from outside. Only a page of somebody's
//! own ([`page_statistics`]), which does not tell, is asked by its browser's debugging pipe.
//!
//! Not for: a link, which `live` makes; comparing disciplines, which `analects browser` does.

mod chromium;
mod debug;
mod dump;
mod far;
mod http;
mod inside;
mod mailbox;
mod outcome;
mod page_statistics;
mod records;
mod site;
mod trial;

pub use chromium::{remove_profiles, version};
pub use dump::write_dump;
pub use far::far;
pub use inside::inside;
pub use outcome::{Call, Outcome, Visit};
pub use page_statistics::page_statistics;
pub use trial::Trial;

use std::path::Path;

/// Why a trial failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

#[expect(clippy::disallowed_methods, reason = "real browsers, in real time")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

impl Error {
    fn new(message: impl Into<String>, help: &str) -> Self {
        Error {
            message: message.into(),
            help: help.to_owned(),
        }
    }

    fn unwritable(file: &Path, error: &std::io::Error) -> Self {
        Error::new(format!("{}: {error}", file.display()), "free some space")
    }
}
