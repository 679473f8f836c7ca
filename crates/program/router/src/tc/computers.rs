//! What each computer behind a `mencius` has had, as a table.

use comfy_table::Cell;
use command::Refused;
use command::cells::{empty, right};
use netcfg::{Classes, Computer, Device, Queue};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// More computers are counted, not shown.
const MOST: usize = 15;

/// What a computer has had in a span of time; its waits are those of now.
struct Had {
    computer: Computer,
    seconds: f64,
}

/// The classes of devices, each of which is asked once, however many queues it has.
#[derive(Default)]
pub struct Asked(BTreeMap<Device, Classes>);

impl Asked {
    /// Those of a device.
    ///
    /// # Errors
    /// If the kernel does not list them.
    pub fn of(&mut self, device: &Device) -> Result<&Classes, Refused> {
        if !self.0.contains_key(device) {
            self.0.insert(device.clone(), netcfg::classes(device)?);
        }
        Ok(&self.0[device])
    }
}

/// The number of a queue, as its classes have it; none if its handle is none.
pub fn number(queue: &Queue) -> Option<u16> {
    u16::from_str_radix(queue.handle.trim_end_matches(':'), 16).ok()
}

/// The computers among the classes of its device that are of this queue.
pub fn of_queue(queue: &Queue, classes: &Classes) -> Vec<Computer> {
    let computers = classes.computers.iter();
    let ours = computers.filter(|computer| Some(computer.qdisc) == number(queue));
    ours.copied().collect()
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
    let had = computers.iter().map(|computer| Had {
        computer: *computer,
        seconds: f64::from(computer.age_ms) / 1e3,
    });
    table(had.collect(), "no computer has sent for 20 s")
}

/// What they have had in the `seconds` between two looks.
pub fn between(before: &[Computer], now: &[Computer], seconds: f64) -> String {
    let had = now.iter().map(|computer| Had {
        computer: less(computer, before),
        seconds,
    });
    table(had.collect(), "no computer sent")
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

/// A row for each that sent or dropped, those that sent most first; `nobody` if there is none.
fn table(mut had: Vec<Had>, nobody: &str) -> String {
    had.retain(|of| of.computer.bytes > 0 || of.computer.drops > 0 || of.computer.qlen > 0);
    had.sort_by_key(|of| (Reverse(of.computer.bytes), of.computer.class));
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
        let text = between(&before, &now, 1.0);
        let rows = rows(&text);
        assert_eq!(
            rows[1],
            ["192.168.1.5", "8.00", "67", "2.5", "0", "0", "50"],
            "{text}"
        );
        assert_eq!(rows[2][..3], ["192.168.1.6", "4.00", "33"], "{text}");
        let idle = between(&now[..1], &now[..1], 1.0);
        assert_eq!(idle, "  no computer sent\n");
    }

    #[test]
    fn many_are_counted() {
        let all: Vec<Computer> = (1..=20).map(|class| computer(class, "", 9, 0)).collect();
        assert!(since_known(&all).ends_with("\n  and 5 computers that sent less\n"));
    }

    #[test]
    fn only_those_of_the_queue() {
        let mut classes = Classes::default();
        for qdisc in [0x10, 0xb1] {
            let computer = Computer {
                qdisc,
                ..computer(1, "", 9, 0)
            };
            classes.computers.push(computer);
        }
        let queue = Queue {
            handle: "b1:".to_owned(),
            ..crate::tc::counters::tests::queue("wan0", "mencius", None)
        };
        let ours = of_queue(&queue, &classes);
        assert_eq!(ours.len(), 1);
        assert_eq!(ours[0].qdisc, 0xb1);
    }
}
