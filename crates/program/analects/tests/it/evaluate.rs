//! `analects evaluate`: what was drawn and made again, beside a page.

use crate::common::{Folder, text};
use serde_json::Value;

/// Whatever is drawn of these claims holds.
fn experiment() -> String {
    let mut text = r#"
title = "Rates"
paper = "this test"
about = "A transfer takes a link."
cases = ["pfifo", "fq_codel"]
seeds = 30

[scenario]
name = "rates"
duration = "2s"
warmup = "1s"
link = { rate = "10mbit", rtt = "20ms", buffer = "1bdp" }
traffic = [{ name = "flow", kind = "bulk", jitter = "300ms" }]
"#
    .to_owned();
    for n in 0..12 {
        text += &format!(
            "[[claim]]\nid = \"c{n}\"\nquestion = \"Is it {n}?\"\nmetric = \"flow_rate\"\nof = \"pfifo\"\n\
             expect = \"at least {}\"\n",
            n as f64 / 10.0
        );
    }
    text
}

/// A folder with the experiment, and with its page.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("mine.toml", experiment());
    let page = folder.analects(&["reproduce", "mine.toml", "--format", "markdown"]);
    assert!(page.status.success(), "{}", text(&page.stderr));
    std::fs::create_dir(folder.0.join("pages")).unwrap();
    folder.write("pages/mine.md", page.stdout);
    folder
}

const EVALUATE: [&str; 4] = ["evaluate", "mine.toml", "--pages", "pages"];

fn report(folder: &Folder) -> Value {
    let report = std::fs::read(folder.0.join("evaluation/report.json")).unwrap();
    serde_json::from_slice(&report).unwrap()
}

#[test]
fn a_tenth_is_made_again_and_says_what_the_page_says() {
    let folder = folder("evaluate-same");
    // What is named twice is drawn once.
    let output = folder.analects(&[&EVALUATE[..], &["mine.toml"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.contains(
            "Of 12 sentences with a verdict, 2 were drawn (seed 1), and 2 of these made again"
        ),
        "{said}"
    );
    let report = report(&folder);
    let compared = report["compared"].as_array().unwrap();
    assert_eq!(compared.len(), 2);
    for one in compared {
        assert_eq!(one["agreement"], "same", "{one}");
        assert_eq!(one["page"], "mine.md");
        assert_eq!(one["values"][0]["overlap"], true, "{one}");
    }
}

#[test]
fn a_verdict_that_comes_out_the_other_way_fails() {
    let folder = folder("evaluate-other");
    let page = folder.0.join("pages/mine.md");
    let lie = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, lie.replace("| holds |", "| **does not hold** |")).unwrap();
    let output = folder.analects(&EVALUATE);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("2 verdicts came out the other way"), "{said}");
    assert_eq!(report(&folder)["compared"][0]["agreement"], "other_way");
}

/// A page of another experiment is none, and neither is time: where all is so, nothing was evaluated.
#[test]
fn what_could_not_be_compared_is_told_and_fails() {
    let folder = folder("evaluate-nothing");
    // Nothing but the fingerprint is another one.
    folder.write(
        "mine.toml",
        experiment().replace("seeds = 30", "seeds = 20"),
    );
    let refused = |output: &std::process::Output, expected: &str| {
        let said = text(&output.stderr).replace("\n  | ", " ");
        assert_eq!(output.status.code(), Some(1), "{said}");
        let nothing = "nothing of the draw could be compared";
        assert!(said.contains(nothing) && said.contains(expected), "{said}");
        assert!(said.contains("analects reproduce"), "{said}");
    };
    let output = folder.analects(&EVALUATE);
    refused(&output, "2 have no page");
    assert_eq!(report(&folder)["compared"][0]["agreement"], "no_page");
    let output =
        folder.analects(&[&EVALUATE[..], &["--minutes", "0.0000001", "--out", "no"]].concat());
    refused(&output, "2 were not made");
    let said = text(&output.stdout);
    assert!(
        said.contains("not made: own/mine") && said.contains("no time"),
        "{said}"
    );
    let output = folder.analects(&["evaluate", "--minutes", "0", "--pages", "pages"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let output = folder.analects(&["evaluate", "--pages", "none"]);
    assert!(text(&output.stderr).contains("none cannot be read"));
}

/// The experiment is made with the calls of its page: of several, the first.
#[test]
fn a_page_of_several_calls_is_compared() {
    let folder = folder("evaluate-calls");
    let calls = [
        "reproduce",
        "mine.toml",
        "--calls",
        "webrtc,paper",
        "--format",
        "markdown",
    ];
    let page = folder.analects(&calls);
    assert!(page.status.success(), "{}", text(&page.stderr));
    assert!(text(&page.stdout).contains("| webrtc | verdict | paper |"));
    folder.write("pages/mine.md", page.stdout);
    let output = folder.analects(&EVALUATE);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = report(&folder);
    for one in report["compared"].as_array().unwrap() {
        assert_eq!(one["agreement"], "same", "{one}");
    }
}

/// Seeds of runs come from the draw's: a larger one could come around to those of the pages.
#[test]
fn a_seed_has_a_range() {
    let folder = Folder::new("evaluate-seed");
    let output = folder.analects(&["evaluate", "--seed", "1000000000001", "--pages", "pages"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("1000000000000"), "{said}");
}
