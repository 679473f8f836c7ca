//! What each computer behind a `mencius` has had, as a table.

use comfy_table::Cell;
use command::cells::{empty, right};
use netcfg::Computer;
use std::cmp::Reverse;

/// More computers are counted, not shown.
const MOST: usize = 15;

/// What a computer has had in a span of time; its waits are those of now.
struct Had {
    computer: Computer,
    seconds: f64,
}

/// An address, or the class of a computer that has none.
pub fn name(computer: &Computer) -> String {
    match computer.address {
        Some(address) => address.to_string(),
        None => format!(":{:x}", computer.class),
    }
}

/// What they have had since each has been known.
pub fn since_known(computers: &[Computer]) -> String {
    let had = busiest(computers.to_vec()).into_iter();
    let had = had.map(|computer| Had {
        computer,
        seconds: f64::from(computer.age_ms) / 1e3,
    });
    table(&had.collect::<Vec<_>>(), "no computer has sent for 20 s")
}

/// What they have had in so many seconds, as [`since`] says.
pub fn within(computers: &[Computer], seconds: f64) -> String {
    let had = computers.iter().map(|computer| Had {
        computer: *computer,
        seconds,
    });
    table(&had.collect::<Vec<_>>(), "no computer sent")
}

/// What those of `now` that sent, dropped or wait have had since they were among `before`, those that sent most first;
/// waits are those of now.
pub fn since(before: &[Computer], now: &[Computer]) -> Vec<Computer> {
    busiest(now.iter().map(|computer| less(computer, before)).collect())
}

fn busiest(mut computers: Vec<Computer>) -> Vec<Computer> {
    computers.retain(|of| of.bytes > 0 || of.drops > 0 || of.qlen > 0);
    computers.sort_by_key(|of| (Reverse(of.bytes), of.class));
    computers
}

/// What `computer` has had since it was `before`; another one may have had its place then.
fn less(computer: &Computer, before: &[Computer]) -> Computer {
    let same = |of: &&Computer| {
        (of.class, of.address) == (computer.class, computer.address) && of.bytes <= computer.bytes
    };
    let former = before.iter().find(same).copied().unwrap_or_default();
    Computer {
        bytes: computer.bytes - former.bytes,
        packets: computer.packets.wrapping_sub(former.packets),
        drops: computer.drops.wrapping_sub(former.drops),
        marks: computer.marks.wrapping_sub(former.marks),
        ahead_bytes: computer.ahead_bytes.saturating_sub(former.ahead_bytes),
        ..*computer
    }
}

/// A row for each; `nobody` if there is none.
fn table(had: &[Had], nobody: &str) -> String {
    if had.is_empty() {
        return format!("  {nobody}\n");
    }
    let all: u64 = had.iter().map(|of| of.computer.bytes).sum();
    let mut rows = empty();
    let headings = [
        "Mbit/s", "share %", "waits ms", "dropped", "marked", "ahead %",
    ];
    rows.set_header(std::iter::once(Cell::new("computer")).chain(headings.map(right)));
    for Had { computer, seconds } in had.iter().take(MOST) {
        let rate = if *seconds > 0.0 {
            format!("{:.2}", computer.bytes as f64 * 8.0 / seconds / 1e6)
        } else {
            "-".to_owned()
        };
        rows.add_row([
            Cell::new(name(computer)),
            right(&rate),
            right(&percent(computer.bytes, all)),
            right(&format!("{:.1}", f64::from(computer.wait_us) / 1e3)),
            right(&computer.drops.to_string()),
            right(&computer.marks.to_string()),
            right(&percent(computer.ahead_bytes, computer.bytes)),
        ]);
    }
    let more = match had.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("  and {more} computers that sent less\n"),
    };
    format!("{rows}\n{more}")
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0}", 100.0 * part as f64 / whole.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computer(class: u16, address: &str, bytes: u64, ahead_bytes: u64) -> Computer {
        Computer {
            class,
            address: address.parse().ok(),
            bytes,
            ahead_bytes,
            drops: 7,
            marks: 1,
            wait_us: 2500,
            age_ms: 10_000,
            ..Computer::default()
        }
    }

    fn rows(text: &str) -> Vec<Vec<&str>> {
        let lines = text.lines();
        lines
            .map(|line| line.split_whitespace().collect())
            .collect()
    }

    #[test]
    fn since_each_has_been_known() {
        let all = [
            computer(0x1f, "192.168.1.5", 10_000_000, 2_500_000),
            computer(0x20, "2001:db8::7", 30_000_000, 0),
            computer(0x21, "", 0, 0),
        ];
        let text = since_known(&all);
        let rows = rows(&text);
        assert_eq!(
            rows[1],
            ["2001:db8::7", "24.00", "75", "2.5", "7", "1", "0"],
            "{text}"
        );
        assert_eq!(
            rows[2],
            ["192.168.1.5", "8.00", "25", "2.5", "7", "1", "25"],
            "{text}"
        );
        assert_eq!(rows[3][0], ":21", "{text}");
        assert_eq!(since_known(&[]), "  no computer has sent for 20 s\n");
    }

    #[test]
    fn between_two_looks() {
        let before = [computer(1, "192.168.1.5", 1_000_000, 100_000)];
        let now = [
            computer(1, "192.168.1.5", 2_000_000, 600_000),
            // Another one had its place.
            computer(2, "192.168.1.6", 500_000, 0),
        ];
        let text = within(&since(&before, &now), 1.0);
        let rows = rows(&text);
        assert_eq!(
            rows[1],
            ["192.168.1.5", "8.00", "67", "2.5", "0", "0", "50"],
            "{text}"
        );
        assert_eq!(rows[2][..3], ["192.168.1.6", "4.00", "33"], "{text}");
        let idle = within(&since(&now[..1], &now[..1]), 1.0);
        assert_eq!(idle, "  no computer sent\n");
    }

    #[test]
    fn many_are_counted() {
        let all: Vec<Computer> = (1..=20).map(|class| computer(class, "", 9, 0)).collect();
        assert!(since_known(&all).ends_with("\n  and 5 computers that sent less\n"));
    }
}
