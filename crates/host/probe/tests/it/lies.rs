//! Peers and paths that lie about what arrived and when: no verdict from a lie that the sender can see.

use crate::liar::{Ahead, Liar};
use crate::simulated::world::{World, epoch};
use cca::tonopah::Settings;
use probe::node::{News, Node, ProbeForm, Wish};
use probe::report::{DataDirection, Management};
use probe::{Identity, Problem, Report, Trust};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration as Span;
use units::{Duration, Instant, Rate};

const LOAD: ProbeForm = ProbeForm::Load(Span::from_secs(10));
const STEP: Span = Span::from_millis(1);
/// One way.
const DELAY: Span = Span::from_millis(10);

fn server_address() -> SocketAddr {
    ([192, 0, 2, 1], 4433).into()
}

fn client_address(socket: usize) -> SocketAddr {
    ([192, 0, 2, 2], 5000 + socket as u16).into()
}

const GRANTED: &str = "{\"granted\":{\"millis\":4000,\"bits_per_second\":5000000}}\n";

/// A client sends to the liar, who begins to be `ahead` after a second.
fn sends_to_liar(answer: &'static str, ahead: u64) -> (Result<Report, Problem>, Liar) {
    let identity = Identity::new().unwrap();
    let lie = Ahead::default();
    let mut liar = Liar::new(&identity, lie.clone(), answer);
    let wish = Wish {
        direction: DataDirection::Up,
        form: ProbeForm::Load(Span::from_secs(4)),
        trust: Trust::Pin(identity.pin()),
        rate: Rate::from_bits(5_000_000),
    };
    let settings = Settings::default();
    let mut client = Node::client(epoch(), server_address(), &wish, settings, None).unwrap();
    let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
    let mut now = epoch();
    loop {
        now += STEP;
        if now > epoch() + Span::from_secs(1) {
            lie.set(ahead);
        }
        while let Some(data) = client.transmit(now) {
            there.push_back((now + DELAY, client_address(data.socket), data.data));
        }
        while there.front().is_some_and(|(at, ..)| *at <= now) {
            let (_, from, data) = there.pop_front().unwrap();
            liar.receive(now, from, &data);
        }
        for (to, data) in liar.turn(now) {
            back.push_back((now + DELAY, to, data));
        }
        while back.front().is_some_and(|(at, ..)| *at <= now) {
            let (_, to, data) = back.pop_front().unwrap();
            let socket = usize::from(to.port() - 5000);
            client.datagram(now, socket, server_address(), None, None, &data);
        }
        if client.next_timeout().is_some_and(|at| at <= now) {
            client.timeout(now);
        }
        while let Some(news) = client.news() {
            match news {
                News::Seen(_) => {}
                News::Done(report) => return (Ok(report), liar),
                News::Failed(problem) => return (Err(problem), liar),
            }
        }
        assert!(now < epoch() + Span::from_secs(20), "a probe ends");
    }
}

#[test]
fn a_server_that_tells_the_truth_gets_all_data() {
    let (report, _) = sends_to_liar(GRANTED, 0);
    let report = report.unwrap();
    assert!(report.sent_bytes > 2_000_000, "{report:?}");
    assert_eq!(report.lost_bytes, 0);
    // It has two paths, as servers had before the call.
    assert_eq!(report.call, None);
    assert!(report.for_a_call().contains("no call was sent"));
}

#[test]
fn who_acknowledges_what_was_never_sent_is_cut_off() {
    let (result, _) = sends_to_liar(GRANTED, 1000);
    let text = result.unwrap_err().to_string();
    assert!(text.contains("unsent packet acked"), "{text}");
}

/// Packets under way are sent, but some numbers are left out, and nobody can know which.
#[test]
fn who_acknowledges_what_has_not_arrived_yet_is_cut_off() {
    let (result, _) = sends_to_liar(GRANTED, 2);
    let text = result.unwrap_err().to_string();
    assert!(text.contains("unsent packet acked"), "{text}");
}

