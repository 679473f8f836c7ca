//! A measured line as a scenario, with the household of `scenarios/my-link.toml` on it.

use super::open::Draw;
use crate::cli::FAIR;
use line::client::Way;
use line::losses::{Drops, WireLoss};
use line::measured::{Measured, MeasuredDirection, Queue};
use line::page::household;
use scenario::{Document, Part, ScenarioError, Shaper};

/// When a load fills the line, in steps of a course: before, its own beginning is what is seen.
const FILLED: usize = 20;
/// Steps of a course in one of a scenario: half a second.
const TOGETHER: usize = 5;
/// How long a course is repeated, in s: for the whole scenario.
const LONG: usize = 120;

/// How much faster than a policer the line behind it is, so that nothing waits there.
const BEHIND: f64 = 4.0;
/// The least buffer, in bytes: a packet.
const LEAST: u64 = 1500;

/// A line as it was found, and the discipline that its owner says it has, where flows have queues of their own.
#[derive(Debug, Clone, Copy)]
pub struct FoundLine<'a> {
    /// What was found.
    pub found: &'a Measured,
    /// What was said.
    pub said: Option<&'static str>,
}

impl FoundLine<'_> {
    fn wires(&self) -> impl Iterator<Item = Option<WireLoss>> {
        self.found.ways().map(|(_, direction)| direction.wire_loss)
    }
}

