//! A link between two devices, for as long as a command runs.

use crate::clock::{Clock, processor_seconds};
use crate::devices::{self, Addresses, LONGEST, Tun};
use crate::far::{Ended, Far, code, far_address};
use crate::forward::forward;
use crate::inside::Inside;
use crate::internet::Internet;
use crate::prompt::{SchedulerPolicy, run_first};
use crate::segments::Joined;
use crate::signals::Signals;
use crate::taken::Known;
use crate::tap::{SharedTap, TapDirection};
use crate::user::{FarSide, enter};
use crate::warden::Warden;
use crate::{Error, Frame, Lateness, LinkWay, WayCounts};
use link::{Capacity, Link};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::OsString;
use std::hash::RandomState;
use std::os::fd::OwnedFd;
use std::process::Child;
use units::{Duration, Instant};

/// Packets that are read from a device before the other one has its turn.
const BATCH: usize = 64;
/// Time without arrivals after which the link is idle.
const QUIET: Duration = Duration::from_millis(20);
/// How long a signal may wait that comes while a program is started.
const PATIENCE: Duration = Duration::from_millis(100);
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
    /// The command and its words.
    pub command: Vec<OsString>,
    /// A line for `sh`, run at the far side meanwhile.
    pub far: Option<OsString>,
    /// A port of the far side at which something must listen before the command begins.
    pub far_ready: Option<u16>,
    /// Whether the far side is this host's own network.
    pub host: bool,
    /// Whether the Internet is to be reached through the link.
    pub internet: bool,
    /// The round trip without queues.
    pub rtt: Duration,
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
    /// Where that was.
    pub far_side: FarSide,
    /// Why the far side of the link that this one is behind was not reached; none if it was, or there is none.
    pub cut_off: Option<String>,
    /// How what ran at the far side ended before the command did, if so.
    pub far_ended: Option<Ended>,
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
    pub down: WayCounts,
    /// Packets from it.
    pub up: WayCounts,
    /// Packets that this process did not read in time.
    pub missed: u64,
    /// By how much packets were handed on too late.
    pub late: Lateness,
    /// By which class the packets' thread ran.
    pub class: SchedulerPolicy,
    /// Why the figures are not to be believed; none if they are.
    pub doubt: Option<String>,
}

/// Runs a command behind a link.
///
/// # Errors
/// If namespaces or devices cannot be made, or the command cannot be started.
pub fn run(setup: Setup) -> Result<Done, Error> {
    let mut internet = setup.internet.then(Internet::prepare).transpose()?;
    let before = devices::way_out();
    let far_side = enter(setup.host, setup.internet)?;
    if let Some(internet) = &mut internet {
        internet.connect()?;
    }
    let signals = Signals::catch()?;
    let (outside, pair) = outer(far_side)?;
    let addresses = Addresses {
        pair,
        inside: false,
    };
    let ipv6 = devices::has_ipv6(pair);
    let cut_off = match far_side {
        FarSide::Behind => behind(ipv6).err(),
        FarSide::Own => before.filter(|_| !setup.internet).map(|_| not_its_root()),
        FarSide::Host => None,
    };
    let burst = burst([&setup.down, &setup.up].map(Link::capacity));
    devices::configure(addresses, burst, ipv6)?;
    let (inside, near) = Inside::make(addresses.other(), burst, setup.internet, ipv6)?;
    let mut warden = Warden::start()?;
    let far = setup.far.as_deref();
    let mut far = far.map(|line| Far::run(line, pair)).transpose()?;
    warden.watch(&inside.network, far.as_ref().map(Far::group));
    if let (Some(port), Some(far)) = (setup.far_ready, &mut far) {
        far.wait_until_ready(port, &far_address(pair), &signals)?;
    }
    let child = inside.run(&setup.command)?;
    // After it has started the programs, which are no more urgent than others.
    let class = run_first();
    let (rtt, mut bridge) = (setup.rtt, Bridge::new(setup, near, outside)?);
    let status = bridge.serve(child, &mut far, &signals)?;
    let far_ended = far.as_mut().and_then(Far::ended);
    bridge.linger()?;
    drop(far);
    drop(warden);
    let missed = inside.missed() + devices::missed(pair);
    Ok(Done {
        status,
        far: far_address(pair),
        far_side,
        cut_off: cut_off.map(|Error { message, help, .. }| format!("{message}: {help}")),
        far_ended,
        names_asked: inside.names_asked(),
        unanswered: bridge.asked && !bridge.answered,
        ipv6,
        seconds: bridge.clock.now().as_secs_f64(),
        processor_seconds: processor_seconds(),
        down: bridge.down.counts().clone(),
        up: bridge.up.counts().clone(),
        missed,
        doubt: bridge.late.doubt(rtt, missed),
        late: bridge.late,
        class,
    })
}

/// Largest size of a packet that is still to be cut into segments when it is read: the bytes of a millisecond. Where a rate
/// changes they are cut here.
fn burst(ways: [&Capacity; 2]) -> u32 {
    let of = |way: &Capacity| way.nominal().bytes_in(Duration::from_millis(1));
    let [down, up] = ways.map(|way| (!changes(way)).then(|| of(way)));
    let least = down.zip(up).map_or(u64::MAX, |(down, up)| down.min(up));
    u32::try_from(least).unwrap_or(u32::MAX)
}

/// Whether it may be slow at any time.
fn changes(capacity: &Capacity) -> bool {
    matches!(capacity, Capacity::Trace(_))
}

