//! The simulator compared with ns-3: every row for which ns-3 is a reference is run again.
//!
//! ns-3's results stand in `bench/ns3/*.csv`. Deviations beyond the tolerance, and their reasons,
//! are listed in [`KNOWN`]: a test fails when another one appears, and when a listed one
//! disappears.

mod call;
mod table;

use measure::RunResult;
use scenario::{Choice, Document, Names, Scenario};
use sim::Simulator;
use std::path::Path;

pub use call::{MeansVerdict, ReferenceCall};
pub use table::document;

/// A figure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedFigure {
    /// Of all flows together.
    Goodput,
    /// Jain's index.
    Jfi,
    /// Mean over the packets that left.
    Sojourn,
    /// Of the flows of a burst: fastest, mean, slowest.
    Completion,
}

impl ComparedFigure {
    /// The name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            ComparedFigure::Goodput => "goodput",
            ComparedFigure::Jfi => "JFI",
            ComparedFigure::Sojourn => "mean sojourn",
            ComparedFigure::Completion => "completion",
        }
    }

    /// Whether `ours` is as near to `theirs` as it has to be.
    pub fn holds(self, ours: f64, theirs: f64) -> bool {
        let allowed = match self {
            ComparedFigure::Goodput => 0.02 * theirs,
            ComparedFigure::Jfi => 0.03,
            ComparedFigure::Sojourn => 0.15 * theirs,
            ComparedFigure::Completion => 0.10 * theirs,
        };
        (ours - theirs).abs() <= allowed
    }
}

/// Deviating figures, and the section of `docs/reference/ns3.md` with the reason.
pub const KNOWN: &[(&str, u32, &str, ComparedFigure, &str)] = &[
    ("fifo", 67, "TcpVegas", ComparedFigure::Jfi, VEGAS),
    ("fifo", 250, "TcpVegas", ComparedFigure::Jfi, VEGAS),
    ("codel", 1000, "TcpVegas", ComparedFigure::Jfi, VEGAS),
    ("codel", 1000, "TcpVegas", ComparedFigure::Sojourn, VEGAS),
    (
        "fq_codel",
        10240,
        "TcpVegas",
        ComparedFigure::Sojourn,
        VEGAS,
    ),
    (
        "fq_codel",
        10240,
        "TcpLinuxReno",
        ComparedFigure::Goodput,
        RENO,
    ),
    ("fq_pie", 10240, "TcpVegas", ComparedFigure::Sojourn, VEGAS),
];
const VEGAS: &str = "Vegas";
const RENO: &str = "Reno in step";

/// The results of a run. Drops over all of it, the rest after the warm-up.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceFigures {
    /// Mbit/s.
    pub goodput: f64,
    /// Jain's index.
    pub jfi: f64,
    /// Mean, ms.
    pub sojourn: f64,
    /// 95th percentile, ms.
    pub p95: f64,
    /// Packets.
    pub drops: f64,
}

impl ReferenceFigures {
    /// The figures compared, and their values.
    pub const fn compared(&self) -> [(ComparedFigure, f64); 3] {
        [
            (ComparedFigure::Goodput, self.goodput),
            (ComparedFigure::Jfi, self.jfi),
            (ComparedFigure::Sojourn, self.sojourn),
        ]
    }
}

/// A run of ns-3.
#[derive(Debug, Clone)]
pub struct Row {
    /// ns-3's name of the discipline.
    pub discipline: String,
    /// Packets that may wait.
    pub limit: u32,
    /// ns-3's name of the control.
    pub control: String,
    /// Flows without end.
    pub flows: u32,
    /// From the start of one to the next, ms.
    pub stagger_ms: u32,
    /// ns-3's results.
    pub theirs: ReferenceFigures,
    /// The simulator's results; none if it does not have the discipline.
    pub ours: Option<ReferenceFigures>,
}

