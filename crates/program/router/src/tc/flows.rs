//! `analects tc show --watch`: what each computer and each flow of a queue has had in the last second.

use super::computers;
use super::looked::{LookedSetups, Moved, Span};
use comfy_table::Cell;
use command::Refused;
use command::cells::back;
use command::cells::{empty, right};
use command::print;
use netcfg::Flow;
use std::io::{IsTerminal, stdout};
use std::time::Duration;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(1);
/// More flows are counted, not shown.
const MOST: usize = 15;
/// Of a queue in which nobody sent.
const NOBODY: &str = "no flow sent";
/// Of cake, which counts by tin.
pub const NOT_BY_CAKE: &str = "its computers and flows are not told: cake counts by tin";
/// Of others.
const NOT_BY_OTHERS: &str = "its flows are not told: only mencius counts what each has had";
/// A flow with a packet that has waited longer fills its queue: mencius' default `min_wait`.
const FULL: Duration = Duration::from_millis(20);

/// Shows the flows of the set-ups that `look` finds, once a second, until it is interrupted or there are none.
///
/// # Errors
/// If the set-ups or the flows cannot be read.
pub fn watch(look: &mut dyn FnMut() -> Result<LookedSetups, Refused>) -> Result<(), Refused> {
    let mut before = look()?;
    let mut lines = 0;
    while !before.is_empty() {
        std::thread::sleep(EVERY);
        let now = look()?;
        let text = shown(&before, &now);
        let over = if stdout().is_terminal() { lines } else { 0 };
        print(&format!("{}{text}", back(over)))?;
        lines = text.lines().count();
        before = now;
    }
    Ok(())
}

/// The text for what happened between two looks.
fn shown(before: &LookedSetups, now: &LookedSetups) -> String {
    let mut text = String::new();
    let differences = now.all.iter().flat_map(|status| &status.differences);
    for difference in differences {
        let difference = scenario::printable(difference, 200);
        text += &format!("another program: {difference}\n");
    }
    for span in now.since(before) {
        text += &in_numbers(&span);
        let Some(who) = &span.who else {
            text += &format!("  {}\n", said(&span));
            continue;
        };
        text += &computers::within(&who.computers, span.seconds);
        text += &table(&who.flows, span.seconds);
    }
    text
}

/// A line on a queue.
fn in_numbers(span: &Span) -> String {
    let Span {
        queue,
        seconds,
        bytes,
        drops,
        ..
    } = span;
    let number = |of: Option<u64>| of.map_or("-".to_owned(), |number| number.to_string());
    let mbit = bytes.map_or("-".to_owned(), |bytes| {
        format!("{:.2}", rate(bytes, *seconds))
    });
    format!(
        "{}: {} {} sends {mbit} Mbit/s and dropped {} packets; {} packets wait\n",
        queue.device,
        scenario::printable(&queue.kind, 20),
        scenario::printable(&queue.handle, 10),
        number(*drops),
        number(queue.qlen),
    )
}

/// Whether calls in a queue are protected, and from what, or why that is not known.
pub fn said(span: &Span) -> String {
    match &span.who {
        Some(who) if who.flows.is_empty() => NOBODY.to_owned(),
        Some(who) => answer(&who.flows, span.seconds),
        None if span.queue.kind == "cake" => NOT_BY_CAKE.to_owned(),
        None => NOT_BY_OTHERS.to_owned(),
    }
}

/// Megabits a second.
fn rate(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds / 1e6
}

/// The flows that sent, or wait, in a table, and an answer in words.
fn table(moved: &[Moved], seconds: f64) -> String {
    if moved.is_empty() {
        return format!("  {NOBODY}\n");
    }
    let all: u64 = moved.iter().map(|of| of.bytes).sum();
    let mut rows = empty();
    let headings = ["Mbit/s", "share %", "waits ms", "dropped", "marked"];
    let first = [Cell::new("flow"), Cell::new("computer")];
    let last = [Cell::new("settled")];
    rows.set_header(first.into_iter().chain(headings.map(right)).chain(last));
    for of in moved.iter().take(MOST) {
        rows.add_row([
            Cell::new(format!(":{:x}", of.flow.class)),
            Cell::new(format!(":{:x}", of.flow.host)),
            right(&format!("{:.2}", rate(of.bytes, seconds))),
            right(&format!(
                "{:.0}",
                100.0 * of.bytes as f64 / all.max(1) as f64
            )),
            right(&format!("{:.1}", of.flow.delay.as_secs_f64() * 1e3)),
            right(&of.drops.to_string()),
            right(&of.marks.to_string()),
            Cell::new(settled_for(&of.flow)),
        ]);
    }
    let more = match moved.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("  and {more} flows that sent less\n"),
    };
    format!("{rows}\n{more}  {}\n", answer(moved, seconds))
}

