//! ECT(1) and accurate feedback, for controls that ask for them.

use crate::common::{CLIENT, Fault, Pair, SERVER, control, ms, pure_delay};
use cca::{Ack, Congestion, Control, EcnMode, Signal};
use std::sync::{Arc, Mutex};
use transport::quic::{DATAGRAM, Quic};
use transport::tcp::{Segment, SegmentKind, Tcp};
use transport::{Config, Connection, Transmit, Wire};
use units::{Ecn, Instant};

const MSS: u64 = 1448;
const WINDOW: u64 = 20;

/// The events that a control received.
#[derive(Default)]
struct Told {
    acks: Vec<Ack>,
    marks: Vec<Instant>,
    losses: usize,
}

/// Twenty packets in flight at any time.
struct Fixed {
    mode: EcnMode,
    window: u64,
    told: Arc<Mutex<Told>>,
}

impl Control for Fixed {
    fn on_ack(&mut self, _now: Instant, ack: &Ack) {
        assert!(ack.marked <= ack.bytes);
        self.told.lock().unwrap().acks.push(ack.clone());
    }
    fn on_congestion(&mut self, now: Instant, congestion: &Congestion) {
        let mut told = self.told.lock().unwrap();
        match congestion.signal {
            Signal::Mark => told.marks.push(now),
            Signal::Loss => told.losses += 1,
        }
    }
    fn on_timeout(&mut self, _now: Instant, _in_flight: u64) {}
    fn window(&self) -> u64 {
        self.window
    }
    fn ecn(&self) -> EcnMode {
        self.mode
    }
}

fn fixed(mode: EcnMode, mss: u64) -> (Box<dyn Control>, Arc<Mutex<Told>>) {
    let told = Arc::default();
    let control = Fixed {
        mode,
        window: WINDOW * mss,
        told: Arc::clone(&told),
    };
    (Box::new(control), told)
}

fn tcp(config: &Config, mode: EcnMode) -> (Tcp, Arc<Mutex<Told>>) {
    let (control, told) = fixed(mode, MSS);
    let opens = false;
    (Tcp::new(config.clone(), control, opens), told)
}

/// A client of this mode, and a server with a scalable control.
fn pair(config: &Config, client: EcnMode) -> (Pair<Tcp>, Arc<Mutex<Told>>) {
    let (server, told) = tcp(config, EcnMode::Scalable);
    let client = Tcp::new(config.clone(), fixed(client, MSS).0, true);
    (Pair::new(client, server, pure_delay()), told)
}

/// Connects, and then lets the server send `bytes`.
fn serve<C: Connection>(pair: &mut Pair<C>, bytes: u64) {
    pair.open();
    pair.run_until(ms(200));
    assert!(pair.connected[SERVER].is_some());
    pair.send(SERVER, 0, bytes);
}

fn segments<C>(
    pair: &Pair<C>,
    from: usize,
) -> impl Iterator<Item = (&crate::common::Sent, &Segment)> {
    pair.log
        .iter()
        .filter_map(move |sent| match (&sent.packet, sent.from == from) {
            (Wire::Tcp(segment), true) => Some((sent, segment)),
            _ => None,
        })
}

fn is_data(transmit: &Transmit) -> bool {
    matches!(&transmit.packet, Wire::Tcp(segment) if segment.len > 0)
}

/// Marks data segments of the server by their number, retransmissions counted.
fn mark(pair: &mut Pair<Tcp>, which: impl Fn(u64) -> bool + 'static) {
    let mut count = 0;
    pair.ways[SERVER].fault = Box::new(move |_, transmit| {
        count += u64::from(is_data(transmit));
        if is_data(transmit) && which(count - 1) {
            Fault::Mark
        } else {
            Fault::None
        }
    });
}

#[test]
fn everything_but_the_handshake_is_ect1_whatever_the_stack_is_set_to() {
    for ecn in [false, true] {
        let config = Config {
            ecn,
            ..Config::linux()
        };
        let (mut pair, _) = pair(&config, EcnMode::Scalable);
        let mut count = 0;
        pair.ways[SERVER].fault = Box::new(move |_, transmit| {
            count += u64::from(is_data(transmit));
            if count == 5 { Fault::Drop } else { Fault::None }
        });
        serve(&mut pair, 60 * MSS);
        pair.run_until(ms(2000));
        assert_eq!(pair.total(CLIENT), 60 * MSS);
        assert!(pair.ends[SERVER].stats().retransmits > 0);
        for (sent, segment) in segments(&pair, CLIENT).chain(segments(&pair, SERVER)) {
            let expected = match segment.kind {
                SegmentKind::Syn | SegmentKind::SynAck => Ecn::NotCapable,
                SegmentKind::Ack => Ecn::Ect1,
            };
            assert_eq!(sent.ecn, expected, "{segment:?}");
        }
    }
}

