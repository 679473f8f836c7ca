//! What the running program knows, and how it is called: `analects` itself, or a program of somebody's own
//! with the same commands.

use command::Refused;
use sim::Simulator;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The library's version and, in a build from the repository, the commit: `0.1.0 (7d7d2943e)`, with a plus
/// sign if files differed from that.
const LIBRARY: &str = env!("ANALECTS_VERSION");

/// A program of somebody's own.
pub struct Own {
    /// Its name, as help and results show it.
    pub name: &'static str,
    /// Its version: `env!("CARGO_PKG_VERSION")`.
    pub version: &'static str,
    /// The built-in entries and its own. They exist in the simulator only; other engines refuse them.
    pub simulator: Simulator,
}

/// The running program.
struct Running {
    name: &'static str,
    version: String,
    /// The version that results carry.
    of_results: String,
    simulator: Simulator,
    is_own: bool,
}

static RUNNING: OnceLock<Running> = OnceLock::new();

impl Running {
    fn analects() -> Self {
        Running {
            name: "analects",
            version: LIBRARY.to_owned(),
            of_results: LIBRARY.to_owned(),
            simulator: Simulator::default(),
            is_own: false,
        }
    }

    fn own(own: Own) -> Self {
        let Own {
            name,
            version,
            simulator,
        } = own;
        Running {
            name,
            version: format!("{version}, with analects {LIBRARY}"),
            of_results: format!("{LIBRARY} in {name} {version}"),
            simulator,
            is_own: true,
        }
    }
}

fn running() -> &'static Running {
    RUNNING.get_or_init(Running::analects)
}

/// Makes the program somebody's own, before anything else.
///
/// # Panics
/// If the program has begun.
pub fn set(own: Own) {
    let first = RUNNING.set(Running::own(own));
    assert!(first.is_ok(), "a program is named once, before it begins");
}

/// The program's name.
pub fn name() -> &'static str {
    running().name
}

/// The program's version, as `--version` prints it.
pub fn version() -> &'static str {
    &running().version
}

/// The version that a result, a report and a page carry, after the word "analects".
pub fn version_of_results() -> &'static str {
    &running().of_results
}

/// The simulator, with all entries that the program knows.
pub fn simulator() -> &'static Simulator {
    &running().simulator
}

/// The program's file, if it has entries of its own: kept results depend on it.
pub fn program() -> Result<Option<PathBuf>, Refused> {
    if !running().is_own {
        return Ok(None);
    }
    let found = std::env::current_exe();
    let found = found.map_err(|error| {
        let message = format!("the file of this program cannot be found: {error}");
        Refused::failed(&message, "results are kept for its content")
    })?;
    Ok(Some(found))
}
