//! `analects threshold`.

use crate::common::{Folder, text};

fn json(folder: &Folder, args: &[&str]) -> serde_json::Value {
    let args = [&["threshold", "--format", "json"], args].concat();
    let output = folder.analects(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a sample need not be the same everywhere"
)]
fn a_sample_of_a_distribution_has_its_threshold() {
    let folder = Folder::new("threshold");
    // Sizes at which a bounded Pareto distribution reaches evenly spaced shares.
    let (least, most, shape) = (1e5f64, 1e9f64, 1.2f64);
    let tail = (least / most).powf(shape);
    let size = |at: u32| {
        let beyond = 1.0 - (f64::from(at) + 0.5) / 200_000.0 * (1.0 - tail);
        (least * beyond.powf(-1.0 / shape)).round().to_string()
    };
    let sizes: Vec<String> = (0..200_000).map(size).collect();
    folder.write("sizes", sizes.join("\n"));
    let load = ["--load", "0.8"];
    let seen = json(&folder, &[&["--sizes", "sizes"], &load[..]].concat());
    let drawn = json(
        &folder,
        &[&["--pareto", "1.2,100kB,1GB"], &load[..]].concat(),
    );
    let ratio = |of: fn(&serde_json::Value) -> f64| of(&seen) / of(&drawn);
    let mean = ratio(|answer| answer["mean_bytes"].as_f64().unwrap());
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    let best = ratio(|answer| answer["best"]["of_one_level"].as_f64().unwrap());
    assert!((best - 1.0).abs() < 0.01, "{best}");
}

#[test]
fn times_and_a_threshold_of_ones_own() {
    let folder = Folder::new("threshold-own");
    let args = [
        "--pareto",
        "1.2,300KiB,1GiB",
        "--load",
        "0.88",
        "--rate",
        "1gbit",
    ];
    let answer = json(&folder, &[&args[..], &["--threshold", "6331208"]].concat());
    let asked = &answer["asked"];
    assert_eq!(asked["threshold_bytes"].as_f64(), Some(6_331_208.0));
    // 1.4828 MB take 11.86 ms alone, and 8.33 times that with one level.
    let parts = asked["of_one_level"].as_f64().unwrap();
    let ms = asked["mean_ms"].as_f64().unwrap();
    assert!((ms - parts * 98.85).abs() < 0.01, "{ms} {parts}");
    let best = answer["best"]["of_one_level"].as_f64().unwrap();
    assert!(parts > best);
    assert!(best > answer["least_attained"]["of_one_level"].as_f64().unwrap());
}

/// The formula for one level has 142.8 ms.
#[test]
fn actors_have_a_threshold_too() {
    let folder = Folder::new("threshold-actors");
    let args = ["--pareto", "1.2,300KiB,1GiB", "--rate", "864mbit"];
    let actors = ["--actors", "80", "--think", "1s", "--threshold", "6331208"];
    let answer = json(&folder, &[&args[..], &actors].concat());
    let one_level = answer["one_level_ms_ci95"].as_array().unwrap();
    let [low, high] = [0, 1].map(|end| one_level[end].as_f64().unwrap());
    assert!(low < 142.8 && 142.8 < high, "{low} to {high}");
    let own = &answer["curve"].as_array().unwrap()[4];
    assert_eq!(own["threshold_bytes"].as_f64(), Some(6_331_208.0));
    assert!(own["mean_ms"].as_f64().unwrap() < low);
    // The smallest of the round thresholds costs more than the thesis'.
    let more = |of: &serde_json::Value| of["more_than_best_percent"].as_f64().unwrap();
    assert!(more(&answer["curve"][0]) > 2.0 * more(own));
}
