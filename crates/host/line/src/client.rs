//! A measurement from its first look-up to its result.

use crate::apart::Apart;
use crate::config::PlacesConfig;
use crate::connection::{Connection, Meter, SpokenServer};
pub use crate::direction::Way;
use crate::direction::{Bounds, Loaded, Sample, TimeKind, fill};
use crate::measured::{Idle, Measured};
use crate::{Problem, Trust, Trusted};
use cca::tonopah::Settings;
use probe::node::ProbeForm;
use probe::report::Management;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep, timeout};
use units::Rate;

/// The header in which a server of ours says what it grants, in bits a second.
pub const GRANTED: &str = "analects-rate";
/// Handshakes that tell how long the idle line's round trip is, and between them.
const IDLE: usize = 10;
const APART: Duration = Duration::from_millis(50);

/// Before a look at the queue, and how often that is tried where the server refuses.
const AFTER: Duration = Duration::from_millis(200);
const TRIES: usize = 5;
/// How long a server that had a look's last packet lost may take until it takes connections again.
const TAKEN: Duration = Duration::from_secs(12);
/// How often a request to end is looked for before the load.
const HEARD: Duration = Duration::from_millis(50);
/// How long its first answer may take, where a firewall may drop what is no TCP.
const PATIENCE: Duration = Duration::from_secs(4);
/// The highest rate of such a look's packets: it is a hundred of them.
const TRAINS: Rate = Rate::from_bits(1_000_000_000);

/// What to measure, and how long.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The server's name, or its address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What it has where.
    pub config: Described,
    /// Whom to trust.
    pub trusted: Trusted,
    /// The length of each way.
    pub span: Duration,
    /// Bytes of both ways together.
    pub bytes: u64,
}

/// Where a server says what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Described {
    /// In a document at this path, such as [`crate::config::WELL_KNOWN`].
    At(String),
    /// Nowhere: it is known beforehand.
    As(PlacesConfig),
}

/// What is told while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum ClientProgress {
    /// The idle line's round trip was measured, in ms.
    Idle(f64),
    /// A second of a way has ended: seconds since it began, and what it carried, in Mbit/s.
    Second(Way, f64, f64),
}

/// Measures; `seen` hears what comes about, and `stop` ends it early with what is known.
///
/// # Errors
/// If the server does not answer or is none of this kind, or the line carries nothing.
pub fn measure(
    wish: &Wish,
    stop: &AtomicBool,
    seen: &mut (dyn FnMut(ClientProgress) + Send),
) -> Result<Measured, Problem> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Problem::system("a runtime", e))?;
    runtime.block_on(measured(wish, stop, seen))
}

async fn measured(
    wish: &Wish,
    stop: &AtomicBool,
    seen: &mut (dyn FnMut(ClientProgress) + Send),
) -> Result<Measured, Problem> {
    let (server, config, mut found) = unless_stopped(stop, idle_line(wish)).await?;
    seen(ClientProgress::Idle(found.idle.rtt_ms));
    if let Trusted::Own(trust) = wish.trusted
        && !stop.load(Ordering::Relaxed)
    {
        found.kinds(trust).await;
        match unless_stopped(stop, taken(&server)).await {
            Err(Problem::Interrupted) => return Ok(found),
            others => others?,
        }
    }
    for way in [Way::Down, Way::Up] {
        let bounds = Bounds {
            span: wish.span.as_secs_f64() * 1e3,
            bytes: wish.bytes.saturating_sub(found.bytes) / if way == Way::Down { 2 } else { 1 },
        };
        if stop.load(Ordering::Relaxed) || bounds.bytes == 0 {
            break;
        }
        let mut each = |at: f64, rate: f64| seen(ClientProgress::Second(way, at / 1e3, rate / 1e6));
        match fill(&server, &config, way, bounds, stop, &mut each).await {
            Ok(loaded) => found.add(way, &loaded),
            Err(problem) if found.down.is_some() => found.notes.push(problem.to_string()),
            Err(problem) => return Err(problem),
        }
    }
    Ok(found)
}

/// The server, what it has where, and the line without a load.
async fn idle_line(wish: &Wish) -> Result<(SpokenServer, Arc<PlacesConfig>, Measured), Problem> {
    let (first, connection) = reached(&wish.host, wish.port, wish.trusted).await?;
    let (config, granted) = match &wish.config {
        Described::As(config) => (config.clone(), None),
        Described::At(path) => described(&connection, path).await?,
    };
    drop(connection);
    let server = place(&first, &config, wish).await?;
    let idle = idle(&server, &config).await?;
    let found = Measured::new(&wish.host, server.address, idle, granted);
    Ok((server, Arc::new(config), found))
}

/// What `finding` finds, or an error once `stop` is set.
async fn unless_stopped<T>(
    stop: &AtomicBool,
    finding: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let mut finding = pin!(finding);
    loop {
        match timeout(HEARD, finding.as_mut()).await {
            Ok(found) => return found,
            Err(_) if stop.load(Ordering::Relaxed) => return Err(Problem::Interrupted),
            Err(_) => {}
        }
    }
}

