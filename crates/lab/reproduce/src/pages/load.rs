//! One load of a page, alone on a link, and how many flows it has at the same time.

use measure::{Engine, EngineError, Event, Sink};
use scenario::{AnyNames, Document, Scenario, ScenarioError};
use std::sync::Arc;
use units::{Duration, Instant, Rate};
use workload::page::{ActiveFlows, Page, PageParams, Protocol};
use workload::{Event as Application, PageLoads};

/// The link is no bottleneck and its queue drops nothing. The paper does not describe its access.
/// Ten minutes are more than any page takes here.
const ALONE: &str = r#"
name = "alone"
duration = "600s"
disciplines = ["pfifo"]

[link]
rate = "1gbit"
rtt = "40ms"
buffer = "1000000p"

[[traffic]]
name = "page"
kind = "page"
source = "generated:1"
"#;

/// The access link over which pages are loaded: 1 Gbit/s and a round trip of 40 ms by default.
#[derive(Debug, Clone)]
pub struct Access(Scenario);

impl Default for Access {
    fn default() -> Self {
        Access::new(None, None).expect("tests resolve the scenario as it stands above")
    }
}

impl Access {
    /// A link with this rate and round trip, if given: `100mbit`, `20ms`.
    ///
    /// # Errors
    /// If one of them is no rate or time, or out of a scenario's ranges.
    pub fn new(rate: Option<&str>, rtt: Option<&str>) -> Result<Self, ScenarioError> {
        let mut document = Document::parse("alone", ALONE)?;
        for (key, value) in [("link.rate", rate), ("link.rtt", rtt)] {
            if let Some(value) = value {
                document.set(key, value)?;
            }
        }
        // The names are checked when it is run.
        let names = AnyNames::default();
        document.resolve(&names).map(Access)
    }

    /// The link's rate.
    pub fn rate(&self) -> Rate {
        self.0.links[0].capacity.nominal()
    }

    /// The round trip without queueing and transmission.
    pub fn rtt(&self) -> Duration {
        self.0.rtt
    }

    /// Loads `page` once on `engine`, with nothing else on the link.
    ///
    /// # Errors
    /// The errors of [`Engine::run`].
    pub fn load(&self, engine: &dyn Engine, page: &Arc<Page>) -> Result<ObservedLoad, EngineError> {
        let mut scenario = self.0.clone();
        for traffic in &mut scenario.traffic {
            traffic.kind.workload = Arc::new(PageLoads {
                params: PageParams {
                    loads: 1,
                    shuffle: false,
                    ..PageParams::default()
                },
                pages: vec![Arc::clone(page)],
            });
        }
        let mut meter = LoadMeter::new(page);
        engine.run(&scenario, &scenario.disciplines[0], 1, &mut meter)?;
        Ok(meter.load)
    }
}

/// The observations of a load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedLoad {
    /// Most flows that receive bytes within the same 10 ms: application bytes at the home side, TLS
    /// handshakes over TCP included, bare acknowledgements and QUIC handshakes not.
    pub active: u64,
    /// Most connections with a request outstanding at the same time. A socket of Chrome is IN_USE
    /// also while an HTTP/2 session is idle on it.
    pub in_use: u64,
    /// Most connections that are open at the same time, handshakes included. The page client closes
    /// none before the page is complete, so that these are all that it opens.
    pub open: u64,
    /// Connections opened.
    pub connections: u64,
    /// Bytes of answers received on each of them, in the order in which they were opened.
    pub flow_bytes: Vec<u64>,
    /// Whether all requests are complete.
    pub complete: bool,
}

/// Counts the flows of the one load that an engine reports.
struct LoadMeter<'a> {
    page: &'a Page,
    active: ActiveFlows,
    /// Requests that are outstanding, by origin.
    outstanding: Vec<u32>,
    in_use: u64,
    open: u64,
    /// The bytes left of each connection's handshake.
    handshakes: Vec<u64>,
    load: ObservedLoad,
}

impl<'a> LoadMeter<'a> {
    fn new(page: &'a Page) -> Self {
        LoadMeter {
            page,
            active: ActiveFlows::default(),
            outstanding: vec![0; page.origins().len()],
            in_use: 0,
            open: 0,
            handshakes: Vec::new(),
            load: ObservedLoad::default(),
        }
    }

    /// The origin of a request, and whether its requests share one connection.
    fn origin(&self, request: u32) -> (usize, bool) {
        let origin = self.page.requests()[request as usize].origin as usize;
        (origin, self.page.origins()[origin].protocol != Protocol::H1)
    }

    /// Each outstanding request of an HTTP/1 origin has a connection of its own; those of any other
    /// have one together. So events need not name the connection of a request.
    fn started(&mut self, request: u32) {
        let (origin, shared) = self.origin(request);
        self.outstanding[origin] += 1;
        self.in_use += u64::from(!shared || self.outstanding[origin] == 1);
        self.load.in_use = self.load.in_use.max(self.in_use);
    }

    /// Bytes arrived on a connection: of its handshake first, then of answers.
    fn delivered(&mut self, flow: usize, bytes: u64) {
        let flows = self.load.flow_bytes.get_mut(flow);
        if let Some((sum, left)) = flows.zip(self.handshakes.get_mut(flow)) {
            let handshake = bytes.min(*left);
            *left -= handshake;
            *sum += bytes - handshake;
        }
    }

