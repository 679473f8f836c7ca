//! The detector round a congestion control of `noq`: CUBIC over two paths of one connection, which
//! learns on the way whether the bottleneck has fair queues.
//!
//! `Watched` is all that an application needs. It does what the detector's methods ask for: `advance`
//! and `sent` for each packet, `permits` before it, so that packets are dealt out three and two, at one
//! pace for both paths; `acked`, `delayed` and `room` for each acknowledgement, `congested` for losses
//! and marks; and where nothing queues it lets trains leave at once.
//!
//! `main` sends for ten seconds over a link that has one queue, and over one with two fair queues, in
//! virtual time and without sockets.

use bytes::{Bytes, BytesMut};
use cca::tonopah::{Detector, Settings, Subflow, Verdict};
use cca::{Pace, Signal};
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event,
    FourTuple, PathEvent, PathStatus, RttEstimator, ServerConfig, TransportConfig,
};
use probe::{Identity, Trust, identity};
use std::any::Any;
use std::collections::VecDeque;
use std::error::Error;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes of a datagram.
const DATAGRAM: u16 = 1200;
/// Bytes a second that no packet waits for: the pace is that of `Both`.
const UNPACED: u64 = 1 << 40;

/// The shared part of both paths: a control of `noq` with the window for both, and the detector.
struct Both {
    start: Instant,
    inner: Box<dyn Controller>,
    detector: Detector,
    pace: Pace,
    now: units::Instant,
    in_flight: [u64; 2],
    /// The newest packet of the acknowledgement that is being read: its number, and when it left.
    newest: Option<(u64, units::Instant)>,
    srtt: Duration,
}

impl Both {
    fn new(start: Instant) -> Self {
        Both {
            start,
            inner: Arc::new(CubicConfig::default()).build(start, DATAGRAM),
            detector: Detector::new(Settings::default()),
            pace: Pace::default(),
            now: units::Instant::ZERO,
            in_flight: [0; 2],
            newest: None,
            srtt: Duration::from_millis(100),
        }
    }

    /// The detector's time.
    fn time(&self, now: Instant) -> units::Instant {
        units::Instant::from_nanos(now.duration_since(self.start).as_nanos() as u64)
    }

    fn verdict(&self) -> Verdict {
        self.detector.verdict(self.now)
    }

    fn sent(&mut self, subflow: Subflow, bytes: u64) {
        let srtt = units::Duration::from_nanos(self.srtt.as_nanos() as u64);
        self.detector.advance(self.now, srtt);
        self.detector.sent(self.now, subflow, bytes);
        self.in_flight[subflow as usize] += bytes;
        // A window in 4/5 of a round trip, as Linux does.
        let window = self.inner.window() * 5 / 4;
        self.pace.sent(self.now, srtt.scale(bytes, window));
    }

    /// What `subflow` may have in flight: nothing more, while it is not its turn or not yet time.
    fn window(&self, subflow: Subflow) -> u64 {
        let other = self.in_flight[subflow.other() as usize];
        let is_early = self.pace.next() > self.now && !self.detector.is_train();
        match () {
            () if is_early || !self.detector.permits(subflow) => 0,
            () if self.detector.may_exceed() => u64::MAX,
            () => self.inner.window().saturating_sub(other),
        }
    }
}

/// One path's control.
#[derive(Clone)]
struct Watched {
    both: Arc<Mutex<Both>>,
    subflow: Subflow,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watched({:?})", self.subflow)
    }
}

impl Controller for Watched {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let both = &mut *self.both.lock().unwrap();
        both.now = both.time(now);
        both.sent(self.subflow, u64::from(bytes));
        both.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let both = &mut *self.both.lock().unwrap();
        let sent_at = both.time(sent);
        both.now = both.time(now);
        both.srtt = rtt.get();
        both.detector.acked(both.now, self.subflow, bytes, sent_at);
        both.newest = both.newest.max(Some((pn, sent_at)));
        both.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, limited: bool, largest: Option<u64>) {
        let both = &mut *self.both.lock().unwrap();
        both.in_flight[self.subflow as usize] = in_flight;
        if let Some((_, sent)) = both.newest.take() {
            let delay = both.now.since(sent);
            both.detector.delayed(self.subflow, sent, delay);
        }
        both.inner.on_end_acks(now, in_flight, limited, largest);
        let all: u64 = both.in_flight.iter().sum();
        let room = both.inner.window().saturating_sub(all) / u64::from(DATAGRAM);
        both.detector.room(both.now, room, all == 0);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost: u64,
        largest: u64,
    ) {
        let both = &mut *self.both.lock().unwrap();
        both.detector
            .congested(if ecn { Signal::Mark } else { Signal::Loss });
        both.inner
            .on_congestion_event(now, sent, persistent, ecn, lost, largest);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.both.lock().unwrap().inner.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.both.lock().unwrap().window(self.subflow)
    }

    fn metrics(&self) -> ControllerMetrics {
        let both = self.both.lock().unwrap();
        let mut metrics = both.inner.metrics();
        metrics.pacing_rate = Some(UNPACED);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.both.lock().unwrap().inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Gives the first path subflow A, every later one B.
struct Factory(Arc<Mutex<Both>>, Mutex<bool>);

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn Controller> {
        let first = !std::mem::replace(&mut *self.1.lock().unwrap(), true);
        Box::new(Watched {
            both: self.0.clone(),
            subflow: if first { Subflow::A } else { Subflow::B },
        })
    }
}

