//! A client and a server in virtual time, over one bottleneck.

use cca::tonopah;
use noq_proto::EcnCodepoint;
use probe::node::{News, Node, Outgoing, ProbeForm, Wish};
use probe::report::DataDirection;
use probe::{
    Identity, Report, Trust,
    limits::{Ledger, Policy},
};
use qdisc::{Ecn, Env, FlowId, Hosts, Ignore, Label, Limit, Packet, Qdisc, Registry};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::{Duration as Span, Instant as Clock};
use units::{Duration, Instant, Rate};

/// The start of the virtual time: any moment, the same for all worlds.
#[expect(clippy::disallowed_methods, reason = "only differences to it are used")]
pub fn epoch() -> Clock {
    static EPOCH: OnceLock<Clock> = OnceLock::new();
    *EPOCH.get_or_init(Clock::now)
}

/// A bottleneck: every datagram of the measured direction passes it.
pub struct Bottleneck {
    queue: Box<dyn Qdisc<Option<Outgoing>>>,
    rate: Rate,
    free: Instant,
}

impl Bottleneck {
    pub fn new(discipline: &str, rate: Rate, rtt: Duration) -> Self {
        let packets = (rate.bytes_in(rtt) / 1250).max(100) as u32;
        let env = Env {
            rate: Some(rate),
            limit: Some(Limit::Packets(packets)),
            seed: 7,
            home: None,
        };
        let choice = discipline.parse().unwrap();
        let queue = Registry::builtin().build(&choice, &env).unwrap();
        Bottleneck {
            queue,
            rate,
            free: Instant::ZERO,
        }
    }

    fn enqueue(&mut self, now: Instant, data: Outgoing) {
        // IPv4 and UDP headers.
        let len = data.data.len() as u32 + 28;
        let port = data.to.port().max(u16::from(data.socket != 0));
        let flow = u32::from(port) + 77 * data.socket as u32;
        let ecn = Ecn::of_tos(data.ecn.map_or(0, |ecn| ecn as u8));
        self.add(now, len, flow, ecn, Some(data));
    }

    /// A packet of someone else's.
    fn load(&mut self, now: Instant) {
        self.add(now, 1500, 1, Ecn::of_tos(0), None);
    }

    fn add(&mut self, now: Instant, len: u32, flow: u32, ecn: Ecn, payload: Option<Outgoing>) {
        let packet = Packet {
            len,
            flow: FlowId(flow),
            hash: flow.wrapping_mul(0x9e37_79b1),
            hosts: Hosts::new(1, 2),
            dscp: 0,
            band: 0,
            ecn,
            label: Label::None,
            arrived: now,
            payload,
        };
        self.queue.enqueue(now, packet, &mut Ignore);
    }

    /// The next datagram of the probe that has passed, and when. Another's packet is followed by the
    /// next of its window.
    fn dequeue(&mut self, now: Instant) -> Option<(Instant, Outgoing)> {
        if now < self.free {
            return None;
        }
        let packet = self.queue.dequeue(now, &mut Ignore)?;
        self.free = now + self.rate.time_for(u64::from(packet.len));
        let Some(mut data) = packet.payload else {
            self.load(now);
            return None;
        };
        if packet.ecn.bits() == 0b11 {
            data.ecn = Some(EcnCodepoint::Ce);
        }
        Some((self.free, data))
    }

    fn next(&self, now: Instant) -> Option<Instant> {
        if self.queue.backlog().packets == 0 {
            return None;
        }
        Some(if self.free > now {
            self.free
        } else {
            self.queue
                .next_wake(now)?
                .max(now + Duration::from_micros(1))
        })
    }
}

/// The receiver of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Client,
    Server,
}

pub struct World {
    now: Instant,
    client: Node,
    server: Node,
    bottleneck: Bottleneck,
    direction: DataDirection,
    delay: Duration,
    under_way: BTreeMap<(Instant, u64), (End, Outgoing)>,
    count: u64,
    /// What someone on the way adds to the delay of a datagram of data: told the time, and whether it
    /// is one of the second port's.
    pub hold: Box<dyn FnMut(Instant, bool) -> Duration>,
    /// Bytes that left the client and the server, with the headers of IPv4 and UDP.
    pub bytes: [u64; 2],
    pub reports: Vec<Report>,
}

fn server_address() -> SocketAddr {
    ([192, 0, 2, 1], 4433).into()
}

fn client_address(socket: usize) -> SocketAddr {
    ([192, 0, 2, 2], 5000 + socket as u16).into()
}

