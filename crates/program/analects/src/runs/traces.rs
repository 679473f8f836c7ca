//! The traces of a command: those that can be read, and a line on standard error for each.

use crate::runs::left_out;
use campaign::Trace;
use command::Refused;
use scenario::Document;
use scenario::files::{self, GENERATED, Incomplete, Missing};
use std::collections::BTreeSet;

/// More lines flood a terminal.
const MOST: usize = 20;

/// Those of `traces` that can be read. One of several that cannot is left out and named; if that is
/// `strict`, it is refused.
pub fn readable(traces: Vec<Option<Trace>>, strict: bool) -> Result<Vec<Option<Trace>>, Refused> {
    if traces.len() < 2 {
        return Ok(traces);
    }
    let (mut kept, mut broken, mut first) = (Vec::new(), Vec::new(), None);
    for trace in traces {
        let read = trace.as_ref().map(|trace| files::trace(&trace.path));
        match (read, trace) {
            (Some(Err(error)), Some(trace)) => {
                broken.push(Incomplete {
                    file: trace.path,
                    missing: Missing::Whole(error.message.clone()),
                });
                first.get_or_insert(error);
            }
            (_, trace) => kept.push(trace),
        }
    }
    match first {
        Some(error) if kept.is_empty() => return Err(error.into()),
        _ => left_out::tell(&broken, strict)?,
    }
    Ok(kept)
}

/// Prints what was understood of each trace that `document` or one of `traces` names.
pub fn tell(document: &Document, traces: &[Option<Trace>]) {
    let written = document.traces().into_iter().map(|(_, name)| name);
    let several = traces.iter().flatten().map(|trace| trace.path.as_str());
    let mut seen = BTreeSet::new();
    let names: Vec<&str> = several
        .chain(written)
        .filter(|name| !name.starts_with(GENERATED) && seen.insert(*name))
        .collect();
    // What cannot be read is refused where it is used.
    let told = names.iter().filter_map(|name| {
        let trace = files::trace(name).ok()?;
        Some(files::told(name, &trace))
    });
    let told: Vec<String> = told.collect();
    for line in told.iter().take(MOST) {
        eprintln!("{line}");
    }
    if told.len() > MOST {
        eprintln!("and {} more traces", told.len() - MOST);
    }
}