#[test]
fn impossible_figures_are_refused() {
    let wrong = "{\"done\":{\"at_ms\":1,\"direction\":\"up\",\"verdict\":\"fair-queuing\",\
        \"confidence\":7,\"aqm\":null,\"held\":false,\"difference_ms\":null,\"overtaken\":true,\
        \"age_ms\":1,\"base_rtt_ms\":1,\"rate_mbit\":1,\"queue_ms\":1,\"queue_p95_ms\":1,\
        \"sent_bytes\":1,\"lost_bytes\":1,\"marks\":0}}\n";
    let (result, _) = sends_to_liar(wrong, 0);
    assert!(matches!(result, Err(Problem::Peer(_))), "{result:?}");
}

/// Someone on the way, who sees how much either subflow sends, and holds a packet for a time that
/// depends on whether it is of the one that sent more of late.
fn by_role(dominant: Duration, lesser: Duration) -> impl FnMut(Instant, bool) -> Duration {
    let mut last: VecDeque<bool> = VecDeque::new();
    move |_, second| {
        last.push_back(second);
        if last.len() > 20 {
            last.pop_front();
        }
        let own = last.iter().filter(|&&s| s == second).count();
        if 2 * own > last.len() {
            dominant
        } else {
            lesser
        }
    }
}

fn held(
    discipline: &str,
    form: ProbeForm,
    hold: impl FnMut(Instant, bool) -> Duration + 'static,
) -> Report {
    try_held(discipline, form, hold).unwrap()
}

fn try_held(
    discipline: &str,
    form: ProbeForm,
    hold: impl FnMut(Instant, bool) -> Duration + 'static,
) -> Result<Report, Problem> {
    let mut world = World::new(discipline, 10, 20, DataDirection::Down, form);
    world.hold = Box::new(hold);
    world.run()
}

#[test]
fn a_subflow_that_is_always_late_hides_nothing() {
    for ms in [5, 25, 100] {
        let late = move |_, second| Duration::from_millis(if second { ms } else { 0 });
        let one = held("pfifo", LOAD, late);
        assert_ne!(one.verdict, Management::FairQueuing, "{}", one.text());
        let own = held("fq", LOAD, late);
        assert_ne!(own.verdict, Management::SharedFifo, "{}", own.text());
    }
}

/// Delays that follow the roles at once, and not as a queue fills, turn the order round within a
/// subflow. No queue of packets does that.
#[test]
fn delays_that_follow_the_roles_without_a_queue_are_seen() {
    let ms = Duration::from_millis;
    for (dominant, lesser) in [
        (ms(4), ms(0)),
        (ms(12), ms(0)),
        (ms(25), ms(0)),
        (ms(0), ms(12)),
    ] {
        for discipline in ["pfifo", "fq", "codel"] {
            let report = held(discipline, LOAD, by_role(dominant, lesser));
            let text = report.text();
            assert!(report.reordered > 0.0, "{discipline}: {text}");
            assert_eq!(report.verdict, Management::Unknown, "{discipline}: {text}");
        }
    }
}

/// Longer ones make so much of what arrives count as lost that QUIC may give up one of the paths.
#[test]
fn delays_of_two_round_trips_that_follow_the_roles_give_no_verdict() {
    for discipline in ["pfifo", "fq", "codel"] {
        let hold = by_role(Duration::from_millis(40), Duration::ZERO);
        let result = try_held(discipline, LOAD, hold);
        match result {
            Ok(report) => assert_eq!(report.verdict, Management::Unknown, "{}", report.text()),
            Err(problem) => assert!(matches!(problem, Problem::Unreachable(_)), "{problem}"),
        }
    }
}

/// The first run is held until the second is through.
#[test]
fn trains_that_are_turned_round_are_not_believed() {
    let mut last: Option<(Instant, bool)> = None;
    let hold = move |now: Instant, second| {
        // The subflow after a pause is the first of a train.
        let first = match last {
            Some((at, first)) if now.since(at) < Duration::from_millis(15) => first,
            _ => second,
        };
        last = Some((now, first));
        Duration::from_millis(if second == first { 60 } else { 0 })
    };
    let report = held("pfifo", ProbeForm::Quick, hold);
    assert_eq!(report.verdict, Management::Unknown, "{}", report.text());
    let finding = report.trains.unwrap().finding;
    assert_eq!(
        finding,
        probe::trains::TrainsFinding::Overturned,
        "{}",
        report.text()
    );
}
