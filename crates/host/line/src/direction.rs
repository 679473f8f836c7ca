//! One way of a line, filled by more and more connections, and requests on them and beside them
//! (draft-ietf-ippm-responsiveness, "Final Algorithm").

use crate::Problem;
use crate::apart::Apart;
use crate::arrived::{Counts, Kernel};
use crate::body::Outgoing;
use crate::carried::{Carried, Look, median};
use crate::config::PlacesConfig;
use crate::connection::{Connection, Meter, SpokenServer, ms};
use crate::course::Course;
use crate::rpm::{Responsiveness, Times};
use crate::stable::{Averages, DISTANCE};
pub use crate::way::Way;
use http_body_util::BodyExt as _;
use hyper::Method;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Load-generating connections at most (MNP).
const MOST: usize = 16;
/// The interval after which stability is looked at, and a connection is added (ID), in ms.
const INTERVAL: f64 = 1e3;
/// Pairs of requests a second at most. The draft permits 100 (MPS): a router's processor would be what is measured.
const PAIRS: f64 = 20.0;
/// And at least, so that there are enough to tell.
const PAIRS_LEAST: f64 = 3.0;
/// The part of what is carried that requests may take, and what a pair of them takes, in bytes. The draft permits a
/// twentieth (PTC), which would be missing from the rate.
const PART: f64 = 0.02;
const PAIR: f64 = 6e3;
/// Handshakes of TCP alone, beside the load: a tenth of a kB each, for the wait of a packet. In ms.
const BESIDE: f64 = 100.0;
/// What a handshake and its end take each way without data, and the headers of a request beside the load: some three
/// and ten packets of 52 bytes.
const HANDSHAKE: u64 = 150;
const HEADERS: u64 = 520;
/// How exact all of these times are.
const TICK: Duration = Duration::from_millis(10);
/// Not shorter than this: the rate and the queue are of its second half. In ms.
const LEAST: f64 = 6e3;

/// The kinds of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    /// TCP's handshake beside the load.
    Tcp,
    /// A round trip of TLS' handshake beside it.
    Tls,
    /// A request beside it.
    Http,
    /// A request on a connection that carries load.
    Loaded,
}

/// A time that was measured, in ms, and when it ended since the load began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// What was timed.
    pub kind: TimeKind,
    /// When it ended, in ms.
    pub at: f64,
    /// How long it took, in ms.
    pub ms: f64,
}

/// How long and how much.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Of one way, in ms.
    pub span: f64,
    /// Bytes of one way.
    pub bytes: u64,
}

/// What was seen of one way.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// What TCP's payload arrived by when, load and what was asked beside it.
    pub course: Course,
    /// All times.
    pub samples: Vec<Sample>,
    /// Requests beside the load whose answers tell the server's clock, with the moment of these answers, in ms.
    pub apart: Vec<(f64, Apart)>,
    /// What each look saw of losses.
    pub looks: Vec<Look>,
    /// Whether goodput became stable.
    pub steady: bool,
    /// Whether the responsiveness did too.
    pub settled: bool,
    /// Whether there were enough intervals to tell.
    pub enough: bool,
    /// Whether something was lost on connections that carried load: a queue was full, or kept short.
    pub overflowed: bool,
    /// The responsiveness at the end.
    pub rpm: Option<Responsiveness>,
    /// Connections that carried load.
    pub connections: usize,
    /// How much later than it was due this host came to each look at it, in ms.
    pub late: Vec<f64>,
    /// Why it ended before its time, if so.
    pub cut: Option<String>,
}

impl Loaded {
    /// Times of a kind that ended at `from` ms or later.
    pub fn times(&self, kind: TimeKind, from: f64) -> Vec<f64> {
        self.of(kind, from).map(|sample| sample.ms).collect()
    }

    /// Samples of a kind that ended at `from` ms or later.
    pub fn of(&self, kind: TimeKind, from: f64) -> impl Iterator<Item = &Sample> {
        let samples = self.samples.iter();
        samples.filter(move |sample| sample.kind == kind && sample.at >= from)
    }

