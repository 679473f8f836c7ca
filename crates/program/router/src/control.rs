//! The socket by which settings of a process that carries packets are changed.
//!
//! A request is a line of JSON, the settings as pairs of texts; so is the answer, null or what was refused.
//! Who may write to the socket may change them: its owner.

use command::Refused;
use rustix::fs::Mode;
use rustix::process::umask;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::Refusal;
use units::param::Settings;

/// Longest request or answer.
const LONGEST: usize = 16 << 10;
/// How often a request is looked at before it is given up: two seconds.
const LOOKS: u32 = 20;
/// How long an answer is waited for: those of others come first.
const PATIENCE: Duration = Duration::from_secs(5);

/// What changes settings.
pub type Change<'a> = dyn FnMut(&Settings) -> Result<(), Refusal> + 'a;

/// The answer to a request.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ControlAnswer {
    /// What was refused; nothing was changed then.
    refused: Option<String>,
    /// The help against it.
    help: Option<String>,
}

/// The end of the process that carries packets. It never waits.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    asking: Option<Asking>,
}

/// A request that is on its way.
#[derive(Debug)]
struct Asking {
    stream: UnixStream,
    looks: u32,
    text: Vec<u8>,
}

impl Control {
    /// Listens there, in place of a process that was killed; only this process may have the path.
    pub fn open(path: &Path) -> Result<Self, Refused> {
        let failed = |error: std::io::Error| {
            let message = format!("{} cannot be made: {error}", path.display());
            Refused::failed(
                &message,
                "name another folder with --state; nothing was changed",
            )
        };
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => (),
        }
        let before = umask(Mode::from_bits_truncate(0o177));
        let bound = UnixListener::bind(path);
        umask(before);
        let listener = bound.map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Control {
            listener,
            path: path.to_owned(),
            asking: None,
        })
    }

    /// Takes what has come of a request, and answers it when it is whole.
    pub fn answer(&mut self, change: &mut Change<'_>) {
        if self.asking.is_none() {
            let Ok((stream, _)) = self.listener.accept() else {
                return;
            };
            let asking = Asking {
                stream,
                looks: 0,
                text: Vec::new(),
            };
            self.asking = asking
                .stream
                .set_nonblocking(true)
                .is_ok()
                .then_some(asking);
        }
        let Some(asking) = &mut self.asking else {
            return;
        };
        if !asking.read() {
            self.asking = None;
        } else if asking.text.ends_with(b"\n") {
            let answer = answered(&asking.text, change);
            // Who does not read it has gone.
            if let Ok(text) = serde_json::to_string(&answer) {
                _ = asking.stream.write_all((text + "\n").as_bytes());
            }
            self.asking = None;
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.path);
    }
}

impl Asking {
    /// Reads what is there; whether more, or an answer, is to be waited for.
    fn read(&mut self) -> bool {
        self.looks += 1;
        let mut piece = [0; 4096];
        while !self.text.ends_with(b"\n") && self.text.len() <= LONGEST {
            match self.stream.read(&mut piece) {
                Ok(0) => return false,
                Ok(length) => self.text.extend(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return self.looks < LOOKS;
                }
                Err(_) => return false,
            }
        }
        self.text.len() <= LONGEST
    }
}

fn answered(text: &[u8], change: &mut Change<'_>) -> ControlAnswer {
    let settings = serde_json::from_slice::<Vec<(String, String)>>(text);
    let changed = match settings {
        Ok(settings) => change(&settings),
        Err(error) => Err(Refusal::new(format!("not a request of analects: {error}"))),
    };
    match changed {
        Ok(()) => ControlAnswer {
            refused: None,
            help: None,
        },
        Err(refusal) => ControlAnswer {
            refused: Some(refusal.message),
            help: refusal.help,
        },
    }
}

/// Asks the process at `path` to change settings; `word` is its command.
pub fn ask(path: &Path, word: &str, settings: &Settings) -> Result<(), Refused> {
    let none = |error: std::io::Error| {
        let message = match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
                format!("no `analects {word}` runs here")
            }
            _ => format!("{}: {error}", path.display()),
        };
        let help = "`analects change` takes the privileges, the network namespace and the --state of the process that it changes";
        Refused::failed(&message, help)
    };
    let mut stream = UnixStream::connect(path).map_err(none)?;
    let answer = converse(&mut stream, settings);
    let answer = answer.map_err(|error| {
        let message = format!("`analects {word}` does not answer: {error}");
        Refused::failed(&message, "whether it changed its settings is not known")
    })?;
    match answer.refused {
        None => Ok(()),
        Some(message) => Err(Refused::new(
            &message,
            answer.help.as_deref().unwrap_or_default(),
        )),
    }
}

fn converse(stream: &mut UnixStream, settings: &Settings) -> std::io::Result<ControlAnswer> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let text = serde_json::to_string(settings)? + "\n";
    stream.write_all(text.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST as u64).read_to_end(&mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket, and what it was told.
    fn told(said: &[u8], rounds: usize) -> (Vec<(String, String)>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut control = Control::open(&path).unwrap();
        let mut client = UnixStream::connect(&path).unwrap();
        let (mut all, mut seen) = (Vec::new(), Vec::new());
        for piece in said.chunks(said.len().div_ceil(rounds).max(1)) {
            _ = client.write_all(piece);
            control.answer(&mut |settings| {
                seen.extend(settings.to_vec());
                match settings.first() {
                    Some((key, _)) if key == "bad" => {
                        Err(Refusal::new("bad: no").with_help("good"))
                    }
                    _ => Ok(()),
                }
            });
        }
        drop(control);
        _ = client.read_to_end(&mut all);
        assert!(!path.exists());
        (seen, String::from_utf8(all).unwrap())
    }

    #[test]
    fn settings_are_changed_and_refused() {
        let settings = vec![("down".to_owned(), "40mbit".to_owned())];
        let good = "{\"refused\":null,\"help\":null}\n";
        for rounds in [1, 3] {
            let (seen, answer) = told(b"[[\"down\",\"40mbit\"]]\n", rounds);
            assert_eq!((seen, answer.as_str()), (settings.clone(), good));
        }
        let (_, answer) = told(b"[[\"bad\",\"1\"]]\n", 1);
        assert_eq!(answer, "{\"refused\":\"bad: no\",\"help\":\"good\"}\n");
    }

    #[test]
    fn what_is_no_request_changes_nothing() {
        for said in [&b"\n"[..], b"{}\n", b"[[1,2]]\n", b"\xff\n", b"[[\"a\"]]\n"] {
            let (seen, answer) = told(said, 1);
            assert!(
                seen.is_empty() && answer.contains("not a request"),
                "{answer}"
            );
        }
        // One that never ends, too long or not, is given up.
        for endless in [vec![b'['; 3 * LONGEST], b"[[".to_vec()] {
            assert_eq!(told(&endless, 1), (Vec::new(), String::new()));
        }
    }

    #[test]
    fn nobody_there() {
        let folder = tempfile::tempdir().unwrap();
        let refused = ask(&folder.path().join("socket"), "gateway", &[]).unwrap_err();
        assert_eq!(refused.to_string(), "no `analects gateway` runs here");
        // One that was killed leaves its socket.
        let path = folder.path().join("left");
        drop(UnixListener::bind(&path).unwrap());
        let refused = ask(&path, "gateway", &[]).unwrap_err();
        assert_eq!(refused.to_string(), "no `analects gateway` runs here");
        drop(Control::open(&path).unwrap());
    }
}
