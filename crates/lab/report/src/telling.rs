//! Which runs of a discipline to look at: the typical one and the worst.

use measure::{RunResult, WITHOUT};

/// A run to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    /// Its place among the results.
    pub place: usize,
    /// Whether it is its discipline's worst run; otherwise it is the typical one.
    pub worst: bool,
}

/// The run of each discipline in the middle of all its runs, by their calls' stall, and the worst one,
/// if that is another. The first run where no run differs from another one.
pub fn telling(results: &[RunResult]) -> Vec<Telling> {
    let mut names: Vec<&str> = Vec::new();
    for result in results.iter().filter(|result| is_seen(result)) {
        if !names.contains(&result.discipline.as_str()) {
            names.push(&result.discipline);
        }
    }
    names.iter().flat_map(|name| of(results, name)).collect()
}

/// Control runs serve the others.
fn is_seen(result: &RunResult) -> bool {
    !result.variant.contains_key(WITHOUT)
}

fn of(results: &[RunResult], discipline: &str) -> Vec<Telling> {
    let runs = results.iter().enumerate();
    let runs = runs.filter(|(_, run)| run.discipline == discipline && is_seen(run));
    let mut runs: Vec<(usize, (f64, f64))> =
        runs.map(|(place, run)| (place, badness(run))).collect();
    // A stable sort: of equal runs the first stays first.
    runs.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (Some(&(best, least)), Some(&(worst, most))) = (runs.first(), runs.last()) else {
        return Vec::new();
    };
    let typical = |place| Telling {
        place,
        worst: false,
    };
    if least == most {
        return vec![typical(best)];
    }
    let middle = runs[(runs.len() - 1) / 2].0;
    let worst = Telling {
        place: worst,
        worst: true,
    };
    vec![typical(middle), worst]
}

/// Stall of all calls, and the longest delay of a frame.
fn badness(run: &RunResult) -> (f64, f64) {
    let stall = run.calls.iter().map(|call| call.stall_s).sum();
    let delays = run.calls.iter().filter_map(|call| call.frame_delay_ms.max);
    (stall, delays.fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::CallResult;

    fn run(discipline: &str, stall_s: f64) -> RunResult {
        let call: CallResult = serde_json::from_value(serde_json::json!({
            "name": "call", "control": "gcc", "stall_s": stall_s, "frames": 1, "frames_late": 0,
            "frames_lost": 0, "frame_delay_ms": {}, "low_fps_events": 0, "freezes": 0,
            "goodput_mbps": 1.0, "sojourn_ms": {},
        }))
        .unwrap();
        RunResult {
            discipline: discipline.to_owned(),
            calls: vec![call],
            ..RunResult::default()
        }
    }

    #[test]
    fn the_middle_and_the_worst() {
        let mut runs = Vec::new();
        for stall in [5.0, 1.0, 9.0, 2.0] {
            runs.push(run("pfifo", stall));
            runs.push(run("cake", 0.0));
        }
        runs[5]
            .variant
            .insert(WITHOUT.to_owned(), "page".to_owned());
        runs[5].calls[0].stall_s = 99.0;
        let told = telling(&runs);
        let of = |place, worst| Telling { place, worst };
        assert_eq!(told, [of(6, false), of(4, true), of(1, false)]);
    }
}