    fn responsiveness(&self, from: f64) -> Option<Responsiveness> {
        let times = Times {
            tcp: self.times(TimeKind::Tcp, from),
            tls: self.times(TimeKind::Tls, from),
            http: self.times(TimeKind::Http, from),
            loaded: self.times(TimeKind::Loaded, from),
        };
        times.responsiveness()
    }
}

enum DirectionNews {
    Timed(Sample),
    Apart(f64, Apart),
    Joined(Arc<Connection>),
    Ended(Problem),
}

/// What tasks need: cheap to clone.
#[derive(Clone)]
struct Common {
    server: SpokenServer,
    config: Arc<PlacesConfig>,
    way: Way,
    start: Instant,
    /// What requests beside the load take.
    asides: Meter,
    news: mpsc::Sender<DirectionNews>,
}

impl Common {
    /// Tells what took so many ms until now.
    fn timed(&self, kind: TimeKind, took: f64) {
        self.ended(kind, took, Instant::now());
    }

    fn ended(&self, kind: TimeKind, took: f64, at: Instant) {
        self.tell(DirectionNews::Timed(Sample {
            kind,
            at: self.since(at),
            ms: took,
        }));
    }

    /// Milliseconds since the load began.
    fn since(&self, at: Instant) -> f64 {
        at.duration_since(self.start).as_secs_f64() * 1e3
    }

    /// Nobody listens once the way has been measured.
    fn tell(&self, news: DirectionNews) {
        let _ = self.news.send(news);
    }

    /// A connection that carries load until it is dropped.
    async fn carry(self) {
        let ended = async {
            let connection = Arc::new(self.server.connect(&Meter::default()).await?);
            self.tell(DirectionNews::Joined(connection.clone()));
            loop {
                match self.way {
                    Way::Down => self.take(&connection).await?,
                    Way::Up => self.give(&connection).await?,
                }
            }
        };
        let ended: Result<(), Problem> = ended.await;
        if let Err(problem) = ended {
            self.tell(DirectionNews::Ended(problem));
        }
    }

    async fn take(&self, connection: &Connection) -> Result<(), Problem> {
        let path = &self.config.large;
        let answer = connection.ask(Method::GET, path, Outgoing::Nothing).await?;
        let mut body = answer.into_body();
        let mut read = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|e| Problem::Unreachable(format!("{path}: {e}")))?;
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            read += bytes;
        }
        match read {
            0 => Err(Problem::Server(format!(
                "{path}: found no bytes, expected 8 GB"
            ))),
            _ => Ok(()),
        }
    }

    async fn give(&self, connection: &Connection) -> Result<(), Problem> {
        let path = &self.config.upload;
        connection
            .ask(Method::POST, path, Outgoing::Endless)
            .await?;
        Err(Problem::Server(format!(
            "{path}: answered before the upload had ended"
        )))
    }

    /// One request that begins with a handshake, as the first one to any other server.
    async fn foreign(self) {
        let Ok(connection) = self.server.connect(&self.asides).await else {
            return;
        };
        let setup = &connection.setup;
        self.ended(TimeKind::Tcp, setup.tcp, setup.reached);
        self.timed(TimeKind::Tls, connection.setup.tls);
        if let Ok(small) = connection.small(&self.config.small).await {
            self.timed(TimeKind::Http, small.took());
            if let Some(apart) = small.apart {
                self.tell(DirectionNews::Apart(self.since(small.came), apart));
            }
        }
    }

    async fn own(self, connection: Arc<Connection>) {
        if let Ok(small) = connection.small(&self.config.small).await {
            self.timed(TimeKind::Loaded, small.took());
        }
    }

    async fn beside(self) {
        if let Ok((_, took)) = self.server.reach().await {
            self.timed(TimeKind::Tcp, took);
        }
    }
}

/// When something is due next, in ms since the start.
struct DueTime {
    interval: f64,
    pair: f64,
    beside: f64,
}

