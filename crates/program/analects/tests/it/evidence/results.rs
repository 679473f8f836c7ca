//! Tables of a page that `analects reproduce` wrote, read back.

use crate::docs::root;
use std::collections::BTreeMap;

/// A page of results.
pub struct Page(String);

/// A table: its head, and its rows.
type Table = (Vec<String>, Vec<Vec<String>>);

/// One case against its rivals.
pub struct Standings {
    /// What it is measured in.
    pub unit: String,
    /// Each rival.
    pub rows: Vec<Standing>,
}

/// One rival.
pub struct Standing {
    /// Its name.
    pub rival: String,
    /// Cells in which the case is better, worse, no worse by more than the margin, and in which that cannot be told.
    pub cells: [usize; 4],
    /// The mean of the case, and of the rival.
    pub means: [String; 2],
}

/// Means by values of axes.
pub struct Means {
    /// What they are measured in.
    pub unit: String,
    /// Each value of each axis.
    pub rows: Vec<Mean>,
}

/// One value of an axis.
pub struct Mean {
    /// The axis.
    pub axis: String,
    /// Its value.
    pub value: String,
    /// By rival.
    pub duels: BTreeMap<String, Duel>,
}

/// A rival in the cells of a value.
pub struct Duel {
    /// Cells in which the case is better.
    pub better: usize,
    /// Cells in which it is worse.
    pub worse: usize,
    /// The mean of the case, and of the rival.
    pub means: [String; 2],
}

/// A cell that is lost to a rival.
pub struct Lost {
    /// The cell's values of all axes.
    pub place: String,
    /// The rival.
    pub rival: String,
    /// By how much, and the ends of its interval.
    pub by: [f64; 3],
    /// The same as the page has it, with its unit.
    pub written: String,
}

impl Page {
    /// That of a file in the tree.
    pub fn of(file: &str) -> Page {
        let text = std::fs::read_to_string(root().join(file));
        Page(text.unwrap_or_else(|error| panic!("{file}: {error}")))
    }

    /// The section whose title begins so.
    fn section(&self, title: &str) -> &str {
        let begins = format!("\n## {title}");
        let at = self.0.find(&begins).unwrap_or_else(|| panic!("no {title}"));
        let rest = &self.0[at + 1..];
        &rest[..rest.find("\n## ").unwrap_or(rest.len())]
    }

    /// The first table behind a line that begins so, in a section.
    pub fn table(&self, section: &str, caption: &str) -> Table {
        let mut lines = self.section(section).lines();
        assert!(
            lines.any(|line| line.starts_with(caption)),
            "{section}: no {caption:?}"
        );
        let lines = lines.skip_while(|line| !line.starts_with('|'));
        let lines = lines.take_while(|line| line.starts_with('|'));
        let cells = |line: &str| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        };
        let mut rows: Vec<Vec<String>> = lines.map(cells).collect();
        assert!(rows.len() > 2, "{section}: {caption:?} has no table");
        rows.remove(1);
        (rows.remove(0), rows)
    }

    /// The table of a score over all cells.
    pub fn standings(&self, section: &str, score: &str) -> Standings {
        let (head, rows) = self.table(section, &format!("{score}: "));
        let unit = head[6].rsplit_once(", ").map_or("", |(_, unit)| unit);
        let standing = |row: &Vec<String>| Standing {
            rival: row[0].clone(),
            cells: [2, 4, 3, 5].map(|at| row[at].parse().unwrap()),
            means: [row[6].clone(), row[7].clone()],
        };
        Standings {
            unit: unit.to_owned(),
            rows: rows.iter().map(standing).collect(),
        }
    }

    /// The table of a score by values of axes.
    pub fn means(&self, section: &str, score: &str) -> Means {
        let caption = format!("{score}: cells in which it is better and worse, and the mean");
        let (head, rows) = self.table(section, &caption);
        let mean = |row: &Vec<String>| Mean {
            axis: row[0].clone(),
            value: row[1].clone(),
            duels: (2..row.len())
                .map(|at| (head[at].clone(), duel(&row[at])))
                .collect(),
        };
        Means {
            unit: self.standings(section, score).unit,
            rows: rows.iter().map(mean).collect(),
        }
    }

    /// The cells that a score is lost in, as far as the page lists them.
    pub fn lost(&self, section: &str, score: &str) -> Vec<Lost> {
        let few = format!("{score}: lost");
        let caption = if self.section(section).contains(&format!("\n{few}")) {
            few
        } else {
            format!("{score}: the ")
        };
        let (head, rows) = self.table(section, &caption);
        let (_, unit) = head.last().unwrap().split_once(", ").unwrap();
        let unit = unit.trim_end_matches(" (95 %)");
        rows.iter().map(|row| lost(row, unit)).collect()
    }
}

/// `+1 −0, 18.2 : 10.1`.
fn duel(cell: &str) -> Duel {
    let parse = || {
        let (counts, means) = cell.split_once(", ")?;
        let (better, worse) = counts.strip_prefix('+')?.split_once(" −")?;
        let (case, rival) = means.split_once(" : ")?;
        Some(Duel {
            better: better.parse().ok()?,
            worse: worse.parse().ok()?,
            means: [case.to_owned(), rival.to_owned()],
        })
    };
    parse().unwrap_or_else(|| panic!("{cell:?}: expected +BETTER −WORSE, MEAN : MEAN"))
}

/// The cell's values, the rival, and `9.81 (5.26 to 14.4)`.
fn lost(row: &[String], unit: &str) -> Lost {
    let [place @ .., rival, by] = row else {
        panic!("{row:?}: too short");
    };
    let ends = interval(by).unwrap_or_else(|| panic!("{by:?}: expected VALUE (LOW to HIGH)"));
    Lost {
        place: place.join(", "),
        rival: rival.clone(),
        by: ends,
        written: by.replacen(' ', &format!(" {unit} "), 1),
    }
}

/// `9.81 (5.26 to 14.4)`; nothing if there is no interval.
pub fn interval(written: &str) -> Option<[f64; 3]> {
    let words = written.split([' ', '(', ')']);
    let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}
