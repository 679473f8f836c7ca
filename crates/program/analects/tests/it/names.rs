//! A type's name is one thing in its crate, and hardly ever more than two in all of them (docs/decisions/0009).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names of more than two things, which 0009 argues for.
const STAY: [&str; 11] = [
    "Command", "Error", "Event", "Found", "Known", "Outcome", "Parts", "Registry", "Report",
    "Share", "State",
];

/// Files of Rust below a folder, without those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let kept = paths.filter(|path| !path.file_stem().unwrap().to_string_lossy().contains("test"));
    kept.flat_map(|path| {
        if path.is_dir() {
            sources(&path)
        } else if path.extension().is_some_and(|rs| rs == "rs") {
            vec![path]
        } else {
            Vec::new()
        }
    })
    .collect()
}

/// The type that a line declares at the margin, where no test's types stand.
fn declared(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait "];
    let name = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    name.split(|letter: char| !letter.is_alphanumeric()).next()
}

#[test]
fn declarations_are_found() {
    for (line, name) in [
        ("pub struct Line<'a> {", Some("Line")),
        ("pub(super) enum Fate {", Some("Fate")),
        ("trait Queue: Debug {", Some("Queue")),
        ("    struct OfATest;", None),
        ("pub fn structure() {}", None),
    ] {
        assert_eq!(declared(line), name, "{line}");
    }
}

#[test]
fn each_is_one_thing() {
    let mut crates_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in sources(&root) {
        let inside = file.strip_prefix(&root).unwrap().display().to_string();
        let Some((krate, _)) = inside.split_once("/src/") else {
            continue;
        };
        let text = std::fs::read_to_string(&file).unwrap();
        for name in text.lines().filter_map(declared) {
            let of = crates_of.entry(name.to_owned()).or_default();
            of.push(krate.to_owned());
        }
    }
    let twice: BTreeSet<_> = crates_of
        .iter()
        .filter(|(_, crates)| crates.iter().collect::<BTreeSet<_>>().len() < crates.len())
        .collect();
    assert!(twice.is_empty(), "twice in one crate: {twice:?}");
    let often: Vec<_> = crates_of
        .iter()
        .filter(|(_, crates)| crates.len() > 2)
        .collect();
    let names: Vec<&str> = often.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names, STAY,
        "names of more than two things; which, and where: {often:?}"
    );
}
