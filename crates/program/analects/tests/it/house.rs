//! The structure of the project: crates depend downwards, modules and the kernel's headers in no
//! circle, and each crate documents what it is and what it is not for.

use crate::fingerprint::build::table;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From the ground up: a crate depends on crates of lower floors only.
const FLOORS: [&[&str]; 10] = [
    &["units"],
    &["qdisc", "cca", "autorate"],
    &[
        "transport",
        "workload",
        "link",
        "netcfg",
        "page",
        "probe",
        "machine",
    ],
    &["scenario", "browser", "rtc", "line"],
    &["measure", "endpoints"],
    &["theory", "report", "sim", "guest", "campaign", "command"],
    &["reproduce", "linux", "live", "check"],
    &["router"],
    &["analects", "bench", "playground"],
    &["python"],
];

/// The crates' folders, by name.
fn crates() -> BTreeMap<String, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let inside = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path())
    };
    let paths = inside(root.join("crates")).flat_map(inside);
    let paths = paths.chain(["playground", "python"].map(|beside| root.join(beside)));
    let crates = paths.filter(|path| path.join("Cargo.toml").exists());
    crates.map(|path| (name(&path), path)).collect()
}

/// The last part of a path, without an extension.
fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// The file that a crate begins with.
fn root(folder: &Path) -> PathBuf {
    let library = folder.join("src/lib.rs");
    if library.exists() {
        library
    } else {
        folder.join("src/main.rs")
    }
}

#[test]
fn crates_depend_downwards() {
    let floor = |name: &str| {
        let floor = FLOORS.iter().position(|floor| floor.contains(&name));
        floor.unwrap_or_else(|| panic!("{name}: no floor in {FLOORS:?}"))
    };
    let crates = crates();
    for (name, folder) in &crates {
        let needs = table(&folder.join("Cargo.toml"), "dependencies").unwrap();
        let needs = needs
            .iter()
            .map(|(key, _)| key.trim_end_matches(".workspace"));
        for other in needs.filter(|need| crates.contains_key(*need)) {
            assert!(floor(other) < floor(name), "{name} is not above {other}");
        }
    }
}

#[test]
fn each_crate_says_what_it_is_and_what_it_is_not_for() {
    for (name, folder) in crates() {
        let text = read(&root(&folder));
        let about: Vec<&str> = text
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .collect();
        let until = about.iter().position(|line| line.is_empty());
        let first = about[..until.unwrap_or(about.len())].concat();
        assert!(first.ends_with('.'), "{name}: no sentence: {first:?}");
        let says = about.iter().any(|line| line.starts_with(" Not for: "));
        assert!(says, "{name} does not say what it is not for");
    }
}

/// rustdoc takes a second of each crate to find that it has no examples, so crates without say `doctest = false`; an
/// example there would never run.
#[test]
fn examples_in_comments_run() {
    for (name, folder) in crates() {
        let manifest = read(&folder.join("Cargo.toml"));
        if !manifest.contains("doctest = false") {
            continue;
        }
        let files = sources(&folder.join("src"));
        for file in files.into_iter().chain([root(&folder)]) {
            let text = read(&file);
            let comments = text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("//"));
            let fences = comments
                .filter_map(|line| line.trim_start_matches(['/', '!', ' ']).strip_prefix("```"));
            let begins = fences.step_by(2);
            let runs: Vec<&str> = begins.filter(|kind| !kind.starts_with("text")).collect();
            assert!(
                runs.is_empty(),
                "{name}: {file:?} has an example, and Cargo.toml says doctest = false"
            );
        }
    }
}

#[test]
fn modules_depend_in_no_circle() {
    let mut circles = Vec::new();
    for (name, folder) in crates() {
        for room in rooms(&folder) {
            let circle = circle(&room.edges()).map(|circle| circle.join(" -> "));
            circles.extend(circle.map(|circle| format!("{name}, {}: {circle}", room.path)));
        }
    }
    assert_eq!(circles, [""; 0]);
}

/// A folder of modules.
struct Room {
    folder: PathBuf,
    /// The file of the module that these are in.
    root: PathBuf,
    /// `crate::`, and the names of the modules that lead here.
    path: String,
}

/// A crate's folder of sources, and all folders of modules in it.
fn rooms(krate: &Path) -> Vec<Room> {
    let mut rooms = vec![Room {
        folder: krate.join("src"),
        root: root(krate),
        path: "crate::".to_owned(),
    }];
    let mut at = 0;
    while let Some(room) = rooms.get(at) {
        let inner = std::fs::read_dir(&room.folder).unwrap();
        let inner = inner.map(|entry| entry.unwrap().path());
        let inner = inner.filter(|path| path.is_dir() && !["tests", "bin"].contains(&&*name(path)));
        let inner: Vec<Room> = inner.map(|folder| room.inner(folder)).collect();
        rooms.extend(inner);
        at += 1;
    }
    rooms
}

