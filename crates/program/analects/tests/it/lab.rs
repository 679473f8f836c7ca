//! What `analects new` writes is built as this tree builds the same crates.

use std::path::Path;
use toml::Table;

/// The packages that a manifest has settings of their own for in its profile `dev`.
fn optimised(manifest: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let manifest: Table = text.parse().unwrap();
    let packages = &manifest["profile"]["dev"]["package"];
    packages.as_table().unwrap().clone()
}

#[test]
fn it_optimises_what_the_tree_does_but_for_what_it_has_not() {
    let (mut tree, mut lab) = (
        optimised("../../../Cargo.toml"),
        optimised("template/Cargo.toml"),
    );
    for not_there in ["guest", "live", "noq-proto", "netcfg", "probe", "bench"] {
        assert!(tree.remove(not_there).is_some(), "{not_there}");
    }
    assert!(
        lab.remove("*").is_some(),
        "its own package alone has the profile's"
    );
    assert_eq!(tree, lab);
}
