//! The fingerprint of the sources in the keys of results: their content, and nothing of this
//! machine.

#[allow(dead_code, reason = "its main is for cargo")]
#[path = "../../build.rs"]
mod build;

use crate::common::Folder;
use build::fingerprint;
use std::fs;
use std::path::Path;

/// A workspace of two crates.
fn workspace(name: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(name);
    folder.write("Cargo.lock", "libm 0.2");
    for (path, content) in files {
        let path = folder.0.join("crates").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

const FILES: [(&str, &str); 4] = [
    ("a/src/lib.rs", "mod b;"),
    ("a/src/b/mod.rs", "// b"),
    ("b/src/lib.rs", "//! b"),
    ("c/src/lib.rs", "//! c"),
];

#[test]
fn it_is_of_names_and_content() {
    let of = |folder: &Folder| fingerprint(&folder.0, &["a", "b"]).unwrap();
    let first = workspace("fingerprint-first", &FILES);
    let mut reversed = FILES;
    reversed.reverse();
    let second = workspace("fingerprint-second", &reversed);
    assert_eq!(of(&first), of(&second));
    // Crates that are not asked for do not matter; all other files do.
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
    let common = "core/units core/qdisc core/cca core/transport core/workload core/link engine/scenario engine/measure";
    for (is, own) in [
        (env!("ANALECTS_SIM_SOURCES"), "engines/sim"),
        (
            env!("ANALECTS_KERNEL_SOURCES"),
            "engines/linux engines/machine engines/guest",
        ),
        (env!("ANALECTS_LIVE_SOURCES"), "engines/live engines/guest"),
    ] {
        let crates: Vec<&str> = common.split(' ').chain(own.split(' ')).collect();
        assert_eq!(is, fingerprint(&root, &crates).unwrap().to_string());
    }
}
