//! Why figures are null.

use crate::result::{Note, RunResult};

/// Of a call's or transfer's own packets.
const NO_PACKET: &str =
    "no packet of it left the first queue of its direction in the measured time, if there is one";

/// A note for every null field in `result`.
pub fn notes(result: &RunResult) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |missing: bool, about: String, text: &str| {
        if missing {
            let text = text.to_owned();
            notes.push(Note { about, text });
        }
    };
    for page in &result.pages {
        let about = |field| format!("pages.{}.{}.{field}", page.name, page.load);
        let text = "the run ended before the page was complete";
        note(page.plt_ms.is_none(), about("plt_ms"), text);
        let text = "no call handed over a frame of known delay in the page's time";
        note(page.frame_max_ms.is_none(), about("frame_max_ms"), text);
    }
    for call in &result.calls {
        let about = |field| format!("calls.{}.{field}", call.name);
        let text = "no frame of the measured time arrived, was lost or is late";
        let missing = call.frame_delay_ms.p50.is_none();
        note(missing, about("frame_delay_ms"), text);
        let missing = call.sojourn_ms.p50.is_none();
        note(missing, about("sojourn_ms"), NO_PACKET);
        let text = "no audio of the measured time was played out";
        let missing = call.audio.as_ref().is_some_and(|audio| audio.mos.is_none());
        note(missing, about("audio"), text);
    }
    for flow in &result.flows {
        let about = |field| format!("flows.{}.{field}", flow.name);
        let text = "unlimited, or not complete when the run ended";
        note(flow.fct_ms.is_none(), about("fct_ms"), text);
        let text = "measured of transfers without an end only";
        note(flow.sojourn_ms.is_none(), about("sojourn_ms"), text);
        let missing = flow
            .sojourn_ms
            .is_some_and(|sojourn| sojourn.mean.is_none());
        note(missing, about("sojourn_ms"), NO_PACKET);
    }
    for link in &result.links {
        let about = |field| format!("links.{}.{field}", link.name);
        let text = "no packet left in the measured time";
        note(link.sojourn_ms.mean.is_none(), about("sojourn_ms"), text);
        let text = "the link could carry nothing in the measured time";
        note(link.utilization.is_none(), about("utilization"), text);
        let text = "the link was given no buffer to compare the backlog with";
        note(link.occupancy.is_none(), about("occupancy"), text);
        let text = "the discipline has no classes";
        note(link.moves.is_none(), about("moves"), text);
    }
    let text = "fewer than two calls or transfers lasted until the end, and one alone has no \
                shares to compare";
    note(result.jfi.is_none(), "jfi".to_owned(), text);
    notes
}
