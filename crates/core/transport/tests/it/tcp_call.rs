//! A call over one TCP connection, set as the RTC library of the Confucius paper sets it.

use crate::common::{CLIENT, Fault, Pair, SERVER, control, ms, pure_delay};
use transport::tcp::Tcp;
use transport::{Config, Wire};

const MSS: u64 = 1448;
/// Four segments.
const FRAME: u64 = 4 * MSS;

/// A connected pair, 40 ms apart; the listed data segments of the server are dropped.
fn connected(dropped: &'static [u64]) -> Pair<Tcp> {
    let config = Config::rtc_library();
    let end = |opens| Tcp::new(config.clone(), control("reno", MSS), opens);
    let mut pair = Pair::new(end(true), end(false), pure_delay());
    let mut count = 0;
    pair.ways[SERVER].fault = Box::new(move |_, transmit| match &transmit.packet {
        Wire::Tcp(segment) if segment.len > 0 => {
            count += 1;
            if dropped.contains(&(count - 1)) {
                Fault::Drop
            } else {
                Fault::None
            }
        }
        _ => Fault::None,
    });
    pair.open();
    pair.run_until(ms(100));
    pair
}

/// When each of three frames, written at 100, 120 and 140 ms, is complete.
fn complete(pair: &mut Pair<Tcp>) -> Vec<u64> {
    let mut complete = Vec::new();
    for at in 100..300 {
        pair.run_until(ms(at));
        if [100, 120, 140].contains(&at) {
            pair.send(SERVER, 0, FRAME);
        }
        while pair.total(CLIENT) >= FRAME * (complete.len() as u64 + 1) {
            complete.push(at);
        }
    }
    complete
}

#[test]
fn a_loss_holds_back_later_frames_until_it_is_repaired() {
    assert_eq!(complete(&mut connected(&[])), [120, 140, 160]);
    // The first segment of frame 1 is lost. The other three arrive at 140, their acknowledgements at
    // 160, and the repair at 180: one round trip later. Frame 2 is there at 160 and waits for it.
    assert_eq!(complete(&mut connected(&[4])), [120, 180, 180]);
}

#[test]
fn the_timeout_is_a_second_and_does_not_double() {
    // All the data there is, lost three times.
    let mut pair = connected(&[0, 1, 2]);
    pair.send(SERVER, 0, MSS);
    pair.run_until(ms(5_000));
    let data = pair.log.iter().filter(|sent| sent.from == SERVER);
    let times: Vec<_> = data.filter(|s| s.data().is_some()).map(|s| s.at).collect();
    assert_eq!(times, [100, 1_100, 2_100, 3_100].map(ms));
    assert_eq!(pair.total(CLIENT), MSS);
}

#[test]
fn each_segment_is_acknowledged_without_time_stamps() {
    let mut pair = connected(&[]);
    pair.send(SERVER, 0, FRAME);
    pair.run_until(ms(200));
    let acks = pair.log.iter().filter(|sent| sent.from == CLIENT);
    let acks: Vec<u32> = acks.filter(|s| s.at > ms(100)).map(|s| s.len).collect();
    assert_eq!(acks, [40; 4]);
    let longest = pair.log.iter().map(|sent| sent.len).max();
    assert_eq!(longest, Some(1_488));
}
