//! `analects tc keep` follows the lines of set-ups whose rates find themselves.

use crate::autorate::as_applied;
use crate::page::Board;
use command::Refused;
use netcfg::{Claim, Device, Host, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What begins to follow lines.
pub struct Followers {
    state: PathBuf,
    host: Host,
    page: Option<Arc<Board>>,
}

/// What follows a line.
#[derive(Default)]
pub struct Thread {
    running: Option<JoinHandle<Result<(), Refused>>>,
    /// Why it ended last.
    told: Option<String>,
}

impl Followers {
    /// What it begins ends with a signal that `host` catches, too, and tells a page.
    pub fn new(state: &Path, host: &Host, page: Option<Arc<Board>>) -> Self {
        Followers {
            state: state.to_owned(),
            host: host.clone(),
            page,
        }
    }

    /// Begins to follow `device`, or again, if its set-up asks for that and nothing of this does.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn look(&self, device: &Device, thread: &mut Thread) -> Result<(), Refused> {
        if thread.running.as_ref().is_some_and(|it| !it.is_finished()) {
            return Ok(());
        }
        thread.end(device);
        let journal = Store::look(&self.state).load(device)?;
        if !journal.is_some_and(|journal| journal.complete && journal.settings.follow.is_some()) {
            return Ok(());
        }
        let (state, mut host, device) = (self.state.clone(), self.host.clone(), device.clone());
        let page = self.page.clone();
        thread.running = Some(std::thread::spawn(move || {
            let claim = Claim::of(&state, &device)?;
            as_applied(&mut host, &state, &device, claim, page)
        }));
        Ok(())
    }

    /// Tells all to end; they put back the rates that were applied.
    pub fn interrupt(&self) {
        self.host.interrupt();
    }
}

impl Thread {
    /// Waits for its end; says why it ended, if that is another reason than the last time.
    pub fn end(&mut self, device: &Device) {
        let Some(running) = self.running.take() else {
            return;
        };
        let ended = running.join();
        let failed = |message| Err(Refused::failed(message, ""));
        let Err(refused) = ended.unwrap_or_else(|_| failed("following it failed: report this"))
        else {
            self.told = None;
            return;
        };
        let why = scenario::printable(&refused.to_string(), 400);
        if self.told.as_ref() != Some(&why) {
            eprintln!("{device}: its line is not followed: {why}");
        }
        self.told = Some(why);
    }
}
