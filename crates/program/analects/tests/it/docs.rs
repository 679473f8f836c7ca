//! The documentation agrees with the program: generated pages, printed results, excerpts of code,
//! links and keys.
//!
//! `ANALECTS_DOCS=write cargo test -p analects --test it docs` writes the generated parts.

use crate::common::{Folder, text};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Generated pages, and their generators.
const GENERATED: [(&str, &str); 5] = [
    ("disciplines.md", "disciplines"),
    ("controls.md", "controls"),
    ("autorate.md", "autorate"),
    ("traffic.md", "traffic"),
    ("metrics.md", "metrics"),
];

const REWRITE: &str = "if that is intended, run\n  ANALECTS_DOCS=write cargo test -p analects \
    --test it docs\nand read through what changed: prose around figures may have to follow";

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The guides and the other pages.
const GUIDES: &[&str] = &[".", "docs", "docs/decisions", "docs/reproduction"];
/// All folders with pages.
pub const ALL: &[&str] = &[
    ".",
    "docs",
    "docs/decisions",
    "docs/reference",
    "docs/reproduction",
];

/// Pages in these folders, with their texts.
pub fn pages(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((path, text));
            }
        }
    }
    pages.sort();
    pages
}

/// Compares a page with its expected contents, or updates it.
pub fn settle(path: &Path, is: &str, ought: &str) {
    if is == ought {
        return;
    }
    if std::env::var_os("ANALECTS_DOCS").is_some_and(|value| value == "write") {
        std::fs::write(path, ought).unwrap();
        return;
    }
    let first = is
        .lines()
        .zip(ought.lines())
        .find(|(is, ought)| is != ought);
    let path = path.file_name().unwrap();
    panic!("{path:?} differs, first here: {first:#?}\n{REWRITE}");
}

#[test]
fn generated_pages_are_up_to_date() {
    let folder = Folder::new("generated-pages");
    for (file, what) in GENERATED {
        let output = folder.analects(&["describe", what, "--format", "markdown"]);
        let path = root().join("docs").join(file);
        let is = std::fs::read_to_string(&path).unwrap_or_default();
        settle(&path, &is, &text(&output.stdout));
    }
}

/// Lets a folder have the scenarios.
pub fn with_scenarios(folder: &Folder) {
    std::os::unix::fs::symlink(root().join("scenarios"), folder.0.join("scenarios")).unwrap();
}

/// In the first page that people see, each command of ours runs as it stands.
#[test]
fn commands_of_the_readme_run() {
    let folder = Folder::new("readme");
    with_scenarios(&folder);
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let commands: Vec<&str> = lines.filter(|line| line.starts_with("analects ")).collect();
    assert!(commands.len() > 3, "{commands:?}");
    for command in commands {
        shell(&folder, command);
    }
}

/// Runs a command line in `folder`, where `analects` and the scenarios are.
pub fn shell(folder: &Folder, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_analects")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(&folder.0);
    command.env("PATH", path).env("NO_COLOR", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Both tests of commands write the same pages.
pub static PAGES: Mutex<()> = Mutex::new(());

/// In blocks of `console`, a line with `$` is a command, and the lines that follow are its output.
#[test]
fn commands_print_what_the_pages_say() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    for (path, page) in pages(GUIDES) {
        settle(&path, &page, &printed(&path, &page, "```console\n"));
    }
}

/// As above, in blocks of `console long`: commands that take too long for every change.
#[test]
#[ignore = "takes minutes: `make test OF=docs`"]
fn long_commands_print_what_the_pages_say() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    for (path, page) in pages(GUIDES) {
        settle(&path, &page, &printed(&path, &page, "```console long\n"));
    }
}

/// The page, with the present output of its commands in each block that begins with `fence`.
fn printed(path: &Path, page: &str, fence: &str) -> String {
    let name = path.strip_prefix(root()).unwrap().to_string_lossy();
    let name = format!("{}-{name}", fence.trim_matches(['`', '\n']));
    let folder = Folder::new(&name.replace('/', "-"));
    with_scenarios(&folder);
    let mut ought = String::new();
    let mut rest = page;
    while let Some((before, block)) = rest.split_once(fence) {
        let (block, after) = block.split_once("```\n").expect("a block ends");
        ought += &format!("{before}{fence}");
        let mut lines = block.lines();
        while let Some(line) = lines.next() {
            let Some(first) = line.strip_prefix("$ ") else {
                continue;
            };
            let mut command = first.to_owned();
            ought += &format!("{line}\n");
            while command.ends_with('\\') {
                let next = lines.next().expect("a command ends");
                ought += &format!("{next}\n");
                command += &format!("\n{next}");
            }
            let printed = shell(&folder, &command);
            let lines = printed.lines().map(|line| format!("{}\n", line.trim_end()));
            ought.extend(lines);
        }
        ought += "```\n";
        rest = after;
    }
    ought + rest
}

#[test]
fn the_citation_names_this_version() {
    let text = std::fs::read_to_string(root().join("CITATION.cff")).unwrap();
    let version = format!("version: {}", env!("CARGO_PKG_VERSION"));
    assert!(text.lines().any(|line| line == version), "{version}");
}

#[test]
fn excerpts_of_code_stand_in_what_they_are_from() {
    let code = [
        "crates/engines/sim/examples/own_discipline.rs",
        "crates/engines/sim/examples/own_control.rs",
        "crates/engines/sim/examples/own_workload.rs",
        "crates/core/qdisc/src/two_level.rs",
    ];
    let code = code.map(|file| std::fs::read_to_string(root().join(file)).unwrap());
    let code = code.concat();
    let mut found = 0;
    for (path, page) in pages(GUIDES) {
        for block in page.split("```rust\n").skip(1) {
            let (block, _) = block.split_once("```").expect("a block ends");
            assert!(code.contains(block), "{path:?}: no file has\n{block}");
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn links_lead_somewhere() {
    for (path, page) in pages(ALL) {
        for link in page.split("](").skip(1) {
            let (target, _) = link.split_once(')').expect("a link ends");
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if target.starts_with("http") {
                continue;
            }
            let to = if file.is_empty() {
                path.clone()
            } else {
                path.parent().unwrap().join(file)
            };
            assert!(to.exists(), "{path:?}: {target} leads nowhere");
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&to).unwrap();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = headings.map(anchor_of);
                assert!(anchors.any(|a| a == anchor), "{path:?}: {target}");
            }
        }
    }
}

#[test]
fn the_index_has_every_decision() {
    let folder = root().join("docs/decisions");
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name();
        let link = format!("]({})", name.to_string_lossy());
        assert!(name == "README.md" || index.contains(&link), "{name:?}");
    }
}

/// A heading's anchor, as GitHub makes it.
fn anchor_of(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    text.chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

/// The tables of a scenario's keys, which are declared with their reader.
#[test]
fn the_reference_has_every_key_of_a_scenario() {
    let folder = Folder::new("keys");
    let output = folder.analects(&["describe", "scenario", "--format", "markdown"]);
    let (begin, end) = (
        "<!-- analects describe scenario --format markdown -->\n",
        "<!-- end -->\n",
    );
    let path = root().join("docs/guide-researcher.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(begin).expect("a beginning");
    let (_, after) = rest.split_once(end).expect("an end");
    let ought = format!("{before}{begin}{}{end}{after}", text(&output.stdout));
    settle(&path, &page, &ought);
}
