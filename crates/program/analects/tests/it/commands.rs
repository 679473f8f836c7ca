//! The other commands: lists, their arguments, completions and man pages.

use crate::common::{Folder, text};

fn print(folder: &Folder, args: &[&str]) -> String {
    let output = folder.analects(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

/// The first word of each line.
fn names(list: &str) -> Vec<&str> {
    let name = |line: &'_ str| line.split_whitespace().next().map(str::len);
    list.lines()
        .filter_map(|line| Some(&line[..name(line)?]))
        .collect()
}

#[test]
fn everything_that_is_listed_is_described_with_its_parameters() {
    let folder = Folder::new("describe");
    let list = |what| print(&folder, &["list", what]);
    let disciplines = qdisc::Registry::<u32>::builtin();
    for (name, entry) in names(&list("disciplines"))
        .into_iter()
        .zip(disciplines.iter())
    {
        assert_eq!(name, entry.name);
        let page = print(&folder, &["describe", name]);
        for spec in entry.params {
            assert!(
                page.contains(&format!("  {} = {}", spec.name, spec.default)),
                "{page}"
            );
        }
        assert!(
            page.starts_with(&format!("{name} (discipline): ")),
            "{page}"
        );
    }
    let controls = cca::Registry::builtin();
    for (name, entry) in names(&list("controls")).into_iter().zip(controls.iter()) {
        assert_eq!(name, entry.name);
        let page = print(&folder, &["describe", name]);
        for spec in entry.params {
            assert!(
                page.contains(&format!("  {} = {}", spec.name, spec.default)),
                "{page}"
            );
        }
    }
    let metrics = measure::metric::Registry::builtin();
    let listed = list("metrics");
    let described = print(&folder, &["describe", "metrics"]);
    for metric in metrics.iter() {
        let about = format!("{} (metric): {}", metric.name, metric.summary);
        let start = described.split_whitespace().collect::<Vec<_>>().join(" ");
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(start.contains(&about), "{about}");
        assert!(names(&listed).contains(&metric.name), "{listed}");
    }
    assert_eq!(
        names(&list("traffic")),
        [
            "call",
            "conference",
            "page",
            "bulk",
            "udp",
            "actors",
            "video"
        ]
    );
    let call = print(&folder, &["describe", "call"]);
    assert!(
        call.contains("  fps = 30") && call.contains("  nack = yes"),
        "{call}"
    );
    assert!(list("engines").starts_with("sim "));
    assert!(!list("experiments").is_empty());
}

#[test]
fn no_line_is_too_long_for_a_terminal() {
    let folder = Folder::new("width");
    for args in [
        &["--help"][..],
        &["help", "run"],
        &["help", "pages"],
        &["run", "-h"],
        &["describe", "confucius"],
        &["describe", "gcc"],
        &["describe", "call"],
        &["describe", "scenario"],
        &["list", "disciplines"],
        &["list", "controls"],
    ] {
        for line in print(&folder, args).lines() {
            assert!(line.chars().count() <= 100, "{args:?}: {line}");
        }
    }
}

#[test]
fn the_described_scenario_runs() {
    let folder = Folder::new("example");
    folder.write("s.toml", print(&folder, &["describe", "scenario"]));
    let args = [
        "run",
        "s.toml",
        "--set",
        "duration=3s",
        "--set",
        "traffic.page.source=generated:1",
    ];
    let table = print(&folder, &args);
    assert!(
        table.starts_with("example: what a scenario can say"),
        "{table}"
    );
}

/// The reader lists the keys that it knows where one is wrong; each of them stands in the description.
#[test]
fn the_described_scenario_has_every_key() {
    let folder = Folder::new("every-key");
    let described = print(&folder, &["describe", "scenario"]);
    folder.write("s.toml", &described);
    let stands = |key: &str| {
        let mut lines = described.lines();
        lines.any(|line| {
            let line = line.trim_start_matches("# ").trim_start_matches('[');
            let rest = line.strip_prefix("link.").unwrap_or(line).strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with(" = ") || rest.starts_with(']'))
        })
    };
    for wrong in ["zzzz", "link.zzzz", "link.up.zzzz", "traffic.call.zzzz"] {
        let refused = folder.analects(&["run", "s.toml", "--set", &format!("{wrong}=1")]);
        let refused = text(&refused.stderr).replace(char::is_whitespace, "");
        let (_, known) = refused.split_once("thereare:").expect(&refused);
        let known: Vec<&str> = known.split(',').collect();
        assert!(known.len() > 5, "{wrong}: {known:?}");
        // What a kind of traffic says beside them is its own: `describe call`.
        let own = print(&folder, &["describe", "call"]);
        let of_call = |key: &str| own.contains(&format!("  {key} = "));
        let missing: Vec<&&str> = known
            .iter()
            .filter(|key| !stands(key) && !of_call(key))
            .collect();
        assert!(
            missing.is_empty(),
            "{wrong}: {missing:?} in no line of\n{described}"
        );
    }
}

#[test]
fn completions_and_man_pages() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish"] {
        let script = print(&folder, &["completions", shell]);
        assert!(
            script.contains("discipline") && script.contains("describe"),
            "{shell}"
        );
    }
    assert_eq!(print(&folder, &["man", "man/deeper"]), "");
    for (page, says) in [
        ("analects.1", "analects\\-run(1)"),
        ("analects-run.1", "\\-\\-discipline"),
        ("analects-describe.1", "scenario"),
    ] {
        let page = std::fs::read_to_string(folder.0.join("man/deeper").join(page)).unwrap();
        assert!(page.contains(says), "{page}");
    }
    assert!(print(&folder, &["--version"]).contains(env!("CARGO_PKG_VERSION")));
}
