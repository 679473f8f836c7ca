//! What a check says, on a terminal.

use ::check::{Condition, Outcome, Run, faults, said};
use comfy_table::Cell;
use command::cells::{empty, right};
use std::fmt::Write as _;

/// The table, and below it why what failed did.
pub fn of(outcome: &Outcome) -> String {
    let mut table = empty();
    table.set_header(["condition", "limit", "mean, 95 %", "missed", "verdict"]);
    for judged in &outcome.conditions {
        for (number, tried) in judged.limits.iter().enumerate() {
            let name = if number == 0 {
                judged.name.as_str()
            } else {
                ""
            };
            let missed = format!("{} of {}", tried.missed, tried.values.len());
            table.add_row([
                Cell::new(name),
                Cell::new(&tried.limit),
                right(&tried.shown),
                right(&missed),
                Cell::new(tried.said()),
            ]);
        }
    }
    let mut text = format!("{table}\n");
    for judged in &outcome.conditions {
        for fault in faults(judged) {
            _ = writeln!(text, "\n{}: {fault}.", judged.name);
        }
    }
    let late: usize = outcome.conditions.iter().map(|judged| judged.late).sum();
    if late > 0 {
        _ = writeln!(
            text,
            "\n{late} calls are left out, since this host was late in them."
        );
    }
    text + &format!("\n{}\n", said(outcome))
}

/// A call in a line.
pub fn told(condition: &Condition, run: &Run) -> String {
    if let Some(why) = &run.late {
        return format!("does not count, {why}");
    }
    if let Some(how) = &run.failed {
        return format!("the application failed: {how}");
    }
    let values = condition.limits.iter().zip(&run.values);
    let values = values.map(|(limit, value)| {
        let mark = if limit.is_kept(*value) {
            ""
        } else {
            " (missed)"
        };
        format!("{} {}{mark}", limit.name, limit.shown(*value))
    });
    values.collect::<Vec<_>>().join(", ")
}