impl World {
    pub fn new(
        discipline: &str,
        mbit: u64,
        rtt_ms: u64,
        direction: DataDirection,
        form: ProbeForm,
    ) -> Self {
        let identity = Identity::new().unwrap();
        let settings = tonopah::Settings::default();
        let policy = Policy {
            rate: Rate::from_bits(1_000_000_000),
            ..Policy::default()
        };
        let policy = Policy {
            rate_in_all: policy.rate,
            ..policy
        };
        let wish = Wish {
            direction,
            form,
            trust: Trust::Pin(identity.pin()),
            rate: Rate::from_bits(1_000_000_000),
        };
        let server = Node::server(
            &identity,
            Ledger::new(policy),
            settings.clone(),
            Some([1; 32]),
        )
        .unwrap();
        let address = server_address();
        let client = Node::client(epoch(), address, &wish, settings, Some([2; 32])).unwrap();
        let rate = Rate::from_bits(mbit * 1_000_000);
        let rtt = Duration::from_millis(rtt_ms);
        World {
            now: Instant::ZERO,
            client,
            server,
            bottleneck: Bottleneck::new(discipline, rate, rtt),
            direction,
            delay: rtt.scale(1, 2),
            under_way: BTreeMap::new(),
            count: 0,
            hold: Box::new(|_, _| Duration::ZERO),
            bytes: [0; 2],
            reports: Vec::new(),
        }
    }

    /// Another flow keeps so many packets in the bottleneck.
    pub fn fill(&mut self, packets: u32) {
        for _ in 0..packets {
            self.bottleneck.load(Instant::ZERO);
        }
    }

    /// The time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.now.since(Instant::ZERO)
    }

    fn clock(&self) -> Clock {
        epoch() + Span::from_nanos(self.now.as_nanos())
    }

    fn launch(&mut self, at: Instant, to: End, data: Outgoing) {
        self.count += 1;
        self.under_way
            .insert((at + self.delay, self.count), (to, data));
    }

    fn send(&mut self) {
        let clock = self.clock();
        while let Some(data) = self.client.transmit(clock) {
            self.bytes[0] += data.data.len() as u64 + 28;
            match self.direction {
                DataDirection::Up => self.bottleneck.enqueue(self.now, data),
                DataDirection::Down => self.launch(self.now, End::Server, data),
            }
        }
        while let Some(data) = self.server.transmit(clock) {
            self.bytes[1] += data.data.len() as u64 + 28;
            match self.direction {
                DataDirection::Down => self.bottleneck.enqueue(self.now, data),
                DataDirection::Up => self.launch(self.now, End::Client, data),
            }
        }
        while let Some((at, data)) = self.bottleneck.dequeue(self.now) {
            let to = if self.direction == DataDirection::Down {
                End::Client
            } else {
                End::Server
            };
            let second = data.socket == 1 || data.to == client_address(1);
            let held = (self.hold)(self.now, second);
            self.launch(at + held, to, data);
        }
    }

    fn deliver(&mut self, to: End, data: &Outgoing) {
        let clock = self.clock();
        match to {
            End::Server => {
                let from = client_address(data.socket);
                self.server
                    .datagram(clock, 0, from, None, data.ecn, &data.data);
            }
            End::Client => {
                let socket = usize::from(data.to.port() - 5000);
                let from = server_address();
                self.client
                    .datagram(clock, socket, from, None, data.ecn, &data.data);
            }
        }
    }

    fn next(&mut self) -> Option<Instant> {
        let since = |at: Clock| {
            Instant::from_nanos(at.saturating_duration_since(epoch()).as_nanos() as u64)
        };
        let timers = [self.client.next_timeout(), self.server.next_timeout()];
        let arrival = self.under_way.keys().next().map(|key| key.0);
        let next = timers.into_iter().map(|at| at.map(since));
        next.chain([arrival, self.bottleneck.next(self.now)])
            .flatten()
            .min()
    }

    /// Runs the probe to its end.
    pub fn run(&mut self) -> Result<Report, probe::Problem> {
        loop {
            self.send();
            while let Some(news) = self.client.news() {
                match news {
                    News::Seen(report) => self.reports.push(report),
                    News::Done(report) => return Ok(report),
                    News::Failed(problem) => return Err(problem),
                }
            }
            let next = self.next().expect("a probe ends by itself");
            assert!(
                next < Instant::from_nanos(200_000_000_000),
                "a probe ends in time"
            );
            self.now = self.now.max(next);
            while let Some(entry) = self.under_way.first_entry() {
                if entry.key().0 > self.now {
                    break;
                }
                let (to, data) = entry.remove();
                self.deliver(to, &data);
            }
            let clock = self.clock();
            for node in [&mut self.client, &mut self.server] {
                if node.next_timeout().is_some_and(|at| at <= clock) {
                    node.timeout(clock);
                }
            }
        }
    }
}
