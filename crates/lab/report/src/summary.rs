//! One line under each discipline, over all runs.

use measure::estimate::{Against, Bounds, Estimate, LEVEL, Statistic, compare, estimate};
use measure::interval;
use measure::metric::{Column, Metric, Observed, Registry, Selection};
use measure::{RunResult, Units, WITHOUT};
use std::collections::BTreeMap;

/// The summary of all runs of one discipline.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The discipline, with its settings.
    pub discipline: String,
    /// How many runs.
    pub runs: usize,
    /// How many page loads were complete.
    pub loads: usize,
    /// How many page loads the end of a run cut off.
    pub unfinished: usize,
    /// By selection as it is written, for each that has a value in some run.
    figures: BTreeMap<String, SummaryFigure>,
}

#[derive(Debug, Clone)]
struct SummaryFigure {
    estimate: Estimate,
    statistic: Statistic,
    /// The values of each unit; units are the same, in the same order, for all disciplines.
    units: Vec<Vec<f64>>,
}

impl Summary {
    /// The estimate of `metric`; none if it has no column, or no run has a value.
    pub fn get(&self, metric: &Metric) -> Option<Estimate> {
        self.figures.get(metric.name).map(|figure| figure.estimate)
    }

    /// A value for each run that has one, or for each trace if traces vary.
    pub fn each(&self, metric: &Metric) -> Vec<f64> {
        let figure = self.figures.get(metric.name);
        let units = figure.map(|figure| (figure.statistic, figure.units.iter()));
        let values = units.map(|(statistic, units)| {
            units.filter_map(move |unit| statistic.of(&mut unit.clone()))
        });
        values.into_iter().flatten().collect()
    }

    /// Whether the interval of the difference to `other` in `metric`, unit by unit, leaves out zero.
    pub fn differs(&self, other: &Summary, metric: &Metric) -> bool {
        let sides = [self, other].map(|summary| summary.figures.get(metric.name));
        let [Some(ours), Some(theirs)] = sides else {
            return false;
        };
        let units = [&ours.units[..], &theirs.units[..]];
        let difference = compare(
            ours.statistic,
            units,
            Bounds::NONE,
            Against::Difference,
            LEVEL,
        );
        let ends = difference.and_then(|difference| difference.ci95);
        ends.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    /// The same as it is printed.
    pub fn cell(&self, metric: &Metric, column: Column) -> Option<Cell> {
        self.cell_of(metric.name, column)
    }

    /// What was selected as `selection` (`stall`, `stall:call`), as it is printed.
    pub fn cell_of(&self, selection: &str, column: Column) -> Option<Cell> {
        let estimate = self.figures.get(selection)?.estimate;
        let digits = |value| digits(value, column.decimals);
        let interval = match (estimate.ci95, estimate.most_often()) {
            (Some(ends), _) => Some(interval::written(estimate.value, ends, digits)),
            (None, _) if estimate.units < 2 || column.statistic == Statistic::Max => None,
            (None, Some(most)) => Some(format!("≤ {most:.0} % of runs")),
            (None, None) => Some("too few runs".to_owned()),
        };
        Some(Cell {
            value: digits(estimate.value),
            interval,
        })
    }
}

/// A figure as it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The figure.
    pub value: String,
    /// With several runs, its 95 % interval; for an event that happened in no run, the share in
    /// which it may happen; `too few runs` if these do not decide.
    pub interval: Option<String>,
}

/// Summarizes results by discipline: each metric that has a column, of all traffic.
pub fn summarize(results: &[RunResult], metrics: &Registry) -> Vec<Summary> {
    let all = metrics.columns().map(|(metric, _)| Selection {
        metric: metric.clone(),
        entry: String::new(),
    });
    summarize_selected(results, &all.collect::<Vec<_>>())
}

