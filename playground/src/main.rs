//! The simulator as a program for a page: it reads a scenario and prints lines of JSON.
//!
//! `make playground` compiles it for WASI, and `page/` runs it in a worker of the browser: standard
//! input, output and the files that a scenario names are the page's. The same program runs in a
//! terminal:
//!
//! ```sh
//! playground run mencius 1 < scenarios/page-during-call.toml
//! ```
//!
//! Not for: people, who have `analects run`; drawing, which `page/` does.

#![deny(missing_docs)]

mod answer;
mod catalogue;
mod check;
mod picture;
mod run;
mod verdict;
mod webrtc;

use answer::Failure;
use sim::Simulator;
use std::io::Read;
use std::process::ExitCode;

const USAGE: &str =
    "write catalogue, check, run DISCIPLINE SEED, result DISCIPLINE SEED, verdict, or webrtc";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["catalogue"] => answer::print(&catalogue::catalogue()),
        ["check"] => text().and_then(|text| check::check(&text, &Simulator::default()).map(drop)),
        ["run", discipline, seed] => text().and_then(|text| run::drawn(&text, discipline, seed)),
        ["result", discipline, seed] => text().and_then(|text| run::plain(&text, discipline, seed)),
        ["verdict"] => text().and_then(|text| verdict::verdict(&text)),
        ["webrtc"] => text().and_then(|text| webrtc::webrtc(&text)),
        _ => Err(Failure::new("there is no such command", USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::FAILURE
        }
    }
}

/// The most that is read from standard input: recorded statistics of a long call.
const MOST: u64 = 64 << 20;

/// What stands on standard input.
fn text() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(&format!("the input cannot be read: {error}"), "try again"))?;
    if bytes.len() as u64 > MOST {
        let message = format!("the input has more than {MOST} bytes");
        return Err(Failure::new(&message, "give less"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        Failure::new(&format!("byte {place}: not UTF-8 text"), "give text")
    })
}
