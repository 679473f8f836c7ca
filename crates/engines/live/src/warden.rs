//! What ends the programs of a link that is killed: KILL leaves this process no time to do it.
//!
//! A parent-death signal (prctl(2)) would reach the command alone, and not what it has started. All of that is in
//! the link's network, which nothing else is in, except for links within it, whose own wardens end them.

use crate::Error;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

/// How other wardens know one by its command line: they must not end it.
const NAME: &str = "analects-warden";

/// Reads where the network is and the process group of the far side, `0` for none; waits until the link is gone; then
/// ends the group, and what is in the network, until nothing is, for a second. A process that is starting another is
/// stopped by one of the further looks. A look starts no program for those of other networks: on a busy host with
/// many processes that took longer than the second.
const SCRIPT: &str = r#"
read -r network group || exit 0
exec 3<"$network"
read -r over && exit 0
[ "$group" = 0 ] || kill -9 "-$group" 2>/dev/null
tries=0
while [ $tries -lt 20 ]; do
    found=
    for place in /proc/[0-9]*; do
        [ "$place/ns/net" -ef /proc/self/fd/3 ] || continue
        case $(tr '\0' ' ' <"$place/cmdline" 2>/dev/null) in
            *analects-warden*) continue ;;
        esac
        kill -9 "${place#/proc/}" 2>/dev/null && found=yes
    done
    [ -n "$found" ] || exit 0
    tries=$((tries + 1))
    sleep 0.05
done
"#;

/// A process that ends the link's programs if this one is killed. Dropped, it ends without a word.
pub struct Warden {
    child: Child,
    /// It waits for its end.
    orders: Option<ChildStdin>,
}

impl Warden {
    /// Starts it, beside the far side.
    ///
    /// # Errors
    /// If `sh` cannot be run.
    pub fn start() -> Result<Warden, Error> {
        let mut child = Command::new("sh")
            .args(["-c", SCRIPT, NAME])
            // A terminal's signals are for the command, and a signal to this process's group not for the warden.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Error::new(format!("sh cannot be run: {error}"), "install a shell"))?;
        let orders = child.stdin.take();
        Ok(Warden { child, orders })
    }

    /// Tells it the file of the network that the command is in, and the process group of what runs at the far side.
    pub fn watch(&mut self, network: &str, group: Option<u32>) {
        let line = format!("{network} {}\n", group.unwrap_or(0));
        if let Some(orders) = &mut self.orders {
            // If it is gone already, somebody ended it on purpose.
            _ = orders.write_all(line.as_bytes());
        }
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        self.orders = None;
    }
}
