//! A page beside a call: datagrams at a constant rate, a download, and a burst of twelve flows.

use super::{Line, number, value};
use measure::interval::mean;
use measure::welch::welch;
use measure::{Event, Sink, Taps};
use scenario::Choice;
use sim::Simulator;
use units::{Duration, Instant};

/// Deviating figures, and the section of `docs/reference/ns3.md` with the reason.
pub const KNOWN: &[(&str, CallFigure, &str)] = &[
    ("fq_codel", CallFigure::Wait, TWICE),
    ("fq_codel", CallFigure::P95, TWICE),
    ("fq_cobalt", CallFigure::Wait, TWICE),
    ("fq_cobalt", CallFigure::P95, TWICE),
    ("fq_cobalt", CallFigure::Completion, COBALT),
    ("fq_cobalt", CallFigure::Slowest, COBALT),
];
const TWICE: &str = "Segments sent twice";
const COBALT: &str = "The first signal of COBALT";

/// A figure of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFigure {
    /// What leaves of the call, Mbit/s.
    Rate,
    /// How long its datagrams wait: the mean, ms.
    Wait,
    /// The same: 95th percentile.
    P95,
    /// The same: the longest.
    Longest,
    /// Of the page's flows: mean, ms.
    Completion,
    /// The same: the slowest.
    Slowest,
}

/// All of them, with their names in the table and their columns in ns-3's.
pub const FIGURES: [(CallFigure, &str, &str); 6] = [
    (CallFigure::Rate, "call, Mbit/s", "call_mbps"),
    (CallFigure::Wait, "it waits, mean, ms", "call_mean_ms"),
    (CallFigure::P95, "p95", "call_p95_ms"),
    (CallFigure::Longest, "longest", "call_max_ms"),
    (
        CallFigure::Completion,
        "page: mean, ms",
        "completion_mean_ms",
    ),
    (CallFigure::Slowest, "slowest", "completion_max_ms"),
];

impl CallFigure {
    /// Whether `ours` is as near to `theirs` as it has to be.
    pub fn holds(self, ours: f64, theirs: f64) -> bool {
        let allowed = match self {
            CallFigure::Rate => 0.02 * theirs,
            CallFigure::Wait | CallFigure::P95 | CallFigure::Longest => 0.15 * theirs,
            CallFigure::Completion | CallFigure::Slowest => 0.10 * theirs,
        };
        (ours - theirs).abs() <= allowed
    }

    /// Digits behind the point in the table.
    pub const fn digits(self) -> usize {
        match self {
            CallFigure::Rate => 2,
            CallFigure::Wait => 1,
            _ => 0,
        }
    }
}

/// Values of a figure, one for each moment at which the page opens.
type Values = Vec<f64>;

/// A discipline under which a page loads beside a call.
#[derive(Debug, Clone)]
pub struct ReferenceCall {
    /// ns-3's name of the discipline.
    pub discipline: String,
    /// Packets that may wait.
    pub limit: u32,
    /// ns-3's results, in the order of [`FIGURES`].
    pub theirs: [Values; 6],
    /// The simulator's.
    pub ours: [Values; 6],
}

/// What a comparison of two means says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeansVerdict {
    /// They are within the tolerance.
    Near,
    /// They are not, but the phases differ by so much that it may be chance.
    Untold,
    /// They differ; the section that has the reason, if it is known.
    Miss(Option<&'static str>),
}

impl MeansVerdict {
    /// The section of a miss.
    pub const fn missed(self) -> Option<Option<&'static str>> {
        match self {
            MeansVerdict::Miss(section) => Some(section),
            MeansVerdict::Near | MeansVerdict::Untold => None,
        }
    }
}

