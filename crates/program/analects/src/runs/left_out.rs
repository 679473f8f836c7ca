//! Parts of recorded pages that are not replayed: a line or two for each file, on standard error.

use command::Refused;
use scenario::files::{Incomplete, Missing};
use scenario::printable;
use std::collections::BTreeSet;

/// Longest name of a file, and longest list: some lines of a terminal.
const NAME: usize = 200;
const MOST: usize = 500;

/// Prints the parts left out of each file, once for a file that several entries name. If it is `strict`, a
/// file that is left out as a whole is refused.
pub fn tell(files: &[Incomplete], strict: bool) -> Result<(), Refused> {
    let mut told = BTreeSet::new();
    for Incomplete { file, missing } in files {
        if !told.insert((file.clone(), missing.to_string())) {
            continue;
        }
        let file = printable(file, NAME);
        if let (true, Missing::Whole(reason)) = (strict, missing) {
            let help = "mend it or take it away, or leave --strict out";
            return Err(Refused::new(&format!("{file}: {reason}"), help));
        }
        eprintln!("{file}: {}", printable(&missing.to_string(), MOST));
        if let Missing::Parts(left_out) = missing
            && let Some(faults) = left_out.faults()
        {
            eprintln!("  {}", printable(&faults, MOST));
        }
    }
    Ok(())
}
