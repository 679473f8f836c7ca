//! Where recorded traces and pages come from.
//!
//! With a folder of recordings (`ANALECTS_DATA`: `traces/` and `pages/`) experiments use these;
//! without, data that the project generates, and they state that.

use campaign::Settings;
use scenario::files;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::Refusal;

/// The sets of traces of the Confucius paper (section 7.1), and the folders that they come in.
const SETS: [(&str, &str); 5] = [
    ("c1", "pitree4g"),
    ("c2", "xu4g"),
    ("c3", "xu5g"),
    ("w1", "office-wifi"),
    ("w2", "rest-wifi"),
];
/// Sets that are parts of all recordings: those to choose rules by, and those to judge them by.
const PARTS: [(&str, bool); 2] = [("work", false), ("aside", true)];
/// A set that the paper does not have.
const OTHERS: [(&str, &str); 1] = [("abc", "abc4g")];
/// Generated traces of a set.
const GENERATED: usize = 12;
/// Pages used without recorded ones.
const PAGES: &str = "generated:1000";

/// The source of data.
#[derive(Debug, Clone, Default)]
pub struct Data {
    folder: Option<PathBuf>,
}

impl Data {
    /// From `folder`, or generated.
    pub fn new(folder: Option<&Path>) -> Self {
        Data {
            folder: folder.map(Path::to_owned),
        }
    }

    /// Whether nothing of it is recorded.
    pub(crate) fn are_generated(&self) -> bool {
        self.folder.is_none()
    }

    /// The results' statement on the source of their data.
    pub fn described(&self) -> &'static str {
        match self.folder {
            Some(_) => "recorded traces and pages",
            None => {
                "generated traces and pages (set ANALECTS_DATA to a folder with traces/ and pages/)"
            }
        }
    }

    /// The traces of the set `name`, as a link's `trace` takes them.
    ///
    /// # Errors
    /// A sentence with the set or folder that is missing.
    pub fn traces(&self, name: &str) -> Result<Vec<String>, Refusal> {
        if let Some((_, aside)) = PARTS.iter().find(|(part, _)| *part == name) {
            return self.part(*aside);
        }
        let set = SETS.iter().find(|(set, _)| *set == name);
        let (_, folder) =
            set.ok_or_else(|| Refusal::unknown("set of traces", name, SETS.map(|(set, _)| set)))?;
        let Some(data) = &self.folder else {
            return Ok((1..=GENERATED)
                .map(|n| format!("generated:{name}:{n}"))
                .collect());
        };
        let folder = data.join("traces").join(folder);
        let files = files::expand(&folder.to_string_lossy())?;
        Ok(files
            .iter()
            .map(|file| file.display().to_string())
            .collect())
    }

    /// The recordings of all sets, or their generated stand-ins, that are set `aside`: a third, by a hash
    /// of their names; or the others.
    fn part(&self, aside: bool) -> Result<Vec<String>, Refusal> {
        let mut all = Vec::new();
        for (set, folder) in SETS.iter().chain(&OTHERS) {
            match &self.folder {
                None if *set == OTHERS[0].0 => {}
                None => all.extend(self.traces(set)?),
                Some(data) => {
                    let folder = data.join("traces").join(folder);
                    let files = files::expand(&folder.to_string_lossy())?;
                    all.extend(files.iter().map(|file| file.display().to_string()));
                }
            }
        }
        all.retain(|path| is_aside(&self.shown(path)) == aside);
        Ok(all)
    }

    /// The trace that `name` means, `SET:NUMBER` with numbers from 1 on; they begin again where a set
    /// has fewer.
    ///
    /// # Errors
    /// A sentence with what is missing.
    pub fn trace(&self, name: &str) -> Result<String, Refusal> {
        let parts = name.split_once(':');
        let parts = parts.and_then(|(set, number)| Some((set, number.parse::<usize>().ok()?)));
        let Some((set, number)) = parts.filter(|(_, number)| *number > 0) else {
            let help = "write data:SET:NUMBER, such as data:w1:3";
            return Err(Refusal::new(format!("{name:?} is no trace of a set")).with_help(help));
        };
        let traces = self.traces(set)?;
        let found = traces.get((number - 1) % traces.len().max(1));
        found
            .cloned()
            .ok_or_else(|| Refusal::new(format!("the set {set} has no traces")))
    }

    /// The pages, as a page entry's `source` takes them.
    pub fn pages(&self) -> String {
        match &self.folder {
            Some(data) => data.join("pages").display().to_string(),
            None => PAGES.to_owned(),
        }
    }

    /// `path` as it may be printed and kept: without where on this machine the data lies.
    pub fn shown(&self, path: &str) -> String {
        let inside = self
            .folder
            .as_ref()
            .and_then(|data| Path::new(path).strip_prefix(data).ok());
        inside.map_or_else(|| path.to_owned(), |inside| inside.display().to_string())
    }
}

