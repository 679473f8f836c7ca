//! Pictures in the documents are those that the command beside them draws.
//!
//! Such a picture stands in `docs/pictures`, and the text behind it says, in italics: Drawn by `COMMAND --out
//! results`: `plots/FILE.svg`. "Drawn in a while by" is a command that takes too long for every change.
//! `ANALECTS_DOCS=write cargo test -p analects --test it pictures -- --include-ignored` draws them anew.

use crate::common::Folder;
use crate::docs::{ALL, pages, root, settle, shell, with_scenarios};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A picture of a page.
struct Picture {
    /// Its file.
    file: PathBuf,
    /// The command that draws it.
    command: String,
    /// Whether that takes too long for every change.
    long: bool,
    /// Its name among what the command writes.
    drawn: String,
}

/// The pictures of all pages.
fn pictures() -> Vec<Picture> {
    let mut found = Vec::new();
    for (path, page) in pages(ALL) {
        for (at, _) in page.match_indices("pictures/") {
            let behind = &page[at..];
            let Some((target, behind)) = behind.split_once(")\n\n*") else {
                panic!("{path:?}: behind a picture, a line in italics says what draws it");
            };
            let file = page[..at].rsplit_once("](").unwrap().1.to_owned() + target;
            let (note, _) = behind.split_once("*\n").expect("italics end");
            let note = note.replace('\n', " ");
            let words = note.split_once("Drawn ").and_then(|(_, words)| {
                let (how, words) = words.split_once("by `")?;
                let (command, words) = words.split_once("`: `")?;
                Some((how, command, words.split_once('`')?.0))
            });
            let (how, command, drawn) =
                words.unwrap_or_else(|| panic!("{path:?}: {file}: no command in {note:?}"));
            assert!(["", "in a while "].contains(&how), "{path:?}: {how:?}");
            found.push(Picture {
                file: path.parent().unwrap().join(file),
                command: command.to_owned(),
                long: !how.is_empty(),
                drawn: drawn.to_owned(),
            });
        }
    }
    found
}

#[test]
fn are_those_of_their_commands() {
    are_drawn(false);
}

#[test]
#[ignore = "takes a while: `make test OF=docs`"]
fn long_ones_are_those_of_their_commands() {
    are_drawn(true);
}

/// Draws those again that take long, or those that do not.
fn are_drawn(long: bool) {
    let mut by_command: BTreeMap<String, Vec<Picture>> = BTreeMap::new();
    for picture in pictures()
        .into_iter()
        .filter(|picture| picture.long == long)
    {
        let of = by_command.entry(picture.command.clone()).or_default();
        of.push(picture);
    }
    assert!(!by_command.is_empty());
    for (number, (command, pictures)) in by_command.iter().enumerate() {
        let folder = Folder::new(&format!("pictures-{long}-{number}"));
        with_scenarios(&folder);
        shell(&folder, command);
        for picture in pictures {
            let drawn = folder.0.join("results").join(&picture.drawn);
            let ought = std::fs::read_to_string(&drawn)
                .unwrap_or_else(|error| panic!("{command}: {}: {error}", picture.drawn));
            let is = std::fs::read_to_string(&picture.file).unwrap_or_default();
            settle(&picture.file, &is, &ought);
        }
    }
}

#[test]
fn none_is_left_over() {
    let used: BTreeSet<PathBuf> = pictures()
        .iter()
        .map(|picture| picture.file.canonicalize().unwrap())
        .collect();
    for entry in std::fs::read_dir(root().join("docs/pictures")).unwrap() {
        let path = entry.unwrap().path().canonicalize().unwrap();
        assert!(used.contains(&path), "no page has {path:?}");
    }
}
