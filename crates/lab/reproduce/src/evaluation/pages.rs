//! The tables of claims on pages, read back.

use crate::Experiment;
use crate::claim::ClaimVerdict;
use crate::page::{WAITS, waits};
use std::io;
use std::path::Path;

/// The sections of all pages.
#[derive(Debug, Default)]
pub struct PublishedPages(Vec<Section>);

/// What a page says of an experiment.
#[derive(Debug, Default)]
pub struct Section {
    /// The page's file.
    pub file: String,
    /// The experiment's name.
    id: String,
    /// What made it, after `analects reproduce`: with several calls, for the first ones.
    command: String,
    /// The fingerprint of the experiment that it was made of, if it has one.
    fingerprint: Option<String>,
    rows: Vec<PublishedRow>,
}

/// A row of a table of claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishedRow {
    /// The sentence, also where it stands in a row above.
    pub said: String,
    /// The check, or the cell.
    pub check: String,
    /// Our value.
    pub ours: String,
    /// The verdict's cell.
    pub told: String,
}

impl PublishedRow {
    /// The verdict, if it has one.
    pub fn verdict(&self) -> Option<ClaimVerdict> {
        use ClaimVerdict::{Fails, Holds, Untested, Untold};
        let told = self.told.replace("**", "");
        [Holds, Fails, Untested, Untold]
            .into_iter()
            .find(|verdict| told.starts_with(verdict.name()))
    }
}

impl Section {
    /// The preset of its calls, if another than the experiment's own: of several, the first.
    pub fn calls(&self) -> Option<&str> {
        option(&self.command, "--calls")
    }

    /// Whether it was made of this text of the experiment, with what that draws.
    fn is_of(&self, experiment: &Experiment) -> bool {
        let text = experiment.text.as_deref();
        self.id == experiment.id
            && !is_partial(&self.command)
            && (text.is_none() || self.fingerprint.as_deref() == text)
            && option(&self.command, "--draw") == experiment.written.draw.as_deref()
    }

    /// The rows of a sentence.
    pub fn rows(&self, said: &str) -> Vec<&PublishedRow> {
        let said = cell(said);
        self.rows.iter().filter(|row| row.said == said).collect()
    }
}

/// The value of an option of a command.
fn option<'c>(command: &'c str, name: &str) -> Option<&'c str> {
    let mut words = command.split(' ').skip_while(|word| *word != name);
    words.nth(1)
}

/// Text as a cell has it.
pub(super) fn cell(text: &str) -> String {
    text.replace('\n', " ").trim().to_owned()
}

impl PublishedPages {
    /// Those of all files of Markdown in `folder`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(folder: &Path) -> io::Result<PublishedPages> {
        let mut pages = PublishedPages::default();
        let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<io::Result<_>>()?;
        files.sort_by_key(std::fs::DirEntry::file_name);
        for file in files {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                pages.add(&name, &std::fs::read_to_string(file.path())?);
            }
        }
        Ok(pages)
    }

    /// The section of an experiment, if one was made of this text of it, with what that draws, and of all of it.
    pub fn section(&self, experiment: &Experiment) -> Option<&Section> {
        self.0.iter().find(|section| section.is_of(experiment))
    }

    /// Adds the sections of one page.
    fn add(&mut self, file: &str, text: &str) {
        let top = text.split("\n## ").next().unwrap_or_default();
        // Earlier rules gave other verdicts.
        if made_in_part(text) || waits(top).is_some() {
            return;
        }
        let mut section: Option<Section> = None;
        let mut table: Option<Columns> = None;
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                self.0.extend(section.take());
                section = heading.split_once(": ").map(|(id, _)| Section {
                    file: file.to_owned(),
                    id: id.to_owned(),
                    ..Section::default()
                });
                table = None;
            }
            if line.starts_with(WAITS) {
                section = None;
            }
            let Some(section) = &mut section else {
                continue;
            };
            let cells = cells(line);
            if cells.is_empty() {
                table = None;
                if section.command.is_empty()
                    && let Some((command, fingerprint)) = made_by(line)
                {
                    command.clone_into(&mut section.command);
                    section.fingerprint = fingerprint.map(str::to_owned);
                }
            } else if let Some(columns) = &table {
                let row = columns.row(&cells, section.rows.last());
                section.rows.extend(row);
            } else {
                table = Columns::of(&cells, section.calls());
            }
        }
        self.0.extend(section);
    }
}

