//! The outside world behind the far side of a link, by `slirp4netns`: it makes connections of its own for
//! those that come from the link, in user space, so that the host's addresses, routes and filters stay as
//! they are.

use crate::Error;
use crate::forward::forward;
use std::env::{split_paths, var_os};
use std::fs::read_to_string;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio, id};
use std::thread::sleep;
use std::time::Duration;

/// The program.
const TRANSLATOR: &str = "slirp4netns";
/// Its device, and the resolver that it offers: slirp4netns(1).
const DEVICE: &str = "tap0";
/// Answers what the host's own resolver knows.
pub const RESOLVER: &str = "10.0.2.3";
/// How often it is seen whether it is ready, and how many times.
const OFTEN: Duration = Duration::from_millis(20);
const TIMES: u32 = 250;

/// The translator. It ends when this is dropped, or with this process.
pub struct Internet {
    child: Child,
    /// It reads from it, and ends when it is closed.
    orders: Option<ChildStdin>,
}

impl Internet {
    /// Starts it in the network of the caller, where it waits.
    ///
    /// # Errors
    /// If it is not there.
    pub fn prepare() -> Result<Internet, Error> {
        let paths = var_os("PATH").unwrap_or_default();
        if !split_paths(&paths).any(|folder| folder.join(TRANSLATOR).is_file()) {
            let message =
                format!("{TRANSLATOR} is not installed, by which the link reaches the Internet");
            return Err(Error::new(message, "apt install slirp4netns"));
        }
        let line = format!(
            "read -r process && exec {TRANSLATOR} --configure --mtu=65520 --disable-host-loopback \
             --exit-fd=0 \"$process\" {DEVICE}"
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            // Ctrl-C is the command's: a shell there goes on.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let orders = child.stdin.take();
        Ok(Internet { child, orders })
    }

    /// Connects this process's network, which is another one than before.
    ///
    /// # Errors
    /// If the translator fails, or the kernel lacks a part.
    pub fn connect(&mut self) -> Result<(), Error> {
        if let Some(orders) = &mut self.orders {
            writeln!(orders, "{}", id()).map_err(|error| failed(&error.to_string()))?;
        }
        let mut tries = 0;
        while !is_routed() {
            if tries == TIMES || !matches!(self.child.try_wait(), Ok(None)) {
                return Err(failed(&self.complaint()));
            }
            tries += 1;
            sleep(OFTEN);
        }
        forward(DEVICE, false)
    }

    /// The last line of its errors.
    fn complaint(&mut self) -> String {
        _ = self.child.kill();
        let mut text = String::new();
        if let Some(errors) = &mut self.child.stderr {
            _ = errors.read_to_string(&mut text);
        }
        text.lines()
            .last()
            .unwrap_or("it gives no reason")
            .to_owned()
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        self.orders = None;
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn failed(reason: &str) -> Error {
    Error::new(
        format!("{TRANSLATOR} does not connect the link to the Internet: {reason}"),
        "see whether slirp4netns works by itself, or leave --internet out",
    )
}

/// Whether there is a default route by the translator's device, in this thread's network.
fn is_routed() -> bool {
    let routes = read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    routes.lines().any(|route| {
        let mut fields = route.split_ascii_whitespace();
        fields.next() == Some(DEVICE) && fields.next() == Some("00000000")
    })
}
