//! The delay of sound compared with libwebrtc's NetEq: the packets that NetEq had arrive at ours. The
//! records are made by `make witness OF=receiver`; `witness/README.md` describes their lines. The folder
//! `sound` in `ANALECTS_RECORDS` has others.

use super::delays::Delays;
use std::path::{Path, PathBuf};
use units::{Duration, Instant};
use workload::audio::FRAME;

/// How long sound is to wait after each packet: libwebrtc's and ours, in ms.
fn targets(text: &str) -> Vec<(f64, f64)> {
    let mut delays = Delays::new(true);
    let line = |line: &str| {
        let mut numbers = line.split(' ').map(|word| word.parse::<u64>().unwrap());
        let mut next = || numbers.next().unwrap();
        let (number, took, theirs) = (next(), Duration::from_micros(next()), next());
        delays.arrived(Instant::ZERO + FRAME * number + took, took);
        (theirs as f64, delays.target().as_millis_f64())
    };
    text.lines().map(line).collect()
}

#[test]
fn sound_waits_as_in_neteq() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/audio/witness");
    let others = std::env::var_os("ANALECTS_RECORDS").map(PathBuf::from);
    let folder = others.map_or(own, |others| others.join("sound"));
    let entries = std::fs::read_dir(folder).expect("the records are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 7, "seven calls");
    println!(
        "| call | packets | NetEq's wait, ms | ours | apart, ms | the same, % |\n| --- | --- | --- | --- | --- | --- |"
    );
    let mut failed = Vec::new();
    for path in paths {
        let targets = targets(&std::fs::read_to_string(&path).unwrap());
        let count = targets.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| targets.iter().map(of).sum::<f64>() / count;
        let (theirs, ours) = (mean(|both| both.0), mean(|both| both.1));
        let apart = mean(|both| (both.0 - both.1).abs());
        let same = mean(|both| f64::from(u8::from(both.0 == both.1)));
        let call = path.file_stem().unwrap().display();
        println!(
            "| {call} | {count} | {theirs:.1} | {ours:.1} | {apart:.2} | {:.1} |",
            100.0 * same
        );
        if apart > 0.0 {
            failed.push(call.to_string());
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
