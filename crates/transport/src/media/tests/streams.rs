//! Several streams of video in one session.

use super::*;

fn shown(bed: &Bed) -> Vec<(u8, u64)> {
    let shown = |event: &Event| match *event {
        Event::FrameShown { stream, id, .. } => Some((stream, id)),
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
    let part = |packet: &Packet| match packet.content {
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
    let mut sender = Sender::new(&MediaParams::default(), Box::new(control));
    assert!(!sender.push_frame(ms(0), frame(0, 1, 100, true)));
    assert!(sender.push_frame(ms(0), frame(0, 0, 100, true)));
    assert!(!sender.push_frame(ms(0), frame(1, 1, 100, true)));
    assert!(sender.transmit(ms(0)).is_some());
    assert!(sender.transmit(ms(9)).is_none(), "one frame was taken");
}