impl Row {
    /// The deviating figures, and the section that has the reason if it is known.
    pub fn misses(&self) -> Vec<(ComparedFigure, Option<&'static str>)> {
        let Some(ours) = &self.ours else {
            return Vec::new();
        };
        let pairs = ours.compared().into_iter().zip(self.theirs.compared());
        pairs
            .filter(|((figure, ours), (_, theirs))| !figure.holds(*ours, *theirs))
            .map(|((figure, _), _)| (figure, self.known(figure)))
            .collect()
    }

    fn known(&self, figure: ComparedFigure) -> Option<&'static str> {
        let this = |known: &&(&str, u32, &str, ComparedFigure, &str)| {
            (known.0, known.1, known.2, known.3)
                == (&*self.discipline, self.limit, &*self.control, figure)
        };
        KNOWN.iter().find(this).map(|known| known.4)
    }

    fn run(&mut self) -> Result<(), String> {
        let simulator = Simulator::default();
        let choice = Choice::plain(ours_of(&self.discipline));
        if simulator.disciplines.get(&choice.name).is_none() {
            return Ok(());
        }
        let run = |warmup| run(&simulator, &self.scenario(warmup), &choice);
        let (measured, whole) = (run("10s")?, run("0s")?);
        let link = &measured.links[0];
        let goodput = measured.flows.iter().map(|flow| flow.goodput_mbps);
        let nothing = || format!("{} {}: nothing was measured", self.discipline, self.control);
        self.ours = Some(ReferenceFigures {
            goodput: goodput.sum(),
            // One flow is always fair; ns-3's table has that value, our results have none.
            jfi: if self.flows == 1 {
                1.0
            } else {
                measured.jfi.ok_or_else(nothing)?
            },
            sojourn: link.sojourn_ms.mean.ok_or_else(nothing)?,
            p95: link.sojourn_ms.p95.ok_or_else(nothing)?,
            drops: whole.links[0].drops as f64,
        });
        Ok(())
    }

    fn scenario(&self, warmup: &str) -> String {
        let control = ours_of(&self.control);
        let (limit, flows, stagger) = (self.limit, self.flows, self.stagger_ms);
        let link = set_up("60s", warmup);
        format!(
            r#"{link}
            buffer = "{limit}p"
            [[traffic]]
            name = "bulk"
            kind = "bulk"
            control = "{control}"
            count = {flows}
            stagger = "{stagger}ms"
            access = "1gbit"
            "#
        )
    }
}

/// The beginning of a scenario: the set-up of `bench/ns3/dumbbell.cc`. Keys of the link may follow.
fn set_up(duration: &str, warmup: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        warmup = "{warmup}"
        stack = "ns3"
        noise = "0s"
        disciplines = ["pfifo"]
        [link]
        rate = "20mbit"
        rtt = "40ms"
        overhead = "2B"
        device = 1
        "#
    )
}

/// A burst over a flow that fills the link.
#[derive(Debug, Clone)]
pub struct Burst {
    /// ns-3's: fastest, mean, slowest, and the longest sojourn, ms.
    pub theirs: [f64; 4],
    /// The simulator's.
    pub ours: [f64; 4],
}

impl Burst {
    fn run(theirs: [f64; 4]) -> Result<Self, String> {
        let text = set_up("25s", "10s")
            + r#"
            [[traffic]]
            name = "bulk"
            kind = "bulk"
            control = "cubic"
            access = "1gbit"
            [[traffic]]
            name = "burst"
            kind = "bulk"
            control = "cubic"
            start = "20s"
            count = 12
            size = "15000B"
            access = "1gbit"
            "#;
        let result = run(&Simulator::default(), &text, &Choice::plain("fq_codel"))?;
        let burst = result.flows.iter().filter(|flow| flow.name != "bulk");
        let times: Vec<f64> = burst.filter_map(|flow| flow.fct_ms).collect();
        if times.len() != 12 {
            return Err(format!("{} of the burst's 12 flows ended", times.len()));
        }
        let peak = result.links[0].sojourn_ms.max.unwrap_or_default();
        let ours = [
            times.iter().copied().fold(f64::INFINITY, f64::min),
            times.iter().sum::<f64>() / 12.0,
            times.iter().copied().fold(0.0, f64::max),
            peak,
        ];
        Ok(Burst { theirs, ours })
    }

