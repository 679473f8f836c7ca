//! `analects run --watch`: the table of the runs that are done, while others run.

use crate::runs::progress::Bar;
use campaign::{Job, Progress};
use command::cells::back;
use measure::RunResult;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often it is drawn, at most: over its former drawing on a terminal, one below the other in a file.
const ON_TERMINAL: Duration = Duration::from_secs(1);
const IN_FILE: Duration = Duration::from_secs(10);

/// The table for some results.
pub type Table<'a> = dyn Fn(&[RunResult]) -> String + Sync + 'a;

/// The results so far; drawn on standard error, above the bar.
pub struct SoFar<'a> {
    bar: &'a Bar,
    jobs: &'a [Job],
    table: &'a Table<'a>,
    state: Mutex<State>,
}

struct State {
    /// By the places of their jobs.
    results: Vec<Option<RunResult>>,
    drawn: Option<Instant>,
    /// Lines of the former drawing.
    lines: usize,
}

impl<'a> SoFar<'a> {
    /// None yet.
    pub fn new(bar: &'a Bar, jobs: &'a [Job], table: &'a Table<'a>) -> Self {
        let state = State {
            results: vec![None; jobs.len()],
            drawn: None,
            lines: 0,
        };
        SoFar {
            bar,
            jobs,
            table,
            state: Mutex::new(state),
        }
    }

    /// Takes the drawing from the terminal: the whole table follows.
    pub fn clear(self) {
        let lines = self.state.into_inner().map_or(0, |state| state.lines);
        self.bar.beside(|| eprint!("{}", back(lines)));
    }

    #[expect(clippy::disallowed_methods, reason = "when to draw, not a result")]
    fn draw(&self, state: &mut State) {
        let on_terminal = std::io::stderr().is_terminal();
        let every = if on_terminal { ON_TERMINAL } else { IN_FILE };
        let now = Instant::now();
        if state.drawn.is_some_and(|drawn| now - drawn < every) {
            return;
        }
        state.drawn = Some(now);
        let done: Vec<RunResult> = state.results.iter().flatten().cloned().collect();
        let (count, all) = (done.len(), self.jobs.len());
        let text = format!("{count} of {all} runs so far. {}\n", (self.table)(&done));
        self.bar.beside(|| eprint!("{}{text}", back(state.lines)));
        state.lines = if on_terminal { text.lines().count() } else { 0 };
    }
}

impl Progress for SoFar<'_> {
    fn done(&self) {
        self.bar.done();
    }

    fn planned(&self, all: usize, missing: usize) {
        self.bar.planned(all, missing);
    }

    fn finished(&self, job: &Job, result: &RunResult) {
        let Some(place) = self.jobs.iter().position(|of| std::ptr::eq(of, job)) else {
            return;
        };
        let mut result = job.called(result.clone());
        result.series = None;
        if let Ok(mut state) = self.state.lock() {
            state.results[place] = Some(result);
            self.draw(&mut state);
        }
    }

    fn remark(&self, text: &str) {
        self.bar.remark(text);
    }
}
