//! What the simulator's results depend on, as the program `analects` has it: both use one store.

use std::io;
use std::path::Path;

// Of its functions one is called: the rest makes the program's own.
#[allow(dead_code)]
#[path = "../crates/analects/build.rs"]
mod program;

/// The crates that the program names for the engine `sim`; a test compares keys.
const SIM: [&str; 9] = [
    "units",
    "qdisc",
    "cca",
    "transport",
    "workload",
    "link",
    "scenario",
    "measure",
    "sim",
];

fn main() -> io::Result<()> {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?;
    let root = Path::new(&own).join("..");
    for watched in ["../crates", "../experiments", "../Cargo.lock"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let sources = program::fingerprint(&root, &SIM)?;
    println!("cargo::rustc-env=ANALECTS_SIM_SOURCES={sources}");
    Ok(())
}