impl ReferenceCall {
    /// Reads the lines of `calls.csv` and runs them: those of a discipline follow each other.
    pub(super) fn run(lines: &[Line<'_>]) -> Result<Vec<Self>, String> {
        let mut calls: Vec<ReferenceCall> = Vec::new();
        for line in lines {
            let discipline = value(line, "discipline")?;
            if calls
                .last()
                .is_none_or(|last| last.discipline != discipline)
            {
                calls.push(ReferenceCall {
                    discipline: discipline.to_owned(),
                    limit: number(line, "limit")?,
                    theirs: Default::default(),
                    ours: Default::default(),
                });
            }
            let call = calls.last_mut().ok_or("no line")?;
            for (values, (_, _, column)) in call.theirs.iter_mut().zip(FIGURES) {
                values.push(number(line, column)?);
            }
            let ours = ours(discipline, call.limit, number(line, "burst_at_s")?)?;
            for (values, value) in call.ours.iter_mut().zip(ours) {
                values.push(value);
            }
        }
        Ok(calls)
    }

    /// A verdict on each figure.
    pub fn verdicts(&self) -> [MeansVerdict; 6] {
        std::array::from_fn(|which| {
            let (ours, theirs) = (&self.ours[which], &self.theirs[which]);
            let (figure, ..) = FIGURES[which];
            if figure.holds(mean(ours), mean(theirs)) {
                return MeansVerdict::Near;
            }
            // Bonferroni's bound: 42 figures are compared.
            match welch(ours, theirs) {
                Some(test) if test.p > 0.05 / 42.0 => MeansVerdict::Untold,
                _ => MeansVerdict::Miss(self.known(figure)),
            }
        })
    }

    /// The names of the figures of which `which` is the verdict.
    pub fn named(&self, which: impl Fn(MeansVerdict) -> bool) -> Vec<&'static str> {
        let verdicts = self.verdicts().into_iter().zip(FIGURES);
        let found = verdicts.filter(|(verdict, _)| which(*verdict));
        found.map(|(_, (_, name, _))| name).collect()
    }

    fn known(&self, figure: CallFigure) -> Option<&'static str> {
        let this =
            |known: &&(&str, CallFigure, &str)| (known.0, known.1) == (&*self.discipline, figure);
        KNOWN.iter().find(this).map(|known| known.2)
    }
}

/// Our discipline with the same rules: CAKE without its tins is COBALT, in one queue or one a flow.
fn choice(discipline: &str) -> Result<Choice, String> {
    let text = match discipline {
        "cobalt" => "cake,diffserv=besteffort,flowmode=flowblind",
        "fq_cobalt" => "cake,diffserv=besteffort,flowmode=flows",
        other => super::ours_of(other),
    };
    text.parse().map_err(|error| format!("{text}: {error}"))
}

fn ours(discipline: &str, limit: u32, at: f64) -> Result<[f64; 6], String> {
    let link = super::set_up("70s", "10s");
    let text = format!(
        r#"{link}
        buffer = "{limit}p"
        [[traffic]]
        name = "call"
        kind = "udp"
        rate = "2.5mbit"
        access = "1gbit"
        [[traffic]]
        name = "bulk"
        kind = "bulk"
        control = "reno"
        access = "1gbit"
        [[traffic]]
        name = "page"
        kind = "bulk"
        control = "reno"
        start = "{at}s"
        count = 12
        size = "30000B"
        access = "1gbit"
        "#
    );
    let simulator = Simulator::default();
    let mut waits = CallWaits {
        from: Instant::ZERO + Duration::from_secs_f64(at),
        ms: Vec::new(),
    };
    let taps = Taps {
        series: false,
        tap: Some(&mut waits),
    };
    let scenario = super::scenario(&simulator, &text)?;
    let result = measure::tapped(&simulator, &scenario, &choice(discipline)?, 1, taps);
    let result = result.map_err(|error| error.to_string())?;
    let page = result.flows.iter();
    let page = page.filter(|flow| flow.name.starts_with("page"));
    let times: Vec<f64> = page.filter_map(|flow| flow.fct_ms).collect();
    if times.len() != 12 || waits.ms.is_empty() {
        let (ended, left) = (times.len(), waits.ms.len());
        return Err(format!(
            "{discipline}: {ended} of 12 flows ended, {left} datagrams left"
        ));
    }
    waits.ms.sort_by(f64::total_cmp);
    let (count, last) = (waits.ms.len() as f64, waits.ms.len() - 1);
    // The smallest that 95 % do not exceed, as in dumbbell.cc.
    let p95 = waits.ms[((0.95 * count).ceil() as usize).saturating_sub(1)];
    Ok([
        8e-6 * f64::from(DATAGRAM) * count,
        mean(&waits.ms),
        p95,
        waits.ms[last],
        mean(&times),
        times.iter().copied().fold(0.0, f64::max),
    ])
}

/// The call's datagrams have this length, which no segment has, in bytes.
const DATAGRAM: u32 = 1200;
/// How long it is watched.
const SECOND: Duration = Duration::from_secs(1);

/// How long the call's datagrams waited in the second after the page opened.
#[derive(Debug)]
struct CallWaits {
    from: Instant,
    ms: Vec<f64>,
}

impl Sink for CallWaits {
    fn event(&mut self, now: Instant, event: &Event) {
        if let Event::Dequeued {
            packet, sojourn, ..
        } = *event
            && packet.bytes == DATAGRAM
            && (self.from..self.from + SECOND).contains(&now)
        {
            self.ms.push(sojourn.as_millis_f64());
        }
    }
}