    /// Whether fastest, mean and slowest are near enough.
    pub fn holds(&self) -> bool {
        let pairs = self.ours.iter().zip(&self.theirs).take(3);
        pairs
            .into_iter()
            .all(|(ours, theirs)| ComparedFigure::Completion.holds(*ours, *theirs))
    }
}

/// All the rows compared.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Rows that ns-3 is a reference for.
    pub rows: Vec<Row>,
    /// The same with a small change, to show its effect.
    pub variants: Vec<Row>,
    /// The burst.
    pub burst: Burst,
    /// A page beside a call.
    pub calls: Vec<ReferenceCall>,
}

impl Reference {
    /// What deviates and is not explained, a line each.
    pub fn unexplained(&self) -> Vec<String> {
        let rows = self.rows.iter().flat_map(|row| {
            let misses = row.misses().into_iter();
            let unexplained = misses.filter(|(_, section)| section.is_none());
            unexplained.map(|(figure, _)| {
                format!(
                    "{} {} {}: {}",
                    row.discipline,
                    row.limit,
                    row.control,
                    figure.name()
                )
            })
        });
        let burst = (!self.burst.holds()).then(|| "the burst".to_owned());
        let calls = self.calls.iter().flat_map(|call| {
            let names = call.named(|verdict| verdict == MeansVerdict::Miss(None));
            names
                .into_iter()
                .map(|name| format!("a call under {}: {name}", call.discipline))
        });
        rows.chain(burst).chain(calls).collect()
    }

    /// Reads ns-3's figures from `folder` and runs every row.
    ///
    /// # Errors
    /// If a file cannot be read, or a run fails.
    pub fn run(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let rows = |name: &str| -> Result<Vec<Row>, String> {
            let text = read(name)?;
            let rows = table(&text).and_then(|lines| lines.iter().map(row).collect());
            let mut rows: Vec<Row> = rows.map_err(|error| format!("{name}: {error}"))?;
            rows.iter_mut().try_for_each(Row::run)?;
            Ok(rows)
        };
        let calls = read("calls.csv")?;
        let calls = table(&calls).and_then(|lines| ReferenceCall::run(&lines));
        let burst = read("burst.csv")?;
        let burst = table(&burst)?;
        let burst = burst.first().ok_or("burst.csv: no line")?;
        let theirs = [
            number(burst, "completion_min_ms")?,
            number(burst, "completion_mean_ms")?,
            number(burst, "completion_max_ms")?,
            number(burst, "sojourn_peak_ms")?,
        ];
        Ok(Reference {
            rows: rows("reference.csv")?,
            variants: rows("variants.csv")?,
            burst: Burst::run(theirs)?,
            calls: calls.map_err(|error| format!("calls.csv: {error}"))?,
        })
    }
}

/// Our name for a discipline or control of ns-3.
fn ours_of(name: &str) -> &str {
    match name {
        "fifo" => "pfifo",
        "TcpLinuxReno" => "reno",
        "TcpVegas" => "vegas",
        "TcpCubic" => "cubic",
        "TcpBbr" => "bbr",
        other => other,
    }
}

fn run(simulator: &Simulator, text: &str, choice: &Choice) -> Result<RunResult, String> {
    let scenario = scenario(simulator, text)?;
    measure::run(simulator, &scenario, choice, 1, false).map_err(|error| error.to_string())
}

fn scenario(simulator: &Simulator, text: &str) -> Result<Scenario, String> {
    let names: &dyn Names = simulator;
    let scenario = Document::parse("reference", text).and_then(|read| read.resolve(names));
    scenario.map_err(|error| error.to_string())
}

type Line<'a> = Vec<(&'a str, &'a str)>;

