//! What `docs/mencius.md` shows of the results is what their pages have: its tables, and the plots in `docs/evidence`.
//!
//! A comment above a table says whence it is: `<!-- standings | means | lost: SECTION; SCORE; … -->`. After a page of
//! results is made anew, `ANALECTS_DOCS=write cargo test -p analects --test it evidence` renews both; no sentence of
//! the page has a figure of them.

mod plots;
mod results;

use crate::docs::{PAGES, pages, root, settle};
use results::{Lost, Means, Page, Standings};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::PoisonError;

/// The page that shows.
fn shown() -> PathBuf {
    root().join("docs/mencius.md")
}

/// A table of Markdown.
fn written(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); head.len()];
    let rows = rows.iter().map(|row| line(row));
    line(head) + &line(&rule) + &rows.collect::<String>()
}

/// The table that a comment asks for.
fn asked(page: &Page, comment: &str) -> String {
    let (kind, words) = comment.split_once(": ").expect(comment);
    let words: Vec<&str> = words.split("; ").collect();
    match (kind, &words[..]) {
        ("standings", [section, score, rivals]) => {
            standings(&page.standings(section, score), &named(rivals))
        }
        ("means", [section, score, axes, rivals]) => {
            means(&page.means(section, score), &named(axes), &named(rivals))
        }
        ("lost", [section, score, most]) => {
            let lost = page.lost(section, score);
            losses(&lost[..most.parse::<usize>().unwrap().min(lost.len())])
        }
        _ => panic!("{comment:?}: expected standings, means or lost, and what of"),
    }
}

fn named(list: &str) -> Vec<&str> {
    list.split(", ").collect()
}

/// Of each rival: in how many cells mencius is better and worse than it, and the means.
fn standings(of: &Standings, rivals: &[&str]) -> String {
    let head = [
        "against",
        "better",
        "worse",
        "no worse",
        "cannot be told",
        "mean",
    ];
    let mut head = head.map(str::to_owned).to_vec();
    head[5] = format!("{}: mencius", of.unit);
    head.push("the other".to_owned());
    let of_rival = |rival: &&str| {
        let row = of.rows.iter().find(|row| row.rival == *rival);
        let row = row.unwrap_or_else(|| panic!("no {rival}"));
        let [better, worse, no_worse, untold] = row.cells.map(|cells| cells.to_string());
        let [mencius, other] = row.means.clone();
        vec![
            (*rival).to_owned(),
            better,
            worse,
            no_worse,
            untold,
            mencius,
            other,
        ]
    };
    written(&head, &rivals.iter().map(of_rival).collect::<Vec<_>>())
}

/// By the values of axes: the means, and in how many cells mencius is better and worse than each rival.
fn means(of: &Means, axes: &[&str], rivals: &[&str]) -> String {
    let mut head = vec![String::new(), format!("{}: mencius", of.unit)];
    head.extend(rivals.iter().map(|rival| (*rival).to_owned()));
    let counts = rivals
        .iter()
        .map(|rival| format!("better, worse than {rival}"));
    head.extend(counts);
    let rows = of.rows.iter().filter(|row| axes.contains(&&*row.axis));
    let row = |row: &results::Mean| {
        let duels: Vec<_> = rivals.iter().map(|rival| &row.duels[*rival]).collect();
        let mut cells = vec![row.value.clone(), duels[0].means[0].clone()];
        cells.extend(duels.iter().map(|duel| duel.means[1].clone()));
        cells.extend(
            duels
                .iter()
                .map(|duel| format!("{}, {}", duel.better, duel.worse)),
        );
        cells
    };
    written(&head, &rows.map(row).collect::<Vec<_>>())
}

/// The cells that mencius loses, the farthest first.
fn losses(lost: &[Lost]) -> String {
    let head = ["where", "against", "worse by (95 %)"].map(str::to_owned);
    let row = |one: &Lost| vec![one.place.clone(), one.rival.clone(), one.written.clone()];
    written(&head, &lost.iter().map(row).collect::<Vec<_>>())
}

/// The page with its tables as they ought to be.
fn with_tables(text: &str, page: &Page) -> String {
    let (mut whole, mut lines) = (String::new(), text.lines().peekable());
    while let Some(line) = lines.next() {
        _ = writeln!(whole, "{line}");
        let comment = line
            .strip_prefix("<!-- ")
            .and_then(|line| line.strip_suffix(" -->"));
        let Some(comment) = comment else { continue };
        // Behind an empty line: else some renderers take the table for a part of the comment.
        whole += &format!("\n{}", asked(page, comment));
        _ = lines.next_if(|line| line.is_empty());
        while lines.next_if(|line| line.starts_with('|')).is_some() {}
    }
    whole
}

#[test]
fn tables_are_those_of_the_results() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let page = Page::of("docs/reproduction/matrix.md");
    let is = std::fs::read_to_string(shown()).unwrap();
    let ought = with_tables(&is, &page);
    assert!(
        ought.matches("<!-- ").count() > 3,
        "no comment says whence a table is"
    );
    settle(&shown(), &is, &ought);
}

#[test]
fn plots_are_those_of_the_results() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let text: String = pages(&["docs"]).into_iter().map(|page| page.1).collect();
    for (name, drawing) in plots::all() {
        let file = format!("evidence/{name}.svg");
        assert!(text.contains(&format!("]({file})")), "no picture {file}");
        let path = root().join("docs").join(&file);
        let is = std::fs::read_to_string(&path).unwrap_or_default();
        settle(&path, &is, &drawing.svg());
    }
}

/// So that new results need no new prose.
#[test]
fn sentences_have_few_figures() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(shown()).unwrap();
    let sentences = text
        .lines()
        .filter(|line| !line.starts_with(['|', '<', '#', '!']));
    let words: Vec<&str> = sentences.flat_map(str::split_whitespace).collect();
    let figures = words
        .iter()
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    let figures = figures.count();
    assert!(
        figures * 25 <= words.len(),
        "{figures} figures in {} words",
        words.len()
    );
}
