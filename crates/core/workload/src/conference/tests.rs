use super::*;
use crate::AudioFrame;

fn params() -> ConferenceParams {
    ConferenceParams {
        thumbnails: 2,
        variation: 0.0,
        ..ConferenceParams::default()
    }
}

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn app(params: &ConferenceParams) -> Box<dyn App> {
    params.client(&Start {
        now: Instant::ZERO,
        name: "conference",
        instance: 0,
        place: 0,
        seed: 1,
        rtt: Duration::from_millis(40),
        rate: Rate::from_bits(10_000_000),
    })
}

/// A frame given to the session: when, the stream, the length, and whether it is a key frame.
type Sent = (Instant, u8, u32, bool);

/// The frames that a conference sends until `until`, over a session that has room for `rate(now)`,
/// and whose receiver asks for a key frame of `stream` at the first turn from `asks` on.
fn run(
    params: &ConferenceParams,
    until: Instant,
    rate: impl Fn(Instant) -> u64,
    mut asks: Option<(u8, Instant)>,
) -> (Vec<Sent>, u64, Vec<AudioFrame>) {
    let mut app = app(params);
    let (mut frames, mut switches, mut audio) = (Vec::new(), 0, Vec::new());
    let mut timers = vec![];
    let mut due = vec![(Instant::ZERO, Input::Start)];
    while let Some((now, input)) = due.pop() {
        let mut out = Vec::new();
        app.handle(now, input, &mut out);
        for output in out {
            match output {
                Output::Timer(at, token) => timers.push((at, token)),
                Output::Ask { conn, stream } => {
                    let keyframe_requested = asks
                        .take_if(|(of, at)| *of == stream && now >= *at)
                        .is_some();
                    let conditions = Conditions {
                        rate: Rate::from_bits(rate(now) * 1_000),
                        keyframe_requested,
                        congested: true,
                    };
                    let input = Input::Session {
                        conn,
                        stream,
                        conditions,
                    };
                    due.push((now, input));
                }
                Output::Frame { frame, .. } => {
                    frames.push((now, frame.stream, frame.bytes, frame.key));
                }
                Output::Audio { frame, .. } => audio.push(frame),
                Output::Report(Report::Figure {
                    figure: SWITCHED, ..
                }) => switches += 1,
                _ => {}
            }
        }
        if due.is_empty() {
            let first = (0..timers.len()).min_by_key(|&place| timers[place]);
            let (at, token) = timers.swap_remove(first.unwrap());
            if at < until {
                due.push((at, Input::Timer(token)));
            }
        }
    }
    (frames, switches, audio)
}

fn of(frames: &[Sent], stream: u8) -> Vec<Sent> {
    frames.iter().copied().filter(|f| f.1 == stream).collect()
}

#[test]
fn a_switch_waits_for_the_key_frame_of_the_new_layer() {
    // At 1 s there is room for more than 1.2 · (2500 + 150 + 150), at 2 s for the least layers.
    let room = |now| match now {
        now if now < ms(1_000) => 500,
        now if now < ms(2_000) => 3_400,
        _ => 500,
    };
    let (frames, switches, _) = run(&params(), ms(3_000), room, None);
    let large = of(&frames, 0);
    let keys: Vec<Sent> = large.iter().copied().filter(|f| f.3).collect();
    // 150 kbit/s are 625 B a frame, 2500 are 10 417; a key frame is four times as long.
    let sizes: Vec<u32> = keys.iter().map(|f| f.2).collect();
    assert_eq!(sizes, [2_500, 41_667, 2_500]);
    assert_eq!(switches, 2);
    // The first turn with room comes within a frame of 1 s, the first one 100 ms later within another.
    for (key, change) in keys[1..].iter().zip([1_000, 2_000]) {
        let wait = key.0.since(ms(change));
        assert!(
            (Duration::from_millis(100)..Duration::from_millis(168)).contains(&wait),
            "{wait}"
        );
    }
    // In between it follows no rate: once the key frame is given back every frame has its share.
    let settled = |from: u64, until: u64| -> Vec<u32> {
        let within = large.iter().filter(|f| f.0 > ms(from) && f.0 < ms(until));
        let mut sizes: Vec<u32> = within.map(|f| f.2).collect();
        sizes.dedup();
        sizes
    };
    assert!(settled(1_200, 2_100).iter().all(|&bytes| bytes > 5_000));
    assert!(settled(2_200, 3_000).iter().all(|&bytes| bytes <= 625));
    // Thumbnails have one layer.
    for stream in 1..3 {
        let keys = of(&frames, stream).iter().filter(|f| f.3).count();
        assert_eq!(keys, 1);
    }
}

#[test]
fn a_switch_that_is_not_wanted_any_more_is_dropped() {
    let room = |now| match now {
        now if now >= ms(1_000) && now < ms(1_050) => 3_400,
        _ => 500,
    };
    let (frames, switches, _) = run(&params(), ms(2_000), room, None);
    assert_eq!((frames.iter().filter(|f| f.3).count(), switches), (3, 0));
}

#[test]
fn a_key_frame_that_is_asked_for_comes_after_its_wait() {
    let (frames, switches, _) = run(&params(), ms(2_000), |_| 500, Some((1, ms(1_000))));
    let keys: Vec<Sent> = frames.into_iter().filter(|f| f.3).collect();
    assert_eq!((keys.len(), switches), (4, 0));
    let (at, stream, bytes, _) = keys[3];
    assert_eq!((stream, bytes), (1, 2_500));
    assert!(at > ms(1_100) && at < ms(1_168), "{at}");
}

#[test]
fn no_frame_is_left_out_and_audio_goes_beside() {
    let params = ConferenceParams {
        audio: Audio(Some(Rate::from_bits(32_000))),
        ..params()
    };
    let (frames, _, audio) = run(&params, ms(1_000), |_| 0, None);
    for stream in 0..3 {
        assert_eq!(of(&frames, stream).len(), 30, "stream {stream}");
    }
    assert_eq!(audio.len(), 50);
}

#[test]
fn the_control_is_told_of_all_streams() {
    let audio = Audio(Some(Rate::from_bits(50_000)));
    let params = ConferenceParams { audio, ..params() };
    let kbit = |kbit: u64| Rate::from_bits(kbit * 1_000);
    // 3 · 150 + 50; twice 2500 + 2 · 150, and 50.
    let rates = (kbit(500), (kbit(500), kbit(5_650)));
    assert_eq!(params.media(), Some(rates));
    let refused = ConferenceParams {
        thumbnail_layers: 4,
        ..params
    };
    let error = refused.check().unwrap_err().to_string();
    assert!(
        error.starts_with("thumbnail_layers 4 of 3 layers"),
        "{error}"
    );
}