fn settled_for(flow: &Flow) -> String {
    flow.settled
        .map_or(String::new(), |time| format!("for {} s", time.as_secs()))
}

/// Whether a call is protected, and from what.
fn answer(moved: &[Moved], seconds: f64) -> String {
    let (calls, others): (Vec<&Moved>, Vec<&Moved>) =
        moved.iter().partition(|of| of.flow.settled.is_some());
    let full = others
        .iter()
        .filter(|of| of.flow.delay >= FULL || of.flow.wait >= FULL);
    let full = match full.count() {
        0 => "none of them fills its queue".to_owned(),
        1 => "one of them fills its queue".to_owned(),
        full => format!("{full} of them fill their queues"),
    };
    let others = match others.len() {
        0 => "nothing else sends".to_owned(),
        1 => format!("beside it one other flow sends, and {full}"),
        others => format!("beside it {others} other flows send, and {full}"),
    };
    let sum = calls.iter().map(|of| of.bytes).sum();
    let sum = rate(sum, seconds);
    match calls.len() {
        0 => {
            "No flow is protected: none has kept its own queue short for a second, as a call does."
                .to_owned()
        }
        1 => format!("One flow is protected, with {sum:.2} Mbit/s, as a call should be; {others}."),
        calls => format!("{calls} flows are protected, with {sum:.2} Mbit/s together; {others}."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::looked::moved;
    use super::*;

    fn flow(class: u16, bytes: u64, settled: Option<u64>, delay_ms: u64) -> Flow {
        Flow {
            class,
            host: 0x159,
            bytes,
            packets: (bytes / 1000) as u32,
            settled: settled.map(Duration::from_secs),
            delay: Duration::from_millis(delay_ms),
            ..Flow::default()
        }
    }

    #[test]
    fn a_call_beside_a_transfer() {
        let before = [
            flow(1, 1_000_000, Some(31), 1),
            flow(2, 9_000_000, None, 40),
        ];
        let now = [
            flow(1, 1_500_000, Some(32), 1),
            flow(2, 14_500_000, None, 45),
            // It sent nothing.
            flow(3, 0, None, 0),
            // Another flow had its place.
            flow(4, 125_000, None, 3),
        ];
        let before: Vec<Flow> = before
            .into_iter()
            .chain([flow(4, 900_000, None, 0)])
            .collect();
        let text = table(&moved(&before, &now), 1.0);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            rows[1],
            [":2", ":159", "44.00", "90", "45.0", "0", "0"],
            "{text}"
        );
        assert_eq!(rows[2][..4], [":1", ":159", "4.00", "8"], "{text}");
        assert_eq!(rows[2][7..], ["for", "32", "s"], "{text}");
        assert_eq!(rows[3][..4], [":4", ":159", "1.00", "2"], "{text}");
        let answer = "One flow is protected, with 4.00 Mbit/s, as a call should be; beside it 2 other flows send, and one of them fills its queue.";
        assert!(text.ends_with(&format!("  {answer}\n")), "{text}");
        assert_eq!(rows.len(), 5);
    }

    #[test]
    fn nobody_is_protected_and_nobody_sends() {
        let idle = [flow(1, 5000, None, 0)];
        assert_eq!(table(&moved(&idle, &idle), 1.0), "  no flow sent\n");
        let text = table(&moved(&[], &idle), 1.0);
        assert!(text.contains("No flow is protected"), "{text}");
    }

    #[test]
    fn many_flows_are_counted() {
        let now: Vec<Flow> = (1..=40)
            .map(|class| flow(class, 1000 * u64::from(class), Some(2), 0))
            .collect();
        let text = table(&moved(&[], &now), 1.0);
        assert!(text.contains("\n  and 25 flows that sent less\n"), "{text}");
        assert!(text.contains("40 flows are protected"), "{text}");
        assert!(text.contains("nothing else sends"), "{text}");
    }
}
