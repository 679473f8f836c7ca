//! `analects check` without calls: what it refuses, before it makes one. `make test OF=check` has the calls.

use crate::common::{Folder, text};

const CHECK: &str = r#"limits = ["freezes <= 1"]
[application]
near = "true"
[[condition]]
name = "narrow"
link = { rate = "1mbit", rtt = "40ms" }
"#;

/// What is refused ends with 2, which says that nothing is known of the calls, and names the place.
#[test]
fn what_cannot_be_checked_is_refused_with_its_place() {
    let folder = Folder::new("check-refused");
    folder.write("good.toml", CHECK);
    folder.write("limit.toml", CHECK.replace("<= 1\"", "< 1\""));
    folder.write("key.toml", CHECK.replace("near", "naer"));
    folder.write(
        "discipline.toml",
        CHECK.replace("rtt =", "discipline = \"pfif\", rtt ="),
    );
    folder.write("baseline.json", "{\"format\": 3}");
    for (args, words) in [
        (
            "limit.toml",
            "limit.toml:1:11: limits: \"freezes < 1\" has neither <= nor >=",
        ),
        ("key.toml", "key.toml:3:8: unknown key \"application.naer\""),
        ("discipline.toml", "discipline.toml:6:"),
        ("none.toml", "none.toml"),
        ("good.toml --time 1min", "pass after 5 calls each or more"),
        (
            "good.toml --runs 4",
            "--runs 4: a condition passes after 5 calls",
        ),
        ("good.toml --only wide", "there is no condition \"wide\""),
        ("good.toml --baseline none.json", "none.json"),
        (
            "good.toml --baseline baseline.json",
            "baseline.json: it is no baseline",
        ),
        ("good.toml --json good.toml", "it would be lost"),
        (
            "good.toml --junit /none/of.xml",
            "/none/of.xml cannot be written",
        ),
        ("good.toml --keep .", "--keep"),
    ] {
        let words_of_command: Vec<&str> =
            core::iter::once("check").chain(args.split(' ')).collect();
        let output = folder.analects(&words_of_command);
        let told = text(&output.stderr).replace("\n  | ", " ");
        assert_eq!(output.status.code(), Some(2), "{args}: {told}");
        assert!(told.contains(words), "{args}: {told}");
    }
    let left = std::fs::read_to_string(folder.0.join("good.toml"));
    assert_eq!(left.unwrap(), CHECK, "the file is still there");
}