/// Whether a trace is set aside: a third are.
fn is_aside(shown: &str) -> bool {
    let hash = blake3::hash(shown.as_bytes());
    hash.as_bytes()[0].is_multiple_of(3)
}

/// Of each path one of its `values`, by a hash of the path and of what the trace is `shown` as: each recording has its own
/// in all of its runs, and nobody chose it.
pub fn by_trace(values: &BTreeMap<String, Vec<String>>, shown: &str) -> Settings {
    let one = |(path, values): (&String, &Vec<String>)| {
        let hash = blake3::hash(format!("{path} {shown}").as_bytes());
        let place = usize::from(hash.as_bytes()[0]) % values.len().max(1);
        Some((path.clone(), values.get(place)?.clone()))
    };
    values.iter().filter_map(one).collect()
}

/// `of` as many as `all`, evenly spread: the first and those in between.
pub fn evenly(all: Vec<String>, of: usize) -> Vec<String> {
    let (n, of) = (all.len(), of.clamp(1, all.len().max(1)));
    let taken = (0..of).map(|place| place * n / of);
    taken.filter_map(|place| all.get(place).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_folder_everything_is_generated() {
        let data = Data::default();
        assert_eq!(data.traces("w1").unwrap().len(), GENERATED);
        assert_eq!(data.traces("w1").unwrap()[0], "generated:w1:1");
        let (work, aside) = (data.traces("work").unwrap(), data.traces("aside").unwrap());
        assert_eq!(work.len() + aside.len(), SETS.len() * GENERATED);
        assert!((15..25).contains(&aside.len()), "{}", aside.len());
        assert!(aside.iter().all(|trace| !work.contains(trace)));
        assert!(
            data.traces("w3")
                .unwrap_err()
                .to_string()
                .contains("c1, c2")
        );
        assert_eq!(data.pages(), PAGES);
    }

    #[test]
    fn a_trace_of_a_set_by_its_number() {
        let data = Data::default();
        assert_eq!(data.trace("c1:2").unwrap(), "generated:c1:2");
        assert_eq!(data.trace("c1:14").unwrap(), "generated:c1:2");
        for wrong in ["c1", "c1:0", "c1:x", "c9:1"] {
            assert!(data.trace(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_trace_has_its_own_of_several_values() {
        let buffers = ["1bdp", "2bdp", "3bdp"].map(str::to_owned).to_vec();
        let values = BTreeMap::from([("link.buffer".to_owned(), buffers.clone())]);
        let of = |n: usize| by_trace(&values, &format!("generated:c1:{n}"))["link.buffer"].clone();
        assert_eq!(of(1), of(1));
        let all: Vec<String> = (1..30).map(of).collect();
        assert!(buffers.iter().all(|buffer| all.contains(buffer)), "{all:?}");
    }

    #[test]
    fn a_quick_run_takes_some_of_each_part() {
        let all: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        assert_eq!(evenly(all.clone(), 3), ["0", "4", "8"]);
        assert_eq!(evenly(all.clone(), 99), all);
        assert_eq!(evenly(all, 0), ["0"]);
        assert!(evenly(Vec::new(), 3).is_empty());
    }

    #[test]
    fn paths_are_shown_from_the_folder_on() {
        let data = Data::new(Some(Path::new("/a/b")));
        assert_eq!(data.shown("/a/b/traces/x.txt"), "traces/x.txt");
        assert_eq!(data.shown("generated:c1:1"), "generated:c1:1");
    }
}
