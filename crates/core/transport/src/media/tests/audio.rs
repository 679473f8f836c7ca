//! Audio in parallel with the video.

use super::*;

const FRAME: Duration = Duration::from_millis(20);

/// A session whose control has a rate of `kbit`, and needs acknowledgements.
fn session(kbit: u64, window: u64) -> Bed {
    let (mut control, _) = Fixed::new(Rate::from_bits(kbit * 1_000), cca::Feedback::Acks);
    control.window = window;
    Bed::new(&MediaParams::default(), Box::new(control))
}

/// Whether a packet is that of the frame of audio `number`.
fn is_audio(packet: &MediaPacket, number: u64) -> bool {
    matches!(packet.content, Content::Audio(frames) if frames.id == number)
}

/// When frames of audio left, and when they arrived, in milliseconds.
fn audio(bed: &Bed) -> (Vec<u64>, Vec<u64>) {
    let in_ms = |at: Instant| at.as_nanos() / 1_000_000;
    let left = bed
        .sent
        .iter()
        .filter_map(|(at, packet)| match packet.content {
            Content::Audio(_) => Some(in_ms(*at)),
            _ => None,
        });
    let came = bed.events.iter().filter_map(|event| match event {
        MediaEvent::AudioArrived { at, .. } => Some(in_ms(*at)),
        _ => None,
    });
    (left.collect(), came.collect())
}

#[test]
fn audio_waits_for_neither_pacer_nor_window() {
    // A full packet takes 10 ms at this rate, and the window holds one.
    let mut bed = session(1_006, 1_258);
    bed.push(12_000, true);
    for turn in 0..5 {
        bed.sender.push_audio(turn, 80, FRAME);
        bed.run(ms(20 * (turn + 1)));
    }
    assert_eq!(audio(&bed).0, [0, 20, 40, 60, 80]);
    // Sent past the pacer, audio is paid for: ten packets of video would take 100 ms without it, and
    // five of 138 bytes take 5.5 ms more.
    let mut bed = session(1_006, u64::MAX);
    bed.push(12_000, true);
    for turn in 0..5 {
        bed.sender.push_audio(turn, 80, FRAME);
        bed.run(ms(20 * (turn + 1)));
    }
    bed.run(ms(200));
    let (last, _) = bed.sent.last().unwrap();
    // The tenth packet leaves when the nine before it and the audio are paid for.
    let paid = (9 * 1_258 + 5 * 138) * 8 / 1_006;
    assert_eq!(last.as_nanos() / 1_000_000, paid);
}

#[test]
fn audio_is_reported_and_not_repaired() {
    let mut bed = session(10_000, u64::MAX);
    bed.drop = Box::new(|_, packet| is_audio(packet, 1));
    bed.push(100, true);
    for turn in 0..10 {
        bed.sender.push_audio(turn, 80, FRAME);
        bed.run(ms(20 * (turn + 1)));
    }
    bed.run(ms(400));
    let (left, came) = audio(&bed);
    assert_eq!((left.len(), came.len()), (10, 9));
    // 138 B take 0.1 ms on the link, and 20 ms under way; the first waits for the frame of video.
    assert_eq!(came[1..3], [60, 80]);
    assert_eq!(bed.receiver.stats().nacked, 0);
    assert_eq!(bed.sender.stats().lost, 1, "the control hears of it");
    assert_eq!(bed.sender.in_flight(), 0);
}

#[test]
fn video_has_what_audio_leaves() {
    let mut bed = session(1_000, u64::MAX);
    let alone = bed.sender.media_rate();
    bed.sender.push_audio(0, 80, FRAME);
    // 138 B each 20 ms are 55.2 kbit/s of 1 Mbit/s; of each packet 1200 in 1258 bytes are video.
    let left = Rate::from_bits(1_000_000 - 55_200).scale(1_200, 1_258);
    assert_eq!(alone, Rate::from_bits(1_000_000).scale(1_200, 1_258));
    assert_eq!(bed.sender.media_rate(), left);
}

