//! A progress bar on standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Counts what is done.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar for so many things, called `what`.
    pub fn new(count: usize, what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
        let template = format!("{{bar:40}} {{pos}}/{{len}} {what}, {{eta}} left");
        // Without a style of ours there is indicatif's own.
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.tick();
        Bar(bar)
    }

    /// There turn out to be so many things.
    pub fn expect(&self, count: usize) {
        self.0.set_length(count as u64);
        self.0.tick();
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl reproduce::Progress for Bar {
    fn done(&self) {
        self.0.inc(1);
    }
}
