//! Losses and their consequences.

use super::*;
use proptest::prelude::*;

fn bed(params: &MediaParams) -> (Bed, Arc<Mutex<Told>>) {
    let (control, told) = Fixed::new(FULL_PER_MS, cca::Feedback::Acks);
    (Bed::new(params, Box::new(control)), told)
}

#[test]
fn a_lost_packet_is_repaired_one_round_trip_after_the_gap_shows() {
    let (mut bed, told) = bed(&MediaParams::default());
    bed.drop = Box::new(|_, packet| packet.sequence == 1);
    bed.push(6_000, true);
    bed.run(ms(200));
    // Packets leave at 0 to 4. Packet 2 arrives at 23 and shows the gap; the request is at the
    // sender at 43, the repair leaves there and arrives 21 later.
    assert_eq!(bed.completed(), [(0, ms(64))]);
    assert_eq!(bed.sender.stats().retransmits, 1);
    assert_eq!(bed.receiver.stats().nacked, 1);
    // Packet 4 is acknowledged at 45: that is three later than packet 1.
    let told = told.lock().unwrap();
    let when: Vec<_> = told.congestions.iter().map(|&(at, _)| at).collect();
    assert_eq!(when, [ms(45)]);
    assert_eq!(told.congestions[0].1.lost, 1_258);
    let lost: u64 = told.acks.iter().map(|ack| ack.lost).sum();
    assert_eq!(lost, 1_258);
}

#[test]
fn a_sender_that_repeats_by_itself_is_not_asked() {
    let params = MediaParams {
        repeat_frames: 25,
        ..MediaParams::default()
    };
    let (mut bed, _) = bed(&params);
    bed.drop = Box::new(|_, packet| packet.sequence == 1);
    bed.push(6_000, true);
    bed.run(ms(200));
    // Packets 0, 2, 3 and 4 are acknowledged at 41, 43, 44 and 45: round trips of 41 ms without
    // deviation. Gaps of 2, 1 and 1 ms: 0.4, 0.52, 0.616. Packet 1 left at 1; 41 + 5·0.616 = 44.08
    // later is 45.08, after which the sender looks at 46. The repair takes 21 ms.
    assert_eq!(bed.completed(), [(0, ms(67))]);
    assert_eq!(bed.sender.stats().retransmits, 1);
    let asked = bed.receiver.stats();
    assert_eq!((asked.nacked, asked.key_requests), (0, 0));
}

#[test]
fn a_nonsense_number_does_not_end_a_stream() {
    let (mut bed, _) = bed(&MediaParams::default());
    bed.push(1_200, true);
    bed.run(ms(50));
    let nonsense = MediaPacket {
        sequence: 1,
        len: 58,
        rtt: Duration::ZERO,
        content: Content::Video(Fragment {
            frame: u64::MAX,
            ..part(u64::MAX, 1)
        }),
    };
    let wire = Wire::Media(nonsense);
    bed.receiver.handle(bed.now, Ecn::NotCapable, &wire);
    bed.push(1_200, true);
    bed.push(1_200, false);
    bed.run(ms(200));
    assert_eq!(bed.shown(), [0, 1, 2]);
}

#[test]
fn a_lost_tail_waits_for_the_next_frame() {
    let (mut bed, _) = bed(&MediaParams::default());
    bed.drop = Box::new(|_, packet| packet.sequence == 1);
    bed.push(2_400, true);
    bed.run(ms(33));
    bed.push(1_200, false);
    bed.run(ms(200));
    // Frame 1 arrives at 33 + 21 and shows the gap; 41 later frame 0 is whole.
    assert_eq!(bed.completed(), [(1, ms(54)), (0, ms(95))]);
    assert_eq!(bed.shown(), [0, 1]);
}