#[test]
fn audio_defers_a_probe_by_its_own_time() {
    let (mut control, told) = Fixed::new(Rate::from_bits(1_000_000), cca::Feedback::Arrivals);
    control.probe = Some(Probe {
        id: 1,
        rate: FULL_PER_MS,
        span: Duration::from_millis(4),
        packets: 4,
    });
    let mut bed = Bed::new(&MediaParams::default(), Box::new(control));
    bed.push(2_400, true);
    bed.run(ms(0));
    bed.sender.push_audio(0, 80, FRAME);
    bed.run(ms(100));
    let sent: Vec<_> = bed
        .sent
        .iter()
        .map(|(at, _)| at.as_nanos() / 1_000)
        .collect();
    // A full packet is 1 ms, the audio, which leaves at once, 138 / 1258 of that.
    assert_eq!(sent[..4], [0, 0, 1_109, 2_109]);
    let told = told.lock().unwrap();
    assert!(
        told.arrivals[..4]
            .iter()
            .all(|arrival| arrival.probe.is_some())
    );
}

#[test]
fn copies_restore_what_was_lost() {
    let (control, _) = Fixed::new(Rate::from_bits(10_000_000), cca::Feedback::Acks);
    let params = MediaParams {
        red: 1,
        ..MediaParams::default()
    };
    let mut bed = Bed::new(&params, Box::new(control));
    // Of 1 there is a copy with 2; of 4 there is one with 5, which is lost, too.
    let dropped = [1, 4, 5];
    bed.drop = Box::new(move |_, packet| dropped.iter().any(|number| is_audio(packet, *number)));
    bed.push(100, true);
    for turn in 0..10 {
        bed.sender.push_audio(turn, 80, FRAME);
        bed.run(ms(20 * (turn + 1)));
    }
    bed.run(ms(400));
    let restored = bed.events.iter().filter_map(|event| match event {
        MediaEvent::AudioRestored { id, at } => Some((*id, at.as_nanos() / 1_000_000)),
        _ => None,
    });
    // 2 leaves at 40 and 6 at 120; their 223 B take 0.2 ms on the link, and 20 ms under way.
    assert_eq!(restored.collect::<Vec<_>>(), [(1, 60), (5, 140)]);
    assert_eq!(audio(&bed).1.len(), 7);
    // 80 + 1 + 84 + 58 B each 20 ms are 89.2 kbit/s.
    let left = Rate::from_bits(10_000_000 - 89_200).scale(1_200, 1_258);
    assert_eq!(bed.sender.media_rate(), left);
}

/// Of random losses with probability p, a frame with n copies in the packets after it stays lost if
/// all n + 1 are: p^(n + 1).
#[test]
fn random_losses_with_copies_are_as_rare_as_the_formula_says() {
    const FRAMES: u64 = 20_000;
    for (copies, percent) in [(1, 10), (1, 30), (2, 30)] {
        let (control, _) = Fixed::new(Rate::from_bits(10_000_000), cca::Feedback::Acks);
        let params = MediaParams {
            red: copies,
            ..MediaParams::default()
        };
        let mut sender = MediaSender::new(&params, Box::new(control));
        let mut receiver = MediaReceiver::new(&params, cca::Feedback::Acks);
        let mut chance = units::random::Stream::new(u64::from(copies) * 100 + percent, "losses");
        for id in 0..FRAMES {
            let now = ms(20 * id);
            sender.push_audio(id, 80, FRAME);
            let sent = sender.transmit(now).expect("audio waits for nothing");
            if chance.below(100) >= percent {
                receiver.handle(now, sent.ecn, &sent.packet);
            }
        }
        let here = core::iter::from_fn(|| receiver.event()).count() as f64;
        let expected = libm::pow(percent as f64 / 100.0, f64::from(copies + 1));
        // Neighbours' losses depend on each other: their packets do. So an interval of four deviations,
        // of as many independent frames as there are groups of copies + 1.
        let groups = FRAMES as f64 / f64::from(copies + 1);
        let most = 4.0 * (expected * (1.0 - expected) / groups).sqrt();
        let lost = 1.0 - here / FRAMES as f64;
        assert!((lost - expected).abs() < most, "{lost}, not {expected}");
    }
}