/// IP and TCP headers with time stamps 52, the other options of a SYN 8, counters 8.
#[test]
fn the_counters_have_their_length() {
    let (mut pair, _) = pair(&Config::linux(), EcnMode::Scalable);
    let mut count = 0;
    pair.ways[SERVER].fault = Box::new(move |_, transmit| {
        count += u64::from(is_data(transmit));
        if [3, 5, 7].contains(&count) {
            Fault::Drop
        } else {
            Fault::None
        }
    });
    serve(&mut pair, 20 * MSS);
    pair.run_until(ms(2000));
    let lens = |from| segments(&pair, from).map(|(sent, segment)| (sent.len, segment.sack_len()));
    assert_eq!(lens(CLIENT).next(), Some((60, 0)));
    assert_eq!(lens(SERVER).next(), Some((68, 0)));
    let acks: Vec<_> = lens(CLIENT).skip(1).collect();
    for blocks in [0, 12, 20, 28] {
        assert!(acks.iter().any(|&(_, sacks)| sacks == blocks), "{blocks}");
    }
    for (len, sacks) in acks {
        // Three ranges fill the 40 bytes that options may have.
        assert_eq!(len, 52 + (sacks + 8).min(28));
    }
}

/// Segments 10, 11, 12, 30 and 31 are marked. Every acknowledgement from 11 to 35 is lost but each
/// fourth, and in the end all five are known.
#[test]
fn counts_survive_lost_acknowledgements() {
    let config = Config {
        quick_acks: 0,
        ..Config::linux()
    };
    let (mut pair, told) = pair(&config, EcnMode::Scalable);
    mark(&mut pair, |number| [10, 11, 12, 30, 31].contains(&number));
    pair.ways[CLIENT].fault = Box::new(|number, _| {
        if (8..35).contains(&number) && number % 4 > 0 {
            Fault::Drop
        } else {
            Fault::None
        }
    });
    serve(&mut pair, 100 * MSS);
    pair.run_until(ms(3000));
    let told = told.lock().unwrap();
    let marked: u64 = told.acks.iter().map(|ack| ack.marked).sum();
    assert_eq!(marked, 5 * MSS);
    let stats = pair.ends[SERVER].stats();
    assert_eq!(
        (stats.recoveries, stats.retransmits, told.losses),
        (0, 0, 0)
    );
}

/// Without quick acknowledgements every second segment is acknowledged: 1, 3, 5. Segment 6 is
/// marked after one that was not, and is acknowledged at once; 7 and 8 as a pair; 9 is not marked
/// and waits for 10.
#[test]
fn the_first_mark_is_told_at_once() {
    let config = Config {
        quick_acks: 0,
        ..Config::linux()
    };
    let (mut pair, _) = pair(&config, EcnMode::Scalable);
    mark(&mut pair, |number| (6..9).contains(&number));
    serve(&mut pair, 12 * MSS);
    pair.run_until(ms(221));
    let acks: Vec<_> = segments(&pair, CLIENT)
        .filter(|(sent, _)| sent.at == ms(220))
        .map(|(_, segment)| (segment.ack / MSS, u64::from(segment.ce) / MSS))
        .collect();
    let expected = [(2, 0), (4, 0), (6, 0), (7, 1), (9, 3), (11, 3)];
    assert_eq!(acks, expected);
}

