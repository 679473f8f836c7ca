//! Chromium without a window.

use crate::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Names of the program, the first that is there counts; `ANALECTS_CHROMIUM` goes before them.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// What profiles' names begin with.
const PROFILE: &str = "profile-";
/// No sandbox: it does not run as root, nor in a namespace of ours, and only pages of ours are opened.
const OPTIONS: [&str; 14] = [
    "--remote-debugging-pipe",
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-sync",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--autoplay-policy=no-user-gesture-required",
    // Otherwise addresses are hidden behind names that only a multicast resolver knows.
    "--disable-features=WebRtcHideLocalIpsWithMdns",
];

/// What `sh` runs: the browser ends when the pipe that is its third descriptor is closed, however its parent
/// ended (`--remote-debugging-pipe`).
const LINE: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

/// A running browser; ended when this is dropped, or this process ends.
pub(crate) struct Chromium {
    child: Child,
    /// To wait for a child closes what is still in it.
    _pipes: (Option<ChildStdin>, Option<ChildStdout>),
}

fn program() -> Result<PathBuf, Error> {
    if let Some(named) = std::env::var_os("ANALECTS_CHROMIUM") {
        return Ok(named.into());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = NAMES
        .iter()
        .flat_map(|name| std::env::split_paths(&folders).map(move |of| of.join(name)));
    places.find(|place| place.is_file()).ok_or_else(|| {
        Error::new(
            "there is no Chromium",
            "install it (Debian: apt-get install chromium), or name it in ANALECTS_CHROMIUM",
        )
    })
}

/// The browser's name and version.
///
/// # Errors
/// If there is none, or it cannot be run.
pub fn version() -> Result<String, Error> {
    let program = program()?;
    let output = Command::new(&program).arg("--version").output();
    let output = output.map_err(|error| cannot(&program, &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn cannot(program: &Path, error: &std::io::Error) -> Error {
    Error::new(
        format!("{} cannot be run: {error}", program.display()),
        "install Chromium again",
    )
}

impl Chromium {
    /// Opens `url`, with a new profile in `folder`, called `name`.
    pub(crate) fn open(folder: &Path, name: &str, url: &str) -> Result<Chromium, Error> {
        let program = program()?;
        let profile = folder.join(format!("{PROFILE}{name}"));
        let child = Command::new("sh")
            .args(["-c", LINE, "sh"])
            .arg(&program)
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.map_err(|error| cannot(&program, &error))?;
        Ok(Chromium {
            _pipes: (child.stdin.take(), child.stdout.take()),
            child,
        })
    }

    /// Waits until it has ended, and says how.
    pub(crate) fn wait(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its other processes end with it.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Removes the profiles of all browsers of a trial.
pub fn remove_profiles(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PROFILE)) {
        // A process that is about to end may still write there: what is left is in a temporary folder.
        _ = std::fs::remove_dir_all(entry.path());
    }
}
