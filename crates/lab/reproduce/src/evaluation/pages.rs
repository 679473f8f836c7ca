//! The tables of claims on pages, read back.

use crate::claim::ClaimVerdict;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The sections of all pages, by experiment.
#[derive(Debug, Default)]
pub struct Pages(BTreeMap<String, Section>);

/// What a page says of an experiment.
#[derive(Debug, Default)]
pub struct Section {
    /// The page's file.
    pub file: String,
    /// The fingerprint of the experiment that it was made of, if it has one.
    fingerprint: Option<String>,
    rows: Vec<Row>,
}

/// A row of a table of claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The sentence, also where it stands in a row above.
    pub said: String,
    /// The check, or the cell.
    pub check: String,
    /// Our value.
    pub ours: String,
    /// The verdict's cell.
    pub told: String,
}

impl Row {
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
    /// The rows of a sentence.
    pub fn rows(&self, said: &str) -> Vec<&Row> {
        let said = cell(said);
        self.rows.iter().filter(|row| row.said == said).collect()
    }
}

/// Text as a cell has it.
fn cell(text: &str) -> String {
    text.replace('\n', " ").trim().to_owned()
}

impl Pages {
    /// Those of all files of Markdown in `folder`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(folder: &Path) -> io::Result<Pages> {
        let mut pages = Pages::default();
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

    /// The section of an experiment, if it was made of this text of it.
    pub fn section(&self, id: &str, fingerprint: Option<&str>) -> Option<&Section> {
        let section = self.0.get(id)?;
        let same = fingerprint.is_none() || section.fingerprint.as_deref() == fingerprint;
        same.then_some(section)
    }

    /// Adds the sections of one page.
    fn add(&mut self, file: &str, text: &str) {
        let mut id = None;
        let mut table: Option<Columns> = None;
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                id = heading.split_once(": ").map(|(id, _)| id.to_owned());
                table = None;
            }
            let Some(id) = &id else {
                continue;
            };
            let cells = cells(line);
            if cells.is_empty() {
                table = None;
                if let Some(found) = fingerprint(line) {
                    let section = self.0.entry(id.clone()).or_default();
                    section.fingerprint = Some(found.to_owned());
                }
            } else if let Some(columns) = &table {
                let section = self.0.entry(id.clone()).or_default();
                file.clone_into(&mut section.file);
                section
                    .rows
                    .extend(columns.row(&cells, section.rows.last()));
            } else {
                table = Columns::of(&cells);
            }
        }
    }
}

/// The fingerprint of the experiment in a line that says what made a section.
fn fingerprint(line: &str) -> Option<&str> {
    let (_, rest) = line
        .starts_with("`analects reproduce ")
        .then(|| line.split_once(", experiment "))??;
    let end = rest.find(|c: char| !c.is_ascii_hexdigit());
    Some(&rest[..end.unwrap_or(rest.len())])
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
    /// Those of a table with this head, if it is one of claims; of several calls, the first.
    fn of(head: &[String]) -> Option<Columns> {
        let known = ["sentence", "question"];
        let first = head.first()?;
        let verdict = head.iter().position(|cell| cell == "verdict")?;
        known.contains(&first.as_str()).then_some(Columns {
            ours: verdict - 1,
            verdict,
        })
    }

    /// A row below the head; none for the line under the head.
    fn row(&self, cells: &[String], above: Option<&Row>) -> Option<Row> {
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
        Some(Row {
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

    #[test]
    fn rows_of_claims_are_read_back() {
        let mut pages = Pages::default();
        pages.add("e.md", PAGE);
        let section = pages.section("own/e", Some("0123456789ab")).unwrap();
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
        assert!(
            pages.section("own/e", Some("ffff")).is_none(),
            "another text"
        );
        assert!(pages.section("own/f", None).is_none());
    }
}