impl Room {
    fn inner(&self, folder: PathBuf) -> Room {
        let inside = folder.join("mod.rs");
        Room {
            root: if inside.exists() {
                inside
            } else {
                folder.with_extension("rs")
            },
            path: format!("{}{}::", self.path, name(&folder)),
            folder,
        }
    }

    /// Which of its modules use which. A name that the root file re-exports leads to the module that
    /// it comes from. Of a whole crate, `lib` is what the root file itself holds; inside of a module
    /// that does not count, since files often continue their parent's type.
    fn edges(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut files = sources(&self.folder);
        files.retain(|file| *file != self.root);
        let top = |file: &Path| {
            let below = file.strip_prefix(&self.folder).unwrap();
            name(Path::new(below.iter().next().unwrap()))
        };
        let modules: BTreeSet<String> = files.iter().map(|file| top(file)).collect();
        let root_text = code(&read(&self.root));
        let mut from: BTreeMap<String, String> = BTreeMap::new();
        for (_, used) in uses(&root_text) {
            let module = used[0].clone();
            if let Some(last) = used.last().filter(|_| modules.contains(&module)) {
                from.insert(last.clone(), module);
            }
        }
        let whole = self.path == "crate::";
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in &files {
            let of = top(file);
            let depth = file.strip_prefix(&self.folder).unwrap().iter().count();
            let inner = depth - usize::from(file.ends_with("mod.rs"));
            let edges = edges.entry(of.clone()).or_default();
            for used in named(&code(&read(file)), &self.path, inner) {
                let to = match from.get(&used) {
                    _ if modules.contains(&used) => Some(used),
                    Some(module) => Some(module.clone()),
                    None => whole.then(|| "lib".to_owned()),
                };
                edges.extend(to.filter(|to| *to != of));
            }
        }
        if whole {
            let of_root = used_by_root(&root_text, &modules);
            edges.insert("lib".to_owned(), of_root);
        }
        edges
    }
}

/// The modules that a crate's root file uses itself.
fn used_by_root(text: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let imported = uses(text).into_iter().filter(|(public, _)| !public);
    let imported = imported.map(|(_, used)| used[0].clone());
    let imported = imported.filter(|module| modules.contains(module));
    let called = modules.iter().filter(|module| {
        let path = format!("{module}::");
        let mut places = text.match_indices(&path);
        places.any(|(at, _)| {
            let before = text[..at].chars().next_back();
            before.is_some_and(|c| !c.is_alphanumeric() && !matches!(c, '_' | ':'))
                && !text[..at].ends_with("use ")
        })
    });
    imported.chain(called.cloned()).collect()
}

/// All files of a crate but its root, and but those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let skipped = ["lib", "main", "tests"].contains(&name(&path).as_str());
        if path.is_dir() && name(&path) != "tests" {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|rs| rs == "rs") && !skipped {
            found.push(path);
        }
    }
    found
}

/// A file without comments, and without the tests at its end.
fn code(text: &str) -> String {
    let mark = "#[cfg(test)]\n";
    let is_tests = |at: &usize| {
        let next = text[at + mark.len()..].lines().next();
        next.is_some_and(|line| line.ends_with("mod tests {"))
    };
    let mut marks = text.match_indices(mark).map(|(at, _)| at);
    let body = &text[..marks.find(is_tests).unwrap_or(text.len())];
    let lines = body.lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with("//")
    });
    lines.map(|line| line.to_owned() + "\n").collect()
}

/// Paths of the file's `use` statements, and whether others see what they name.
fn uses(text: &str) -> Vec<(bool, Vec<String>)> {
    let mut found = Vec::new();
    for line in text.split(';') {
        let Some((seen_by, paths)) = line.trim_start().split_once("use ") else {
            continue;
        };
        let public = seen_by.starts_with("pub") && !seen_by.trim_end().contains(' ');
        if public || seen_by.is_empty() {
            let paths = tree(paths);
            found.extend(paths.into_iter().map(|path| (public, path)));
        }
    }
    found
}

