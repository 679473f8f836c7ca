//! The retransmission timer of TCP, against hand-computed steps.

use crate::common::{CLIENT, Fault, Pair, SERVER, control, ms, pure_delay};
use transport::tcp::Tcp;
use transport::{Config, Connection, Wire};
use units::Duration;

/// A retransmission that is lost while later data keeps arriving. Round trip 40 ms, no RACK.
#[test]
fn a_lost_retransmission_times_out_however_much_arrives_behind_it() {
    let config = Config::ns3();
    let end = |opens| Tcp::new(config.clone(), control("reno", config.mss.into()), opens);
    let mut pair = Pair::new(end(true), end(false), pure_delay());
    let lost = 4 * u64::from(config.mss);
    let mut times = 0;
    pair.ways[CLIENT].fault = Box::new(move |_, transmit| {
        let Wire::Tcp(segment) = &transmit.packet else {
            panic!("not TCP");
        };
        times += u32::from(segment.len > 0 && segment.seq == lost);
        if segment.seq == lost && times <= 2 {
            Fault::Drop
        } else {
            Fault::None
        }
    });
    pair.open();
    // More than the receive window of 4 MiB.
    pair.send(CLIENT, 0, 8 << 20);
    pair.run_until(ms(3_000));
    let sent: Vec<_> = pair
        .log
        .iter()
        .filter(|sent| sent.data().is_some_and(|(seq, _)| seq == lost))
        .map(|sent| sent.at)
        .collect();
    // Handshake until 40 ms, first flight at once, the duplicate acknowledgements at 80 ms.
    assert_eq!(sent[..2], [ms(40), ms(80)]);
    // Data that left before 80 ms is acknowledged by 120 ms and puts the timer off; then it runs
    // for the smallest timeout, one second.
    let waited = sent[2].since(sent[1]);
    assert!(
        (Duration::from_millis(1_000)..=Duration::from_millis(1_040)).contains(&waited),
        "{waited:?}"
    );
    assert!(pair.total(SERVER) > lost);
}

/// Acknowledgements that leave from 200 to 400 ms are held up for half a second, as by a radio
/// link's outage; data are not. The timer runs out, and the data presumed lost has arrived.
fn held_up(undo: bool) -> (transport::Stats, u64, u64) {
    let config = Config {
        undo,
        ..Config::linux()
    };
    let end = |opens| Tcp::new(config.clone(), control("reno", config.mss.into()), opens);
    let mut pair = Pair::new(end(true), end(false), pure_delay());
    pair.ways[SERVER].fault = Box::new(|_, transmit| match &transmit.packet {
        Wire::Tcp(ack) if (ms(200)..ms(400)).contains(&ack.sent) => {
            Fault::Delay(Duration::from_millis(500))
        }
        _ => Fault::None,
    });
    pair.open();
    pair.send(CLIENT, 0, 8 << 20);
    pair.run_until(ms(200));
    let before = pair.ends[CLIENT].control().window();
    pair.run_until(ms(800));
    let after = pair.ends[CLIENT].control().window();
    (pair.ends[CLIENT].stats(), before, after)
}

#[test]
fn a_timeout_that_was_too_early_is_taken_back() {
    let (stats, before, after) = held_up(true);
    assert_eq!((stats.timeouts, stats.spurious), (1, 1));
    assert!(after >= before, "{after} {before}");
    // A probe, and the retransmissions of the timer.
    assert!(stats.retransmits <= 2, "{stats:?}");
    let (stats, before, after) = held_up(false);
    assert_eq!((stats.timeouts, stats.spurious), (1, 0));
    assert!(after < before, "{after} {before}");
}