/// Which kind of queue the idle way has, as `analects probe --quick` finds it.
async fn kind(server: SocketAddr, way: Way, trust: Trust) -> Result<Management, probe::Problem> {
    let wish = probe::node::Wish {
        direction: match way {
            Way::Down => probe::report::DataDirection::Down,
            Way::Up => probe::report::DataDirection::Up,
        },
        form: ProbeForm::Quick,
        trust,
        rate: TRAINS,
    };
    let mut tried = 0;
    loop {
        // A server of ours has one client of an address at once, and sees the end of another connection late.
        sleep(AFTER).await;
        tried += 1;
        let over = after(PATIENCE);
        match probe::real::probe(server, &wish, Settings::default(), &over, |_| ()) {
            Ok(report) => return Ok(report.verdict),
            Err(probe::Problem::Peer(_)) if tried < TRIES => {}
            Err(problem) => return Err(problem),
        }
    }
}

/// What the document at `path` says, and what the server grants, in bits a second.
async fn described(
    connection: &Connection,
    path: &str,
) -> Result<(PlacesConfig, Option<f64>), Problem> {
    let document = connection.small(path).await?;
    Ok((
        PlacesConfig::parse(&document.body)?,
        document.number(GRANTED),
    ))
}

/// The first address of a name that answers.
async fn reached(
    host: &str,
    port: u16,
    trusted: Trusted,
) -> Result<(SpokenServer, Connection), Problem> {
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = (name, port)
        .to_socket_addrs()
        .map_err(|e| Problem::Unreachable(format!("{host}: {e}")))?
        .collect();
    let mut failed = Problem::Unreachable(format!("{host} has no address"));
    for address in addresses {
        let server = SpokenServer::new(address, host, trusted)?;
        match server.connect(&Meter::default()).await {
            Ok(connection) => return Ok((server, connection)),
            Err(problem) => failed = problem,
        }
    }
    Err(failed)
}

/// The server that the document names. One that names the very server by another name, as one behind a
/// translation of addresses does, is reached where it was.
async fn place(
    first: &SpokenServer,
    config: &PlacesConfig,
    wish: &Wish,
) -> Result<SpokenServer, Problem> {
    match &config.endpoint {
        Some(endpoint) => Ok(reached(endpoint, config.port, wish.trusted)
            .await?
            .0
            .named(config)),
        None if config.host == wish.host && config.port == wish.port => Ok(first.clone()),
        None if wish.trusted != Trusted::Public => Ok(first.named(config)),
        None => Ok(reached(&config.host, config.port, wish.trusted).await?.0),
    }
}

async fn idle(server: &SpokenServer, config: &PlacesConfig) -> Result<Idle, Problem> {
    let mut samples = Vec::new();
    let mut note = |kind, ms| samples.push(Sample { kind, at: 0.0, ms });
    for _ in 0..IDLE {
        if let Ok((_, took)) = server.reach().await {
            note(TimeKind::Tcp, took);
        }
        sleep(APART).await;
    }
    let connection = server.connect(&Meter::default()).await?;
    note(TimeKind::Tcp, connection.setup.tcp);
    note(TimeKind::Tls, connection.setup.tls);
    let mut apart: Option<Apart> = None;
    for _ in 0..3 {
        let small = connection.small(&config.small).await?;
        note(TimeKind::Http, small.took());
        apart = apart.into_iter().chain(small.apart).reduce(Apart::least);
    }
    let least = |kind| {
        let of = samples.iter().filter(|sample| sample.kind == kind);
        of.map(|sample| sample.ms).fold(f64::INFINITY, f64::min)
    };
    Ok(Idle {
        rtt_ms: least(TimeKind::Tcp),
        request_ms: least(TimeKind::Http),
        apart,
    })
}

/// Waits until a server of ours, which has one client of an address at once, takes connections again: where the last
/// packet of a look at the queue was lost, it waits for more.
async fn taken(server: &SpokenServer) -> Result<(), Problem> {
    let until = Instant::now() + TAKEN;
    loop {
        sleep(AFTER).await;
        match server.connect(&Meter::default()).await {
            Ok(_) => return Ok(()),
            Err(_) if Instant::now() < until => {}
            Err(problem) => return Err(problem),
        }
    }
}

/// What is set after `span`.
fn after(span: Duration) -> Arc<AtomicBool> {
    let over = Arc::new(AtomicBool::new(false));
    let set = over.clone();
    std::thread::spawn(move || {
        std::thread::sleep(span);
        set.store(true, Ordering::Relaxed);
    });
    over
}

impl Measured {
    /// Asks a server of the user's own which kinds of queues there are.
    async fn kinds(&mut self, trust: Trust) {
        for way in [Way::Down, Way::Up] {
            match kind(self.address, way, trust).await {
                Ok(kind) => self.kinds[way as usize] = Some(kind),
                Err(problem) => {
                    self.notes.push(format!(
                        "the kind of queue is judged by waits alone: {problem}"
                    ));
                    return;
                }
            }
        }
    }

    fn add(&mut self, way: Way, loaded: &Loaded) {
        self.bytes += loaded.course.bytes();
        self.seconds += loaded.course.end() / 1e3;
        *self.place(way) = Some(crate::measured::direction(loaded, self, way));
    }
}
