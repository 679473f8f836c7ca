//! Forward error correction: lost packets come back without asking.

use super::*;

/// A call of 2 Mbit/s, over a link and under a control of ten, that loses every twentieth packet.
fn call(fec: bool) -> Bed {
    let (control, _) = Fixed::new(FULL_PER_MS, cca::Feedback::Acks);
    let params = MediaParams {
        fec,
        ..MediaParams::default()
    };
    let mut bed = Bed::new(&params, Box::new(control));
    bed.drop = Box::new(|_, packet| packet.sequence % 20 == 7);
    bed.call(ms(9_000));
    let rate = Rate::from_bits(2_000_000);
    bed.encoder.as_mut().unwrap().bounds = (rate, rate);
    bed.run(ms(9_500));
    bed
}

fn restored(bed: &Bed) -> usize {
    let restored = |event: &&MediaEvent| matches!(event, MediaEvent::PartRestored { .. });
    bed.events.iter().filter(restored).count()
}

/// Bytes of FEC, and of all packets.
fn sent(bed: &Bed) -> (u64, u64) {
    let bytes = |fec: bool| {
        let packets = bed.sent.iter().map(|(_, packet)| packet);
        let of = packets.filter(|packet| !fec || matches!(packet.content, Content::Fec(_)));
        of.map(|packet| u64::from(packet.len)).sum()
    };
    (bytes(true), bytes(false))
}

#[test]
fn a_lost_packet_is_restored_when_its_frame_is_over() {
    // A frame has 8333 B, seven packets of 1 ms each, and 20 ms under way; 5 % of loss are two packets
    // of FEC. A packet that is asked for comes 41 ms later.
    let with = call(true);
    let delays = with.delays(ms(2_500));
    assert!(delays.last().is_some_and(|&worst| worst < 32), "{delays:?}");
    assert!(restored(&with) > 50, "{}", restored(&with));
    assert!(
        with.receiver.stats().nacked > 0,
        "it is asked for all the same"
    );
    let delays = call(false).delays(ms(2_500));
    assert!(delays.last().is_some_and(|&worst| worst >= 60));
}

#[test]
fn without_losses_there_is_no_protection() {
    let (control, _) = Fixed::new(FULL_PER_MS, cca::Feedback::Acks);
    let params = MediaParams {
        fec: true,
        ..MediaParams::default()
    };
    let mut bed = Bed::new(&params, Box::new(control));
    bed.call(ms(5_000));
    bed.run(ms(5_500));
    assert_eq!(sent(&bed).0, 0);
}

#[test]
fn protection_is_paid_for_by_the_encoder() {
    let rate = Rate::from_bits(2_000_000);
    let (control, _) = Fixed::new(rate, cca::Feedback::Acks);
    let params = MediaParams {
        fec: true,
        ..MediaParams::default()
    };
    let mut bed = Bed::new(&params, Box::new(control));
    bed.drop = Box::new(|_, packet| packet.sequence % 20 == 7);
    bed.call(ms(9_000));
    bed.run(ms(9_500));
    let (fec, all) = sent(&bed);
    let share = fec as f64 / all as f64;
    // A fifth, rounded up to whole packets for each frame, of seven of the nine seconds.
    assert!((0.15..0.3).contains(&share), "{share}");
    assert!(all <= rate.bytes_in(Duration::from_millis(9_500)), "{all}");
    let delays = bed.delays(ms(2_500));
    assert!(
        delays.last().is_some_and(|&worst| worst < 120),
        "{delays:?}"
    );
}