/// The paths of a use tree: `a::{b, c::d}` is a, b and a, c, d.
fn tree(text: &str) -> Vec<Vec<String>> {
    let text = text.trim();
    let Some((head, rest)) = text.split_once('{') else {
        let plain = text.split(" as ").next().unwrap_or_default();
        let parts = plain.split("::").map(|part| part.trim().to_owned());
        return vec![parts.collect()];
    };
    let head: Vec<String> = head
        .split("::")
        .map(|part| part.trim().to_owned())
        .collect();
    let head = &head[..head.len() - 1];
    let rest = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&rest[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&rest[start..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    let paths = parts.flat_map(tree);
    paths.map(|path| [head, &path[..]].concat()).collect()
}

/// What a file at this depth below a room names of it: the first part behind the room's `path`, or
/// behind as many `super::` as lead there.
fn named(text: &str, path: &str, depth: usize) -> BTreeSet<String> {
    let up = "super::".repeat(depth);
    let mut found = BTreeSet::new();
    for prefix in [path, up.as_str()] {
        for (at, _) in text.match_indices(prefix) {
            let before = text[..at].chars().next_back().unwrap_or(' ');
            if before.is_alphanumeric() || matches!(before, '_' | '$' | ':') {
                continue;
            }
            let rest = &text[at + prefix.len()..];
            let end = if rest.starts_with('{') {
                rest.find(';')
            } else {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_')
            };
            let paths = tree(&rest[..end.unwrap_or(rest.len())]);
            found.extend(paths.into_iter().map(|path| path[0].clone()));
        }
    }
    found
}

/// Files of `kernel/` and the includes of each from there, as `mencius/mencius.h`.
fn included() -> BTreeMap<String, BTreeSet<String>> {
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../kernel");
    let mut files = BTreeMap::new();
    let kbuild = read(&kernel.join("Kbuild"));
    let mut names = kbuild
        .lines()
        .filter_map(|line| line.strip_prefix("disciplines := "));
    let names = names.next().expect("the list of disciplines");
    for room in names.split(' ').chain(["common"]) {
        for entry in std::fs::read_dir(kernel.join(room)).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let text = read(&kernel.join(room).join(&file));
            let lines = text.lines();
            let named =
                lines.filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
            let named = named.map(|path| match path.strip_prefix("../") {
                Some(other) => other.to_owned(),
                None => format!("{room}/{path}"),
            });
            files.insert(format!("{room}/{file}"), named.collect());
        }
    }
    files
}

#[test]
fn a_discipline_in_the_kernel_includes_what_is_common_and_itself() {
    let files = included();
    assert_eq!(circle(&files), None);
    let room = |file: &str| file.split('/').next().unwrap().to_owned();
    for (file, includes) in &files {
        for other in includes {
            assert!(files.contains_key(other), "{file} includes {other}");
            let allowed = room(other) == room(file) || room(other) == "common";
            assert!(allowed, "{file} includes {other}");
        }
    }
}

/// A circle among the edges, as the modules on it.
fn circle(edges: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    let mut way = Vec::new();
    edges
        .keys()
        .find_map(|from| follow(edges, from, &mut way, &mut done))
}

fn follow(
    edges: &BTreeMap<String, BTreeSet<String>>,
    from: &str,
    way: &mut Vec<String>,
    done: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(start) = way.iter().position(|module| module == from) {
        return Some(way[start..].to_vec());
    }
    if !done.insert(from.to_owned()) {
        return None;
    }
    way.push(from.to_owned());
    let next = edges.get(from).into_iter().flatten();
    let mut next = next.filter_map(|to| follow(edges, to, way, done));
    let found = next.next();
    way.pop();
    found
}

#[test]
fn the_check_finds_circles() {
    let inside = |text: &str, path: &str, depth| {
        let found = named(text, path, depth).into_iter();
        found.collect::<Vec<_>>()
    };
    let named = |text: &str, depth| inside(text, "crate::", depth);
    assert_eq!(
        named("use crate::{a, b::{C, d}, E};\nlet x = crate::f::g();", 1),
        ["E", "a", "b", "f"]
    );
    assert_eq!(named("use super::a::B; super::super::c::d()", 2), ["c"]);
    assert_eq!(named("use super::a::B;", 1), ["a"]);
    assert_eq!(named("$crate::a::b; workcrate::c", 1), [""; 0]);
    let text = "use crate::a::b::C; use crate::d::E; use super::f::G;";
    assert_eq!(inside(text, "crate::a::", 1), ["b", "f"]);
    let paths: Vec<String> =
        uses("mod a;\npub use a::{B, c::{D, E}};\nuse f::G as H;\npub(super) use i::J;\nfn g() {}")
            .iter()
            .map(|(public, path)| format!("{public} {}", path.join("::")))
            .collect();
    let expected = [
        "true a::B",
        "true a::c::D",
        "true a::c::E",
        "false f::G",
        "true i::J",
    ];
    assert_eq!(paths, expected);
    let edges = |list: &[(&str, &[&str])]| {
        let to = |to: &[&str]| to.iter().map(|&to| to.to_owned()).collect();
        list.iter()
            .map(|(from, of)| ((*from).to_owned(), to(of)))
            .collect()
    };
    assert_eq!(circle(&edges(&[("a", &["b", "c"]), ("b", &["c"])])), None);
    let found = circle(&edges(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]));
    assert_eq!(found, Some(vec!["b".to_owned(), "c".to_owned()]));
}
