//! The actions of a client, step by step, over a toy network of 100 ms and 1 Gbit/s (a packet takes
//! 12 us, so that times are given to the millisecond).

use crate::toy::{Run, Toy};
use std::sync::Arc;
use units::{Bytes, Duration, Instant, Rate};
use workload::page::{After, Origin, Page, PageClient, PageParams, PageSetup, Protocol, Request};
use workload::{Message, Report};

const RTT: Duration = Duration::from_millis(100);

fn request(response: u64, after: After, delay: u64) -> Request {
    Request {
        origin: 0,
        request: Bytes::new(400),
        response: Bytes::new(response),
        think: Duration::from_millis(10),
        after,
        delay: Duration::from_millis(delay),
    }
}

fn page(secure: bool, protocol: Protocol, requests: Vec<Request>) -> Arc<Page> {
    let origin = Origin {
        secure,
        host: "a.example".into(),
        port: 443,
        protocol,
    };
    Arc::new(Page::new("test", vec![origin], requests).unwrap())
}

fn run(page: Arc<Page>, settings: &[(&str, &str)]) -> Run {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let params = PageParams::parse(&settings).unwrap();
    let setup = PageSetup { seed: 1, rtt: RTT };
    let client = PageClient::new(vec![page], params, setup);
    Toy::new(RTT, Rate::from_bits(1_000_000_000)).run(client, Duration::from_secs(60))
}

fn ms(at: Instant) -> u64 {
    at.since(Instant::ZERO).as_millis()
}

/// When each request was sent and done, in milliseconds.
fn times(run: &Run) -> Vec<(u64, u64)> {
    let mut times = Vec::new();
    for (at, report) in &run.reports {
        match *report {
            Report::RequestStarted { id, .. } => {
                times.resize(times.len().max(id as usize + 1), (0, 0));
                times[id as usize].0 = ms(*at);
            }
            Report::RequestDone { id, .. } => times[id as usize].1 = ms(*at),
            _ => {}
        }
    }
    times
}

fn page_done(run: &Run) -> Vec<u64> {
    let done = |(at, report): &(Instant, Report)| match report {
        Report::PageDone { .. } => Some(ms(*at)),
        _ => None,
    };
    run.reports.iter().filter_map(done).collect()
}

#[test]
fn handshakes_take_their_round_trips() {
    let plan = || vec![request(1_000, After::Navigation, 0)];
    // One round trip for TCP or QUIC, one more for TLS over TCP; then one and 10 ms of thinking.
    for (secure, protocol, sent) in [
        (false, Protocol::H1, 100),
        (true, Protocol::H1, 200),
        (true, Protocol::H2, 200),
        (true, Protocol::H3, 100),
    ] {
        let run = run(page(secure, protocol, plan()), &[("loads", "1")]);
        assert_eq!(times(&run), [(sent, sent + 110)], "{protocol:?} {secure}");
        assert_eq!(page_done(&run), [sent + 110]);
        let bytes: Vec<u64> = run.sent.iter().map(|sent| sent.3).collect();
        match sent {
            200 => assert_eq!(bytes, [517, 480]),
            _ => assert_eq!(bytes, [400]),
        }
    }
}

#[test]
fn http1_opens_six_and_takes_turns() {
    let plan = vec![request(1_000, After::Navigation, 0); 8];
    let run = run(page(false, Protocol::H1, plan), &[("loads", "1")]);
    assert_eq!(run.opened.len(), 6);
    // Six at 100 ms, and the other two when the first answers are complete.
    let mut sent: Vec<u64> = times(&run).iter().map(|time| time.0).collect();
    sent.sort_unstable();
    assert_eq!(sent, [100, 100, 100, 100, 100, 100, 210, 210]);
    assert_eq!(run.closed.len(), 6);
}

#[test]
fn an_idle_connection_is_used_again() {
    let plan = vec![
        request(1_000, After::Navigation, 0),
        request(1_000, After::Done(0), 50),
    ];
    let run = run(page(false, Protocol::H1, plan), &[("loads", "1")]);
    // Done at 100 + 110; after 50 ms of the browser's own work no handshake is needed.
    assert_eq!(times(&run), [(100, 210), (260, 370)]);
    assert_eq!(run.opened.len(), 1);
}

