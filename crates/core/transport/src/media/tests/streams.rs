//! Several streams of video in one session.

use super::*;

fn shown(bed: &Bed) -> Vec<(u8, u64)> {
    let shown = |event: &MediaEvent| match *event {
        MediaEvent::FrameShown { stream, id, .. } => Some((stream, id)),
        _ => None,
    };
    bed.events.iter().filter_map(shown).collect()
}

/// A bed that loses the packet of this number, after the frames of two streams in turn.
fn bed(params: &MediaParams, lost: u64, frames: u64) -> Bed {
    let (control, _) = Fixed::new(FULL_PER_MS, cca::Feedback::Acks);
    let mut bed = Bed::new(params, Box::new(control));
    bed.drop = Box::new(move |_, packet| packet.sequence == lost);
    for id in 0..frames {
        for stream in 0..2 {
            assert!(
                bed.sender
                    .push_frame(ms(0), frame(stream, id, 1_200, id == 0))
            );
        }
    }
    bed
}

#[test]
fn what_one_stream_misses_holds_back_no_other() {
    // The first frame of stream 1 is lost once.
    let mut bed = bed(&MediaParams::default(), 1, 2);
    bed.run(ms(300));
    // The repair comes last, and lets both frames of its stream be shown.
    assert_eq!(shown(&bed), [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(bed.receiver.stats().nacked, 1);
    let part = |packet: &MediaPacket| match packet.content {
        Content::Video(part) => Some((part.stream, part.rtp)),
        _ => None,
    };
    let sent: Vec<_> = bed.sent.iter().filter_map(|(_, p)| part(p)).collect();
    assert_eq!(sent, [(0, 0), (1, 0), (0, 1), (1, 1), (1, 0)]);
}

#[test]
fn a_key_frame_is_asked_of_the_stream_that_needs_it() {
    let params = MediaParams {
        nack: false,
        key_interval: Duration::ZERO,
        ..MediaParams::default()
    };
    let mut bed = bed(&params, 3, 3);
    bed.run(ms(100));
    assert!(!bed.sender.take_keyframe_request(0));
    assert!(bed.sender.take_keyframe_request(1));
    assert!(!bed.sender.take_keyframe_request(2), "there is none");
    assert!(bed.sender.push_frame(ms(100), frame(1, 3, 1_200, true)));
    bed.run(ms(200));
    assert_eq!(shown(&bed), [(0, 0), (1, 0), (0, 1), (0, 2), (1, 3)]);
}

#[test]
fn streams_that_are_repeated_unasked_have_their_own_numbers() {
    let params = MediaParams {
        repeat_frames: 25,
        ..MediaParams::default()
    };
    let mut bed = bed(&params, 3, 3);
    bed.run(ms(300));
    assert_eq!(
        shown(&bed),
        [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1), (1, 2)]
    );
}

#[test]
fn frames_out_of_turn_are_refused() {
    let (control, _) = Fixed::new(FULL_PER_MS, cca::Feedback::Acks);
    let mut sender = MediaSender::new(&MediaParams::default(), Box::new(control));
    assert!(!sender.push_frame(ms(0), frame(0, 1, 100, true)));
    assert!(sender.push_frame(ms(0), frame(0, 0, 100, true)));
    assert!(!sender.push_frame(ms(0), frame(1, 1, 100, true)));
    assert!(sender.transmit(ms(0)).is_some());
    assert!(sender.transmit(ms(9)).is_none(), "one frame was taken");
}

#[test]
fn padding_fills_up_what_video_leaves_of_a_rate_and_no_more_than_the_control_allows() {
    // 1258 B a millisecond are allowed; a frame of 1200 B every 10 ms is a tenth of that.
    let sent_within_a_second = |filled: Rate| {
        let mut bed = bed(&MediaParams::default(), u64::MAX, 0);
        bed.sender.fill(ms(0), filled);
        for id in 0..100 {
            let frame = frame(0, id, 1_200, id == 0);
            assert!(bed.sender.push_frame(ms(10 * id), frame));
            bed.run(ms(10 * id + 10));
        }
        let stats = bed.sender.stats();
        (stats.packets, stats.padding / 1_258)
    };
    assert_eq!(sent_within_a_second(Rate::default()), (100, 0));
    // 2.4 Mbit/s of video are a packet every 4 ms, 250 in a second.
    let (packets, padding) = sent_within_a_second(Rate::from_bits(2_400_000));
    assert!((248..=252).contains(&packets), "{packets}");
    assert_eq!(packets, padding + 100);
    let (packets, _) = sent_within_a_second(Rate::from_bits(90_000_000));
    assert!((990..=1_001).contains(&packets), "{packets}");
}
