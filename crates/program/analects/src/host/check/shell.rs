//! What `sh` runs at both ends of a link.

use ::check::{Application, Condition, Near};
use std::path::Path;

/// The command by which this program opens a page and tells what its calls are like.
pub const PAGE: &str = "page-statistics";

/// What runs behind the link: a line that says that it begins, then the application for as long as a call lasts, and
/// what runs beside it. timeout(1) ends all that each has started, too, also if this process is killed.
const NEAR: &str = r#"echo
exec 2>>"$3"
timeout -k 5 "$0" sh -c "$1" & call=$!
if [ -n "$2" ]; then timeout -k 5 "$0" sh -c "$2" >&2 & fi
trap 'kill "$call" "$!"' TERM INT HUP
wait "$call"
status=$?
[ "$!" = "$call" ] || kill "$!" 2>/dev/null
exit $status"#;

/// Both ends of a call.
pub struct CallEnds<'a> {
    /// What calls.
    pub application: &'a Application,
    /// Over which link.
    pub condition: &'a Condition,
    /// This program.
    pub program: &'a Path,
    /// The call's folder.
    pub folder: &'a Path,
    /// Where complaints are kept.
    pub complaints: &'a Path,
}

impl CallEnds<'_> {
    /// The words of the command behind the link.
    pub fn near(&self) -> Vec<String> {
        let seconds = self.condition.duration.as_secs_f64().to_string();
        let line = match &self.application.near {
            Near::Line(line) => line.clone(),
            Near::Page(url) => self.page("near", url),
        };
        let beside = self.condition.beside.as_ref();
        let beside = beside
            .and_then(|beside| beside.near.clone())
            .unwrap_or_default();
        let complaints = self.complaints.display().to_string();
        let words = ["sh", "-c", NEAR, &seconds, &line, &beside, &complaints];
        words.map(str::to_owned).to_vec()
    }

    /// The line beyond it; none if nothing is there. Standard output is the near end's.
    pub fn far(&self) -> Option<String> {
        let beside = self.condition.beside.as_ref();
        let beside = beside.and_then(|beside| beside.far.clone());
        let page = match &self.application.near {
            Near::Line(_) => None,
            Near::Page(url) => Some(self.page("far", url) + " >/dev/null"),
        };
        let lines = [beside, self.application.far.clone(), page];
        let mut lines: Vec<String> = lines.into_iter().flatten().collect();
        // The link tells how the last one ended.
        let last = lines.pop()?;
        let to = quoted(&self.complaints.display().to_string());
        let others = lines
            .iter()
            .map(|line| format!("sh -c {} & ", quoted(line)));
        Some(format!(
            "exec >>{to} 2>&1; {}exec sh -c {}",
            others.collect::<String>(),
            quoted(&last)
        ))
    }

    /// Opens a page.
    fn page(&self, name: &str, url: &str) -> String {
        let [program, folder] =
            [self.program, self.folder].map(|path| quoted(&path.display().to_string()));
        format!("exec {program} {PAGE} {folder} {name} \"{url}\"")
    }
}

/// A word of `sh`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