/// All packets are marked: the control hears of it once a round trip of 40 ms, and all twenty
/// packets stay in flight, where RFC 3168's answer would ration them.
#[test]
fn marks_are_told_once_a_round_trip_and_ration_nothing() {
    let (mut pair, told) = pair(&Config::linux(), EcnMode::Scalable);
    mark(&mut pair, |_| true);
    serve(&mut pair, 10_000 * MSS);
    pair.run_until(ms(1000));
    let told = told.lock().unwrap();
    let gaps: Vec<_> = told
        .marks
        .windows(2)
        .map(|two| two[1].since(two[0]))
        .collect();
    // The first round of twenty is acknowledged at 240: 240, 280, … 1000.
    assert_eq!(told.marks.len(), 20, "{gaps:?}");
    assert!(gaps.iter().all(|gap| gap.as_millis() == 40));
    let (bytes, marked) = told.acks.iter().fold((0, 0), |(bytes, marked), ack| {
        assert!(!ack.in_recovery);
        (bytes + ack.bytes, marked + ack.marked)
    });
    assert_eq!((bytes, marked), (400 * MSS, 400 * MSS));
    assert!(segments(&pair, SERVER).all(|(_, segment)| !segment.cwr));
    assert!(
        segments(&pair, CLIENT)
            .all(|(_, segment)| segment.kind != SegmentKind::Ack || !segment.ece)
    );
}

/// RFC 9331, 4.3: a sender without accurate feedback must not identify as L4S.
#[test]
fn without_accurate_feedback_nothing_is_ect1() {
    for ecn in [false, true] {
        let config = Config {
            ecn,
            ..Config::linux()
        };
        let (mut pair, _) = pair(&config, EcnMode::Classic);
        serve(&mut pair, 20 * MSS);
        pair.run_until(ms(1000));
        assert_eq!(pair.total(CLIENT), 20 * MSS);
        assert!(segments(&pair, SERVER).all(|(sent, _)| sent.ecn == Ecn::NotCapable));
    }
}

/// The client asked for accurate feedback for its own sake; the server's Reno halves once for a
/// round trip with marks, as ever.
#[test]
fn a_classic_control_answers_an_accurate_echo_as_it_does_the_other() {
    let config = Config {
        ecn: true,
        ..Config::linux()
    };
    let client = Tcp::new(config.clone(), fixed(EcnMode::Scalable, MSS).0, true);
    let server = Tcp::new(config.clone(), control("reno", MSS), false);
    let mut pair = Pair::new(client, server, pure_delay());
    mark(&mut pair, |number| (14..16).contains(&number));
    serve(&mut pair, 200 * MSS);
    pair.run_until(ms(5000));
    assert_eq!(pair.total(CLIENT), 200 * MSS);
    let data = segments(&pair, SERVER).filter(|(_, segment)| segment.len > 0);
    assert!(data.into_iter().all(|(sent, _)| sent.ecn == Ecn::Ect0));
    let window = pair.ends[SERVER].control().window();
    assert!((10 * MSS..30 * MSS).contains(&window), "{window}");
    assert_eq!(pair.ends[SERVER].stats().recoveries, 0);
}

fn quic(mode: EcnMode, opens: bool) -> (Quic, Arc<Mutex<Told>>) {
    let (control, told) = fixed(mode, DATAGRAM.into());
    (Quic::new(Config::linux(), control, opens), told)
}

/// Every third packet is marked, and one is lost: both are reported, and the share is exact.
#[test]
fn quic_is_ect1_and_counts() {
    let (client, _) = quic(EcnMode::Scalable, true);
    let (server, told) = quic(EcnMode::Scalable, false);
    let mut pair = Pair::new(client, server, pure_delay());
    pair.ways[SERVER].fault = Box::new(|number, _| match number {
        100 => Fault::Drop,
        number if number > 30 && number % 3 == 0 => Fault::Mark,
        _ => Fault::None,
    });
    serve(&mut pair, 300 * 1314);
    pair.run_until(ms(3000));
    assert!(pair.log.iter().all(|sent| sent.ecn == Ecn::Ect1));
    let told = told.lock().unwrap();
    let faults = |fault| pair.log.iter().filter(|sent| sent.fault == fault).count() as u64;
    let marked: u64 = told.acks.iter().map(|ack| ack.marked).sum();
    let most = faults(Fault::Mark) * u64::from(DATAGRAM);
    assert!(
        marked <= most && marked * 100 >= most * 98,
        "{marked} of {most}"
    );
    assert_eq!(told.losses, 1, "in the middle of marks");
    let gaps = told.marks.windows(2).map(|two| two[1].since(two[0]));
    assert!(gaps.into_iter().all(|gap| gap.as_millis() >= 40));
    assert!(told.marks.len() > 10);
}
