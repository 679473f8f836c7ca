//! The place behind the link: a network namespace with a device and a command.

use crate::devices::{self, Addresses, Tun, has_ipv6};
use crate::far::{FAR, far_address};
use crate::internet::RESOLVER;
use crate::names::{NOBODY, refuse};
use crate::signals::unblocked;
use crate::{Error, devices::missed, may};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::thread::gettid;
use std::env::temp_dir;
use std::ffi::OsString;
use std::fs::{read_to_string, remove_file, write};
use std::path::Path;
use std::process::{Child, Command, id};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Who is asked for names.
const RESOLV: &str = "/etc/resolv.conf";

/// A thread that lives in the namespace.
pub struct Inside {
    orders: Sender<Order>,
    answers: Receiver<InsideAnswer>,
    thread: Option<JoinHandle<()>>,
    /// The file of the namespace.
    pub network: String,
    /// Look-ups of names that nobody there can answer.
    asked: Arc<AtomicU64>,
}

/// What was made in the namespace.
struct Made {
    tun: Tun,
    network: String,
    asked: Arc<AtomicU64>,
}

enum Order {
    Run(Vec<OsString>),
    Missed,
}

enum InsideAnswer {
    Made(Result<Made, Error>),
    Runs(Result<Child, Error>),
    Missed(u64),
}

impl Inside {
    /// Makes the namespace, and a device in it, with IPv6 if the other end has it. With `internet`, names are resolved through the link, too.
    ///
    /// # Errors
    /// If that is not permitted.
    pub fn make(
        addresses: Addresses,
        burst: u32,
        internet: bool,
        ipv6: bool,
    ) -> Result<(Inside, Tun), Error> {
        let (orders, received) = channel();
        let (answer, answers) = channel();
        let thread = std::thread::spawn(move || {
            let made = prepare(addresses, burst, internet, ipv6);
            let good = made.is_ok();
            if answer.send(InsideAnswer::Made(made)).is_ok() && good {
                serve(addresses.pair, &received, &answer);
            }
        });
        let mut inside = Inside {
            orders,
            answers,
            thread: Some(thread),
            network: String::new(),
            asked: Arc::default(),
        };
        let Ok(InsideAnswer::Made(made)) = inside.answers.recv() else {
            return Err(gone());
        };
        let made = made?;
        (inside.network, inside.asked) = (made.network, made.asked);
        Ok((inside, made.tun))
    }

    /// Runs a command there.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&self, command: &[OsString]) -> Result<Child, Error> {
        _ = self.orders.send(Order::Run(command.to_vec()));
        match self.answers.recv() {
            Ok(InsideAnswer::Runs(child)) => child,
            _ => Err(gone()),
        }
    }

    /// Look-ups of names that were answered with none.
    pub fn names_asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Packets that were dropped on the way out of the namespace, before this process read them.
    pub fn missed(&self) -> u64 {
        _ = self.orders.send(Order::Missed);
        match self.answers.recv() {
            Ok(InsideAnswer::Missed(packets)) => packets,
            _ => 0,
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // The thread ends when no sender of orders is left.
        (self.orders, _) = channel();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn gone() -> Error {
    Error::new("the namespace is gone", "begin again")
}

fn serve(pair: u8, orders: &Receiver<Order>, answers: &Sender<InsideAnswer>) {
    while let Ok(order) = orders.recv() {
        let answer = match order {
            Order::Run(command) => InsideAnswer::Runs(start(&command, pair)),
            Order::Missed => InsideAnswer::Missed(missed(pair)),
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

fn prepare(addresses: Addresses, burst: u32, internet: bool, ipv6: bool) -> Result<Made, Error> {
    let failed =
        |what: &str, error: nix::Error| Error::new(format!("{what}: {error}"), may::remedy());
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)
        .map_err(|error| failed("a network namespace cannot be made", error))?;
    // Mounts made here are private.
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|error| failed("mounts cannot be made private", error))?;
    mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), none)
        .map_err(|error| failed("/sys of the namespace cannot be mounted", error))?;
    let tun = Tun::make(addresses.pair)?.ok_or_else(gone)?;
    devices::configure(addresses, burst, ipv6 && has_ipv6(addresses.pair))?;
    let asked = names(internet)?;
    Ok(Made {
        tun,
        network: format!("/proc/{}/task/{}/ns/net", id(), gettid()),
        asked,
    })
}

/// Lets programs here resolve names by the Internet, or be told at once that there are none; returns how many
/// were.
fn names(internet: bool) -> Result<Arc<AtomicU64>, Error> {
    if internet {
        resolve_by(RESOLVER)?;
        return Ok(Arc::default());
    }
    // Behind a link that has the Internet, names are resolved through both.
    let before = read_to_string(RESOLV).unwrap_or_default();
    if before == resolving(RESOLVER) {
        return Ok(Arc::default());
    }
    // Where that is not permitted, look-ups take as long as they do, and the link is the same.
    Ok(match refuse() {
        Ok(asked) if resolve_by(&NOBODY.to_string()).is_ok() => asked,
        _ => Arc::default(),
    })
}

/// The lines of a file that names `resolver`.
fn resolving(resolver: &str) -> String {
    format!("nameserver {resolver}\n")
}

/// Lets programs here ask `resolver` for names, whatever the host's file says.
fn resolve_by(resolver: &str) -> Result<(), Error> {
    let (file, none) = (RESOLV, None::<&str>);
    if !Path::new(file).exists() {
        return Ok(());
    }
    let failed = |error: &dyn core::fmt::Display| {
        Error::new(format!("{file} cannot be replaced: {error}"), "begin again")
    };
    let own = temp_dir().join(format!("analects-resolver-{}", id()));
    write(&own, resolving(resolver)).map_err(|error| failed(&error))?;
    let mounted = mount(Some(&own), file, none, MsFlags::MS_BIND, none);
    // The mount holds it.
    remove_file(&own).map_err(|error| failed(&error))?;
    mounted.map_err(|error| failed(&error))
}

fn start(command: &[OsString], pair: u8) -> Result<Child, Error> {
    let Some((program, args)) = command.split_first() else {
        return Err(Error::new("there is no command", "write one behind --"));
    };
    let mut started = Command::new(program);
    let started = started.args(args).env(FAR, far_address(pair));
    unblocked(|| started.spawn()).map_err(|error| {
        let program = program.to_string_lossy();
        let failed = Error::new(
            format!("{program} cannot be run: {error}"),
            "write a command behind --, such as -- sh -c 'ping $ANALECTS_FAR'",
        );
        failed.of_command(&error)
    })
}
