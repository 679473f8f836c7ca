//! What senders are at.

use super::{of_results, result};
use measure::SenderResult;

/// Lines of a run look different, whatever their flows are called.
#[test]
fn flows_have_looks_of_their_own() {
    let sender = |name: &str, window: u64| SenderResult {
        name: name.to_owned(),
        time_s: vec![0.1, 0.2],
        window_bytes: vec![Some(window); 2],
        delivered_mbps: vec![None; 2],
        srtt_ms: vec![None; 2],
        ..SenderResult::default()
    };
    let mut run = result("pfifo", 1, 0.4, true);
    run.senders = vec![sender("bulk", 30_000), sender("largest", 60_000)];
    let pages = of_results(&[run]);
    let (_, drawing) = pages
        .drawings
        .iter()
        .find(|(name, _)| name.starts_with("senders-window"))
        .unwrap();
    let svg = drawing.svg();
    let classes: Vec<&str> = svg
        .split("<path class=\"line")
        .zip(svg.split("<path class=\"line").skip(1))
        .filter(|(_, line)| line.starts_with(" \"") || line.starts_with('"'))
        .filter_map(|(before, _)| before.rsplit("<g class=\"").next()?.split('"').next())
        .collect();
    // A line and a piece of it in the legend, for each flow.
    assert_eq!(classes.len(), 4, "{svg}");
    assert_ne!(classes[0], classes[1], "{svg}");
    assert_eq!(classes[..2], classes[2..], "{svg}");
    assert!(!svg.contains("line largest\""), "{svg}");
    let csv = drawing.csv().unwrap();
    for line in ["bulk,line,,0.1,,,30,,", "largest,line,,0.1,,,60,,"] {
        assert!(csv.contains(line), "{csv}");
    }
}
