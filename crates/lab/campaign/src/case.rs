//! One of the cases that a campaign compares.

use serde::Deserialize;
use std::collections::BTreeMap;
use units::Choice;

/// Values by path, as `--set` has them.
pub type Settings = BTreeMap<String, String>;

/// A discipline, or a discipline with something else.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "CaseWritten")]
pub struct Case {
    /// The name in tables.
    pub name: String,
    /// The discipline, with settings.
    pub discipline: String,
    /// What else is set.
    pub set: Settings,
    /// It relies on what end hosts say about their packets.
    pub labelled: bool,
}

impl Case {
    /// A discipline under its own name.
    pub fn plain(discipline: &str) -> Self {
        Case::from(CaseWritten::Plain(discipline.to_owned()))
    }
}

/// Disciplines that read labels, or what amounts to them.
const LABELLED: [&str; 3] = ["prio", "cbq", "dualpi2"];

fn reads_labels(choice: &Choice) -> bool {
    LABELLED.contains(&choice.name.as_str()) || choice.children.iter().any(reads_labels)
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a discipline such as \"cake\", or { name = \"NAME\", discipline = \"DISCIPLINE\", set = { KEY = \"VALUE\" } }"
)]
enum CaseWritten {
    Plain(String),
    Full(CaseTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseTable {
    name: String,
    discipline: String,
    #[serde(default)]
    set: Settings,
}

impl From<CaseWritten> for Case {
    fn from(written: CaseWritten) -> Self {
        let (name, discipline, set) = match written {
            CaseWritten::Plain(name) => (name.clone(), name, Settings::new()),
            CaseWritten::Full(table) => (table.name, table.discipline, table.set),
        };
        // What is not a choice is refused by the experiment's own check.
        let choice: Option<Choice> = discipline.parse().ok();
        Case {
            labelled: choice.is_some_and(|choice| reads_labels(&choice)),
            name,
            discipline,
            set,
        }
    }
}
