//! `analects bound`.

use crate::common::{Folder, text};

fn print(folder: &Folder, args: &[&str]) -> String {
    let args: Vec<&str> = ["bound"].iter().chain(args).copied().collect();
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn json(folder: &Folder, args: &[&str]) -> serde_json::Value {
    let args = [args, &["--format", "json"]].concat();
    serde_json::from_str(&print(folder, &args)).unwrap()
}

#[test]
fn json_has_the_figures_of_the_table() {
    let folder = Folder::new("bound-json");
    let args = [
        "--flows", "5", "--rtt", "30ms", "--k", "bbr", "--size", "1MB",
    ];
    let table = print(&folder, &args);
    let document = json(&folder, &args);
    let lines: Vec<&str> = table.lines().skip(5).take(6).collect();
    let bounds = document["bounds"].as_array().unwrap();
    assert_eq!(bounds.len(), lines.len());
    for (line, bound) in lines.iter().zip(bounds) {
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), bound["policy"].as_str());
        if let Some(share) = bound["share"].as_str() {
            assert_eq!(words.next(), Some(share));
        }
        for (figure, forms) in [
            ("delay_ms", &["integral", "corrected", "printed"][..]),
            (
                "completion_ms",
                &["integral", "corrected", "limit", "printed"],
            ),
        ] {
            for form in forms {
                let cell = bound[figure][form].as_f64();
                let cell = cell.map_or("-".to_owned(), |ms| format!("{ms:.1}"));
                assert_eq!(words.next(), Some(cell.as_str()), "{line}: {figure} {form}");
            }
        }
        assert_eq!(words.next(), None);
    }
}

/// The figures themselves are tested where they are computed; here, that each option reaches them.
#[test]
fn every_option_changes_what_it_should() {
    let folder = Folder::new("bound-options");
    let default = json(&folder, &[]);
    for (option, value, name, said) in [
        ("--flows", "13", "flows", "13"),
        ("--rtt", "50ms", "rtt", "50ms"),
        ("--q0", "6ms", "q0", "6ms"),
        ("--k", "bbr", "k", "bbr"),
        ("--lambda", "0.005", "lambda", "0.005"),
        ("--doubling", "200ms", "lambda", "0.005"),
        ("--size", "20kB", "size", "20kB"),
        ("--initial-window", "20kB", "initial_window", "20kB"),
        ("--rate", "10mbit", "rate", "10mbit"),
    ] {
        let changed = json(&folder, &[option, value]);
        assert_eq!(changed["model"][name], said, "{option}");
        assert_ne!(changed["bounds"], default["bounds"], "{option}");
        for (other, value) in default["model"].as_object().unwrap() {
            assert!(
                other == name || changed["model"][other] == *value,
                "{option}"
            );
        }
    }
    let long = json(&folder, &["--policy", "confucius", "--within", "800ms"]);
    assert_eq!(long["within_ms"], 800.0);
    assert_eq!(long["bounds"].as_array().unwrap().len(), 3);
    let integral = |document: &serde_json::Value, line: usize| {
        document["bounds"][line]["delay_ms"]["integral"]
            .as_f64()
            .unwrap()
    };
    assert!(integral(&long, 0) > 1.3 * integral(&default, 3));
}

#[test]
fn no_line_is_too_long_for_a_terminal() {
    let folder = Folder::new("bound-width");
    for args in [
        &[][..],
        &["--help"],
        &["--flows", "1000", "--rtt", "1s", "--rate", "100kbit"],
    ] {
        for line in print(&folder, args).lines() {
            assert!(line.chars().count() <= 100, "{args:?}: {line}");
        }
    }
}
