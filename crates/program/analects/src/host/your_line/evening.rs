//! An evening on a measured line, simulated: as it is, and behind a shaper.

use super::open::Draw;
use super::scenario::{FoundLine, behind_shaper, unshaped};
use crate::cli::{Parallel, Shape};
use crate::compare::run;
use crate::own;
use crate::runs::engines;
use crate::runs::many::{self, counted, pool};
use comfy_table::Cell;
use command::Refused;
use command::cells::{empty, right};
use measure::RunResult;
use measure::metric::calls::{CALL_RATE, STALL};
use measure::metric::pages::PLT;
use measure::metric::transfers::BULK_RATE;
use scenario::{Document, Part, ScenarioError, Shaper};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Evenings for an interval: one more lies between the least and the greatest with the odds of 19 in 21.
const EVENINGS: u64 = 20;
/// What a shaper may have, up and down, as `tc apply` sets it.
const CANDIDATES: [(&str, [&str; 2]); 3] = [
    ("fq_codel", ["fq_codel", "fq_codel"]),
    ("cake", ["cake", "cake"]),
    (
        "mencius",
        ["mencius", "mencius,target=5ms,max_wait=20ms,ingress=yes"],
    ),
];

/// One set-up's figures.
#[derive(Debug, Serialize)]
pub struct Evening {
    /// The shaper's discipline, or that there is none.
    with: String,
    /// For how long a call stands still, in s of 110.
    pub stall_s: Option<ValueWithInterval>,
    /// The same in each evening: each on one of the lines that the measured one may be.
    stalls_s: Vec<f64>,
    /// A call's rate, in Mbit/s.
    pub call_mbit: Option<ValueWithInterval>,
    /// How long a page takes, in ms.
    page_ms: Option<ValueWithInterval>,
    /// What downloads and uploads carry, in Mbit/s.
    bulk_mbit: Option<ValueWithInterval>,
}

/// A value, and its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueWithInterval {
    pub value: f64,
    pub ci95: Option<(f64, f64)>,
}

/// Simulates evenings on the line as it is; and behind `shaper`, if there is one, with each candidate.
///
/// # Errors
/// If a simulation is refused.
pub fn simulated(line: FoundLine, shaper: Option<&Shaper>) -> Result<Vec<Evening>, Refused> {
    let mut evenings = vec![evening("as it is", |draw| unshaped(line, draw))?];
    for (shaper, (with, disciplines)) in
        shaper.iter().flat_map(|it| CANDIDATES.map(|one| (it, one)))
    {
        evenings.push(evening(with, |draw| {
            behind_shaper(line, draw, shaper, disciplines)
        })?);
    }
    Ok(evenings)
}

fn evening(
    with: &str,
    document: impl Fn(Draw) -> Result<Document, ScenarioError>,
) -> Result<Evening, Refused> {
    let chosen = engines::chosen(&engines::named("sim", None))?;
    let mut jobs = Vec::new();
    for seed in 1..=EVENINGS {
        let shape = Shape {
            disciplines: Vec::new(),
            set: Vec::new(),
            strict: false,
            without: None,
            seed,
            repeat: Some(1),
        };
        jobs.extend(run::plan(
            &shape,
            &*chosen.engine,
            &document(Draw::Evening(seed))?,
        )?);
    }
    let results = counted(&pool(&Parallel { jobs: None })?, with, |bar| {
        campaign::run(&*chosen.engine, &jobs, None, bar)
    });
    let results = results.map_err(many::refused)?;
    let of = |results: &[RunResult], metric| {
        let summaries = report::summarize(results, &own::simulator().metrics);
        let estimate = summaries.first()?.get(metric)?;
        Some(ValueWithInterval {
            value: estimate.value,
            ci95: estimate.ci95,
        })
    };
    let figure = |metric| of(&results, metric);
    let stalls = results.chunks(1).filter_map(|one| of(one, &STALL));
    Ok(Evening {
        with: with.to_owned(),
        stall_s: figure(&STALL),
        stalls_s: stalls.map(|stall| stall.value).collect(),
        call_mbit: figure(&CALL_RATE),
        page_ms: figure(&PLT),
        bulk_mbit: figure(&BULK_RATE),
    })
}

