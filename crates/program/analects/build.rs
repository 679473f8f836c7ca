//! The commit, and the dependencies of each engine's results in this workspace: a hash of sources, the
//! same on every machine. Results are kept under it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources on which measurements depend with every engine.
const COMMON: [&str; 8] = [
    "core/units",
    "core/qdisc",
    "core/cca",
    "core/transport",
    "core/workload",
    "core/link",
    "engine/scenario",
    "engine/measure",
];
/// The engines, and the additional sources of each.
const ENGINES: [(&str, &[&str]); 3] = [
    ("ANALECTS_SIM_SOURCES", &["engines/sim"]),
    (
        "ANALECTS_KERNEL_SOURCES",
        &["engines/linux", "engines/machine", "engines/guest"],
    ),
    ("ANALECTS_LIVE_SOURCES", &["engines/live", "engines/guest"]),
];

fn main() -> io::Result<()> {
    // Asked for when this runs: a cache of builds may have been moved.
    let own = std::env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?;
    let root = Path::new(&own).join("../../..");
    println!("cargo::rerun-if-changed=../../../Cargo.lock");
    for (name, own) in ENGINES {
        let crates: Vec<&str> = COMMON.iter().chain(own).copied().collect();
        println!("cargo::rustc-env={name}={}", fingerprint(&root, &crates)?);
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

/// The hash of the sources of `crates` and of the versions of all dependencies, below `root`: each
/// file's path and content, in the order of the paths.
pub fn fingerprint(root: &Path, crates: &[&str]) -> io::Result<blake3::Hash> {
    let mut files = vec![PathBuf::from("Cargo.lock")];
    for name in crates {
        gather(
            root,
            &Path::new("crates").join(name).join("src"),
            &mut files,
        )?;
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