#[test]
fn shared_connections_carry_many_requests() {
    for protocol in [Protocol::H2, Protocol::H3] {
        let plan = vec![request(1_000, After::Navigation, 0); 150];
        let run = run(page(true, protocol, plan), &[("loads", "1")]);
        assert_eq!(run.opened.len(), 1);
        let begin = times(&run)[0].0;
        let at_once = times(&run).iter().filter(|time| time.0 == begin).count();
        assert_eq!(at_once, 100, "RFC 9113, section 6.5.2");
        let streams: Vec<u32> = run.sent.iter().map(|sent| sent.2).collect();
        match protocol {
            Protocol::H3 => assert_eq!(streams[..4], [0, 4, 8, 12]),
            _ => assert!(streams.iter().all(|&stream| stream == 0)),
        }
    }
}

#[test]
fn answers_on_one_connection_share_it() {
    // A long answer and a short one that is asked for at the same time.
    let plan = vec![
        request(1_000_000, After::Navigation, 0),
        request(20_000, After::Navigation, 0),
    ];
    let run = run(page(true, Protocol::H2, plan), &[("loads", "1")]);
    let times = times(&run);
    // 20 kB take two parts, each after one of the other: 16 + 16 + 16 + 4 kB are there within
    // three windows of 14, 28 and 56 kB; a megabyte takes seven.
    assert!(times[1].1 <= 200 + 110 + 200, "{times:?}");
    assert!(times[0].1 >= 200 + 110 + 500, "{times:?}");
}

#[test]
fn a_child_may_wait_for_the_first_part_only() {
    let plan = |after| {
        vec![
            request(200_000, After::Navigation, 0),
            request(1_000, after, 5),
        ]
    };
    let early = run(
        page(false, Protocol::H2, plan(After::FirstPart(0))),
        &[("loads", "1")],
    );
    let late = run(
        page(false, Protocol::H2, plan(After::Done(0))),
        &[("loads", "1")],
    );
    // The first 16,384 bytes need the first two windows: 14,480, then the rest 100 ms later.
    assert_eq!(times(&early)[1].0, 100 + 110 + 100 + 5);
    // 200 kB need windows of 14, 28, 57 and 115 kB.
    assert_eq!(times(&late)[1].0, 100 + 110 + 300 + 5 + 1);
}

#[test]
fn loads_repeat_with_new_connections() {
    let plan = vec![request(1_000, After::Navigation, 0)];
    let settings = [("loads", "3"), ("interval", "5s")];
    let run = run(page(true, Protocol::H1, plan), &settings);
    assert_eq!(page_done(&run), [310, 5_310, 10_310]);
    assert_eq!(run.opened.len(), 3);
    let closed: Vec<u64> = run.closed.iter().map(|closed| ms(closed.0)).collect();
    assert_eq!(closed, [310, 5_310, 10_310]);
}

#[test]
fn a_load_that_takes_longer_delays_the_next() {
    let plan = vec![request(1_000, After::Navigation, 1_000)];
    let settings = [("loads", "2"), ("interval", "500ms")];
    let run = run(page(false, Protocol::H1, plan), &settings);
    // 1000 + 100 + 110 each; the second begins when the first is complete.
    assert_eq!(page_done(&run), [1_210, 2_420]);
}

#[test]
fn thinking_scales() {
    let plan = || vec![request(1_000, After::Navigation, 0)];
    let think = |scale| {
        let settings = [("loads", "1"), ("think_scale", scale)];
        page_done(&run(page(false, Protocol::H1, plan()), &settings))
    };
    assert_eq!((think("0"), think("5")), (vec![200], vec![250]));
}

#[test]
fn round_trips_spread_and_stay() {
    let origin = |number: u32| Origin {
        secure: false,
        host: format!("{number}.example"),
        port: 80,
        protocol: Protocol::H1,
    };
    let requests = (0..20).map(|origin| Request {
        origin,
        ..request(1_000, After::Navigation, 0)
    });
    let page = Page::new("test", (0..20).map(origin).collect(), requests.collect()).unwrap();
    let settings = [("loads", "2"), ("rtt_spread", "0.5")];
    let run = run(Arc::new(page), &settings);
    let sent = run.reports.iter().filter_map(|(at, report)| match report {
        Report::RequestStarted { load, id } => Some((*load, *id, ms(*at))),
        _ => None,
    });
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (load, id, at) in sent {
        match load {
            0 => first.push((id, at)),
            _ => second.push((id, at - 53_000)),
        }
    }
    first.sort_unstable();
    second.sort_unstable();
    assert_eq!(first, second);
    assert!(first.iter().any(|&(_, at)| at == 100));
    assert!(first.iter().any(|&(_, at)| at > 120));
}