/// Whether what one command made is less than the experiments, as the top of a page has it.
fn made_in_part(page: &str) -> bool {
    let mut lines = page.lines();
    let command = lines.find_map(|line| line.strip_prefix("Made by `")?.split_once('`'));
    command.is_some_and(|(command, _)| is_partial(command))
}

/// Whether a command runs less than the experiment: quickly, or some claims only.
fn is_partial(command: &str) -> bool {
    let mut words = command.split(' ');
    words.any(|word| ["--quick", "--only"].contains(&word))
}

/// The command and the fingerprint of the experiment in a line that says what made a section.
fn made_by(line: &str) -> Option<(&str, Option<&str>)> {
    let (command, rest) = line.strip_prefix("`analects reproduce ")?.split_once('`')?;
    let fingerprint = rest.split_once(", experiment ").map(|(_, rest)| {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit());
        &rest[..end.unwrap_or(rest.len())]
    });
    Some((command, fingerprint))
}

/// The cells of a row; none if the line is no row.
fn cells(line: &str) -> Vec<String> {
    let Some(inner) = line
        .strip_prefix("| ")
        .and_then(|rest| rest.strip_suffix(" |"))
    else {
        return Vec::new();
    };
    let held = inner.replace("\\|", "\u{0}");
    let cells = held.split(" | ");
    cells
        .map(|cell| cell.trim().replace('\u{0}', "|"))
        .collect()
}

/// Where a table of claims has its value and verdict.
struct Columns {
    ours: usize,
    verdict: usize,
}

impl Columns {
    /// Those of a table with this head, if it is one of claims; of several calls, those of `calls`.
    fn of(head: &[String], calls: Option<&str>) -> Option<Columns> {
        let [first, second, ..] = head else {
            return None;
        };
        // Earlier pages have tables without checks.
        let of_claims = ["sentence", "question"].contains(&first.as_str()) && second == "check";
        let ours = |cell: &String| cell == "ours (95 %)" || Some(cell.as_str()) == calls;
        let ours = head.iter().position(ours)?;
        let verdict = ours + 1;
        let has_verdict = head.get(verdict).is_some_and(|cell| cell == "verdict");
        (of_claims && has_verdict).then_some(Columns { ours, verdict })
    }

