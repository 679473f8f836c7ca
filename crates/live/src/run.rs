//! A link between two devices, for as long as a command runs.

use crate::clock::{Clock, processor_seconds};
use crate::devices::{self, Addresses, LONGEST, Tun};
use crate::far::{Far, far_address};
use crate::inside::Inside;
use crate::internet::Internet;
use crate::prompt::run_first;
use crate::taken::Known;
use crate::tap::{Direction, SharedTap};
use crate::warden::Warden;
use crate::{Counts, Error, Frame, Way, user};
use hdrhistogram::Histogram;
use link::Link;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::ffi::OsString;
use std::hash::RandomState;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Instant};

/// Packets that are read from a device before the other one has its turn.
const BATCH: usize = 64;
/// Time without arrivals after which the link is idle.
const QUIET: Duration = Duration::from_millis(20);
/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(100);
/// Larger delays are counted as this, in nanoseconds: a minute.
const LATEST: u64 = 60_000_000_000;
/// Packets that come later than this at the 99th percentile, in microseconds, are not those of the link.
pub const BELIEVED_US: f64 = 1000.0;
/// How long packets may still be under way when the command has ended.
const LINGER: Duration = Duration::from_secs(1);
/// Pairs of addresses that there are.
const PAIRS: u8 = 63;

/// The command to run, and the link in front of it.
pub struct Setup {
    /// Towards the command.
    pub down: Link<Frame>,
    /// Away from it.
    pub up: Link<Frame>,
    /// Largest size of a packet that is still to be cut into segments: the bytes of a millisecond.
    pub burst: u32,
    /// The command and its words.
    pub command: Vec<OsString>,
    /// A line for `sh`, run at the far side meanwhile.
    pub far: Option<OsString>,
    /// Whether the Internet is to be reached through the link.
    pub internet: bool,
    /// Is told of the packets that leave the queues.
    pub tap: Option<SharedTap>,
}

/// The outcome.
#[derive(Debug, Clone)]
pub struct Done {
    /// How the command ended, as a shell has it: its status, or 128 and the signal that ended it.
    pub status: u8,
    /// The address of the far side.
    pub far: String,
    /// Whether the far side was this host's own network, not an empty one.
    pub far_is_host: bool,
    /// Whether the command sent something to a host, and nothing came back.
    pub unanswered: bool,
    /// Look-ups of names that were answered with none, for lack of the Internet.
    pub names_asked: u64,
    /// Whether the link had IPv6, which the host may have switched off.
    pub ipv6: bool,
    /// How long it ran, seconds.
    pub seconds: f64,
    /// The processor's time that this process took, seconds.
    pub processor_seconds: f64,
    /// Packets towards the command.
    pub down: Counts,
    /// Packets from it.
    pub up: Counts,
    /// Packets that this process did not read in time.
    pub missed: u64,
    /// By how much packets were handed on too late, in nanoseconds.
    pub late: Histogram<u64>,
}

/// Runs a command behind a link.
///
/// # Errors
/// If namespaces or devices cannot be made, or the command cannot be started.
pub fn run(setup: Setup) -> Result<Done, Error> {
    let mut internet = setup.internet.then(Internet::prepare).transpose()?;
    let far_is_host = user::enter(setup.internet)?;
    if let Some(internet) = &mut internet {
        internet.connect()?;
    }
    let signals = Signals::catch()?;
    let (outside, pair) = outer()?;
    let addresses = Addresses {
        pair,
        inside: false,
    };
    let ipv6 = devices::has_ipv6(pair);
    devices::configure(addresses, setup.burst, ipv6)?;
    let (inside, near) = Inside::make(addresses.other(), setup.burst, setup.internet, ipv6)?;
    let mut warden = Warden::start()?;
    let far = setup.far.as_deref();
    let far = far.map(|line| Far::run(line, pair)).transpose()?;
    warden.watch(&inside.network, far.as_ref().map(Far::group));
    let child = inside.run(&setup.command)?;
    // After it has started the programs, which are no more urgent than others.
    run_first();
    let way = |link, direction| match &setup.tap {
        Some(tap) => Way::new(link).with_tap(direction, tap.clone()),
        None => Way::new(link),
    };
    let interval = setup.tap.as_ref().and_then(|tap| tap.borrow().interval());
    let mut bridge = Bridge {
        looks: interval.map(|interval| (Instant::ZERO, interval)),
        tap: setup.tap.clone(),
        clock: Clock::start(),
        down: way(setup.down, Direction::Down),
        up: way(setup.up, Direction::Up),
        near,
        outside,
        salt: RandomState::new(),
        scratch: vec![0; LONGEST],
        asked: false,
        answered: false,
        late: Histogram::new_with_max(LATEST, 2)
            .map_err(|error| Error::new(error.to_string(), "report this"))?,
    };
    let status = bridge.serve(child, &signals)?;
    drop(far);
    drop(warden);
    Ok(Done {
        status,
        far: far_address(pair),
        far_is_host,
        names_asked: inside.names_asked(),
        unanswered: bridge.asked && !bridge.answered,
        ipv6,
        seconds: bridge.clock.now().as_secs_f64(),
        processor_seconds: processor_seconds(),
        down: bridge.down.counts().clone(),
        up: bridge.up.counts().clone(),
        missed: inside.missed() + devices::missed(pair),
        late: bridge.late,
    })
}

/// The first device name of ours that is free.
fn outer() -> Result<(Tun, u8), Error> {
    let known = Known::now();
    // Where a route covers them all, those that nobody on it is known to have.
    let free = |pair: &u8| !known.covers(*pair);
    let (free, covered): (Vec<u8>, Vec<u8>) = (0..PAIRS).partition(free);
    let covered = covered.into_iter().filter(|pair| !known.has(*pair));
    for pair in free.into_iter().chain(covered) {
        if let Some(tun) = Tun::make(pair)? {
            return Ok((tun, pair));
        }
    }
    let message = format!("{PAIRS} links run here already");
    Err(Error::new(message, "end one of them"))
}

