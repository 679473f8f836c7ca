//! One line under each discipline, over all runs.

use measure::RunResult;
use measure::WITHOUT;

/// A mean, and half the width of its 95 % confidence interval where there is more than one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval (normal approximation).
    pub ci95: Option<f64>,
}

/// What all runs of one discipline come to. Values that no run has are `None`.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The discipline, with its settings.
    pub discipline: String,
    /// How many runs.
    pub runs: usize,
    /// How many page loads were complete.
    pub loads: usize,
    /// Stall of a call in a run, seconds.
    pub stall_s: Option<Mean>,
    /// Stall for each page load, ms.
    pub stall_per_load_ms: Option<Mean>,
    /// Stall that each page load causes, ms: the runs' stall less that of their control runs, which
    /// leave the pages out.
    pub caused_per_load_ms: Option<Mean>,
    /// 95th percentile of frame delay, ms.
    pub frame_p95_ms: Option<Mean>,
    /// Largest frame delay of all runs, ms.
    pub frame_max_ms: Option<f64>,
    /// Page load time, ms.
    pub plt_ms: Option<Mean>,
    /// Goodput of a call, Mbit/s.
    pub call_mbps: Option<Mean>,
    /// Goodput of all unlimited transfers of a run together, Mbit/s.
    pub bulk_mbps: Option<Mean>,
    /// Flow completion time of bulk transfers that were complete, ms.
    pub fct_ms: Option<Mean>,
    /// Mean sojourn in the first queue, ms.
    pub sojourn_ms: Option<Mean>,
    /// Utilization of the first link, from 0 to 1.
    pub utilization: Option<Mean>,
    /// Drops at the first queue in a run.
    pub drops: Option<Mean>,
    /// Jain's fairness index.
    pub jfi: Option<Mean>,
}

/// Summarizes results by discipline, in the order of their first appearance.
pub fn summarize(results: &[RunResult]) -> Vec<Summary> {
    let mut names: Vec<&str> = Vec::new();
    // Control runs serve the others.
    let (control, results): (Vec<&RunResult>, Vec<&RunResult>) = results
        .iter()
        .partition(|result| result.variant.contains_key(WITHOUT));
    for result in &results {
        if !names.contains(&result.discipline.as_str()) {
            names.push(&result.discipline);
        }
    }
    let of = |name: &str| -> Vec<&RunResult> {
        let of_name = results.iter().filter(|result| result.discipline == name);
        of_name.copied().collect()
    };
    names
        .into_iter()
        .map(|name| one(name, &of(name), &control))
        .collect()
}

fn one(name: &str, runs: &[&RunResult], control: &[&RunResult]) -> Summary {
    let calls = || runs.iter().flat_map(|run| &run.calls);
    let pages = || runs.iter().flat_map(|run| &run.pages);
    let flows = || runs.iter().flat_map(|run| &run.flows);
    let first = || runs.iter().filter_map(|run| run.links.first());
    let has_calls = calls().next().is_some();
    let unlimited = |run: &&RunResult| -> Option<f64> {
        let lasting = run.flows.iter().filter(|flow| flow.fct_ms.is_none());
        let rates: Vec<f64> = lasting.map(|flow| flow.goodput_mbps).collect();
        (!rates.is_empty()).then(|| rates.iter().sum())
    };
    Summary {
        discipline: name.to_owned(),
        runs: runs.len(),
        loads: pages().filter(|page| page.plt_ms.is_some()).count(),
        stall_s: mean(calls().map(|call| call.stall_s)),
        stall_per_load_ms: mean(pages().filter(|_| has_calls).map(|page| page.stall_s * 1e3)),
        caused_per_load_ms: mean(
            runs.iter()
                .filter_map(|run| caused_per_load_ms(run, control)),
        ),
        frame_p95_ms: mean(calls().filter_map(|call| call.frame_delay_ms.p95)),
        frame_max_ms: calls()
            .filter_map(|call| call.frame_delay_ms.max)
            .reduce(f64::max),
        plt_ms: mean(pages().filter_map(|page| page.plt_ms)),
        call_mbps: mean(calls().map(|call| call.goodput_mbps)),
        bulk_mbps: mean(runs.iter().filter_map(unlimited)),
        fct_ms: mean(flows().filter_map(|flow| flow.fct_ms)),
        sojourn_ms: mean(first().filter_map(|link| link.sojourn_ms.mean)),
        utilization: mean(first().filter_map(|link| link.utilization)),
        drops: mean(first().map(|link| link.drops as f64)),
        jfi: mean(runs.iter().filter_map(|run| run.jfi)),
    }
}

/// What the pages of `run` cause of its stall, for each load, given the control run that is like it
/// in all but the pages.
fn caused_per_load_ms(run: &RunResult, control: &[&RunResult]) -> Option<f64> {
    let alike = |other: &&&RunResult| {
        let mut variant = other.variant.clone();
        variant.remove(WITHOUT);
        (&other.discipline, other.seed, &variant) == (&run.discipline, run.seed, &run.variant)
    };
    let without = control.iter().find(alike)?;
    let stall = |run: &RunResult| run.calls.iter().fold(0.0, |sum, call| sum + call.stall_s);
    let loads = run.pages.len();
    (loads > 0).then(|| 1e3 * (stall(run) - stall(without)) / loads as f64)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<Mean> {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = |value: &f64| (value - mean) * (value - mean);
    let variance = values.iter().map(square).sum::<f64>() / (n - 1.0);
    (!values.is_empty()).then(|| Mean {
        mean,
        ci95: (values.len() > 1).then(|| 1.96 * (variance / n).sqrt()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_intervals() {
        assert_eq!(mean([].into_iter()), None);
        assert_eq!(
            mean([2.0].into_iter()),
            Some(Mean {
                mean: 2.0,
                ci95: None
            })
        );
        // Deviations ±1: variance 2/1, standard error sqrt(2/2) = 1.
        let pair = mean([1.0, 3.0].into_iter()).unwrap();
        assert_eq!((pair.mean, pair.ci95), (2.0, Some(1.96)));
    }
}
