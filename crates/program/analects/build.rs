//! The commit, and the dependencies of each engine's results in this workspace: a hash of sources, the
//! same on every machine. Results are kept under it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The engines, and the crate that each is: its results depend on that, and on all that it is made of.
const ENGINES: [(&str, &str); 3] = [
    ("ANALECTS_SIM_SOURCES", "sim"),
    ("ANALECTS_KERNEL_SOURCES", "linux"),
    ("ANALECTS_LIVE_SOURCES", "live"),
];

fn main() -> io::Result<()> {
    // Asked for when this runs: a cache of builds may have been moved.
    let own = std::env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?;
    let root = Path::new(&own).join("../../..");
    println!("cargo::rerun-if-changed=../../../Cargo.lock");
    for (name, engine) in ENGINES {
        println!("cargo::rustc-env={name}={}", fingerprint(&root, engine)?);
    }
    println!("cargo::rerun-if-changed=../..");
    println!("cargo::rerun-if-changed=../../../experiments");
    println!("cargo::rustc-env=ANALECTS_VERSION={}", version(&root));
    Ok(())
}

/// The version, with the commit if this is built in a repository that git can read.
fn version(root: &Path) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .current_dir(root)
            .args(arguments)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=9", "HEAD"]) else {
        return version.to_owned();
    };
    // The log gets a line with each commit and checkout.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let of = [
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        "crates",
        "experiments",
        "Cargo.lock",
    ];
    let changed = git(&of).is_none_or(|files| !files.is_empty());
    format!("{version} ({commit}{})", if changed { "+" } else { "" })
}

/// The hash of the sources of the crate `engine`, of all of this workspace that it depends on, and of the versions of
/// all dependencies, below `root`: each file's path and content, in the order of the paths.
pub fn fingerprint(root: &Path, engine: &str) -> io::Result<blake3::Hash> {
    let mut files = vec![PathBuf::from("Cargo.lock")];
    for folder in made_of(root, engine)? {
        gather(root, &folder.join("src"), &mut files)?;
    }
    files.sort();
    let mut hash = blake3::Hasher::new();
    for file in files {
        let content = fs::read(root.join(&file))?;
        hash.update(format!("{} {}\n", file.display(), content.len()).as_bytes());
        hash.update(&content);
    }
    Ok(hash.finalize())
}

/// The folders of a crate and of all in this workspace that it depends on, however far below: as the manifests say.
pub fn made_of(root: &Path, name: &str) -> io::Result<BTreeSet<PathBuf>> {
    let workspace = table(&root.join("Cargo.toml"), "workspace.dependencies")?;
    let folder = |name: &str| {
        let (_, value) = workspace.iter().find(|(key, _)| key == name)?;
        let path = value.split_once("path = \"")?.1.split_once('"')?.0;
        Some(PathBuf::from(path))
    };
    let mut folders = BTreeSet::new();
    let mut open = vec![folder(name).ok_or(io::ErrorKind::NotFound)?];
    while let Some(next) = open.pop() {
        if folders.insert(next.clone()) {
            let own = table(&root.join(next).join("Cargo.toml"), "dependencies")?;
            let own = own
                .iter()
                .map(|(key, _)| key.trim_end_matches(".workspace"));
            open.extend(own.filter_map(folder));
        }
    }
    Ok(folders)
}

/// The keys of a table of a manifest, each on a line of its own, and the rest of their lines.
pub fn table(manifest: &Path, name: &str) -> io::Result<Vec<(String, String)>> {
    let text = fs::read_to_string(manifest)?;
    let lines = text.lines().skip_while(|line| *line != format!("[{name}]"));
    let lines = lines.skip(1).take_while(|line| !line.starts_with('['));
    let parted = lines.filter_map(|line| line.split_once('='));
    Ok(parted
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect())
}

/// Adds all files in `folder` and below it.
fn gather(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            gather(root, &path, files)?
        } else {
            files.push(path)
        }
    }
    Ok(())
}
