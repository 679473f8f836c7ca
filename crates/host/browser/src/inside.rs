//! Behind the link: the receiver of the call, and who opens pages beside it.

use crate::chromium::Chromium;
use crate::far::ADDRESS;
use crate::trial::Trial;
use crate::{Error, now};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// For the server, the browsers' start, and a last page that takes long.
const SPARE: Duration = Duration::from_secs(60);
const OFTEN: Duration = Duration::from_millis(100);
/// For an answer of the server.
const PATIENCE: Duration = Duration::from_secs(10);

/// Does what the trial in `folder` says, until it is over. Standard input is a pipe that whoever wants the
/// trial holds open.
///
/// # Errors
/// If there is no server or no browser, the trial takes a minute longer than it should, or nobody wants it
/// any more.
pub fn inside(folder: &Path) -> Result<(), Error> {
    let trial = Trial::read(folder)?;
    let planned = Duration::from_secs(u64::from(trial.warmup) + u64::from(trial.seconds));
    let until = now() + planned + SPARE;
    let server = server(folder, until)?;
    let receiver = Chromium::open(folder, "receiver", &format!("http://{server}/receive"))?;
    let visitor = Chromium::open(folder, "visitor", &format!("http://{server}/visit"))?;
    let abandoned = abandoned();
    while !is_over(&server) {
        if abandoned.load(Relaxed) {
            return Err(Error::new("nobody waits for this trial", "begin again"));
        }
        if now() > until {
            return Err(Error::new(
                "the call did not come about, or pages take too long",
                "choose a faster link, fewer pages, or a machine with more cores",
            ));
        }
        sleep(OFTEN);
    }
    drop((receiver, visitor));
    Ok(())
}

/// Becomes true at the end of standard input.
fn abandoned() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let ours = Arc::clone(&flag);
    std::thread::spawn(move || {
        _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        ours.store(true, Relaxed);
    });
    flag
}

fn server(folder: &Path, until: Instant) -> Result<String, Error> {
    while now() < until {
        match std::fs::read_to_string(folder.join(ADDRESS)) {
            Ok(address) if !address.is_empty() => return Ok(address),
            _ => sleep(OFTEN),
        }
    }
    Err(Error::new(
        "the far side does not serve",
        "see its messages",
    ))
}

/// Whether the visitor has left word that all is over; the server holds the question back for a while.
fn is_over(server: &str) -> bool {
    let asked = || {
        let mut stream = TcpStream::connect(server)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET /get/over HTTP/1.1\r\nHost: {server}\r\n\r\n")?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok::<_, std::io::Error>(answer == *b"HTTP/1.1 200")
    };
    asked().unwrap_or(false)
}