    fn done(&mut self, request: u32) {
        let (origin, shared) = self.origin(request);
        self.outstanding[origin] -= 1;
        self.in_use -= u64::from(!shared || self.outstanding[origin] == 0);
    }
}

impl Sink for LoadMeter<'_> {
    fn event(&mut self, now: Instant, event: &Event) {
        let Event::Traffic(event) = *event else {
            return;
        };
        match event {
            Application::Delivered { flow, bytes } => {
                self.active.arrived(now, flow.0);
                self.load.active = self.active.peak() as u64;
                self.delivered(flow.0 as usize, bytes);
            }
            // Flows are numbered in the order of their starts.
            Application::FlowStarted {
                carrier, server, ..
            } => {
                let handshake = self.page.handshake_bytes(server, carrier);
                self.handshakes.push(handshake.get());
                self.load.flow_bytes.push(0);
            }
            Application::ConnectionOpened { .. } => {
                self.load.connections += 1;
                self.open += 1;
                self.load.open = self.load.open.max(self.open);
            }
            Application::RequestStarted { request, .. } => self.started(request),
            Application::RequestDone { request, .. } => self.done(request),
            Application::PageDone { .. } => {
                self.open = 0;
                self.load.complete = true;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::TrafficId;
    use qdisc::FlowId;
    use units::Bytes;
    use workload::page::{After, Origin, Request};

    const PAGE: TrafficId = TrafficId(0);

    /// Requests 0 to 2 over HTTP/1, 3 and 4 over HTTP/2.
    fn page() -> Page {
        let origin = |host: &str, protocol| Origin {
            secure: true,
            host: host.to_owned(),
            port: 443,
            protocol,
        };
        let request = |origin| Request {
            origin,
            request: Bytes::new(400),
            response: Bytes::new(1_000),
            think: Duration::ZERO,
            after: After::Navigation,
            delay: Duration::ZERO,
        };
        let origins = vec![
            origin("a.example", Protocol::H1),
            origin("b.example", Protocol::H2),
        ];
        Page::new("test", origins, [0, 0, 0, 1, 1].map(request).to_vec()).unwrap()
    }

    fn opened(flow: u32) -> [Application; 2] {
        let flow = FlowId(flow);
        let traffic = PAGE;
        let page = PAGE;
        [
            Application::FlowStarted {
                flow,
                traffic,
                carrier: workload::Carrier::Tcp,
                server: 0,
            },
            Application::ConnectionOpened { page },
        ]
    }

    fn started(request: u32) -> Application {
        let (page, load) = (PAGE, 0);
        Application::RequestStarted {
            page,
            load,
            request,
        }
    }

    fn done(request: u32) -> Application {
        Application::RequestDone {
            page: PAGE,
            load: 0,
            request,
            bytes: 1_000,
        }
    }

    fn came(flow: u32, bytes: u64) -> Application {
        let flow = FlowId(flow);
        Application::Delivered { flow, bytes }
    }

    #[test]
    fn a_load_counted_by_hand() {
        let page = page();
        let mut meter = LoadMeter::new(&page);
        let mut at = |ms, events: &[Application]| {
            for &event in events {
                let now = Instant::ZERO + Duration::from_millis(ms);
                meter.event(now, &Event::Traffic(event));
            }
            meter.load.clone()
        };
        // Two HTTP/1 connections and one HTTP/2 connection; handshakes come home on all of them,
        // on two within the first 10 ms.
        at(0, &[opened(0), opened(1), opened(2)].concat());
        at(8, &[came(0, 50), came(1, 50)]);
        let load = at(10, &[came(2, 50)]);
        assert_eq!((load.open, load.in_use, load.active), (3, 0, 2));
        // Two requests share the HTTP/2 connection: 1 in use, and 2 with one over HTTP/1.
        let load = at(20, &[started(3), started(4), started(0)]);
        assert_eq!(load.in_use, 2);
        // The first of the two is done: its connection is still in use, and with another one over
        // HTTP/1 there are 3. A connection idle in between no longer counts.
        let load = at(30, &[done(3), started(1)]);
        assert_eq!(load.in_use, 3);
        let load = at(40, &[done(4), done(0), started(2)]);
        assert_eq!(load.in_use, 3);
        // From 50 ms on three flows receive: 50, 52, 59; the one at 60 falls into the next window.
        at(50, &[came(0, 500)]);
        at(52, &[came(1, 900), came(1, 50)]);
        let load = at(59, &[came(2, 7)]);
        assert_eq!(load.active, 3);
        at(60, &[came(0, 450)]);
        assert!(!load.complete);
        let (page, load) = (PAGE, 0);
        let load = at(
            70,
            &[done(1), done(2), Application::PageDone { page, load }],
        );
        let expected = ObservedLoad {
            active: 3,
            in_use: 3,
            open: 3,
            connections: 3,
            flow_bytes: vec![1_000, 1_000, 57],
            complete: true,
        };
        assert_eq!(load, expected);
    }

    #[test]
    fn the_access_is_what_was_said() {
        let usual = Access::default();
        assert_eq!(usual.rate(), Rate::from_bits(1_000_000_000));
        assert_eq!(usual.rtt(), Duration::from_millis(40));
        let other = Access::new(Some("100mbit"), Some("20ms")).unwrap();
        assert_eq!(other.rate(), Rate::from_bits(100_000_000));
        assert_eq!(other.rtt(), Duration::from_millis(20));
        let error = Access::new(Some("fast"), None).unwrap_err();
        assert_eq!(error.place(), "--set link.rate");
    }
}