#[test]
fn what_cannot_be_repaired_asks_for_a_key_frame() {
    let params = MediaParams {
        nack_retries: 2,
        key_interval: Duration::ZERO,
        ..MediaParams::default()
    };
    let (mut bed, _) = bed(&params);
    // The second packet of frame 1 never arrives.
    bed.drop = Box::new(
        move |_, packet| matches!(packet.content, Content::Video(part) if part.frame == 1 && part.index == 1),
    );
    bed.encoder = Some(Encoder {
        interval: Duration::from_millis(40),
        next: ms(0),
        until: ms(1_000),
        bounds: (Rate::from_bits(1_000_000), Rate::from_bits(1_000_000)),
    });
    bed.run(ms(1_100));
    // 5000 B every 40 ms, five packets of 1000 + 58 B. Frame 1 leaves at 40; its third packet
    // leaves 2 · 1058 B later (1.682 ms), is on the link for 0.841 ms and arrives at 62.523. Asked
    // for there and at the ticks 60 ms and 120 ms later (srtt is just above 40 ms), the second of
    // which gives up: the key frame is asked for at 182.523, known at the sender at 202.523, and
    // the next frame's turn is at 240.
    assert_eq!(bed.key_requests, [ms(240)]);
    assert_eq!(bed.receiver.stats().nacked, 2);
    assert_eq!(bed.receiver.stats().key_requests, 1);
    // Frames 1 to 5 were handed over at 40 to 200.
    assert_eq!(bed.lost(), [1, 2, 3, 4, 5]);
    assert_eq!(bed.shown().len(), 25 - 5);
}

#[test]
fn an_unanswered_request_for_a_key_frame_is_repeated() {
    let params = MediaParams {
        nack: false,
        ..MediaParams::default()
    };
    let (mut bed, _) = bed(&params);
    bed.drop = Box::new(|_, packet| packet.sequence == 1);
    bed.push(3_600, true);
    bed.run(ms(1_000));
    // Packet 2 arrives at 23: asked there and every 200 ms, at 223, 423, 623, 823.
    assert_eq!(bed.receiver.stats().key_requests, 5);
    // The sender had sent a key frame less than 300 ms before the first.
    assert!(bed.sender.take_keyframe_request(0));
    assert!(!bed.sender.take_keyframe_request(0));
    bed.push(1_200, true);
    bed.run(ms(2_000));
    assert_eq!(bed.receiver.stats().key_requests, 5);
    assert_eq!((bed.lost(), bed.shown()), (vec![0], vec![1]));
}

#[test]
fn silence_is_a_timeout_and_a_key_frame_ends_a_wait_of_three_seconds() {
    let (mut bed, told) = bed(&MediaParams::default());
    bed.drop = Box::new(|now, packet| now >= ms(100) && packet.sequence > 4);
    bed.push(1_200, true);
    bed.run(ms(100));
    bed.push(6_000, false);
    bed.run(ms(6_000));
    // 0.841.. ms of the link do not matter here: srtt 41, variation 41/2: 41 + 82 is below the
    // least of 200. Sequence numbers 1 to 4 arrive, 5 does not: acknowledged until 144.
    let told = told.lock().unwrap();
    assert_eq!(told.timeouts, [ms(344)]);
    assert_eq!(bed.sender.in_flight(), 0);
    // Four parts of frame 1 arrived, the first at 121: after 3 s a key frame is wanted, and asked
    // for every 200 ms: 3121 to 5921.
    assert_eq!(bed.receiver.stats().key_requests, 15);
}

/// As the frames' own tests have it.
const L1T3: [(u8, u8); 4] = [(0, 4), (2, 1), (1, 2), (2, 1)];

