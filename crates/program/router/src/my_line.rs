//! `--from`: a measured line's scenario says what the command line leaves unsaid.

use command::Refused;
use netcfg::{Direction, Overhead, ShapedRate};
use scenario::files::{MAX_SCENARIO, read};
use scenario::{Document, MEASURED, Part, Shaper, printable};
use std::path::Path;
use units::Refusal;

type Result<T> = core::result::Result<T, Refused>;

/// A line, and what was taken of its file so far.
pub struct MyLine {
    document: Document,
    shaper: Shaper,
    taken: Vec<String>,
}

impl MyLine {
    /// That of a scenario such as `analects measure -o` writes.
    ///
    /// # Errors
    /// If it is none: where, what was found, and what was expected.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = read(path, MAX_SCENARIO).map_err(|why| {
            let help = "name the file that `analects measure SERVER -o FILE` wrote";
            Refused::new(&format!("--from: {file}: {why}"), help)
        })?;
        let document = Document::parse(&file, &text)?;
        let shaper = document.shaper()?;
        if !document.has(MEASURED) {
            let message =
                "found a link that nobody has measured, expected the table [measured] as well";
            let help = "`analects measure SERVER -o FILE` writes it; other rates are --up RATE and --down RATE";
            return Err(document.error_at_path("link", message, help).into());
        }
        Ok(MyLine {
            shaper,
            document,
            taken: Vec::new(),
        })
    }

    /// The shaper's rate in a direction: what was `said` of it, or the file's.
    ///
    /// # Errors
    /// If there is none, or it cannot be shaped.
    pub fn rate(&mut self, direction: Direction, said: Option<&str>) -> Result<String> {
        let (word, key, part) = match direction {
            Direction::Down => ("down", "link", Some(self.shaper.down)),
            Direction::Up => ("up", "link.up", self.shaper.up),
        };
        if let Some(said) = said {
            return Ok(self.overruled(word, said));
        }
        let Some(part) = part else {
            let help = format!("measure again without a Ctrl-C, or say --{word} RATE");
            return Err(self.wrong(key, "found no such table, expected the line's rate", &help));
        };
        if let Err(error) = ShapedRate::try_from(part.rate) {
            let message = format!("{}: {error}", shares(part));
            return Err(self.wrong(key, &message, &format!("say --{word} RATE")));
        }
        self.take(&format!("{word} {}", shares(part)));
        Ok(part.rate.to_string())
    }

    /// The discipline that was `said`, or the last of the file's, which has to pass `check`; none if neither has one.
    ///
    /// # Errors
    /// If it does not pass.
    pub fn discipline(
        &mut self,
        said: Option<&str>,
        check: impl Fn(&str) -> core::result::Result<(), Refusal>,
    ) -> Result<Option<String>> {
        if let Some(said) = said {
            return Ok(Some(self.overruled("discipline", said)));
        }
        let Some(text) = self.shaper.discipline.clone() else {
            return Ok(None);
        };
        if let Err(refusal) = check(&text) {
            let help = refusal.help.as_deref();
            let help = help.unwrap_or("put one that a shaper can have last, or say --discipline");
            return Err(self.wrong("disciplines", &refusal.message, help));
        }
        self.take(&format!("discipline {text}, the last of its disciplines"));
        Ok(Some(text))
    }

    /// The overhead that was `said`, or the file's.
    ///
    /// # Errors
    /// If the file's is more than a shaper can count.
    pub fn overhead(&mut self, said: Option<&str>) -> Result<Option<String>> {
        if let Some(said) = said {
            return Ok(Some(self.overruled("overhead", said)));
        }
        let Some(bytes) = self.shaper.overhead else {
            self.take("no overhead: it is not measured; link.overhead or --overhead says it");
            return Ok(None);
        };
        let text = bytes.get().to_string();
        if let Err(error) = text.parse::<Overhead>() {
            let help = "write the bytes that the line adds to each packet, or say --overhead";
            return Err(self.wrong("link.overhead", &error.to_string(), help));
        }
        self.take(&format!("overhead {text} bytes for each packet"));
        Ok(Some(text))
    }

    /// Says that the file's overhead is not counted, if it has one.
    pub fn overhead_is_not_counted(&mut self) {
        if let Some(bytes) = self.shaper.overhead {
            self.take(&format!(
                "its overhead of {bytes} for each packet is not counted here: small packets need lower rates"
            ));
        }
    }

    /// Says what was taken, on standard error.
    pub fn tell(&self) {
        for taken in &self.taken {
            eprintln!("{}", printable(taken, 500));
        }
    }

    fn take(&mut self, what: &str) {
        self.taken.push(format!("{}: {what}", self.document.file));
    }

    fn overruled(&mut self, word: &str, said: &str) -> String {
        self.take(&format!("--{word} {said} stands, whatever it says"));
        said.to_owned()
    }

    fn wrong(&self, key: &str, message: &str, help: &str) -> Refused {
        self.document.error_at_path(key, message, help).into()
    }
}

/// A shaper's rate, and what it is of the line's.
fn shares(part: Part) -> String {
    let Part {
        rate, of, percent, ..
    } = part;
    if part.varies {
        format!("{rate}, {percent} % of the line's slowest second, {of}")
    } else {
        format!("{rate}, {percent} % of the line's {of}")
    }
}