/// Summarizes results by discipline, in the order of their first appearance: what is selected, where its
/// metric has a column. Control runs serve the others, and have no line. The runs are the units of
/// variation, so a single one has no interval.
pub fn summarize_selected(results: &[RunResult], selected: &[Selection]) -> Vec<Summary> {
    let observed = Observed::pairs(results);
    let mut names: Vec<&str> = Vec::new();
    for run in results
        .iter()
        .filter(|run| !run.variant.contains_key(WITHOUT))
    {
        if !names.contains(&run.discipline.as_str()) {
            names.push(&run.discipline);
        }
    }
    let units = Units::of(results.iter());
    let line = |name: &&str| {
        let runs = observed.iter().filter(|of| of.run.discipline == *name);
        one(name, &runs.collect::<Vec<_>>(), &units, selected)
    };
    names.iter().map(line).collect()
}

fn one(name: &str, runs: &[&Observed<'_>], units: &Units<'_>, selected: &[Selection]) -> Summary {
    let figure = |selection: &Selection| {
        let values = runs.iter().map(|of| (of.run, selection.of(of)));
        let statistic = selection.metric.column?.statistic;
        let units = units.gather(values);
        let figure = SummaryFigure {
            estimate: estimate(statistic, &units, bounds(selection))?,
            statistic,
            units,
        };
        Some((selection.to_string(), figure))
    };
    let pages = runs.iter().flat_map(|of| &of.run.pages);
    let (complete, cut_off): (Vec<_>, Vec<_>) = pages.partition(|page| page.plt_ms.is_some());
    Summary {
        discipline: name.to_owned(),
        runs: runs.len(),
        loads: complete.len(),
        unfinished: cut_off.len(),
        figures: selected.iter().filter_map(figure).collect(),
    }
}

/// What values can be; how long the runs were is not known here.
fn bounds(selection: &Selection) -> Bounds {
    selection.metric.range.bounds(f64::INFINITY)
}

/// The metrics with a column in tables by default, for which some line has a value; a column
/// without any is useless.
pub fn columns<'m>(summaries: &[Summary], metrics: &'m Registry) -> Vec<(&'m Metric, Column)> {
    let said = |(metric, _): &(&Metric, Column)| summaries.iter().any(|s| s.get(metric).is_some());
    let unasked = |(_, column): &(&Metric, Column)| column.by_default;
    metrics.columns().filter(unasked).filter(said).collect()
}