proptest! {
    /// With any losses, frames are shown in order and once, none is both shown and lost, and a call
    /// that is no longer disturbed catches up.
    #[test]
    fn no_pattern_of_losses_confuses_a_call(
        seed in any::<u64>(),
        percent in 1u64..40,
        arrivals in any::<bool>(),
        fec in any::<bool>(),
        layered in any::<bool>(),
        repeat_frames in prop_oneof![Just(0u32), 1u32..30],
    ) {
        let wants = if arrivals { cca::Feedback::Arrivals } else { cca::Feedback::Acks };
        let (control, _) = Fixed::new(Rate::from_bits(3_000_000), wants);
        let params = MediaParams {
            fec,
            repeat_frames,
            ..MediaParams::default()
        };
        let mut bed = Bed::new(&params, Box::new(control));
        if layered {
            bed.layers = &L1T3;
        }
        let mut chance = units::random::Stream::new(seed, "losses");
        let mut other = units::random::Stream::new(seed, "feedback");
        bed.drop = Box::new(move |now, _| now < ms(2_000) && chance.below(100) < percent);
        bed.drop_feedback = Box::new(move |now| now < ms(2_000) && other.below(100) < percent);
        bed.call(ms(9_000));
        bed.run(ms(10_000));
        let (shown, lost) = (bed.shown(), bed.lost());
        prop_assert!(shown.is_sorted_by(|a, b| a < b));
        let mut all = [shown.clone(), lost].concat();
        all.sort_unstable();
        let pushed: Vec<_> = (0..bed.pushed.len() as u64).collect();
        prop_assert_eq!(shown.last(), pushed.last(), "it goes on");
        prop_assert_eq!(all, pushed, "all are shown or lost in the end");
        // Frames that complete in the undisturbed last 3 s take the time of an idle link: 33 ms of
        // pacing, 20 of propagation and the last packet's own. With layers all of FEC, at most as much as a
        // frame, comes after the base's, and before the next frame.
        let most = if fec && layered { 60 + 33 } else { 60 };
        let delays = bed.delays(ms(6_000));
        prop_assert!(delays.last().is_some_and(|&worst| worst < most), "{:?}", delays.last());
    }

    /// Packets that no peer would send do no harm.
    #[test]
    fn nonsense_does_no_harm(
        sequences in proptest::collection::vec(any::<u64>(), 1..50),
        small in any::<bool>(),
        repeat_frames in prop_oneof![Just(0u32), 1u32..30],
    ) {
        let params = MediaParams {
            fec: true,
            red: 1,
            repeat_frames,
            ..MediaParams::default()
        };
        let (mut bed, _) = bed(&params);
        bed.push(50_000, true);
        bed.run(ms(30));
        for chunk in sequences.chunks(4) {
            let word = |index: usize| {
                let word = chunk.get(index).copied().unwrap_or(0);
                if small { word % 50 } else { word }
            };
            let fragment = Fragment {
                stream: word(3) as u8,
                rtp: word(1),
                frame: word(2),
                index: word(3) as u32,
                count: word(0) as u32,
                key: word(1) % 2 == 0,
                layer: word(3) as u8,
                back: word(1) as u8,
                timestamp: word(2) as u32,
            };
            let mut sum = PartSum::default();
            sum.add(&fragment, word(0) as u32);
            let content = match word(0).wrapping_add(word(1)) % 3 {
                0 => Content::Video(fragment),
                1 => Content::Fec(FecPacket {
                    stream: word(3) as u8,
                    first: word(1),
                    step: word(2) as u8,
                    count: word(3) as u8,
                    sum,
                }),
                _ => Content::Audio(AudioFrames {
                    id: word(2),
                    earlier: word(3) as u8,
                    copied: word(1) as u32,
                }),
            };
            let packet = MediaPacket {
                sequence: word(0),
                len: word(1) as u32,
                rtt: Duration::from_nanos(word(2)),
                content,
            };
            let acks = Acks {
                largest: word(0),
                before: [word(1), word(2)],
                delay: Duration::from_nanos(word(3)),
                marked: word(1),
            };
            let arrivals = Arrivals {
                base: word(0),
                received: vec![Some(Instant::from_nanos(word(1))); 3],
                delay: Duration::from_nanos(word(2)),
            };
            for feedback in [
                Feedback::Acks(acks),
                Feedback::Arrivals(Box::new(arrivals)),
                Feedback::Nack {
                    stream: word(2) as u8,
                    missing: Box::new([word(0), word(1)]),
                },
                Feedback::Part {
                    stream: word(2) as u8,
                    rtp: word(0),
                },
                Feedback::KeyFrame(word(3) as u8),
            ] {
                bed.sender.handle(bed.now, Ecn::Ce, &Wire::Feedback(feedback));
            }
            bed.receiver.handle(bed.now, Ecn::Ce, &Wire::Media(packet));
            bed.now += Duration::from_millis(1);
            while bed.sender.transmit(bed.now).is_some() {}
            while bed.receiver.transmit(bed.now).is_some() {}
            bed.sender.on_timer(bed.now);
            bed.receiver.on_timer(bed.now);
        }
        prop_assert!(bed.sender.in_flight() < 100_000);
    }
}
