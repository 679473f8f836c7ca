//! A measured line as a scenario, with the household of `scenarios/my-link.toml` on it.

use line::client::Way;
use line::measured::{Direction, Measured, Queue};
use line::page::household;
use scenario::{Document, Part, ScenarioError, Shaper};

/// When a load fills the line, in steps of a course: before, its own beginning is what is seen.
const FILLED: usize = 20;
/// Steps of a course in one of a scenario: half a second.
const TOGETHER: usize = 5;
/// How long a course is repeated, in s: for the whole scenario.
const LONG: usize = 120;

/// What a link of a scenario has in one direction.
struct Lane {
    /// The key of its rate, and the value.
    rate: (&'static str, String),
    buffer: Option<String>,
    discipline: Option<String>,
}

/// The line alone, under each of `disciplines`.
///
/// # Errors
/// If what was measured is out of a scenario's range.
pub fn line(found: &Measured, disciplines: &[&str]) -> Result<Document, ScenarioError> {
    let lane = |direction: &Direction| Lane {
        discipline: None,
        ..as_it_is(direction)
    };
    document(found, disciplines, "[link]\n", "", &lanes(found, lane))
}

/// The line with the queues that it seems to have.
///
/// # Errors
/// As [`line()`].
pub fn unshaped(found: &Measured) -> Result<Document, ScenarioError> {
    let lanes = lanes(found, as_it_is);
    document(found, &["pfifo"], "[link]\n", "", &lanes)
}

/// The same behind `shaper` with the disciplines `up` and `down`.
///
/// # Errors
/// As [`line()`].
pub fn behind_shaper(
    found: &Measured,
    shaper: &Shaper,
    [up, down]: [&str; 2],
) -> Result<Document, ScenarioError> {
    let lane = |part: Part, discipline: &str| Lane {
        rate: ("rate", format!("\"{}\"", part.rate)),
        buffer: None,
        discipline: Some(discipline.to_owned()),
    };
    let ways = [
        Some(lane(shaper.down, down)),
        shaper.up.map(|part| lane(part, up)),
    ];
    let shaper = link("[[link]]\nname = \"router\"\n", &ways);
    let lanes = lanes(found, as_it_is);
    document(
        found,
        &["pfifo"],
        "[[link]]\nname = \"modem\"\n",
        &shaper,
        &lanes,
    )
}

fn lanes(found: &Measured, lane: impl Fn(&Direction) -> Lane) -> [Option<Lane>; 2] {
    [Way::Down, Way::Up].map(|way| found.way(way).map(&lane))
}

fn as_it_is(direction: &Direction) -> Lane {
    let queue = direction.queue;
    Lane {
        rate: rate(direction),
        // Of a queue that never filled nothing is known: it has what its discipline has by itself.
        buffer: direction
            .buffer_bytes
            .filter(|_| queue == Queue::Long)
            .map(|bytes| format!("{}B", bytes.max(1500))),
        discipline: Some(discipline(queue).to_owned()),
    }
}

/// The rate as it was; one that varied has its course, again and again.
fn rate(direction: &Direction) -> (&'static str, String) {
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
    found: &Measured,
    disciplines: &[&str],
    head: &str,
    behind: &str,
    lanes: &[Option<Lane>; 2],
) -> Result<Document, ScenarioError> {
    let head = format!("{head}rtt = \"{:.1}ms\"\n", found.idle.rtt_ms.max(0.1));
    let text = format!(
        "name = \"my-line\"\nduration = \"{LONG}s\"\nwarmup = \"10s\"\ndisciplines = {disciplines:?}\n\n{}{behind}{}",
        link(&head, lanes),
        household()
    );
    Document::parse("my-line", &text)
}

fn link(head: &str, [down, up]: &[Option<Lane>; 2]) -> String {
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

impl Lane {
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
pub fn text(found: &Measured, document: &Document) -> String {
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
pub fn disciplines(found: &Measured) -> Vec<&'static str> {
    let waits = |direction: &Direction| direction.beside_ms.map_or(0.0, |waits| waits.p95);
    let of = found.ways().map(|(_, direction)| direction);
    let worst = of.max_by(|a, b| waits(a).total_cmp(&waits(b)));
    let has = discipline(worst.map_or(Queue::Short, |direction| direction.queue));
    let others = ["fq_codel", "cake", "mencius"].into_iter();
    [has]
        .into_iter()
        .chain(others.filter(|other| *other != has))
        .collect()
}

/// The discipline that does what was seen.
fn discipline(queue: Queue) -> &'static str {
    match queue {
        Queue::Long => "pfifo",
        Queue::Short => "codel",
        Queue::Fair => "fq_codel",
    }
}

fn seems(direction: &Direction) -> &'static str {
    match direction.queue {
        Queue::Long => "all flows wait in one queue, as in pfifo",
        Queue::Short => "the queue is short: kept so, as by codel, or small",
        Queue::Fair => "flows do not wait for each other, as in fq_codel",
    }
}
