//! Parts of recorded pages that are not replayed: a line or two for each file, on standard error.

use scenario::files::Incomplete;
use scenario::printable;
use std::collections::BTreeSet;

/// Longest name of a file, and longest list: some lines of a terminal.
const NAME: usize = 200;
const MOST: usize = 500;

/// Prints the parts left out of each file, once for a file that several entries name.
pub fn tell(files: &[Incomplete]) {
    let mut told = BTreeSet::new();
    for Incomplete { file, left_out } in files {
        if !told.insert(file.clone()) {
            continue;
        }
        let file = printable(file, NAME);
        eprintln!("{file}: {}", printable(&left_out.to_string(), MOST));
        if let Some(faults) = left_out.faults() {
            eprintln!("  {}", printable(&faults, MOST));
        }
    }
}