/// The first device name of ours that is free. Behind another link it is larger than that one's, so that the
/// addresses before it stay what they are.
fn outer(far_side: FarSide) -> Result<(Tun, u8), Error> {
    let known = Known::now();
    let least = match far_side {
        FarSide::Behind => devices::largest().map_or(0, |pair| pair + 1),
        FarSide::Own | FarSide::Host => 0,
    };
    // Where a route covers them all, those that nobody on it is known to have.
    let free = |pair: &u8| !known.covers(*pair);
    let (free, covered): (Vec<u8>, Vec<u8>) = (least..PAIRS).partition(free);
    let covered = covered.into_iter().filter(|pair| !known.has(*pair));
    for pair in free.into_iter().chain(covered) {
        if let Some(tun) = Tun::make(pair)? {
            return Ok((tun, pair));
        }
    }
    let message = format!("{PAIRS} links run here already");
    Err(Error::new(message, "end one of them"))
}

/// Why a link that another user started behind another link has a network of its own.
fn not_its_root() -> Error {
    let message = "only its root lets packets pass there";
    Error::new(message, "start both links as one user")
}

/// Lets packets of this link pass the one that it is behind.
fn behind(ipv6: bool) -> Result<(), Error> {
    match devices::way_out() {
        Some(device) => forward(&device, ipv6),
        None => Ok(()),
    }
}

/// What else is waited for while the command runs.
struct Watched<'a> {
    /// Readable once the command has ended.
    ended: &'a OwnedFd,
    /// The same of what runs at the far side.
    far: Option<&'a OwnedFd>,
    signals: &'a Signals,
}

/// Both ways, and the devices at their ends.
struct Bridge {
    clock: Clock,
    down: LinkWay,
    up: LinkWay,
    /// The device inside.
    near: Tun,
    outside: Tun,
    salt: RandomState,
    scratch: Vec<u8>,
    joined: Joined,
    /// Whether the command sent something to a host.
    asked: bool,
    /// Whether a host sent it something.
    answered: bool,
    late: Lateness,
    tap: Option<SharedTap>,
    /// When the tap is next told the state of the queues, and how often.
    looks: Option<(Instant, Duration)>,
}

impl Bridge {
    fn new(setup: Setup, near: Tun, outside: Tun) -> Result<Self, Error> {
        let cuts = [&setup.down, &setup.up].map(Link::capacity);
        let cuts = cuts.into_iter().any(changes);
        let way = |link, direction| {
            let way = LinkWay::new(link).cutting(cuts);
            match &setup.tap {
                Some(tap) => way.with_tap(direction, tap.clone()),
                None => way,
            }
        };
        let interval = setup.tap.as_ref().and_then(|tap| tap.borrow().interval());
        Ok(Bridge {
            looks: interval.map(|interval| (Instant::ZERO, interval)),
            tap: setup.tap.clone(),
            clock: Clock::start(),
            down: way(setup.down, TapDirection::Down),
            up: way(setup.up, TapDirection::Up),
            near,
            outside,
            salt: RandomState::new(),
            scratch: vec![0; LONGEST],
            joined: Joined::default(),
            asked: false,
            answered: false,
            late: Lateness::new()?,
        })
    }

    /// Carries packets until the command ends.
    fn serve(
        &mut self,
        mut child: Child,
        far: &mut Option<Far>,
        signals: &Signals,
    ) -> Result<u8, Error> {
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(broke)?;
        loop {
            let watched = Watched {
                ended: &ended,
                far: far.as_ref().and_then(Far::pidfd),
                signals,
            };
            if self.step(Some(watched), PATIENCE)? {
                break;
            }
            signals.pass(&child);
            far.as_mut().and_then(Far::ended);
        }
        let status = child.wait();
        let status = status.map_err(|error| Error::new(error.to_string(), "begin again"))?;
        Ok(code(status))
    }

    /// Carries the packets that are still under way when the command has ended: a peer that does not see a
    /// connection end waits for it.
    fn linger(&mut self) -> Result<(), Error> {
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
        Ok(())
    }

    /// The next due time.
    fn due(&self) -> Instant {
        self.down.due().min(self.up.due())
    }

    /// Waits for work, for `most` at most, and does it; returns whether the command has ended.
    fn step(&mut self, watched: Option<Watched<'_>>, most: Duration) -> Result<bool, Error> {
        self.hand_on();
        self.look();
        let wait = self.due().since(self.clock.now()).min(most);
        let mut polled = vec![
            PollFd::new(&self.near, PollFlags::IN),
            PollFd::new(&self.outside, PollFlags::IN),
        ];
        if let Some(Watched {
            ended,
            far,
            signals,
        }) = watched
        {
            polled.push(PollFd::new(ended, PollFlags::IN));
            polled.push(PollFd::new(signals, PollFlags::IN));
            polled.extend(far.map(|far| PollFd::new(far, PollFlags::IN)));
        }
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
            let due = way.due();
            if due > now {
                continue;
            }
            while let Some((frame, at)) = way.arrived(now) {
                // Those that arrived before are due with the last.
                self.late.record(now.since(at.max(due)));
                let free = self
                    .joined
                    .add(frame, &mut |frame| write(device, way, frame));
                free.into_iter().for_each(|frame| way.done(frame));
            }
            self.joined.end(&mut |frame| write(device, way, frame));
        }
    }
}

/// Packets that the kernel refuses, such as a truncated one, are lost as on a wire.
fn write(device: &Tun, way: &mut LinkWay, frame: Frame) {
    device.write(&frame);
    way.done(frame);
}

fn broke(error: Errno) -> Error {
    Error::new(format!("the link broke: {error}"), "begin again")
}

/// Reads the packets of a device; returns whether one was for a host.
fn read(
    clock: &Clock,
    device: &Tun,
    way: &mut LinkWay,
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