/// What a link of a scenario has in one direction.
struct ScenarioLane {
    /// The key of its rate, and the value.
    rate: (&'static str, String),
    buffer: Option<String>,
    discipline: Option<String>,
}

/// The line alone, under each of `disciplines`.
///
/// # Errors
/// If what was measured is out of a scenario's range.
pub fn line(line: FoundLine, disciplines: &[&str]) -> Result<Document, ScenarioError> {
    let lane = |direction: &MeasuredDirection, way| {
        // A buffer drops what a bucket of its size does, and has a shaper's rates.
        let buffer = Draw::Likely.lane(direction, way, line.said).buffer;
        ScenarioLane {
            rate: rate(direction),
            buffer: buffer.map(bytes),
            discipline: None,
        }
    };
    document(
        line,
        Draw::Likely,
        disciplines,
        "[link]\n",
        "",
        &lanes(line, lane),
    )
}

/// The line with the queues that it seems to have, or one of those that it may have.
///
/// # Errors
/// As [`line()`].
pub fn unshaped(line: FoundLine, draw: Draw) -> Result<Document, ScenarioError> {
    let lanes = as_it_is(line, draw);
    document(line, draw, &["pfifo"], "[link]\n", "", &lanes)
}

/// The same behind `shaper` with the disciplines `up` and `down`.
///
/// # Errors
/// As [`line()`].
pub fn behind_shaper(
    line: FoundLine,
    draw: Draw,
    shaper: &Shaper,
    [up, down]: [&str; 2],
) -> Result<Document, ScenarioError> {
    let lane = |part: Part, discipline: &str| ScenarioLane {
        rate: ("rate", format!("\"{}\"", part.rate)),
        buffer: None,
        discipline: Some(discipline.to_owned()),
    };
    let ways = [
        Some(lane(shaper.down, down)),
        shaper.up.map(|part| lane(part, up)),
    ];
    let shaper = link("[[link]]\nname = \"router\"\n", &ways);
    let head = "[[link]]\nname = \"modem\"\n";
    document(line, draw, &["pfifo"], head, &shaper, &as_it_is(line, draw))
}

fn lanes(
    line: FoundLine,
    lane: impl Fn(&MeasuredDirection, Way) -> ScenarioLane,
) -> [Option<ScenarioLane>; 2] {
    [Way::Down, Way::Up].map(|way| line.found.way(way).map(|direction| lane(direction, way)))
}

fn as_it_is(line: FoundLine, draw: Draw) -> [Option<ScenarioLane>; 2] {
    lanes(line, |direction, way| {
        let lane = draw.lane(direction, way, line.said);
        match direction.queue {
            Queue::Policed => policed(direction, lane.buffer),
            _ => ScenarioLane {
                rate: rate(direction),
                // Of a queue that never filled nothing is known: it has what its discipline has by itself.
                buffer: lane.buffer.map(bytes),
                discipline: Some(lane.discipline.to_owned()),
            },
        }
    })
}

fn policed(direction: &MeasuredDirection, burst: Option<u64>) -> ScenarioLane {
    let mbit = direction.rate_mbit;
    let burst = burst.map_or_else(String::new, |burst| format!(",burst={}", bytes(burst)));
    ScenarioLane {
        rate: ("rate", format!("\"{}\"", kbit(BEHIND * mbit))),
        buffer: None,
        discipline: Some(format!("policer,rate={}{burst}", kbit(mbit))),
    }
}

fn bytes(bytes: u64) -> String {
    format!("{}B", bytes.max(LEAST))
}

/// The rate as it was; one that varied has its course, again and again.
fn rate(direction: &MeasuredDirection) -> (&'static str, String) {
    let course = direction.course_mbit.get(FILLED..).unwrap_or_default();
    if direction.varies != Some(true) || course.len() < TOGETHER {
        return ("rate", format!("\"{}\"", kbit(direction.rate_mbit)));
    }
    let means = course.chunks_exact(TOGETHER);
    let means = means.map(|steps| steps.iter().sum::<f64>() / TOGETHER as f64);
    let half_seconds = 0..2 * LONG;
    let steps: Vec<String> = half_seconds
        .zip(means.cycle())
        .map(|(at, mbit)| format!("\"{}s {}\"", at as f64 / 2.0, kbit(mbit)))
        .collect();
    ("steps", format!("[{}]", steps.join(", ")))
}

fn document(
    line: FoundLine,
    draw: Draw,
    disciplines: &[&str],
    head: &str,
    behind: &str,
    lanes: &[Option<ScenarioLane>; 2],
) -> Result<Document, ScenarioError> {
    let mut head = format!("{head}rtt = \"{:.1}ms\"\n", line.found.idle.rtt_ms.max(0.1));
    if let Some(loss) = draw.loss(line.wires()).filter(|loss| *loss > 0.0) {
        head += &format!("loss = {loss:.6}\n");
    }
    let text = format!(
        "name = \"my-line\"\nduration = \"{LONG}s\"\nwarmup = \"10s\"\ndisciplines = {disciplines:?}\n\n{}{behind}{}",
        link(&head, lanes),
        household()
    );
    Document::parse("my-line", &text)
}

fn link(head: &str, [down, up]: &[Option<ScenarioLane>; 2]) -> String {
    let mut text = head.to_owned();
    // A way that was not measured has room for everything, as in a scenario that does not name it.
    match down {
        Some(lane) => text += &lane.keys(),
        None => text += "rate = \"10gbit\"\n",
    }
    if let Some(lane) = up {
        text += "\n[link.up]\n";
        text += &lane.keys();
    }
    text + "\n"
}

impl ScenarioLane {
    fn keys(&self) -> String {
        let mut text = format!("{} = {}\n", self.rate.0, self.rate.1);
        for (key, value) in [("buffer", &self.buffer), ("discipline", &self.discipline)] {
            if let Some(value) = value {
                text += &format!("{key} = \"{value}\"\n");
            }
        }
        text
    }
}

/// The document as a file, which says where it is from.
pub fn text(line: FoundLine, document: &Document) -> String {
    let found = line.found;
    let mut text = format!(
        "# The line to {}, as `analects measure` found it; the household is that of scenarios/my-link.toml.\n",
        found.server
    );
    for (way, direction) in found.ways() {
        let way = way.name();
        text += &format!("# {way}: {}.\n", seems(direction));
        if direction.varies == Some(true) {
            text += &format!("# {way}: the rate varied: its course of half seconds is repeated.\n");
        }
    }
    if let Some(said) = line.said {
        text += &format!("# {said} was said to be its queue (--queue), and not found.\n");
    }
    text += &match Draw::Likely.loss(line.wires()) {
        None => "# What the wire loses by itself could not be told from what its queues drop.\n"
            .to_owned(),
        Some(_) => String::new(),
    };
    for remark in found.remarks() {
        text += &format!("# note: {remark}\n");
    }
    text += "# `analects tc apply --from` this file shapes a little below these rates, with the last of the disciplines.\n";
    text + &document.to_toml()
}

/// A rate as scenarios have it.
fn kbit(mbit: f64) -> String {
    format!("{:.0}kbit", (mbit * 1e3).max(8.0))
}

/// The disciplines to compare on the line: what it seems to have where packets of others wait longest, then others, and
/// last what a shaper before it is to have.
pub fn disciplines(line: FoundLine) -> Vec<&'static str> {
    let waits = |direction: &MeasuredDirection| direction.beside_ms.map_or(0.0, |waits| waits.p95);
    let worst = line
        .found
        .ways()
        .max_by(|(_, a), (_, b)| waits(a).total_cmp(&waits(b)));
    let has = worst.map_or("codel", |(way, direction)| {
        match Draw::Likely.lane(direction, way, line.said).discipline {
            // Written as a buffer of the bucket's size.
            "policer" => "pfifo",
            other => other,
        }
    });
    let others = FAIR.into_iter().filter(|other| *other != has);
    let last = FAIR[FAIR.len() - 1];
    if has == last {
        others.chain([last]).collect()
    } else {
        [has].into_iter().chain(others).collect()
    }
}

fn seems(direction: &MeasuredDirection) -> &'static str {
    match (direction.queue, direction.drops) {
        (Queue::Long, _) => "all flows wait in one queue, as in pfifo",
        (Queue::Short, Some(Drops::Early)) => "the queue is kept short, as by codel",
        (Queue::Short, Some(_)) => "the queue is small: a short pfifo",
        (Queue::Short, None) => "the queue is short: kept so, as by codel, or small",
        (Queue::Fair, _) => {
            "flows do not wait for each other, as in fq_codel, cake or mencius, which waits do not tell apart"
        }
        (Queue::Policed, _) => {
            "what is above the rate is dropped without a queue; written as a buffer that drops as much"
        }
    }
}
