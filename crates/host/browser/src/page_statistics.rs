//! A page of somebody's own, and the statistics of its calls.

use crate::Error;
use crate::chromium::Chromium;
use crate::debug::Debug;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// From one line to the next.
const OFTEN: Duration = Duration::from_millis(500);
/// How often a page is tried to be opened.
const TRIES: u32 = 20;
/// Counts calls and sums their statistics up, inside the page.
const SCRIPT: &str = include_str!("../site/statistics.js");
/// A camera and a microphone, and nobody who has to allow them.
const DEVICES: [&str; 2] = [
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
];

/// The option by which a page without TLS may use them, as only secure ones otherwise may.
fn secure(url: &str) -> String {
    let origin = url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    format!("--unsafely-treat-insecure-origin-as-secure={origin}")
}

/// Opens `url` with a new profile in `folder`, called `name`, and writes what its calls are like to `out`, a line of
/// JSON for each moment, until this process ends.
///
/// # Errors
/// If there is no browser, it ends, or nobody reads.
pub fn page_statistics(
    folder: &Path,
    name: &str,
    url: &str,
    mut out: impl Write,
) -> Result<(), Error> {
    let mut browser = Chromium::open_with(
        folder,
        name,
        "about:blank",
        &[DEVICES[0], DEVICES[1], &secure(url)],
    )?;
    let mut debug = browser.debug()?;
    debug.attach()?;
    debug.ask("Page.enable", json!({}))?;
    debug.ask(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": SCRIPT }),
    )?;
    open(&mut debug, url)?;
    loop {
        let asked = json!({ "expression": "analectsStatistics()", "awaitPromise": true, "returnByValue": true });
        let told = debug.ask("Runtime.evaluate", asked)?;
        // A page that is being left has none for a moment.
        if let Some(line) = told["result"]["value"].as_str() {
            let written = writeln!(out, "{line}").and_then(|()| out.flush());
            written.map_err(|error| Error::new(format!("nobody reads: {error}"), "begin again"))?;
        }
        sleep(OFTEN);
    }
}

/// Opens a page, whose server may just have begun.
fn open(debug: &mut Debug, url: &str) -> Result<(), Error> {
    let mut why = String::new();
    for _ in 0..TRIES {
        let gone = debug.ask("Page.navigate", json!({ "url": url }))?;
        match gone["errorText"].as_str() {
            None => return Ok(()),
            Some(text) => text.clone_into(&mut why),
        }
        sleep(OFTEN);
    }
    Err(Error::new(
        format!("{url}: {why}"),
        "see that a server listens there",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_secure_by_its_origin() {
        let option = "--unsafely-treat-insecure-origin-as-secure=http://100.64.0.1:8080";
        for url in ["http://100.64.0.1:8080", "http://100.64.0.1:8080/call?a=/b"] {
            assert_eq!(secure(url), option);
        }
    }
}
