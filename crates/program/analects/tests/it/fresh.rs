//! Pages of results say what they were made by, and that is what is there now.

use crate::docs::{pages, root};
use reproduce::page::{WAITS, waits};

#[test]
fn pages_are_of_the_experiments_and_statistics_as_they_are() {
    let statistics = reproduce::statistics();
    let mut found = Vec::new();
    for (path, page) in pages(&["docs/reproduction"]) {
        let stale = stale(&page, &statistics, experiment);
        found.extend(stale.iter().map(|of| format!("{}: {of}", path.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Twelve digits of the hash of an experiment's text as it is.
fn experiment(id: &str) -> String {
    let text = std::fs::read(root().join(format!("experiments/{id}.toml")));
    let text = text.unwrap_or_else(|error| panic!("{id}: {error}"));
    blake3::hash(&text).to_hex()[..12].to_owned()
}

/// What keeps a page from being fresh.
fn stale(page: &str, statistics: &str, experiment: impl Fn(&str) -> String) -> Vec<String> {
    let mut parts = page.split("\n## ");
    let top = parts.next().unwrap_or_default();
    if let Some(line) = waits(top) {
        return reasonless(line).into_iter().collect();
    }
    if !top.starts_with("# What holds") {
        // What its commands print is tested.
        let runs = page.contains("```console");
        let what = "it says neither what made it nor why it waits";
        return Vec::from_iter((!runs).then(|| what.to_owned()));
    }
    let of_part = |part: &str| -> Vec<String> {
        let id = part.split(": ").next().unwrap_or_default();
        if let Some(line) = waits(part) {
            return reasonless(line).into_iter().collect();
        }
        let made = format!("`analects reproduce {id}");
        let mut made = part
            .lines()
            .filter(|line| line.starts_with(&made))
            .peekable();
        if made.peek().is_none() {
            return vec![format!("{id} does not say what made it")];
        }
        let now = format!(
            ", experiment {}, statistics {statistics}, analects ",
            experiment(id)
        );
        let other = made.filter(|line| !line.contains(&now));
        other
            .map(|line| format!("{id} has{now}and is by {line}"))
            .collect()
    };
    parts.flat_map(of_part).collect()
}

/// A page may wait for a reason, which says what it costs.
fn reasonless(line: &str) -> Option<String> {
    let rest = line.strip_prefix(WAITS).unwrap_or_default();
    let (commit, reason) = rest.split_once("`: ").unwrap_or_default();
    let is_commit = commit.len() >= 7 && commit.chars().all(|c| c.is_ascii_hexdigit());
    let costs = [" hour", " minute", " days"]
        .iter()
        .any(|unit| reason.contains(unit));
    (!is_commit || !costs).then(|| format!("no commit, or no reason with what it costs: {line}"))
}

#[test]
fn what_is_stale_is_found() {
    let of = |page: &str| stale(page, "5", |id| format!("{}e", id.len()));
    let page = |by: &str| {
        format!("# What holds\n\n## own/e: Rates\n`analects reproduce own/e`: 8 runs{by}\n")
    };
    let fresh = page(", experiment 5e, statistics 5, analects 0.1.0 (abc).");
    assert_eq!(of(&fresh), [""; 0]);
    assert_eq!(
        of(&fresh.replace("5e", "4e")).len(),
        1,
        "another experiment"
    );
    assert_eq!(of(&fresh.replace("statistics 5", "statistics 4")).len(), 1);
    assert_eq!(of("# What holds\n\n## own/e: Rates\nNothing.\n").len(), 1);
    let old = page(".").replace(
        "8 runs",
        "8 runs.\n\n**Made by the rules of commit `abcdef0`: WHY**\n",
    );
    assert_eq!(of(&old).len(), 1, "no reason");
    assert_eq!(of(&old.replace("WHY", "its runs take ten hours.")), [""; 0]);
    assert_eq!(of("# In words\nAll holds.\n").len(), 1);
    assert_eq!(of("# In words\n```console\n$ true\n```\n"), [""; 0]);
}
