//! Tables in a terminal.

use comfy_table::{Cell, CellAlignment, Table, presets};

/// A table without lines.
pub fn empty() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// A right-aligned cell.
pub fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Up by so many lines, and clear to the end of the screen: ECMA-48, CPL and ED.
pub fn back(lines: usize) -> String {
    match lines {
        0 => String::new(),
        lines => format!("\x1b[{lines}F\x1b[J"),
    }
}
