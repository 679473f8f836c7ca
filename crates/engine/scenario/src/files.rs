//! Files that a scenario names.

use crate::error::{ScenarioError, printable};
use crate::section::Text;
pub use crate::unpacked::{tilde, unpacked};
use core::fmt;
use link::trace::{self, Trace};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use units::{Duration, Rate};
use workload::LibraryError;
use workload::generator;
use workload::har::{Har, LeftOut, PAUSE};
use workload::page::{Page, document};

/// Largest scenario that is read. Its text is parsed as a whole, which takes many times its size.
pub const MAX_SCENARIO: u64 = 1 << 20;
/// Largest trace: days of a fast link in Mahimahi's format.
const MAX_TRACE: u64 = 64 << 20;
/// Largest HAR file.
const MAX_HAR: u64 = workload::har::MAX_FILE as u64;

/// Reads a file of text of at most `most` bytes, without a byte order mark.
///
/// # Errors
/// A sentence with the reason why it cannot be read.
pub fn read(path: &Path, most: u64) -> Result<String, String> {
    let text = String::from_utf8(unpacked(path, most)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            + 1;
        format!(
            "line {line}, byte {} of the file: not UTF-8 text",
            valid + 1
        )
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// The files that match `pattern`: a file itself, all files of a folder that do not begin with a
/// dot, or those whose names match a `*` in the last part. In the order of their names, numbers by
/// value. The name of a generated trace stands for itself.
///
/// # Errors
/// A sentence with the reason why there are none.
pub fn expand(pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(pattern);
    if pattern.starts_with(GENERATED) {
        return Ok(vec![path.to_owned()]);
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let (folder, matching) = match name {
        Some(name) if name.contains('*') => (path.parent().unwrap_or(Path::new(".")), name),
        _ if path.is_dir() => (path, "*".to_owned()),
        _ if path.exists() => return Ok(vec![path.to_owned()]),
        _ => {
            let why = tilde(path).map_or(String::new(), |why| format!(": {why}"));
            return Err(format!("there is no {pattern:?}{why}"));
        }
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

/// Whether `name` matches `pattern`, in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    // The earliest place of each part leaves the most for those behind it.
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
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

/// The prefix of a link's `trace` before the name of a generated trace.
pub const GENERATED: &str = "generated:";

/// What reads traces in other forms.
const OTHER_FORMS: &str = "`analects import trace FILE` reads other forms and units";

/// A file's trace in a line: its length, its mean, its least and its greatest rate, and a hint if it can
/// hardly be meant so.
pub fn told(name: &str, trace: &Trace) -> String {
    let (least, greatest) = trace.range();
    let line = format!(
        "{}: {} s, mean {} Mbit/s, from {} to {}",
        printable(name, 200),
        digits(trace.period().as_secs_f64()),
        digits(trace.nominal().as_mbit_f64()),
        digits(least.as_mbit_f64()),
        digits(greatest.as_mbit_f64()),
    );
    let Some((gap, median)) = trace.medians() else {
        return line;
    };
    let (slow, fast) = (gap >= FAR, median >= FAST);
    let other = match (slow, fast) {
        (true, true) => "its times milliseconds and its rates kbit/s",
        (true, false) => "its times milliseconds",
        (false, true) => "its rates kbit/s",
        (false, false) => return line,
    };
    let units = [(slow, " --time-unit ms"), (fast, " --unit kbit")];
    let units = units
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, option)| *option);
    let units = units.collect::<String>();
    format!("{line}\n  are {other}? `analects import trace FILE{units}` reads them so")
}

/// Samples are hardly further apart, and links hardly faster.
const FAR: Duration = Duration::from_secs(100);
const FAST: Rate = Rate::from_bits(1_000_000_000);

/// A number with four digits, or all of those before the point.
fn digits(number: f64) -> String {
    let behind = match number {
        1000.0.. => return format!("{number:.0}"),
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    };
    let text = format!("{number:.behind$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The trace that `name` names: a file, or `generated:SET:NUMBER`.
///
/// # Errors
/// A message, and the text to write instead.
pub fn trace(name: &str) -> Result<Trace, ScenarioError> {
    if let Some(generated) = name.strip_prefix(GENERATED) {
        return trace::generated(generated).map_err(|refusal| {
            let help = refusal.help.as_deref().unwrap_or("name a file");
            ScenarioError::about(name, &refusal.message, help)
        });
    }
    let content = read(Path::new(name), MAX_TRACE).map_err(|reason| {
        let message = format!("{name:?} cannot be read: {reason}");
        let help = "name a file with `seconds megabits_per_second` a line";
        ScenarioError::about("", &message, help)
    })?;
    Trace::parse(&content).map_err(|error| {
        let message = format!("line {}: found {}", error.line, error.found);
        let help = format!("write {} ({}); {OTHER_FORMS}", error.expected, error.format);
        ScenarioError::about(name, &message, &help)
    })
}

/// The trace that `text` names.
pub(crate) fn trace_of(text: &Text<'_>) -> Result<Trace, ScenarioError> {
    // An error within a trace is about that file; one about its name, about the scenario.
    trace(&text.value).map_err(|error| match error.file.as_str() {
        file if file == text.value && !file.starts_with(GENERATED) => error,
        _ => text.error(&format!("{}: {}", text.key, error.message), &error.help),
    })
}

/// Where pages come from.
enum Source {
    /// The first sites of a population of the generator, and whether it is that of today's web.
    Generated { number: u32, web: bool },
    /// A page that is one answer.
    Document(Arc<Page>),
    /// HAR files.
    Files(Vec<PathBuf>),
}

impl Source {
    /// The source that `source` names; an error has the reason, and the text to write instead.
    fn parse(source: &str) -> Result<Self, (String, String)> {
        if let Some(document) = document(source) {
            let help = "write document:SIZE:PROTOCOL, with h1, h2 or h3 for the protocol";
            let refused = |reason| (format!("{source:?}: {reason}"), help.to_owned());
            return document.map(Source::Document).map_err(refused);
        }
        let most = generator::SITES;
        let Some(number) = source.strip_prefix("generated") else {
            let help = "name a HAR file or a folder of them";
            let files = expand(source).map_err(|reason| (reason, help.to_owned()))?;
            return Ok(Source::Files(files));
        };
        let of_web = number.strip_prefix("-web");
        let (number, web) = of_web.map_or((number, false), |number| (number, true));
        let number = match number.strip_prefix(':') {
            None if number.is_empty() => Some(most),
            None => None,
            Some(number) => number.parse().ok(),
        };
        let number = number.filter(|number| (1..=most).contains(number));
        let sites = number.map(|number| Source::Generated { number, web });
        sites.ok_or_else(|| {
            let help = format!("write generated:N or generated-web:N with N from 1 to {most}");
            (format!("{source:?} names no sites"), help)
        })
    }

    fn read(self) -> Result<Pages, ScenarioError> {
        match self {
            Source::Generated { number, web } => Ok(Pages::made(generated(number, web))),
            Source::Document(page) => Ok(Pages::made(vec![page])),
            Source::Files(files) => {
                let mut all = Pages::default();
                let mut first = None;
                for path in &files {
                    if let Err(error) = all.add(path) {
                        all.pass_over(path, &error);
                        first.get_or_insert(error);
                    }
                }
                match first {
                    Some(error) if all.pages.is_empty() => Err(error),
                    _ => Ok(all),
                }
            }
        }
    }
}

/// The contents of a source of pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    /// The pages.
    pub pages: Vec<Arc<Page>>,
    /// The files that are not replayed as a whole.
    pub incomplete: Vec<Incomplete>,
}

/// A HAR file that is not replayed completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    /// The file.
    pub file: String,
    /// What is missing.
    pub missing: Missing,
}

/// What is not replayed of a HAR file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Parts of it.
    Parts(LeftOut),
    /// All of it: it cannot be read, for this reason. There are other files.
    Whole(String),
    /// The names of its pages, of which there are so many: pauses divide them.
    Names(usize),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Parts(left_out) => left_out.fmt(f),
            Missing::Whole(reason) => write!(f, "left out: {reason}"),
            Missing::Names(pages) => write!(
                f,
                "it names no pages, as a proxy's recording: pauses of {PAUSE} divide it into {pages}"
            ),
        }
    }
}

