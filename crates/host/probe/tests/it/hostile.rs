//! Hostile peers: an error, bounded memory, and no more bytes to an address than came from it.

use cca::tonopah::Settings;
use probe::control::DATAGRAM;
use probe::limits::{Ledger, Policy};
use probe::node::{News, Node, Outgoing, ProbeForm, SOCKETS, Wish};
use probe::report::DataDirection;
use probe::{Identity, Pin, Problem, Report, Trust, real};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::Rate;
use units::random::Stream;

const STEP: Duration = Duration::from_millis(1);

fn server_address() -> SocketAddr {
    ([192, 0, 2, 1], 7411).into()
}

fn client_address(socket: usize) -> SocketAddr {
    ([192, 0, 2, 2], 5000 + socket as u16).into()
}

fn stranger() -> SocketAddr {
    ([203, 0, 113, 9], 9).into()
}

#[expect(clippy::disallowed_methods, reason = "any moment does")]
fn start() -> Instant {
    Instant::now()
}

fn policy() -> Policy {
    Policy {
        rate: Rate::from_bits(5_000_000),
        ..Policy::default()
    }
}

fn wish(pin: Pin, direction: DataDirection) -> Wish {
    Wish {
        direction,
        form: ProbeForm::Load(Duration::from_secs(3)),
        trust: Trust::Pin(pin),
        rate: Rate::from_bits(100_000_000),
    }
}

/// A client and a server, a millisecond apart.
struct Pair {
    now: Instant,
    client: Node,
    server: Node,
    /// Datagrams of the client, with the address that each seemed to come from.
    sent: Vec<(SocketAddr, Outgoing)>,
    /// Bytes of the server, by destination.
    received: Vec<(SocketAddr, usize)>,
}