#[test]
fn pages_are_chosen_at_random_or_in_turn() {
    let plan = vec![request(1_000, After::Navigation, 0)];
    let one = page(false, Protocol::H1, plan);
    let chosen = |shuffle: bool| -> Vec<u32> {
        let params = PageParams {
            loads: 40,
            shuffle,
            interval: Duration::from_secs(1),
            ..PageParams::default()
        };
        let setup = PageSetup { seed: 1, rtt: RTT };
        let client = PageClient::new(vec![one.clone(); 4], params, setup);
        let run =
            Toy::new(RTT, Rate::from_bits(1_000_000_000)).run(client, Duration::from_secs(60));
        let page = |(_, report): &(Instant, Report)| match report {
            Report::PageStarted { page, .. } => Some(*page),
            _ => None,
        };
        run.reports.iter().filter_map(page).collect()
    };
    assert_eq!(chosen(false)[..6], [0, 1, 2, 3, 0, 1]);
    let random = chosen(true);
    assert_eq!(random.len(), 40);
    assert!((0..4).all(|page| random.contains(&page)));
    assert_ne!(random, chosen(false));
    assert_eq!(random, chosen(true));
}

#[test]
fn a_pause_begins_when_a_load_is_complete() {
    let plan = vec![request(1_000_000, After::Navigation, 0)];
    let params = PageParams {
        loads: 3,
        pause: Duration::from_secs(6),
        // It does not count next to a pause.
        interval: Duration::from_secs(1),
        ..PageParams::default()
    };
    let setup = PageSetup { seed: 1, rtt: RTT };
    let client = PageClient::new(vec![page(false, Protocol::H2, plan)], params, setup);
    // A megabyte takes two seconds and more.
    let run = Toy::new(RTT, Rate::from_bits(4_000_000)).run(client, Duration::from_secs(60));
    let at = |wanted: fn(&Report) -> bool| -> Vec<Instant> {
        let of = run.reports.iter().filter(|(_, report)| wanted(report));
        of.map(|(at, _)| *at).collect()
    };
    let started = at(|report| matches!(report, Report::PageStarted { .. }));
    let done = at(|report| matches!(report, Report::PageDone { .. }));
    assert_eq!((started.len(), done.len()), (3, 3));
    assert!(done[0].since(started[0]) > Duration::from_secs(2));
    for (done, next) in done.iter().zip(&started[1..]) {
        assert_eq!(next.since(*done), Duration::from_secs(6));
    }
}

#[test]
fn what_makes_no_sense_is_ignored() {
    use workload::{App, ConnId, Input};
    let plan = vec![request(1_000, After::Navigation, 0)];
    let setup = PageSetup { seed: 1, rtt: RTT };
    let pages = vec![page(true, Protocol::H1, plan)];
    let mut client = PageClient::new(pages, PageParams::default(), setup);
    let mut out = Vec::new();
    client.handle(Instant::ZERO, Input::Start, &mut out);
    client.handle(Instant::ZERO, Input::Timer(u64::from(u32::MAX)), &mut out);
    out.clear();
    for conn in [ConnId(0), ConnId(9)] {
        for message in [
            Message::Response { id: 7, last: true },
            Message::ClientHello,
            Message::Bulk { last: true },
        ] {
            let input = Input::Message {
                conn,
                stream: 3,
                message,
            };
            client.handle(Instant::ZERO, input, &mut out);
        }
    }
    for input in [
        Input::Opened(ConnId(9)),
        Input::Writable(ConnId(9)),
        Input::Timer(77 << 32),
    ] {
        client.handle(Instant::ZERO, input, &mut out);
    }
    assert_eq!(out, []);
    PageClient::new(vec![], PageParams::default(), setup).handle(
        Instant::ZERO,
        Input::Start,
        &mut out,
    );
    assert_eq!(out, [], "there is no page to load");
}