/// The pages that `source` names: a HAR file, a folder of them, a pattern with `*` in its last
/// part, `generated:N` for the first N sites like those of the Confucius paper,
/// `generated-web:N` for the first N home pages of today's web, or `document:SIZE:PROTOCOL` for one
/// answer.
///
/// # Errors
/// If there are none, or none of the files can be read as a HAR.
pub fn pages(source: &str) -> Result<Pages, ScenarioError> {
    let source = Source::parse(source)
        .map_err(|(message, help)| ScenarioError::about(source, &message, &help))?;
    source.read()
}

/// The pages that a workload's `source` names.
pub(crate) fn named_pages(source: &str) -> Result<Pages, LibraryError> {
    let source = Source::parse(source).map_err(|(message, help)| LibraryError {
        file: None,
        message,
        help,
    })?;
    source.read().map_err(|error| LibraryError {
        file: Some(error.file),
        message: error.message,
        help: error.help,
    })
}

impl Pages {
    /// Pages that come from no file.
    fn made(pages: Vec<Arc<Page>>) -> Self {
        Pages {
            pages,
            incomplete: Vec::new(),
        }
    }

    /// Adds those of a HAR file.
    fn add(&mut self, path: &Path) -> Result<(), ScenarioError> {
        let file = path.display().to_string();
        let Har {
            pages,
            left_out,
            by_pauses,
        } = recorded(path, &file)?;
        // A HAR calls its pages page_1; the file's name is more specific.
        let stem = stem(path);
        let many = pages.len() > 1;
        if by_pauses {
            let missing = Missing::Names(pages.len());
            let file = file.clone();
            self.incomplete.push(Incomplete { file, missing });
        }
        let named = pages.into_iter().zip(1..).map(|(page, number)| {
            let name = if many {
                format!("{stem}#{number}")
            } else {
                stem.clone()
            };
            Arc::new(page.named(&name))
        });
        self.pages.extend(named);
        if !left_out.is_empty() {
            let missing = Missing::Parts(left_out);
            self.incomplete.push(Incomplete { file, missing });
        }
        Ok(())
    }

