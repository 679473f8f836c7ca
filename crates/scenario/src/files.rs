//! Files that a scenario names.

use crate::error::ScenarioError;
use crate::section::Text;
use crate::trace::Trace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workload::page::Page;

/// Larger files are refused unread.
const MAX_FILE: u64 = 256 << 20;

/// Reads a file of text.
///
/// # Errors
/// A sentence that says why it cannot be read.
pub fn read(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path)
        .map_err(|error| error.to_string())?
        .len();
    if size > MAX_FILE {
        return Err(format!(
            "it has {size} bytes; {MAX_FILE} are the most that is read"
        ));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| {
        format!(
            "byte {} is not UTF-8 text",
            error.utf8_error().valid_up_to() + 1
        )
    })
}

/// The files that `pattern` means: a file itself, all files of a folder that do not begin with a
/// dot, or those whose names match a `*` in the last part. In the order of their names, numbers by
/// value.
///
/// # Errors
/// A sentence that says why there are none.
pub fn expand(pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(pattern);
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let (folder, matching) = match name {
        Some(name) if name.contains('*') => (path.parent().unwrap_or(Path::new(".")), name),
        _ if path.is_dir() => (path, "*".to_owned()),
        _ if path.exists() => return Ok(vec![path.to_owned()]),
        _ => return Err(format!("there is no {pattern:?}")),
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{folder:?}: {error}"))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .filter(|path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                !name.starts_with('.') && !name.starts_with("README") && matches(&matching, &name)
            })
        })
        .collect();
    files.sort_by_cached_key(|path| natural(&path.to_string_lossy()));
    if files.is_empty() {
        return Err(format!("no file matches {pattern:?}"));
    }
    Ok(files)
}

/// Whether `name` matches `pattern`, where `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(rest) = name.strip_prefix(before) else {
        return false;
    };
    rest.char_indices()
        .map(|(place, _)| &rest[place..])
        .chain([""])
        .any(|tail| matches(after, tail))
}

/// A key that sorts `9.txt` before `10.txt`.
fn natural(name: &str) -> Vec<(u64, String)> {
    let mut parts = vec![(0u64, String::new())];
    for c in name.chars() {
        let last = parts.len() - 1;
        match c.to_digit(10) {
            Some(digit) => {
                if !parts[last].1.is_empty() {
                    parts.push((0, String::new()));
                }
                let place = parts.len() - 1;
                parts[place].0 = parts[place]
                    .0
                    .saturating_mul(10)
                    .saturating_add(digit.into());
            }
            None => parts[last].1.push(c),
        }
    }
    parts
}

/// The trace in the file that `text` names.
pub(crate) fn trace(text: &Text<'_>) -> Result<Trace, ScenarioError> {
    let path = Path::new(&text.value);
    let content = read(path).map_err(|reason| {
        let message = format!("{}: {:?} cannot be read: {reason}", text.key, text.value);
        text.error(
            &message,
            "name a file with `seconds megabits_per_second` a line",
        )
    })?;
    Trace::parse(&content).map_err(|error| ScenarioError {
        file: text.value.clone(),
        text: String::new(),
        span: None,
        set: None,
        message: format!("line {}: found {}", error.line, error.found),
        help: format!("expected {}", error.expected),
    })
}

/// The pages that `source` names: HAR files, or `generated:N` sites of the generator.
pub(crate) fn pages(source: Option<Text<'_>>) -> Result<Vec<Arc<Page>>, ScenarioError> {
    let Some(text) = source else {
        return Ok(generated(workload::generator::SITES));
    };
    if let Some(number) = text.value.strip_prefix("generated") {
        let number = match number.strip_prefix(':') {
            None if number.is_empty() => Some(workload::generator::SITES),
            None => None,
            Some(number) => number.parse().ok(),
        };
        let most = workload::generator::SITES;
        return match number.filter(|number| (1..=most).contains(number)) {
            Some(number) => Ok(generated(number)),
            None => {
                let message = format!("{}: {:?} names no sites", text.key, text.value);
                Err(text.error(
                    &message,
                    &format!("write generated:N with N from 1 to {most}"),
                ))
            }
        };
    }
    let files = expand(&text.value).map_err(|reason| {
        text.error(
            &format!("{}: {reason}", text.key),
            "name a HAR file or a folder of them",
        )
    })?;
    let mut pages = Vec::new();
    for path in files {
        let file = path.display().to_string();
        let refuse = |message: String, help: &str| ScenarioError {
            file: file.clone(),
            text: String::new(),
            span: None,
            set: None,
            message,
            help: help.to_owned(),
        };
        let help = "name a HAR file (export one from a browser's developer tools)";
        let content = read(&path).map_err(|reason| refuse(reason, help))?;
        let read = workload::har::read(
            &file,
            content.as_bytes(),
            &workload::har::Options::default(),
        );
        let har =
            read.map_err(|error| refuse(format!("{}: {}", error.place, error.problem), help))?;
        pages.extend(har.pages.into_iter().map(Arc::new));
    }
    Ok(pages)
}

fn generated(number: u32) -> Vec<Arc<Page>> {
    (0..number)
        .map(|index| Arc::new(workload::generator::site(index)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_characters() {
        assert!(matches("*.har", "a.har"));
        assert!(matches("a*c*e", "abcde"));
        assert!(!matches("*.har", "a.txt"));
        assert!(matches("*", ""));
    }

    #[test]
    fn numbers_sort_by_value() {
        let mut names = ["10.txt", "9.txt", "a.txt", "1.txt"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["a.txt", "1.txt", "9.txt", "10.txt"]);
    }
}