    /// A row below the head; none for the line under the head.
    fn row(&self, cells: &[String], above: Option<&PublishedRow>) -> Option<PublishedRow> {
        let [said, check, ..] = cells else {
            return None;
        };
        if said.starts_with("---") {
            return None;
        }
        let said = match (said.as_str(), above) {
            ("", Some(above)) => above.said.clone(),
            (said, _) => said.to_owned(),
        };
        Some(PublishedRow {
            said,
            check: check.clone(),
            ours: cells.get(self.ours)?.clone(),
            told: cells.get(self.verdict)?.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# What holds

## own/e: A title
`analects reproduce own/e`: 6 runs, seeds 1 to 6, experiment 0123456789ab, statistics x, analects 0.

What the paper says:

| sentence | check | ours (95 %) | verdict | note |
| --- | --- | --- | --- | --- |
| “It is a\\|b” (1) | all of these |  | **does not hold** |  |
|  | stall: at most 5 | 7.1 (6.0 to 8.2) s | outside |  |
|  | rate: at least 1 | 2.0 (1.5 to 2.5) | inside |  |
| “So is this” (2) | stall: at most 9 | 7.1 (6.0 to 8.2) s | holds |  |

| case | stall |
| --- | --- |
| a | 1 |
";

    /// An experiment with this name and fingerprint.
    fn experiment(id: &str, fingerprint: &str, draw: Option<&str>) -> Experiment {
        let text = r#"
            title = "t"
            paper = "p"
            about = "a"
            [scenario]
            duration = "5s"
            disciplines = ["pfifo"]
            link = { rate = "10mbit", rtt = "20ms" }
            traffic = [{ name = "bulk", kind = "bulk" }]
        "#;
        let mut experiment = Experiment::parse(id, "e.toml", text).unwrap();
        experiment.text = Some(fingerprint.to_owned());
        experiment.written.draw = draw.map(str::to_owned);
        experiment
    }

    fn pages(page: &str) -> PublishedPages {
        let mut pages = PublishedPages::default();
        pages.add("e.md", page);
        pages
    }

    #[test]
    fn rows_of_claims_are_read_back() {
        let pages = pages(PAGE);
        let section = pages.section(&experiment("own/e", "0123456789ab", None));
        let section = section.unwrap();
        assert_eq!(section.file, "e.md");
        let rows = section.rows("“It is a|b” (1)");
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].verdict(), Some(ClaimVerdict::Fails));
        assert_eq!(
            (rows[1].check.as_str(), rows[1].verdict()),
            ("stall: at most 5", None)
        );
        let rows = section.rows("“So is this” (2)");
        assert_eq!(rows[0].verdict(), Some(ClaimVerdict::Holds));
        assert_eq!(rows[0].ours, "7.1 (6.0 to 8.2) s");
        assert_eq!(section.rows.len(), 4, "other tables are none of claims");
        for (id, fingerprint) in [("own/e", "ffff"), ("own/f", "0123456789ab")] {
            let other = experiment(id, fingerprint, None);
            assert!(pages.section(&other).is_none(), "{id} {fingerprint}");
        }
    }

    #[test]
    fn what_was_drawn_otherwise_or_made_quickly_or_waits_is_no_page() {
        let own = experiment("own/e", "0123456789ab", Some("a1"));
        let is_found = |page: &str| pages(page).section(&own).is_some();
        let drawn = |text: &str| PAGE.replace("own/e`", &format!("own/e --draw {text}`"));
        assert!(is_found(&drawn("a1")));
        assert!(!is_found(&drawn("b2")));
        assert!(!is_found(PAGE));
        let made = |option: &str| {
            let top = format!("# What holds\nMade by `analects reproduce own/all{option}`, x.\n");
            drawn("a1").replace("# What holds\n", &top)
        };
        assert!(is_found(&made(" --seed 1")));
        let waits = format!("{WAITS}abcdef0`: an hour.**\n\n`analects");
        assert!(!is_found(&drawn("a1").replacen("`analects", &waits, 1)));
        let top = format!("# What holds\n{WAITS}abcdef0`: an hour.**\n");
        assert!(!is_found(&drawn("a1").replace("# What holds\n", &top)));
        assert!(!is_found(&made(" --quick --seed 1")));
        // A page that is made part by part says it of each.
        for option in [" --only stall", " --quick"] {
            let part = drawn("a1").replace("a1`", &format!("a1{option}`"));
            assert!(part.contains(option));
            assert!(!is_found(&part), "{option}");
        }
    }

    #[test]
    fn of_several_calls_the_column_is_that_of_the_first_command() {
        let page = "## own/e: A title
`analects reproduce own/e --calls webrtc`: 6 runs, experiment 0123456789ab, statistics x, analects 0.

`analects reproduce own/e --calls paper`: 6 runs, experiment 0123456789ab, statistics x, analects 0.

| question | check | paper | verdict | webrtc | verdict | note |
| --- | --- | --- | --- | --- | --- | --- |
| Is it? | stall: at most 5 | 7.1 | does not hold | 2.0 | holds |  |
";
        let own = experiment("own/e", "0123456789ab", None);
        let pages = pages(page);
        let section = pages.section(&own).unwrap();
        assert_eq!(section.calls(), Some("webrtc"));
        let rows = section.rows("Is it?");
        assert_eq!(rows[0].ours, "2.0");
        assert_eq!(rows[0].verdict(), Some(ClaimVerdict::Holds));
    }
}