struct Filling<'a> {
    common: Common,
    tasks: JoinSet<()>,
    heard: mpsc::Receiver<DirectionNews>,
    carriers: Vec<Arc<Connection>>,
    /// What was counted of each.
    counts: Vec<Carried>,
    /// The largest size of a segment that came, in bytes.
    segment: u64,
    kernel: Kernel,
    asked: usize,
    due: DueTime,
    goodput: Averages,
    rpms: Averages,
    before: u64,
    loaded: Loaded,
    /// Handshakes and requests beside the load that have ended.
    handshakes: u64,
    requests: u64,
    seen: &'a mut (dyn FnMut(f64, f64) + Send),
}

/// Fills one way of the line to `server`, within `bounds` or until `stop`. `seen` hears each second what moment it
/// is, in ms, and what was carried in that second, in bits a second.
///
/// # Errors
/// If no connection comes about, or the load ends before there is a second half to tell of.
pub async fn fill(
    server: &SpokenServer,
    config: &Arc<PlacesConfig>,
    way: Way,
    bounds: Bounds,
    stop: &AtomicBool,
    seen: &mut (dyn FnMut(f64, f64) + Send),
) -> Result<Loaded, Problem> {
    let (news, heard) = mpsc::channel();
    let mut filling = Filling {
        common: Common {
            server: server.clone(),
            config: config.clone(),
            way,
            start: Instant::now(),
            asides: Meter::default(),
            news,
        },
        tasks: JoinSet::new(),
        heard,
        carriers: Vec::new(),
        counts: Vec::new(),
        segment: 0,
        kernel: Kernel::open()?,
        asked: 0,
        due: DueTime {
            interval: INTERVAL,
            pair: 500.0,
            beside: BESIDE,
        },
        goodput: Averages::default(),
        rpms: Averages::default(),
        before: 0,
        loaded: Loaded::default(),
        handshakes: 0,
        requests: 0,
        seen,
    };
    filling.add();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let due = tick.tick().await;
        filling.loaded.late.push(ms(due));
        let now = ms(filling.common.start);
        filling.hear()?;
        filling.look(now);
        let carried = filling.loaded.course.bytes();
        let over = carried >= bounds.bytes;
        if over && now < bounds.span {
            filling.loaded.cut = Some(format!("after {carried} bytes, as --max-bytes wants it"));
        }
        let stopped = stop.load(Ordering::Relaxed);
        if stopped && now < bounds.span {
            filling.loaded.cut = Some("it was interrupted".to_owned());
        }
        let told = filling.loaded.settled && now >= LEAST;
        if over || stopped || told || now >= bounds.span || filling.loaded.cut.is_some() {
            return filling.end(now);
        }
    }
}

