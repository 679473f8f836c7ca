//! A progress bar on standard error, if that is a terminal; and how a drawing replaces its former one.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Counts finished work.
pub struct Bar {
    bar: ProgressBar,
    /// Its name.
    name: String,
}

impl Bar {
    /// A bar for so many items, called `what`.
    pub fn new(count: usize, what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
        let template = format!("{{bar:40}} {{pos}}/{{len}} {what}, {{eta}} left");
        // Without a style of ours there is indicatif's own.
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.tick();
        let name = String::new();
        Bar { bar, name }
    }

    /// A bar for the runs of `name`, whose number is set later.
    pub fn of_runs(name: &str) -> Self {
        Bar {
            name: name.to_owned(),
            ..Bar::new(0, &format!("runs of {name}"))
        }
    }

    /// There are so many things.
    pub fn expect(&self, count: usize) {
        self.bar.set_length(count as u64);
        self.bar.tick();
    }

    /// Prints a line without disturbing the bar.
    pub fn beside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl campaign::Progress for Bar {
    fn done(&self) {
        self.bar.inc(1);
    }

    fn planned(&self, all: usize, missing: usize) {
        if missing < all {
            let kept = all - missing;
            self.remark(&format!(
                "{}: {kept} of {all} runs are kept from before",
                self.name
            ));
        }
        self.expect(missing);
    }

    fn remark(&self, text: &str) {
        self.beside(|| eprintln!("{text}"));
    }
}
