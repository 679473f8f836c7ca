//! The fingerprint of the sources in the keys of results: their content, and nothing of this
//! machine.

#[allow(dead_code, reason = "its main is for cargo")]
#[path = "../../build.rs"]
pub mod build;

use crate::common::Folder;
use build::{fingerprint, made_of};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A workspace of three crates, of which `a` depends on `b`.
fn workspace(name: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(name);
    folder.write("Cargo.lock", "libm 0.2");
    let paths = ["a", "b", "c"].map(|name| format!("{name} = {{ path = \"crates/{name}\" }}\n"));
    folder.write(
        "Cargo.toml",
        format!("[workspace.dependencies]\n{}", paths.concat()),
    );
    for (path, content) in files {
        let path = folder.0.join("crates").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

const FILES: [(&str, &str); 7] = [
    (
        "a/Cargo.toml",
        "[dependencies]\nb.workspace = true\n\n[dev-dependencies]\nc.workspace = true\n",
    ),
    ("b/Cargo.toml", "[dependencies]\n"),
    ("c/Cargo.toml", "[dependencies]\n"),
    ("a/src/lib.rs", "mod b;"),
    ("a/src/b/mod.rs", "// b"),
    ("b/src/lib.rs", "//! b"),
    ("c/src/lib.rs", "//! c"),
];

#[test]
fn it_is_of_names_and_content() {
    let of = |folder: &Folder| fingerprint(&folder.0, "a").unwrap();
    let first = workspace("fingerprint-first", &FILES);
    let mut reversed = FILES;
    reversed.reverse();
    let second = workspace("fingerprint-second", &reversed);
    assert_eq!(of(&first), of(&second));
    // Crates that tests alone need do not matter; all other files do.
    let mut seen = vec![of(&first)];
    fs::write(second.0.join("crates/c/src/lib.rs"), "//! d").unwrap();
    assert_eq!(of(&second), seen[0]);
    fs::write(second.0.join("crates/a/src/b/mod.rs"), "// c").unwrap();
    seen.push(of(&second));
    fs::rename(
        second.0.join("crates/a/src/b/mod.rs"),
        second.0.join("crates/a/src/b/nod.rs"),
    )
    .unwrap();
    seen.push(of(&second));
    fs::write(second.0.join("Cargo.lock"), "libm 0.3").unwrap();
    seen.push(of(&second));
    let all = seen.len();
    seen.sort_by_key(|hash| *hash.as_bytes());
    seen.dedup();
    assert_eq!(seen.len(), all);
}

#[test]
fn the_program_has_those_of_its_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for (is, engine) in [
        (env!("ANALECTS_SIM_SOURCES"), "sim"),
        (env!("ANALECTS_KERNEL_SOURCES"), "linux"),
        (env!("ANALECTS_LIVE_SOURCES"), "live"),
    ] {
        assert_eq!(is, fingerprint(&root, engine).unwrap().to_string());
    }
}

/// The folders of a package of the workspace and of those that it is built of, as cargo reads their manifests. Packages
/// of others are not looked at: what no build here needs was never fetched, and there may be no network.
fn built_of(root: &Path, package: &str) -> BTreeSet<PathBuf> {
    let told = Command::new(env!("CARGO"))
        .current_dir(root)
        .args([
            "metadata",
            "--offline",
            "--no-deps",
            "--format-version",
            "1",
        ])
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{complaint}");
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let packages = told["packages"].as_array().unwrap();
    let (mut built, mut next) = (BTreeSet::new(), vec![package]);
    while let Some(name) = next.pop() {
        let mut named = packages.iter().filter(|package| package["name"] == name);
        let package = named.next().unwrap();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap().strip_prefix(root).unwrap();
        if !built.insert(folder.to_path_buf()) {
            continue;
        }
        let needed = package["dependencies"].as_array().unwrap().iter();
        let ours = needed.filter(|needed| needed["kind"].is_null() && needed["path"].is_string());
        next.extend(ours.map(|needed| needed["name"].as_str().unwrap()));
    }
    built
}

/// As cargo itself says it.
#[test]
fn an_engine_is_made_of_what_cargo_builds_for_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let root = root.canonicalize().unwrap();
    for engine in ["sim", "linux", "live"] {
        let built = built_of(&root, engine);
        assert_eq!(made_of(&root, engine).unwrap(), built, "{engine}");
        assert!(built.len() > 5, "{built:?}");
    }
}