impl Filling<'_> {
    fn add(&mut self) {
        self.asked += 1;
        self.tasks.spawn(self.common.clone().carry());
    }

    /// Takes in what tasks have told.
    fn hear(&mut self) -> Result<(), Problem> {
        while let Ok(news) = self.heard.try_recv() {
            match news {
                DirectionNews::Timed(sample) => {
                    self.handshakes += u64::from(sample.kind == TimeKind::Tcp);
                    self.requests += u64::from(sample.kind == TimeKind::Http);
                    self.loaded.samples.push(sample);
                }
                DirectionNews::Apart(at, apart) => self.loaded.apart.push((at, apart)),
                DirectionNews::Joined(connection) => {
                    self.carriers.push(connection);
                    self.counts.push(Carried::default());
                }
                // Before the second half there is nothing to tell of.
                DirectionNews::Ended(problem) if ms(self.common.start) < LEAST / 2.0 => {
                    return Err(problem);
                }
                DirectionNews::Ended(problem) => self.loaded.cut = Some(problem.to_string()),
            }
        }
        while self.tasks.try_join_next().is_some() {}
        Ok(())
    }

    fn look(&mut self, now: f64) {
        self.note(now);
        if now >= self.due.interval {
            self.due.interval += INTERVAL;
            self.turn(now);
        }
        if now >= self.due.beside {
            self.due.beside += BESIDE;
            self.tasks.spawn(self.common.clone().beside());
        }
        if now >= self.due.pair && !self.carriers.is_empty() {
            self.due.pair = now + self.pause();
            self.tasks.spawn(self.common.clone().foreign());
            // In turn, which is as uniform as at random.
            let own = self.carriers[self.loaded.samples.len() % self.carriers.len()].clone();
            self.tasks.spawn(self.common.clone().own(own));
        }
    }

    /// Notes what has arrived by now: load, what was asked beside it, and what packets without data took.
    fn note(&mut self, now: f64) {
        let look = self.counted(now);
        self.loaded.looks.push(look);
        let counts = self.counts.iter().map(|carried| &carried.counts);
        let asides = &self.common.asides;
        let (load, beside): (u64, _) = match self.common.way {
            Way::Down => {
                let of = |counts: &Counts| (counts.came * self.segment).max(counts.received);
                (counts.map(of).sum(), asides.read())
            }
            Way::Up => (
                counts.map(|counts| counts.delivered).sum(),
                asides.written(),
            ),
        };
        let empty = self.handshakes * HANDSHAKE + self.requests * HEADERS;
        self.loaded.course.push(now, load + beside + empty);
    }

    /// Asks the kernel what it has counted by now.
    fn counted(&mut self, now: f64) -> Look {
        let (to, way) = (self.common.server.address, self.common.way);
        let mut look = Look {
            at: now,
            ..Look::default()
        };
        let mut own = Vec::new();
        for (known, carrier) in self.counts.iter_mut().zip(&self.carriers) {
            // One that has ended keeps what it had.
            let Some(counts) = self.kernel.counts(carrier.from, to) else {
                continue;
            };
            let (passed, lost) = known.look(way, counts);
            look.passed += passed;
            look.lost += u64::from(lost);
            self.segment = self.segment.max(counts.size);
            self.loaded.overflowed |= counts.lost;
            let [sends, receives] = counts.rtt_us;
            own.push(if way == Way::Up { sends } else { receives } as f64 / 1e3);
        }
        own.retain(|ms| *ms > 0.0);
        look.own = median(own);
        look
    }

    /// Why there is nothing to tell of, if so.
    fn nothing(&self) -> Option<&'static str> {
        if self.carriers.is_empty() {
            return Some("no connection came about in time");
        }
        let none = Counts::default();
        let told = self.counts.iter().any(|carried| carried.counts != none);
        (!told).then_some(
            "this kernel does not tell what has arrived (sock_diag, CONFIG_INET_DIAG, since Linux 5.4)",
        )
    }

    /// Between two pairs of requests, in ms.
    fn pause(&self) -> f64 {
        let carried = self.loaded.course.bytes() as f64 / self.loaded.course.end().max(1.0) * 1e3;
        1e3 / (PART * carried / PAIR).clamp(PAIRS_LEAST, PAIRS)
    }

    /// The end of an interval.
    fn turn(&mut self, now: f64) {
        let carried = self.loaded.course.bytes();
        let rate = (carried - self.before) as f64 * 8e3 / INTERVAL;
        self.before = carried;
        (self.seen)(now, rate);
        self.goodput.push(rate);
        if !self.loaded.steady {
            self.loaded.steady = self.goodput.stable();
        } else if let Some(found) = self.loaded.responsiveness(now - DISTANCE as f64 * INTERVAL) {
            self.rpms.push(found.rpm);
            self.loaded.settled = self.rpms.stable();
        }
        if !self.loaded.steady && self.asked < MOST {
            self.add();
        }
    }

    fn end(mut self, now: f64) -> Result<Loaded, Problem> {
        self.hear()?;
        self.note(now);
        if let Some(why) = self.nothing() {
            let why = self.loaded.cut.unwrap_or_else(|| why.to_owned());
            return Err(Problem::Unreachable(why));
        }
        self.loaded.enough =
            self.goodput.intervals() >= DISTANCE && self.rpms.intervals() >= DISTANCE;
        self.loaded.rpm = self.loaded.responsiveness(now - DISTANCE as f64 * INTERVAL);
        self.loaded.connections = self.carriers.len();
        Ok(self.loaded)
    }
}
