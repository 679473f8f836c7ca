//! The traces of a scenario, each of which is run.

use crate::Settings;
use scenario::{Document, ScenarioError, files};

/// A trace of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The path of the value that it is, which means one direction of one link: `link.trace`,
    /// `link.modem.up.trace`.
    pub at: String,
    /// The value.
    pub path: String,
    /// Its name in results.
    pub shown: String,
    /// What is set wherever it is followed, such as the buffer of this line; nothing if empty.
    pub with: Settings,
}

impl Trace {
    /// The traces that a run of `document` has in turn: those of the one direction of a link that names
    /// several. Otherwise the first link's, or none. A pattern that means one file becomes that file in
    /// `document`.
    ///
    /// # Errors
    /// If a pattern means nothing, or two mean several each.
    pub fn all(document: &mut Document) -> Result<Vec<Option<Trace>>, ScenarioError> {
        let mut found: Vec<Vec<Trace>> = Vec::new();
        for (at, pattern) in document.traces() {
            let traces = files::expand(pattern).map_err(|reason| {
                document.error_at_path(&at, &reason, "name a trace, or a folder of them")
            })?;
            let trace = |path: &std::path::PathBuf| Trace {
                at: at.clone(),
                path: path.display().to_string(),
                shown: path.display().to_string(),
                with: Settings::new(),
            };
            found.push(traces.iter().map(trace).collect());
        }
        for trace in found.iter().filter(|traces| traces.len() == 1) {
            trace[0].set_in(document)?;
        }
        let mut several = found.iter().filter(|traces| traces.len() > 1);
        let (first, second) = (several.next(), several.next());
        if let Some((first, second)) = first.zip(second) {
            let message = format!(
                "it means {} traces, as {} means several",
                second.len(),
                first[0].at
            );
            return Err(document.error_at_path(
                &second[0].at,
                &message,
                "name one file in one of them",
            ));
        }
        let traces = first.or_else(|| found.first());
        Ok(traces.map_or_else(
            || vec![None],
            |traces| traces.iter().cloned().map(Some).collect(),
        ))
    }

    /// Makes `document` follow it. A value that is there already keeps its place in the text, for errors
    /// about it.
    ///
    /// # Errors
    /// If the path leads nowhere.
    pub fn set_in(&self, document: &mut Document) -> Result<(), ScenarioError> {
        for (path, value) in &self.with {
            document.set(path, value)?;
        }
        if document.get(&self.at) == Some(&self.path) {
            Ok(())
        } else {
            document.set(&self.at, &self.path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(modem: &str, router: &str) -> Document {
        let text = format!(
            "[[link]]\nname = \"modem\"\nrtt = \"50ms\"\n{modem}\n[[link]]\n{router}\n\
             [[traffic]]\nname = \"bulk\"\nkind = \"bulk\"\n"
        );
        Document::parse("two.toml", &text).unwrap()
    }

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            std::fs::write(folder.path().join(name), "0 5\n1 4\n").unwrap();
        }
        folder
    }

    /// The second link has no name.
    #[test]
    fn a_folder_is_one_links() {
        let (one, two) = (folder(&["a.txt"]), folder(&["a.txt", "b.txt"]));
        let trace = |folder: &tempfile::TempDir| format!("trace = {:?}", folder.path());
        let rate = "rate = \"5mbit\"";
        for (modem, router, at, count) in [
            (trace(&one), rate.to_owned(), "link.modem.trace", 1),
            (trace(&two), rate.to_owned(), "link.modem.trace", 2),
            (rate.to_owned(), trace(&two), "link.link-2.trace", 2),
            (trace(&one), trace(&two), "link.link-2.trace", 2),
            (
                rate.to_owned(),
                format!("{rate}\nup.{}", trace(&two)),
                "link.link-2.up.trace",
                2,
            ),
        ] {
            let mut document = document(&modem, &router);
            let traces = Trace::all(&mut document).unwrap();
            assert_eq!(traces.len(), count, "{modem} {router}");
            for trace in traces.iter().flatten() {
                assert_eq!(trace.at, at);
                trace.set_in(&mut document).unwrap();
                assert_eq!(document.get(at), Some(&*trace.path));
                if modem == rate {
                    assert_eq!(document.get("link.modem.rate"), Some("5mbit"));
                    assert_eq!(document.get("link.modem.trace"), None);
                }
                if router == rate {
                    assert_eq!(document.get("link.link-2.rate"), Some("5mbit"));
                }
            }
        }
    }

    #[test]
    fn two_folders_of_several_are_refused() {
        let (one, two) = (folder(&["a", "b"]), folder(&["c", "d", "e"]));
        let trace = |folder: &tempfile::TempDir| format!("trace = {:?}", folder.path());
        let refused = Trace::all(&mut document(&trace(&one), &trace(&two))).unwrap_err();
        assert_eq!(
            refused.message,
            "link.link-2.trace: it means 3 traces, as link.modem.trace means several"
        );
    }

    #[test]
    fn without_traces_there_is_one_run() {
        let mut constant = document("rate = \"5mbit\"", "rate = \"4mbit\"");
        assert_eq!(Trace::all(&mut constant).unwrap(), [None]);
    }
}