    /// Leaves out a file that cannot be read.
    fn pass_over(&mut self, path: &Path, error: &ScenarioError) {
        self.incomplete.push(Incomplete {
            file: path.display().to_string(),
            missing: Missing::Whole(error.message.clone()),
        });
    }
}

/// A file's name without what says that it is a HAR, compressed or not.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = Path::new(name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The contents of a HAR file.
fn recorded(path: &Path, file: &str) -> Result<Har, ScenarioError> {
    let help = "name HAR files only; a browser's developer tools export them";
    let refuse = |message: String| ScenarioError::about(file, &message, help);
    let content = unpacked(path, MAX_HAR).map_err(refuse)?;
    let options = workload::har::Options::default();
    workload::har::read(file, &content, &options)
        .map_err(|error| refuse(format!("{}: {}", error.place, error.problem)))
}

/// Sites of a population of the generator that were made.
type Sites = [OnceLock<Arc<Page>>; generator::SITES as usize];

/// The first `number` sites of the generator. Each is made once, and when it is needed: every variant
/// of a scenario is resolved anew.
fn generated(number: u32, web: bool) -> Vec<Arc<Page>> {
    static CONFUCIUS: Sites = [const { OnceLock::new() }; generator::SITES as usize];
    static WEB: Sites = [const { OnceLock::new() }; generator::SITES as usize];
    let (sites, population) = if web {
        (&WEB, &generator::WEB)
    } else {
        (&CONFUCIUS, &generator::CONFUCIUS)
    };
    let made = sites.iter().zip(0..number);
    let made = made.map(|(site, index)| site.get_or_init(|| Arc::new(population.site(index))));
    made.cloned().collect()
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
        assert!(matches("a*a", "aa") && !matches("a*a", "a"));
        assert!(matches("*ab*ab", "abab") && !matches("*ab*ab*", "ab"));
        // No backtracking: each star would double the work.
        assert!(!matches(&"*a".repeat(100), &"a".repeat(99)));
    }

    #[test]
    fn a_trace_is_told_in_a_line() {
        let line = |text: &str| told("x.txt", &Trace::parse(text).unwrap());
        assert_eq!(
            line("0 3000\n1000 4000\n2000 2500\n3000 1000\n"),
            "x.txt: 4000 s, mean 2625 Mbit/s, from 1000 to 4000\n  are its times milliseconds and its rates \
             kbit/s? `analects import trace FILE --time-unit ms --unit kbit` reads them so"
        );
        assert_eq!(
            line("0 3.1\n1 2.4\n2 2.9\n"),
            "x.txt: 3 s, mean 2.8 Mbit/s, from 2.4 to 3.1"
        );
        assert!(line("0 3.1\n1000 2.4\n").contains("FILE --time-unit ms`"));
        assert!(line("0 3100\n1 2400\n").contains("FILE --unit kbit`"));
        assert!(line("0 900\n1 300\n").ends_with("mean 600 Mbit/s, from 300 to 900"));
    }

    #[test]
    fn numbers_sort_by_value() {
        let mut names = ["10.txt", "9.txt", "a.txt", "1.txt"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["a.txt", "1.txt", "9.txt", "10.txt"]);
    }
}
