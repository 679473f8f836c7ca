//! A measured line as a scenario: with the household of `scenarios/my-link.toml` on it.

use line::client::Way;
use line::measured::{Direction, Measured, Queue};
use scenario::{Document, ScenarioError};

/// A call in both directions, pages, and a download and an upload.
const HOUSEHOLD: &str = include_str!("../../../../scenarios/my-link.toml");
/// What is written where a wait was too short to tell how long the queue is.
const SHORTEST: &str = "50ms";

/// The scenario of the line.
///
/// # Errors
/// If what was measured is out of a scenario's range.
pub fn line(found: &Measured) -> Result<Document, ScenarioError> {
    let mut document = Document::parse("my-line", HOUSEHOLD)?;
    document.set("name", "my-line")?;
    document.set("link.rtt", &format!("{:.1}ms", found.idle.rtt_ms.max(0.1)))?;
    for (way, direction) in found.ways() {
        let link = match way {
            Way::Down => "link",
            Way::Up => "link.up",
        };
        document.set(&format!("{link}.rate"), &rate(direction, 1.0))?;
        document.set(&format!("{link}.buffer"), &buffer(direction))?;
    }
    let worst = worst(found);
    document.set_disciplines(&[discipline(worst).to_owned()]);
    Ok(document)
}

/// The document as a file, which says where it is from.
pub fn text(found: &Measured, document: &Document) -> String {
    let mut text = format!(
        "# The line to {}, as `analects measure` found it; the household is that of scenarios/my-link.toml.\n",
        found.server
    );
    for (way, direction) in found.ways() {
        let way = line::client::name(way);
        text += &format!("# {way}: {}.\n", seems(direction));
        if direction.varies == Some(true) {
            text += &format!(
                "# {way}: the rate varied while it was measured; it is constant here, which is kinder than the line.\n"
            );
        }
    }
    for note in &found.notes {
        text += &format!("# note: {note}\n");
    }
    text + &document.to_toml()
}

/// The rate of a part of the line, for a scenario or a command: whole kbit/s.
pub fn rate(direction: &Direction, part: f64) -> String {
    format!("{:.0}kbit", (direction.rate_mbit * part * 1e3).max(8.0))
}

/// The part of the queue that was filled. At a queue that is kept short nothing is known of its length.
pub fn buffer(direction: &Direction) -> String {
    match (direction.queue(), direction.buffer_bytes) {
        (Queue::Long, Some(bytes)) => format!("{}B", bytes.max(1500)),
        _ => SHORTEST.to_owned(),
    }
}

/// The discipline that does what was seen.
pub fn discipline(queue: Queue) -> &'static str {
    match queue {
        Queue::Long => "pfifo",
        Queue::Short => "codel",
        Queue::Fair => "fq_codel",
    }
}

/// The queue of the way on which packets of others wait longest.
pub fn worst(found: &Measured) -> Queue {
    let waits = |direction: &Direction| direction.beside_ms.map_or(0.0, |waits| waits.p95);
    let of = found.ways().map(|(_, direction)| direction);
    of.max_by(|a, b| waits(a).total_cmp(&waits(b)))
        .map_or(Queue::Short, Direction::queue)
}

fn seems(direction: &Direction) -> &'static str {
    match direction.queue() {
        Queue::Long => "all flows wait in one queue, as in pfifo",
        Queue::Short => "the queue is short: kept so, as by codel, or small",
        Queue::Fair => "flows do not wait for each other, as in fq_codel",
    }
}