/// 10 Mbit/s with room for 50 datagrams in one queue, or in each of two.
struct Link {
    queues: Vec<VecDeque<(usize, Vec<u8>)>>,
    turn: usize,
    free: Instant,
}

impl Link {
    fn send(&mut self, port: usize, data: Vec<u8>) {
        let queue = port % self.queues.len();
        if self.queues[queue].len() < 50 {
            self.queues[queue].push_back((port, data));
        }
    }

    fn receive(&mut self, now: Instant) -> Option<(usize, Vec<u8>)> {
        if now < self.free {
            return None;
        }
        let n = self.queues.len();
        let next = (1..=n)
            .map(|i| (self.turn + i) % n)
            .find(|&i| !self.queues[i].is_empty())?;
        self.turn = next;
        let (port, data) = self.queues[next].pop_front()?;
        self.free = self.free.max(now - STEP) + Duration::from_nanos(800 * data.len() as u64);
        Some((port, data))
    }
}

const STEP: Duration = Duration::from_micros(100);

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The second path can be used.
    both: bool,
}

impl End {
    fn receive(&mut self, now: Instant, path: SocketAddr, data: &[u8]) {
        let (mut reply, path) = (Vec::new(), FourTuple::from_remote(path));
        let data = BytesMut::from(data);
        match self.endpoint.handle(now, path, None, data, &mut reply) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut reply, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            _ => {}
        }
    }

    /// Does the due work, and returns the packets to send, with their destination addresses.
    fn turn(&mut self, now: Instant) -> Vec<(SocketAddr, Vec<u8>)> {
        let Some((handle, connection)) = &mut self.connection else {
            return Vec::new();
        };
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            self.both |= matches!(event, Event::Path(PathEvent::Established { .. }));
        }
        while connection.datagrams().recv().is_some() {}
        let mut sent = Vec::new();
        loop {
            let mut data = Vec::new();
            match connection.poll_transmit(now, NonZeroUsize::MIN, &mut data) {
                Some(transmit) => sent.push((transmit.destination, data)),
                None => return sent,
            }
        }
    }
}

fn address(port: usize) -> SocketAddr {
    ([192, 0, 2, 1], 4433 + port as u16).into()
}

fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_multipath_paths(2)
        .mtu_discovery_config(None);
    config.default_path_max_idle_timeout(None);
    config
}

/// Sends for ten seconds over so many queues.
fn run(queues: usize, start: Instant) -> Result<Verdict, Box<dyn Error>> {
    let both = Arc::new(Mutex::new(Both::new(start)));
    let key = Identity::new()?;
    let mut server =
        ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(key.server()?)?));
    server.transport_config(Arc::new(transport()));
    let mut watched = transport();
    watched.congestion_controller_factory(Arc::new(Factory(both.clone(), Mutex::new(false))));
    let tls = identity::client(Trust::Pin(key.pin()))?;
    let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    client.transport_config(Arc::new(watched));

    let ends = || Arc::new(EndpointConfig::default());
    let mut endpoint = Endpoint::new(ends(), None, false);
    let connection = endpoint.connect(start, client, address(0), "probe")?;
    let mut client = End {
        endpoint,
        connection: Some(connection),
        both: false,
    };
    let endpoint = Endpoint::new(ends(), Some(Arc::new(server)), false);
    let mut server = End {
        endpoint,
        connection: None,
        both: false,
    };

    let queues = vec![VecDeque::new(); queues];
    let mut link = Link {
        queues,
        turn: 0,
        free: start,
    };
    let mut back: VecDeque<(Instant, SocketAddr, Vec<u8>)> = VecDeque::new();
    let (mut now, mut second) = (start, false);
    while now < start + Duration::from_secs(10) {
        // Time passes without packets, too: the next one's may have come.
        let mut watched = both.lock().unwrap();
        watched.now = watched.time(now);
        drop(watched);
        if let Some((_, connection)) = &mut client.connection {
            // The second path has another address inside, and could have another port outside.
            let path = FourTuple::from_remote(address(1));
            second = second
                || connection
                    .open_path(path, PathStatus::Available, now)
                    .is_ok();
            let filler = Bytes::from_static(&[0; 1100]);
            // Data waits for both: a subflow that is silent does not hold the other back.
            while client.both && connection.datagrams().send(filler.clone(), false).is_ok() {}
        }
        for (to, data) in client.turn(now) {
            link.send(usize::from(to == address(1)), data);
        }
        while let Some((port, data)) = link.receive(now) {
            server.receive(now, address(port), &data);
        }
        for (to, data) in server.turn(now) {
            back.push_back((now + Duration::from_millis(20), to, data));
        }
        while back.front().is_some_and(|(at, ..)| *at <= now) {
            let (_, from, data) = back.pop_front().ok_or("nothing")?;
            client.receive(now, from, &data);
        }
        now += STEP;
    }
    let verdict = both.lock().unwrap().verdict();
    Ok(verdict)
}

#[expect(
    clippy::disallowed_methods,
    reason = "any moment does: time is virtual from here on"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    for queues in [1, 2] {
        let Verdict { kind, evidence, .. } = run(queues, start)?;
        println!("{queues} queues: {kind:?}, because {evidence}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cca::tonopah::NoticeKind;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any moment does")]
    fn one_queue_and_two_are_told_apart() {
        let start = Instant::now();
        assert_eq!(run(1, start).unwrap().kind, NoticeKind::Shared);
        assert_eq!(run(2, start).unwrap().kind, NoticeKind::Fair);
    }
}
