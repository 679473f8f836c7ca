//! Experiments: claims with verdicts, stored results, and refusals.

use crate::common::{Folder, text};
use serde_json::Value;

/// Transfers that take 10 Mbit/s or 5: their sums are known beforehand.
const EXPERIMENT: &str = r#"
title = "Rates"
paper = "this test"
about = "Two transfers share a link."
cases = [
    "pfifo",
    { name = "half", discipline = "pfifo", set = { "link.rate" = "5mbit" } },
    { name = "one", discipline = "pfifo", set = { "traffic.flow.count" = "1" } },
]
seeds = 8

[scenario]
name = "rates"
duration = "4s"
warmup = "1s"

[scenario.link]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"

[[scenario.traffic]]
name = "flow"
kind = "bulk"

[[vary]]
name = "flows"
path = "traffic.flow.count"
values = ["1", "2"]
quick = ["1"]

[quick]
seeds = 2

[[claim]]
id = "rate"
quote = "one flow takes the link"
paper = "section 1"
metric = "flow_rate"
of = "pfifo"
where = { flows = "1" }
expect = "9 to 10"

[[claim]]
id = "half"
quote = "half the link carries half"
metric = "flow_rate"
of = "half"
to = "pfifo"
each = "flows"
expect = "-55 to -45"

[[claim]]
id = "wrong"
quote = "half the link carries more"
metric = "flow_rate"
of = "half"
to = "pfifo"
where = { flows = "1" }
expect = "at least 0"

[[claim]]
id = "nothing"
question = "Do calls not stall?"
metric = "stall"
of = "pfifo"
expect = "at most 0"

[[figure]]
title = "Rates"
kind = "lines"
x = "flows"
y = "flow_rate"
"#;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("e.toml", EXPERIMENT);
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.0.join(name)).unwrap()
}