/// What becomes of a call on the line as it is, in a sentence.
pub fn grade(evenings: &[Evening]) -> String {
    let Some((now, stall)) = evenings.first().and_then(|now| Some((now, now.stall_s?))) else {
        return String::new();
    };
    let rate = now.call_mbit.map_or(0.0, |rate| rate.value);
    let stands = match stall.value {
        none if none < 0.05 => "does not stand still".to_owned(),
        _ => {
            let least = now.stalls_s.iter().copied().fold(f64::INFINITY, f64::min);
            let most = now.stalls_s.iter().copied().fold(0.0, f64::max);
            let about = stall.value;
            format!(
                "stands still for about {about:.1} s ({least:.1} to {most:.1} in single evenings)"
            )
        }
    };
    format!(
        "calls: a call on this line {stands}, and has {rate:.1} Mbit/s, in two minutes with pages, a download and an \
         upload\n       (simulated: {EVENINGS} evenings on lines that the measured one may be, calls of up to 4 Mbit/s each \
         way)\n"
    )
}

/// What each set-up brings and costs.
pub fn table(evenings: &[Evening]) -> String {
    let mut table = empty();
    let headings = [
        "stall, s of 110",
        "call, Mbit/s",
        "page, ms",
        "bulk, Mbit/s",
    ];
    let cells = headings.into_iter().map(right);
    table.set_header([Cell::new("a shaper with")].into_iter().chain(cells));
    for evening in evenings {
        let figures = [
            (evening.stall_s, 2),
            (evening.call_mbit, 2),
            (evening.page_ms, 0),
            (evening.bulk_mbit, 1),
        ];
        let cells = figures.into_iter().map(|(figure, digits)| {
            right(&figure.map_or_else(|| "-".to_owned(), |figure| figure.text(digits, "")))
        });
        table.add_row([Cell::new(&evening.with)].into_iter().chain(cells));
    }
    format!("\n{}\n", table.trim_fmt())
}

impl ValueWithInterval {
    /// The value with so many digits, its unit, and the interval.
    pub fn text(self, digits: usize, unit: &str) -> String {
        let value = format!("{:.digits$}{unit}", self.value);
        match self.ci95 {
            Some((low, high)) => format!("{value} ({low:.digits$} to {high:.digits$})"),
            None => value,
        }
    }
}

/// The commands that set up `shaper`, from the line's `file` where there is one.
pub fn commands(shaper: &Shaper, file: Option<&Path>) -> String {
    let up = shaper.up.map(|part| format!(" --up {}", part.rate));
    let rates = format!("--down {}{}", shaper.down.rate, up.unwrap_or_default());
    let (said, again) = match file.map(word) {
        Some(file) => (
            format!("--from {file}"),
            format!(" --before {file}` for both beside each other"),
        ),
        None => (rates.clone(), "`".to_owned()),
    };
    format!(
        "\nThe shaper's rates are {rates}. With mencius, where LINE is the device towards the line and HOME that of your \
         computers:\n  a Linux router:                sudo analects tc apply --dev LINE {said} --confirm 5m\n  one that \
         takes no module:     sudo analects gateway --in HOME --out LINE {said}\n  this computer's web traffic:   sudo \
         analects pace --down {}\nEach takes --dry-run. With --confirm, `yes` and Enter let it stay.\n  OpenWrt with SQM:              \
         {}\nNothing measures what the line adds to each packet: `tc apply --overhead` says it, and a setting of SQM's.\nThen \
         measure again, with `--queue mencius{again}: waits do not say what keeps them short.\n",
        shaper.down.rate,
        sqm(shaper)
    )
}

/// The commands that give `shaper` to OpenWrt's SQM, whose rates are in kbit/s.
fn sqm(shaper: &Shaper) -> String {
    let set = |key: &str, part: Part| {
        format!("uci set sqm.SECTION.{key}={}; ", part.rate.as_bits() / 1000)
    };
    let up = shaper.up.map(|part| set("upload", part));
    format!(
        "{}{}uci set sqm.SECTION.script=mencius.qos; uci set sqm.SECTION.enabled=1; uci commit sqm; service sqm restart",
        set("download", shaper.down),
        up.unwrap_or_default()
    )
}

/// A path as a word of a shell.
fn word(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