/// Signals that are the command's: a terminal sends SIGINT and SIGQUIT to both.
struct Signals {
    passed: Vec<(Signal, Arc<AtomicBool>)>,
}

impl Signals {
    fn catch() -> Result<Self, Error> {
        let failed = |error: std::io::Error| {
            Error::new(format!("signals cannot be caught: {error}"), "begin again")
        };
        for signal in [SIGINT, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::default()).map_err(failed)?;
        }
        let mut passed = Vec::new();
        for (number, signal) in [(SIGTERM, Signal::TERM), (SIGHUP, Signal::HUP)] {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, Arc::clone(&flag)).map_err(failed)?;
            passed.push((signal, flag));
        }
        Ok(Signals { passed })
    }

    fn pass(&self, child: Pid) {
        for (signal, flag) in &self.passed {
            if flag.swap(false, Ordering::Relaxed) {
                // It may have ended by now.
                _ = kill_process(child, *signal);
            }
        }
    }
}

/// Both ways, and the devices at their ends.
struct Bridge {
    clock: Clock,
    down: Way,
    up: Way,
    /// The device inside.
    near: Tun,
    outside: Tun,
    salt: RandomState,
    scratch: Vec<u8>,
    /// Whether the command sent something to a host.
    asked: bool,
    /// Whether a host sent it something.
    answered: bool,
    late: Histogram<u64>,
    tap: Option<SharedTap>,
    /// When the tap is next told the state of the queues, and how often.
    looks: Option<(Instant, Duration)>,
}

impl Bridge {
    /// Carries packets until the command ends, and those that are under way then: a peer that does not
    /// see a connection end waits for it.
    fn serve(&mut self, mut child: Child, signals: &Signals) -> Result<u8, Error> {
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(broke)?;
        while !self.step(Some(&ended), PATIENCE)? {
            signals.pass(pid);
        }
        let status = child.wait();
        let status = status.map_err(|error| Error::new(error.to_string(), "begin again"))?;
        let end = self.clock.now() + LINGER;
        let moved = |bridge: &Bridge| bridge.up.counts().packets + bridge.down.counts().packets;
        let mut before = None;
        while self.clock.now() < end && before != Some(moved(self)) {
            before = Some(moved(self));
            let quiet = self.clock.now() + QUIET;
            while self.clock.now() < quiet || self.due() != Instant::NEVER {
                self.step(None, QUIET)?;
                if self.clock.now() >= end {
                    break;
                }
            }
        }
        Ok(code(status))
    }

    /// The next due time.
    fn due(&self) -> Instant {
        self.down.due().min(self.up.due())
    }

    /// Waits for work, for `most` at most, and does it; returns whether the command has ended.
    fn step(&mut self, ended: Option<&OwnedFd>, most: Duration) -> Result<bool, Error> {
        self.hand_on();
        self.look();
        let wait = self.due().since(self.clock.now()).min(most);
        let mut polled = vec![
            PollFd::new(&self.near, PollFlags::IN),
            PollFd::new(&self.outside, PollFlags::IN),
        ];
        polled.extend(ended.map(|ended| PollFd::new(ended, PollFlags::IN)));
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait.as_nanos() as i64,
        };
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => (),
            Err(error) => return Err(broke(error)),
        }
        let ready = |place: usize| polled.get(place).is_some_and(|fd| !fd.revents().is_empty());
        let (near, outside, ended) = (ready(0), ready(1), ready(2));
        let (clock, scratch, salt) = (&self.clock, &mut self.scratch, &self.salt);
        if near {
            self.asked |= read(clock, &self.near, &mut self.up, scratch, salt)?;
        }
        if outside {
            self.answered |= read(clock, &self.outside, &mut self.down, scratch, salt)?;
        }
        Ok(ended)
    }

    /// Tells the tap the state of the queues, if that is due.
    fn look(&mut self) {
        let (Some(tap), Some((due, interval))) = (&self.tap, &mut self.looks) else {
            return;
        };
        let now = self.clock.now();
        if now >= *due {
            *due = now + *interval;
            let states = [self.down.state(), self.up.state()];
            tap.borrow_mut().state(now, states);
        }
    }

    /// Hands on the packets that have arrived.
    fn hand_on(&mut self) {
        let now = self.clock.now();
        for (way, device) in [(&mut self.down, &self.near), (&mut self.up, &self.outside)] {
            while let Some((frame, at)) = way.arrived(now) {
                // Packets that the kernel refuses, such as a truncated one, are lost as on a wire.
                device.write(&frame);
                self.late.saturating_record(now.since(at).as_nanos().max(1));
                way.done(frame);
            }
        }
    }
}

fn broke(error: Errno) -> Error {
    Error::new(format!("the link broke: {error}"), "begin again")
}

/// Reads the packets of a device; returns whether one was for a host.
fn read(
    clock: &Clock,
    device: &Tun,
    way: &mut Way,
    scratch: &mut [u8],
    salt: &RandomState,
) -> Result<bool, Error> {
    let mut unicast = false;
    for _ in 0..BATCH {
        let mut buffer = way.buffer();
        if !device.read(scratch, &mut buffer)? {
            way.done(Frame::new(buffer));
            return Ok(unicast);
        }
        let frame = Frame::new(buffer);
        unicast = unicast || frame.is_unicast();
        let header = frame.header(salt);
        way.take(clock.now(), frame, header);
    }
    Ok(unicast)
}

/// As a shell has it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}