fn reproduce(folder: &Folder, args: &[&str]) -> (String, String) {
    let args: Vec<&str> = ["reproduce", "e.toml"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn claims_have_verdicts() {
    let folder = folder("verdicts");
    let (json, _) = reproduce(&folder, &["--format", "json"]);
    let document: Value = serde_json::from_str(&json).unwrap();
    let claims = document["claims"].as_array().unwrap();
    let verdicts: Vec<(&str, &str)> = claims
        .iter()
        .map(|claim| {
            (
                claim["id"].as_str().unwrap(),
                claim["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("own/e/rate", "holds"),
        ("own/e/half", "holds"),
        ("own/e/wrong", "does not hold"),
        ("own/e/nothing", "cannot be told"),
    ];
    assert_eq!(verdicts, expected);
    let check = &claims[1]["checks"][0];
    let said = "flow_rate of half, relative to pfifo: -55 to -45 %, for each flows";
    assert_eq!(
        (&check["check"], &check["inside"]),
        (&said.into(), &true.into())
    );
    let half = &check["cells"][0];
    assert_eq!(
        (&half["cell"], &half["unit"]),
        (&"flows 1".into(), &"%".into())
    );
    let [low, high] = [0, 1].map(|end| half["ci95"][end].as_f64().unwrap());
    let ours = half["ours"].as_f64().unwrap();
    assert!(low <= ours && ours <= high, "{low} {ours} {high}");
    let nothing = &claims[3]["checks"][0]["cells"][0];
    assert!(nothing["ours"].is_null() && nothing["ci95"].is_null());
    let note = nothing["note"].as_str().unwrap();
    assert!(note.contains("no value of stall"), "{note}");
    let report = read(&folder, "reproduction/own/e/report.html");
    let place = |what: &str| {
        report
            .find(what)
            .unwrap_or_else(|| panic!("no {what}: {report}"))
    };
    let verdict =
        place("Of 3 sentences of the paper 2 hold, 1 do not, 0 not tested, 0 cannot be told.");
    place("Of 1 questions of our own 0 hold, 0 do not, 0 not tested, 1 cannot be told.");
    // What one sees comes before the table.
    assert!(verdict < place("<svg") && place("<svg") < place("half the link carries half"));
}

#[test]
fn what_would_decide_is_said() {
    let folder = folder("decides");
    let (said, _) = reproduce(&folder, &["--quick"]);
    // One value of the axis is no test of what is said of both.
    assert!(
        said.contains("A quick run is shortened (flows 1)."),
        "{said}"
    );
    assert!(said.contains("0 hold, 0 do not, 3 not tested"), "{said}");
    let (said, _) = reproduce(&folder, &[]);
    assert!(
        said.contains("\n  analects pilot e.toml --hours 12 > runs.toml\n"),
        "{said}"
    );
    assert!(
        said.ends_with("\n  analects reproduce e.toml --runs runs.toml\n"),
        "{said}"
    );
}

#[test]
fn what_was_run_is_kept_and_a_part_of_it_is_run_again() {
    let folder = folder("kept");
    let (quick, said) = reproduce(&folder, &["--quick", "--format", "json", "--jobs", "1"]);
    assert!(!said.contains("kept"), "{said}");
    // Two seeds of one value and three cases are there; eight seeds of two values make 48. The
    // case that overrides the axis has the runs of another case, so that 32 differ.
    let (_, said) = reproduce(&folder, &["--format", "json"]);
    assert!(said.contains("4 of 32 runs are kept from before"), "{said}");
    let (again, said) = reproduce(&folder, &["--quick", "--format", "json"]);
    assert!(said.contains("4 of 4 runs are kept from before"), "{said}");
    assert_eq!(again, quick);
}

/// The same runs under other names.
#[test]
fn what_a_case_or_an_axis_is_called_makes_no_difference() {
    let folder = folder("renamed");
    reproduce(&folder, &["--quick"]);
    let renamed = EXPERIMENT
        .replace("half", "slow")
        .replace("flows", "number");
    folder.write("e.toml", renamed.replace("\"rates\"", "\"others\""));
    let (_, said) = reproduce(&folder, &["--quick"]);
    assert!(said.contains("4 of 4 runs are kept from before"), "{said}");
}

#[test]
fn a_page_has_every_claim() {
    let folder = folder("page");
    let (page, _) = reproduce(&folder, &["--format", "markdown"]);
    assert!(
        page.contains("| own/e: Rates | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 1 |"),
        "{page}"
    );
    let said = "| “half the link carries more” (this test) | flow_rate of half, relative to pfifo: at least 0 %, \
        at flows 1 |";
    assert!(page.contains(said), "{page}");
    assert!(page.contains("**does not hold**"), "{page}");
    assert!(
        page.contains("Questions of our own:\n\n| question |"),
        "{page}"
    );
    let made = page
        .lines()
        .find(|line| line.starts_with("`analects reproduce own/e`"))
        .unwrap();
    let experiment = &blake3::hash(EXPERIMENT.as_bytes()).to_hex()[..12];
    let statistics = reproduce::statistics();
    let by = format!(
        ": 48 runs, seeds 1 to 8, experiment {experiment}, statistics {statistics}, analects 0."
    );
    assert!(made.contains(&by), "{made}");
    // Kept results serve the case that overrides an axis at each of its values, as at first.
    let (again, _) = reproduce(&folder, &["--format", "markdown"]);
    assert_eq!(again, page);
}

/// One of two combinations is run, and the page says by what it was drawn.
#[test]
fn the_text_that_a_sample_is_drawn_by_is_on_the_page() {
    let folder = Folder::new("drawn");
    let written = EXPERIMENT.replace("quick = [\"1\"]", "");
    let written = written[..written.find("[[claim]]").unwrap()].to_owned();
    let figure = &EXPERIMENT[EXPERIMENT.find("[[figure]]").unwrap()..];
    let drawn = format!("sample = 1\ndraw = \"first\"\n{written}{figure}");
    folder.write("e.toml", &drawn);
    let page = |args: &[&str]| reproduce(&folder, &[&["--format", "markdown"], args].concat()).0;
    let by = "Drawn by first from 2 combinations.";
    assert!(page(&[]).contains(by), "{}", page(&[]));
    let other = page(&["--draw", "2ce8cb7"]);
    let hash = &blake3::hash(drawn.as_bytes()).to_hex()[..12];
    assert!(
        other.contains(&format!(
            "own/e --draw 2ce8cb7`: 24 runs, seeds 1 to 8, experiment {hash}, "
        )),
        "{other}"
    );
    assert_eq!(other, page(&["--draw", "2ce8cb7"]));
    folder.write("e.toml", EXPERIMENT);
    let output = folder.analects(&["reproduce", "e.toml", "--draw", "2ce8cb7"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("none of the experiments draws"));
}

/// One claim, with seeds that no page has: the runs that it needs, and a word on both.
#[test]
fn one_claim_is_made_again_alone_with_other_seeds() {
    let folder = folder("only");
    let (whole, _) = reproduce(&folder, &["--format", "json"]);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["notes"].as_array().unwrap().len(), 0);
    let id = whole["claims"][0]["id"].as_str().unwrap();
    let args = ["--only", id, "--seed", "101", "--format", "json"];
    let (alone, said) = reproduce(&folder, &args);
    assert!(!said.contains("are kept"), "none has these seeds: {said}");
    let (_, said) = reproduce(&folder, &args[..2]);
    assert!(said.contains("8 of 8 runs are kept from before"), "{said}");
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(alone["claims"].as_array().unwrap().len(), 1);
    assert_eq!(alone["claims"][0]["id"], id);
    let note = alone["notes"][0].as_str().unwrap();
    assert!(
        note.contains("Seeds from 101 on.") && note.contains("other claims are left out"),
        "{note}"
    );
    let output = folder.analects(&["reproduce", "e.toml", "--only", "nosuch"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("--only") && said.contains(id), "{said}");
}

#[test]
fn wrong_experiments_are_refused() {
    let cases = [
        ("seeds = 8", "seed = 8", "unknown field `seed`"),
        (
            "\"flow_rate\"",
            "\"rate\"",
            "there is no metric \"rate\" help: there are: stall",
        ),
        (
            "of = \"half\"",
            "of = \"third\"",
            "there is no case \"third\" help: there are: pfifo, half, one",
        ),
        (
            "each = \"flows\"",
            "each = \"sizes\"",
            "there is no axis \"sizes\"",
        ),
        (
            "{ flows = \"1\" }",
            "{ flows = \"3\" }",
            "flows: there is no value \"3\"",
        ),
        ("9 to 10", "about 10", "is no range"),
        (
            "kind = \"lines\"",
            "kind = \"scatter\"",
            "there is no metric \"flows\"",
        ),
        ("quick = [\"1\"]", "quick = [\"7\"]", "no value \"7\""),
        ("link.rate", "link.speed", "unknown key \"link.speed\""),
        (
            "traffic.flow.count",
            "traffic.web.count",
            "traffic.web.count",
        ),
        (
            "discipline = \"pfifo\"",
            "discipline = \"lifo\"",
            "no discipline \"lifo\"",
        ),
        (
            "values = [\"1\", \"2\"]",
            "values = [\"1\", 2]",
            "expected a text such as \"20ms\"",
        ),
        (
            "values = [\"1\", \"2\"]",
            "values = [\"1\", { is = \"2\", sets = {} }]",
            "expected a text such as \"20ms\", or { is = \"NAME\"",
        ),
        (
            "\"pfifo\",\n",
            "{ name = \"pfifo\" },\n",
            "expected a discipline such as \"cake\"",
        ),
        (
            "of = \"half\"",
            "of = 2",
            "expected a text or a list of texts",
        ),
    ];
    for (number, (good, bad, says)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("wrong-{number}"));
        folder.write("e.toml", EXPERIMENT.replace(good, bad));
        let output = folder.analects(&["reproduce", "e.toml"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{bad}: {stderr}");
        let words: String = stderr.replace(['|', '│'], "").split_whitespace().collect();
        let expected: String = says.split_whitespace().collect();
        assert!(words.contains(&expected), "{bad}: {stderr}");
    }
    let folder = Folder::new("wrong-name");
    let output = folder.analects(&["reproduce", "confucius/fig1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("confucius/fig10"));
}

/// A call that stands for the paper's, in parallel with a transfer on a line of twice a call's
/// most.
const CALLS: &str = r#"
title = "Calls"
paper = "this test"
about = "A call alone."
cases = ["pfifo"]
seeds = 4

[scenario]
name = "calls"
duration = "20s"
warmup = "12s"

[scenario.link]
rate = "8mbit"
rtt = "20ms"
buffer = "100p"

[[scenario.traffic]]
name = "call"
kind = "call"
control = "copa"
preset = "unlimited"

[[claim]]
id = "rate"
quote = "the call takes more than 4 Mbit/s"
metric = "call_rate"
of = "pfifo"
expect = "at least 4.5"
"#;

#[test]
fn calls_of_several_presets_stand_side_by_side() {
    let folder = Folder::new("calls");
    folder.write("e.toml", CALLS);
    let runs = ["unlimited", "webrtc"].map(|calls| format!("[{calls}]\n\"own/e\" = 12\n"));
    folder.write("runs.toml", runs.concat());
    let both = ["--calls", "unlimited,webrtc", "--runs", "runs.toml"];
    let (page, _) = reproduce(&folder, &[&both[..], &["--format", "markdown"]].concat());
    let line = |start: &str| page.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("Made by").contains("--calls unlimited,webrtc --runs runs.toml"));
    assert_eq!(
        line("| sentence"),
        "| sentence | check | unlimited | verdict | webrtc | verdict | note |"
    );
    let cells: Vec<&str> = line("| “the call takes").split(" | ").collect();
    // A call of another kind is not the paper's.
    assert!(line("Set-up:").contains("Calls are webrtc, not the paper's"));
    assert_eq!(
        (cells[3], cells[5]),
        ("holds", "not tested (outside)"),
        "{page}"
    );
    assert!(
        line("`analects reproduce own/e --calls webrtc --runs runs.toml`")
            .contains("12 runs, seeds 1 to 12"),
        "{page}"
    );
    // Results are kept apart: the runs of one are not taken for the other's.
    assert!(
        folder
            .0
            .join("reproduction/webrtc/own/e/report.html")
            .exists()
    );

    folder.write("less.toml", "[webrtc]\n\"own/e\" = 12\n");
    for (args, why) in [
        (vec!["--calls", "webrct"], "webrct"),
        (vec!["--calls", "unlimited", "--runs", "less.toml"], "own/e"),
        (vec!["--runs", "nowhere.toml"], "nowhere.toml"),
        (vec!["--quick", "--runs", "runs.toml"], "--quick"),
    ] {
        let output = folder.analects(&[&["reproduce", "e.toml"], &args[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            text(&output.stderr).contains(why),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn a_pilot_says_how_often_to_run() {
    let folder = Folder::new("pilot");
    folder.write("e.toml", CALLS);
    let pilot = |hours: &str| {
        folder.analects(&[
            "pilot",
            "e.toml",
            "--calls",
            "unlimited,webrtc",
            "--hours",
            hours,
        ])
    };
    let output = pilot("1");
    assert!(output.status.success(), "{}", text(&output.stderr));
    folder.write("runs.toml", text(&output.stdout));
    let both = ["--calls", "unlimited,webrtc", "--runs", "runs.toml"];
    let (page, _) = reproduce(&folder, &[&both[..], &["--format", "markdown"]].concat());
    assert!(page.contains("not tested (outside)"), "{page}");
    let output = pilot("0");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("--hours 0"),
        "{}",
        text(&output.stderr)
    );
}

/// What a page has of another experiment stays, and waits if all of it did.
#[test]
fn a_part_is_put_into_a_page() {
    let folder = folder("into");
    let waits = "**Made by the rules of commit `abcdef0`: an hour.**";
    folder.write(
        "page.md",
        format!(
            "# What holds\n{waits}\n\n| experiment | hold |\n| --- | --- |\n| own/o: Other | 7 |\n\n## own/o: Other\nOld.\n"
        ),
    );
    reproduce(&folder, &["--into", "page.md"]);
    let page = read(&folder, "page.md");
    let (markdown, _) = reproduce(&folder, &["--format", "markdown"]);
    let (_, part) = markdown.split_once("\n## ").unwrap();
    assert!(page.ends_with(&format!("\n## {part}")), "{page}");
    assert!(page.contains("| own/o: Other | – |"), "{page}");
    assert!(page.contains("| own/e: Rates | 2 | 1 | 0 |"), "{page}");
    assert!(
        page.contains(&format!("## own/o: Other\n{waits}\n\nOld.")),
        "{page}"
    );
    reproduce(&folder, &["--into", "page.md"]);
    assert_eq!(read(&folder, "page.md"), page);
    let output = folder.analects(&["reproduce", "e.toml", "--quick", "--into", "page.md"]);
    assert!(!output.status.success());
    assert_eq!(read(&folder, "page.md"), page);
}

/// That a part is less than its experiment stays with it under another top, as does where its data is from.
#[test]
fn a_part_says_its_own_form() {
    let folder = folder("form");
    folder.write("f.toml", EXPERIMENT);
    for form in ["--quick", "--only rate"] {
        let args: Vec<&str> = form.split(' ').chain(["--format", "markdown"]).collect();
        let (page, _) = reproduce(&folder, &args);
        folder.write("page.md", page);
        let output = folder.analects(&["reproduce", "f.toml", "--into", "page.md"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let page = read(&folder, "page.md");
        let made = |id: &str| {
            let start = format!("`analects reproduce {id}");
            let line = page.lines().find(|line| line.starts_with(&start));
            line.unwrap_or_else(|| panic!("no {start}: {page}"))
        };
        assert!(
            made("own/e").contains(&format!("own/e {form}`: ")),
            "{page}"
        );
        assert!(made("own/f").contains("own/f`: "), "{page}");
        for id in ["own/e", "own/f"] {
            assert!(
                made(id).contains(", with generated traces and pages"),
                "{page}"
            );
        }
    }
}

/// Other columns are no surprise after hours of runs.
#[test]
fn a_page_of_other_columns_is_refused_before_any_run() {
    let folder = folder("columns");
    let page = "# What holds\n\n| experiment | hold |\n| --- | --- |\n| own/o: Other | 7 |\n\n## own/o: Other\nOld.\n";
    folder.write("page.md", page);
    let output = folder.analects(&["reproduce", "e.toml", "--into", "page.md"]);
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && said.contains("other columns"),
        "{said}"
    );
    assert_eq!(read(&folder, "page.md"), page);
    assert!(!folder.0.join("reproduction").exists(), "it ran");
}