/// How many page loads were complete, if there is more than one, and under which disciplines the
/// end of a run cut some off:
/// `22 to 23 page loads each; page loads cut off by the end of a run: pfifo 1`.
pub fn loads(summaries: &[Summary]) -> Option<String> {
    let loads = || summaries.iter().map(|summary| summary.loads);
    let complete = match (loads().min()?, loads().max()?) {
        (_, 0 | 1) => None,
        (least, most) if least < most => Some(format!("{least} to {most} page loads each")),
        (_, most) => Some(format!("{most} page loads each")),
    };
    let cut_off = summaries.iter().filter(|summary| summary.unfinished > 0);
    let cut_off = cut_off.map(|of| format!("{} {}", of.discipline, of.unfinished));
    let cut_off = cut_off.collect::<Vec<_>>().join(", ");
    let cut_off =
        (!cut_off.is_empty()).then(|| format!("page loads cut off by the end of a run: {cut_off}"));
    let said: Vec<String> = [complete, cut_off].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// A number with so many decimals, and no minus before a zero.
fn digits(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(size) if size.trim_start_matches(['0', '.']).is_empty() => size.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::CallResult;
    use measure::metric::{Better, Range, calls, pages};

    /// A run with a call of each of these stalls.
    fn run(discipline: &str, seed: u64, stalls: &[f64]) -> RunResult {
        let call = |stall_s: &f64| CallResult {
            name: "call".to_owned(),
            control: "gcc".to_owned(),
            stall_s: *stall_s,
            frames: 1,
            frames_late: 0,
            frames_lost: 0,
            frame_delay_ms: Default::default(),
            low_fps_events: 0,
            freezes: 0,
            playout: None,
            audio: None,
            goodput_mbps: 1.0,
            sojourn_ms: Default::default(),
            why: None,
        };
        RunResult {
            rates: Vec::new(),
            discipline: discipline.to_owned(),
            seed,
            variant: BTreeMap::new(),
            calls: stalls.iter().map(call).collect(),
            pages: Vec::new(),
            flows: Vec::new(),
            links: Vec::new(),
            figures: Vec::new(),
            measured: Default::default(),
            senders: Vec::new(),
            limits: Vec::new(),
            jfi: None,
            invalid: Vec::new(),
            notes: Vec::new(),
            series: None,
        }
    }

    #[test]
    fn many_values_of_one_run_make_no_interval() {
        let metrics = Registry::builtin();
        let [alone] = &summarize(&[run("pfifo", 1, &[1.0, 2.0, 6.0])], &metrics)[..] else {
            panic!("one discipline")
        };
        assert_eq!(alone.runs, 1);
        let stall = alone.get(&calls::STALL).unwrap();
        assert_eq!((stall.value, stall.ci95), (3.0, None));
        let cell = alone.cell(&calls::STALL, calls::STALL.column.unwrap());
        let expected = Cell {
            value: "3.00".to_owned(),
            interval: None,
        };
        assert_eq!(cell, Some(expected));
        assert_eq!(alone.get(&pages::PLT), None);
        let named: Vec<&str> = columns(std::slice::from_ref(alone), &metrics)
            .iter()
            .map(|(metric, _)| metric.name)
            .collect();
        assert_eq!(named, ["stall", "call_rate"]);
    }

    #[test]
    fn the_runs_are_what_varies() {
        // Both hold as many 0 as 10. If each run holds one value, they differ; if each holds both,
        // they do not, however many values there are.
        let apart = [0.0, 10.0, 0.0, 10.0, 0.0, 10.0].map(|stall| vec![stall]);
        let alike = vec![vec![0.0, 10.0]; 8];
        let of = |runs: &[Vec<f64>]| {
            let runs = (0..)
                .zip(runs)
                .map(|(seed, stalls)| run("pfifo", seed, stalls));
            let summary = &summarize(&runs.collect::<Vec<_>>(), &Registry::builtin())[0];
            summary.get(&calls::STALL).unwrap()
        };
        assert_eq!(of(&alike).ci95, Some((5.0, 5.0)));
        let (low, high) = of(&apart).ci95.unwrap();
        assert!(low < 3.0 && high > 7.0, "{low} {high}");
    }

    #[test]
    fn control_runs_serve_the_others() {
        let mut control = run("pfifo", 1, &[2.0]);
        control
            .variant
            .insert(WITHOUT.to_owned(), "page".to_owned());
        let runs = [control, run("pfifo", 1, &[3.0]), run("codel", 1, &[1.0])];
        let summaries = summarize(&runs, &Registry::builtin());
        let lines: Vec<(&str, usize)> = summaries
            .iter()
            .map(|s| (s.discipline.as_str(), s.runs))
            .collect();
        assert_eq!(lines, [("pfifo", 1), ("codel", 1)]);
        assert_eq!(summaries[0].get(&calls::STALL).unwrap().value, 3.0);
    }

    #[test]
    fn a_metric_of_another_crate_has_its_column() {
        let mut metrics = Registry::builtin();
        metrics.add(Metric {
            name: "late_frames",
            unit: "",
            range: Range::Positive,
            summary: "frames that were late",
            about: "All calls together.",
            source: "this test",
            better: Better::Less,
            column: Some(Column::mean("late", 1)),
            meter: None,
            take: |observed, _| {
                let late = observed.run.calls.iter().map(|call| call.frames_late);
                vec![late.sum::<u64>() as f64]
            },
        });
        let summaries = summarize(&[run("pfifo", 1, &[1.0])], &metrics);
        let columns = columns(&summaries, &metrics);
        let (metric, column) = columns.last().unwrap();
        assert_eq!(column.heading, "late");
        assert_eq!(summaries[0].cell(metric, *column).unwrap().value, "0.0");
    }

    #[test]
    fn zeroes_have_no_sign() {
        let texts = [(-0.4, 0), (-0.0, 2), (-0.6, 0), (-1.25, 1)];
        let texts = texts.map(|(value, decimals)| digits(value, decimals));
        assert_eq!(texts, ["0", "0.00", "-1", "-1.2"]);
    }
}