/// The lines of a table, each value with the name of its column.
fn table(text: &str) -> Result<Vec<Line<'_>>, String> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    lines
        .map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            if values.len() != columns.len() {
                return Err(format!("{line:?} has not {} values", columns.len()));
            }
            Ok(columns.iter().copied().zip(values).collect())
        })
        .collect()
}

fn value<'a>(line: &Line<'a>, column: &str) -> Result<&'a str, String> {
    let found = line.iter().find(|(name, _)| *name == column);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| format!("no column {column}"))
}

fn number<T: std::str::FromStr>(line: &Line<'_>, column: &str) -> Result<T, String> {
    let value = value(line, column)?;
    let parsed = value.parse();
    parsed.map_err(|_| format!("{column}: {value:?} is no number"))
}

fn row(line: &Line<'_>) -> Result<Row, String> {
    Ok(Row {
        discipline: value(line, "discipline")?.to_owned(),
        limit: number(line, "limit")?,
        control: value(line, "control")?.to_owned(),
        flows: number(line, "flows")?,
        stagger_ms: number(line, "stagger_ms").unwrap_or(10),
        theirs: ReferenceFigures {
            goodput: number(line, "goodput_mbps")?,
            jfi: number(line, "jfi")?,
            sojourn: number(line, "sojourn_mean_ms")?,
            p95: number(line, "sojourn_p95_ms")?,
            drops: number(line, "drops")?,
        },
        ours: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_is_what_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench/ns3");
        let reference = Reference::run(&folder).unwrap();
        let mut off = Vec::new();
        for row in reference.rows.iter().filter(|row| row.ours.is_some()) {
            for (figure, known) in row.misses() {
                let section = known.unwrap_or("unexplained");
                off.push((&*row.discipline, row.limit, &*row.control, figure, section));
            }
        }
        let listed = |entry: &&(&str, u32, &str, ComparedFigure, &str)| off.contains(entry);
        let unexplained: Vec<_> = off.iter().filter(|entry| !KNOWN.contains(entry)).collect();
        assert!(unexplained.is_empty(), "{unexplained:?}: {reference:#?}");
        assert_eq!(KNOWN.iter().filter(listed).count(), KNOWN.len(), "{off:?}");
        assert!(reference.burst.holds(), "{:?}", reference.burst);
        assert_eq!(reference.unexplained(), Vec::<String>::new());
        let missed = |call: &ReferenceCall| call.named(|verdict| verdict.missed().is_some()).len();
        let missed: usize = reference.calls.iter().map(missed).sum();
        assert_eq!((reference.calls.len(), missed), (7, call::KNOWN.len()));
        let page = std::fs::read_to_string(folder.join("../../docs/reference/ns3.md")).unwrap();
        assert!(
            document(&reference) == page,
            "make reproduction OF=reference writes another page"
        );
        assert!(
            reference
                .rows
                .iter()
                .filter(|row| row.ours.is_some())
                .count()
                >= 13
        );
    }

    #[test]
    fn tolerances() {
        assert!(
            ComparedFigure::Goodput.holds(19.6, 20.0) && !ComparedFigure::Goodput.holds(20.5, 20.0)
        );
        assert!(ComparedFigure::Jfi.holds(0.975, 1.0) && !ComparedFigure::Jfi.holds(0.965, 1.0));
        assert!(
            ComparedFigure::Sojourn.holds(11.4, 10.0) && !ComparedFigure::Sojourn.holds(8.4, 10.0)
        );
        assert!(
            ComparedFigure::Completion.holds(109.0, 100.0)
                && !ComparedFigure::Completion.holds(89.0, 100.0)
        );
    }

    #[test]
    fn a_table_with_a_value_too_few_is_refused() {
        assert!(table("a,b\n1,2\n3\n").is_err());
        let lines = table("a,b\n1,x\n").unwrap();
        assert_eq!(number::<u32>(&lines[0], "a"), Ok(1));
        assert!(number::<u32>(&lines[0], "b").is_err());
        assert!(value(&lines[0], "c").is_err());
    }
}