impl Pair {
    fn new(policy: Policy, direction: DataDirection) -> Self {
        let identity = Identity::new().unwrap();
        let now = start();
        let wish = wish(identity.pin(), direction);
        let settings = Settings::default();
        Pair {
            now,
            client: Node::client(now, server_address(), &wish, settings.clone(), None).unwrap(),
            server: Node::server(&identity, Ledger::new(policy), settings, None).unwrap(),
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    fn give(&mut self, from: SocketAddr, data: &[u8]) {
        self.server.datagram(self.now, 0, from, None, None, data);
    }

    /// The packets that the server sends now.
    fn taken(&mut self) -> Vec<Outgoing> {
        let taken: Vec<Outgoing> = std::iter::from_fn(|| self.server.transmit(self.now)).collect();
        self.received
            .extend(taken.iter().map(|data| (data.to, data.data.len())));
        taken
    }

    /// A millisecond; `source` is the apparent source of a datagram of the client's, if it arrives.
    fn step(&mut self, source: &mut dyn FnMut(&Outgoing) -> Option<SocketAddr>) {
        while let Some(data) = self.client.transmit(self.now) {
            if let Some(from) = source(&data) {
                self.give(from, &data.data);
                self.sent.push((from, data));
            }
        }
        for data in self.taken() {
            let socket = (0..SOCKETS).find(|&socket| client_address(socket) == data.to);
            if let Some(socket) = socket {
                let from = server_address();
                self.client
                    .datagram(self.now, socket, from, None, data.ecn, &data.data);
            }
        }
        self.now += STEP;
        for node in [&mut self.client, &mut self.server] {
            if node.next_timeout().is_some_and(|at| at <= self.now) {
                node.timeout(self.now);
            }
        }
    }

    fn run(
        &mut self,
        span: Duration,
        source: &mut dyn FnMut(&Outgoing) -> Option<SocketAddr>,
    ) -> Option<Result<Report, Problem>> {
        let end = self.now + span;
        while self.now < end {
            self.step(source);
            while let Some(news) = self.client.news() {
                match news {
                    News::Seen(_) => {}
                    News::Done(report) => return Some(Ok(report)),
                    News::Failed(problem) => return Some(Err(problem)),
                }
            }
        }
        None
    }

    fn bytes_to(&self, to: SocketAddr) -> usize {
        self.received
            .iter()
            .filter(|(at, _)| *at == to)
            .map(|(_, bytes)| bytes)
            .sum()
    }
}

fn honest(data: &Outgoing) -> Option<SocketAddr> {
    Some(client_address(data.socket))
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn an_honest_client_is_served_both_ways_and_then_forgotten() {
    for direction in [DataDirection::Down, DataDirection::Up] {
        let mut pair = Pair::new(policy(), direction);
        let report = pair.run(LONG, &mut honest).unwrap().unwrap();
        let rate = 8.0 * report.sent_bytes as f64 / report.at_ms / 1e3;
        assert!((3.5..5.5).contains(&rate), "{direction:?}: {rate} Mbit/s");
        // Nothing queued, as the limit held the load back.
        assert!(!report.call.unwrap().filled, "{}", report.text());
        assert!(
            report.for_a_call().starts_with("unknown"),
            "{}",
            report.text()
        );
        pair.run(LONG, &mut honest);
        assert_eq!(pair.server.connections(), 0);
    }
}

#[test]
fn another_pin_ends_the_handshake() {
    let mut pair = Pair::new(policy(), DataDirection::Down);
    let other = wish(Identity::new().unwrap().pin(), DataDirection::Down);
    pair.client = Node::client(
        pair.now,
        server_address(),
        &other,
        Settings::default(),
        None,
    )
    .unwrap();
    let problem = pair.run(LONG, &mut honest).unwrap().unwrap_err();
    assert!(
        matches!(&problem, Problem::Peer(text) if text.contains("another pin")),
        "{problem}"
    );
}

#[test]
fn a_spoofed_address_gets_a_retry_and_the_server_keeps_nothing() {
    let mut pair = Pair::new(policy(), DataDirection::Down);
    pair.run(Duration::from_secs(3), &mut |_| Some(stranger()));
    let came: usize = pair.sent.iter().map(|(_, data)| data.data.len()).sum();
    let went = pair.bytes_to(stranger());
    assert!(went > 0 && went * 4 < came, "{went} bytes for {came}");
    assert_eq!(pair.server.connections(), 0);
}

#[test]
fn a_token_is_worth_nothing_from_another_address() {
    let mut pair = Pair::new(policy(), DataDirection::Down);
    // The first Initial, and that with the Retry's token, which does not arrive.
    let mut count = 0;
    pair.run(Duration::from_millis(20), &mut |data| {
        count += 1;
        if count == 1 { honest(data) } else { None }
    });
    let mut tokened = Vec::new();
    pair.client.timeout(pair.now + Duration::from_secs(2));
    while let Some(data) = pair.client.transmit(pair.now + Duration::from_secs(2)) {
        tokened.push(data.data);
    }
    assert!(!tokened.is_empty());
    for data in &tokened {
        pair.give(stranger(), data);
    }
    pair.taken();
    let came: usize = tokened.iter().map(Vec::len).sum();
    assert!(pair.bytes_to(stranger()) <= came);
    assert_eq!(pair.server.connections(), 0);
}

#[test]
fn a_replayed_token_opens_nothing_that_lasts_and_nothing_that_amplifies() {
    let mut pair = Pair::new(policy(), DataDirection::Down);
    pair.run(LONG, &mut honest).unwrap().unwrap();
    pair.run(LONG, &mut honest);
    // The handshake again, as someone on the way has recorded it, within the token's life or not.
    let again: Vec<Vec<u8>> = pair
        .sent
        .iter()
        .take(6)
        .map(|(_, data)| data.data.clone())
        .collect();
    let before = pair.bytes_to(client_address(0));
    let came: usize = again.iter().map(Vec::len).sum::<usize>() * 20;
    for _ in 0..20 {
        again
            .iter()
            .for_each(|data| pair.give(client_address(0), data));
        pair.taken();
    }
    assert!(pair.server.connections() <= 1);
    for _ in 0..20_000 {
        pair.now += STEP;
        pair.server.timeout(pair.now);
        pair.taken();
    }
    let went = pair.bytes_to(client_address(0)) - before;
    assert!(went <= 3 * came, "{went} bytes for {came}");
    assert_eq!(pair.server.connections(), 0);
}

#[test]
fn a_second_path_to_a_spoofed_address_gets_no_data() {
    let mut pair = Pair::new(policy(), DataDirection::Down);
    let mut source = |data: &Outgoing| {
        Some(if data.socket == 1 {
            stranger()
        } else {
            client_address(0)
        })
    };
    let problem = pair.run(LONG, &mut source).unwrap().unwrap_err();
    assert!(matches!(problem, Problem::Unreachable(_)), "{problem}");
    pair.run(LONG, &mut source);
    let came: usize = pair
        .sent
        .iter()
        .filter(|(from, _)| *from == stranger())
        .map(|(_, data)| data.data.len())
        .sum();
    let went = pair.bytes_to(stranger());
    assert!(came > 0 && went <= 3 * came, "{went} bytes for {came}");
    assert_eq!(pair.server.connections(), 0);
}

/// As where others fill a queue that drops what comes last: handshakes and challenges are sent again.
#[test]
fn a_path_that_loses_a_third_is_probed() {
    for seed in 0..8 {
        let mut random = Stream::new(seed, "a full path");
        let mut pair = Pair::new(policy(), DataDirection::Down);
        let mut source =
            |data: &Outgoing| (random.below(3) > 0).then(|| client_address(data.socket));
        let report = pair.run(2 * LONG, &mut source).unwrap();
        assert!(report.is_ok(), "{seed}: {report:?}");
    }
}

#[test]
fn a_client_that_falls_silent_is_sent_little_more_and_forgotten() {
    let mut pair = Pair::new(policy(), DataDirection::Down);
    pair.run(Duration::from_secs(1), &mut honest);
    let before = pair.received.len();
    // Once until the client gives up, and once more for the server.
    pair.run(LONG, &mut |_| None);
    pair.run(LONG, &mut |_| None);
    let after = pair.received.len() - before;
    assert!(after < 500, "{after} datagrams to a silent client");
    assert_eq!(pair.server.connections(), 0);
}

#[test]
fn clients_beyond_the_limits_and_outside_the_list_are_refused() {
    let full = Policy {
        clients: 0,
        ..policy()
    };
    let mut pair = Pair::new(full, DataDirection::Down);
    let problem = pair.run(LONG, &mut honest).unwrap().unwrap_err();
    assert!(matches!(problem, Problem::Refused(_)), "{problem}");
    assert_eq!(pair.server.connections(), 0);

    let closed = Policy {
        allow: vec!["198.51.100.0/24".parse().unwrap()],
        ..policy()
    };
    let mut pair = Pair::new(closed, DataDirection::Down);
    let problem = pair.run(LONG, &mut honest).unwrap().unwrap_err();
    assert!(matches!(problem, Problem::Unreachable(_)), "{problem}");
    assert!(pair.received.is_empty());
}

#[test]
fn bytes_are_limited() {
    let little = Policy {
        bytes: 300_000,
        ..policy()
    };
    let mut pair = Pair::new(little.clone(), DataDirection::Down);
    let report = pair.run(LONG, &mut honest).unwrap().unwrap();
    assert!(
        report.sent_bytes < 300_000 + 64 * u64::from(DATAGRAM),
        "{}",
        report.sent_bytes
    );

    let mut pair = Pair::new(little, DataDirection::Up);
    let problem = pair.run(LONG, &mut honest).unwrap().unwrap_err();
    assert!(problem.to_string().contains("more data"), "{problem}");
}

#[test]
fn broken_datagrams_do_no_harm() {
    let mut random = Stream::new(1, "broken datagrams");
    let mut pair = Pair::new(policy(), DataDirection::Down);
    pair.run(Duration::from_millis(500), &mut honest);
    let sent: Vec<Outgoing> = pair.sent.iter().map(|(_, data)| data.clone()).collect();
    for _ in 0..20_000 {
        let mut data = sent[random.below(sent.len() as u64) as usize].data.clone();
        for _ in 0..1 + random.below(8) {
            let at = random.below(data.len() as u64) as usize;
            data[at] = random.bits() as u8;
        }
        data.truncate(1 + random.below(data.len() as u64) as usize);
        pair.give(stranger(), &data);
        pair.client
            .datagram(pair.now, 0, server_address(), None, None, &data);
        pair.taken();
    }
    let went = pair.bytes_to(stranger());
    assert!(went < 20_000 * 200, "{went}");
    assert!(pair.server.connections() <= 1);
    assert!(pair.run(LONG, &mut honest).is_some(), "the probe ends");
}

/// Over real sockets, on loopback.
#[test]
fn a_real_server_answers_a_real_client() {
    let identity = Identity::new().unwrap();
    let any = ([127, 0, 0, 1], 0).into();
    let settings = Settings::default();
    let mut server =
        real::ProbeServer::bind(any, &identity, Ledger::new(policy()), settings.clone()).unwrap();
    let address = server.address().unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| server.run(&stop).unwrap());
        let mut seen = 0;
        let wish = wish(identity.pin(), DataDirection::Down);
        let on = AtomicBool::new(false);
        let report = real::probe(address, &wish, settings.clone(), &on, |_| seen += 1);
        let short = Wish {
            form: ProbeForm::Quick,
            ..wish.clone()
        };
        let quick = real::probe(address, &short, settings.clone(), &on, |_| ());
        let other = Wish {
            trust: Trust::Pin(Identity::new().unwrap().pin()),
            ..wish
        };
        let wrong = real::probe(address, &other, settings, &on, |_| ());
        stop.store(true, Ordering::Relaxed);
        let report = report.unwrap();
        assert!(
            report.sent_bytes > 100_000 && seen > 5,
            "{seen} reports, {report:?}"
        );
        assert!(report.base_rtt_ms.is_some_and(|ms| ms < 100.0));
        let quick = quick.unwrap();
        assert!(
            quick.trains.is_some() && quick.sent_bytes < 150_000,
            "{quick:?}"
        );
        assert!(wrong.unwrap_err().to_string().contains("another pin"));
    });
}
