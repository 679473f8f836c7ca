//! The home side of pages: loads one, waits, loads the next.
//!
//! Each load starts with no connections, as in a browser that has just been opened, and closes its
//! own when the last answer is complete. With `pause` the next one starts so long after. Otherwise
//! a load that is not complete when the next one is due continues, and the next one starts when it
//! is: abandoning it would remove the longest load times from the results.

use super::Page;
use super::load::{PageLoad, token, untoken};
use crate::ideal::Ideal;
use crate::{App, Input, Output, Report};
use std::sync::Arc;
use units::random::Stream;
use units::{Duration, Instant};

units::params! {
    /// Parameters of a `page` entry.
    pub struct PageParams {
        /// The pages: a HAR file, a folder of them, a pattern with `*`, `generated:N` for the first
        /// N sites like those that the Confucius paper measured in 2023, or `generated-web:N` for N
        /// home pages like those of today's web, which are four times as heavy (decision 0032), or
        /// `document:SIZE:h1`, `h2` or `h3` for a page that is one answer.
        source: String = "generated:1000", source "decision 0031";
        /// Time from one load's start to the next one's. A load that takes longer delays the next.
        interval: Duration = "53s", range "1ms".."24h", source "Confucius, section 7.2";
        /// Time from one load's end to the next one's start, as for a person who reads and then
        /// clicks, instead of `interval`; 0 for `interval`.
        pause: Duration = "0ms", range "0ms".."24h", source "FLOQ, V.B: 6 s";
        /// Number of loads; 0 for no end.
        loads: u32 = "0", range "0".."1000000", source "none";
        /// Choose each load's page at random, instead of taking the pages in turn.
        shuffle: bool = "yes", source "Confucius, section 7.2";
        /// Factor of the servers' think times: 0 for servers that answer at once.
        think_scale: f64 = "1", range "0".."1000", source "none";
        /// Spread of the round trips to a page's origins: the standard deviation of their
        /// logarithm. 0 for no spread.
        rtt_spread: f64 = "0", range "0".."3", source "Confucius, section 7.1: one RTT";
    }
}

/// The client's view of the scenario.
#[derive(Debug, Clone, Copy)]
pub struct PageSetup {
    /// The run's seed, or a number derived from it and the entry.
    pub seed: u64,
    /// The scenario's round trip, which [`PageParams::rtt_spread`] is relative to.
    pub rtt: Duration,
}

/// The lower half of the token that starts a load.
const NEXT: u32 = u32::MAX;

/// Loads pages.
#[derive(Debug)]
pub struct PageClient {
    pages: Vec<Arc<Page>>,
    params: PageParams,
    setup: PageSetup,
    choice: Stream,
    /// Loads begun.
    begun: u32,
    next_conn: u32,
    /// When the next load is due.
    due: Instant,
    load: Option<PageLoad>,
}

impl PageClient {
    /// A client that loads `pages`; without any it loads none.
    pub fn new(pages: Vec<Arc<Page>>, params: PageParams, setup: PageSetup) -> Self {
        PageClient {
            pages,
            params,
            setup,
            choice: Stream::new(setup.seed, "page choice"),
            begun: 0,
            next_conn: 0,
            due: Instant::ZERO,
            load: None,
        }
    }

    fn schedule(&self, out: &mut Vec<Output>) {
        let more = self.params.loads == 0 || self.begun < self.params.loads;
        if more && !self.pages.is_empty() {
            out.push(Output::Timer(self.due, token(self.begun, NEXT)));
        }
    }

    fn begin(&mut self, now: Instant, out: &mut Vec<Output>) {
        let count = self.pages.len() as u64;
        let index = if self.params.shuffle {
            self.choice.below(count)
        } else {
            u64::from(self.begun) % count
        } as usize;
        let page = Arc::clone(&self.pages[index]);
        // An origin keeps its distance from load to load.
        let mut stream = Stream::new(self.setup.seed, &format!("page rtt {index}"));
        let extra = page.extra_rtts(&mut stream, self.setup.rtt, self.params.rtt_spread);
        let think_scale = self.params.think_scale;
        let number = self.begun;
        self.begun += 1;
        self.due = now + self.params.interval;
        out.push(Output::Report(Report::PageStarted {
            load: number,
            page: index as u32,
            ideal: Ideal::of(&page, self.setup.rtt, &extra, think_scale),
        }));
        let mut load = PageLoad::new(number, page, &extra, think_scale);
        load.begin(now, &mut self.next_conn, out);
        self.load = Some(load);
    }

    /// Handles an event of the current load; the next one is due when it is complete.
    fn tell(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        let Some(load) = &mut self.load else { return };
        load.handle(now, input, &mut self.next_conn, out);
        if load.is_complete() {
            let number = load.number();
            out.push(Output::Report(Report::PageDone { load: number }));
            load.close(out);
            self.load = None;
            self.due = match self.params.pause {
                Duration::ZERO => self.due.max(now),
                pause => now + pause,
            };
            self.schedule(out);
        }
    }
}

impl App for PageClient {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Start => {
                self.due = now;
                self.schedule(out);
            }
            Input::Timer(timer) if self.load.is_none() => {
                if untoken(timer) == (self.begun, NEXT) {
                    self.begin(now, out);
                }
            }
            input => self.tell(now, input, out),
        }
    }
}
