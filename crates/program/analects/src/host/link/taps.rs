//! All observers of a link.

use super::records::LinkRecords;
use super::view::View;
use crate::cli::LinkArgs;
use command::Refused;
use live::{Gone, QueueState, Tap, TapDirection};
use qdisc::Class;
use std::fs::File;
use std::io::{IsTerminal, Write, stderr};
use std::path::Path;
use units::{Duration, Instant};

/// The observers that were asked for.
pub struct Taps {
    records: Option<LinkRecords>,
    view: Option<View<Box<dyn Write>>>,
}

impl Taps {
    /// Opens them; none if none were.
    ///
    /// # Errors
    /// If a file cannot be written, or there is no terminal.
    pub fn of(args: &LinkArgs) -> Result<Option<Taps>, Refused> {
        let view = args.watch.as_ref();
        let view = view
            .map(|terminal| screen(terminal.as_deref()))
            .transpose()?;
        // Last: it empties the files.
        let records = LinkRecords::open(args)?;
        Ok((records.is_some() || view.is_some()).then(|| Taps {
            records,
            view: view.map(View::new),
        }))
    }

    /// Writes the data that is still held back.
    ///
    /// # Errors
    /// The first error since the link began.
    pub fn finish(&mut self) -> Result<(), Refused> {
        self.records.as_mut().map_or(Ok(()), LinkRecords::finish)
    }
}

impl Tap for Taps {
    fn gone(&mut self, gone: &Gone<'_>) {
        if let Some(records) = &mut self.records {
            records.gone(gone);
        }
        if let Some(view) = &mut self.view {
            view.gone(gone);
        }
    }

    fn moved(&mut self, direction: TapDirection, flow: u32, to: Class) {
        if let Some(view) = &mut self.view {
            view.moved(direction, flow, to);
        }
    }

    fn interval(&self) -> Option<Duration> {
        self.view.as_ref().and_then(Tap::interval)
    }

    fn state(&mut self, now: Instant, queues: [QueueState; 2]) {
        if let Some(view) = &mut self.view {
            view.state(now, queues);
        }
    }
}

/// A terminal to draw on: the one that is named, or that of standard error.
fn screen(terminal: Option<&Path>) -> Result<Box<dyn Write>, Refused> {
    let help = "run it in a terminal, or name one: --watch=/dev/pts/3, by what `tty` says there";
    let Some(terminal) = terminal else {
        return if stderr().is_terminal() {
            Ok(Box::new(stderr()))
        } else {
            Err(Refused::new("--watch: standard error is no terminal", help))
        };
    };
    let name = terminal.display();
    let opened = File::options().write(true).open(terminal);
    let opened =
        opened.map_err(|error| Refused::new(&format!("--watch: {name}: {error}"), help))?;
    if opened.is_terminal() {
        Ok(Box::new(opened))
    } else {
        Err(Refused::new(
            &format!("--watch: {name} is no terminal"),
            help,
        ))
    }
}
