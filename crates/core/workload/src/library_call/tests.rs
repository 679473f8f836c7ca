//! The encoder's rule by hand, and its use by the application.

use super::*;
use units::random::Stream;

fn params() -> CallParams {
    CallParams {
        fps: 25,
        start_rate: Rate::from_bits(100_000),
        min_rate: Rate::from_bits(100_000),
        max_rate: Rate::from_bits(100_000_000),
        variation: 0.0,
        key_factor: 1.0,
        share: 0.976_562_5,
        tcp: true,
        ..CallParams::default()
    }
}

/// A rule that has begun, at `rate`, with bytes waiting in `busy` of the last forty looks.
fn duty(rate: f64, busy: u32) -> Duty {
    let mut duty = Duty::new(&params());
    duty.update(0);
    duty.rate = rate;
    for look in 0..SAMPLES {
        duty.look(u64::from(look < busy));
    }
    duty
}

#[test]
fn a_socket_busy_for_three_quarters_of_the_time_is_at_rest() {
    // 1 − 0.5·(d − 0.75): 1.375 for d = 0, 1.125 for 0.5, 1 for 0.75, 0.875 for 1.
    for (busy, expected) in [
        (0, 13_750_000),
        (20, 11_250_000),
        (30, 10_000_000),
        (40, 8_750_000),
    ] {
        assert_eq!(duty(1e7, busy).update(0).as_bits(), expected, "{busy}");
    }
    // Only the last forty looks count.
    let mut older = duty(1e7, 40);
    for _ in 0..10 {
        older.look(0);
    }
    assert_eq!(older.update(0).as_bits(), 10_000_000);
}

#[test]
fn a_frame_that_is_not_out_in_time_costs_a_quarter_at_least() {
    // 50 kB were written, 10 kB wait: 40 kB left in 40 ms, 8 Mbit/s. 0.75·(1 − 10/40)·8 Mbit/s.
    let mut pending = duty(1e7, 40);
    pending.written = 50_000;
    assert_eq!(pending.update(10_000).as_bits(), 4_500_000);
    // 10 kB waited before, 30 kB were written, 5 kB wait: 35 kB left, 7 Mbit/s; 6/7 of that are
    // above the rate of 2 Mbit/s: a quarter off that.
    let mut slow = duty(2e6, 40);
    (slow.before, slow.written) = (10_000, 30_000);
    assert_eq!(slow.update(5_000).as_bits(), 1_500_000);
    // More waits than left: a tenth of 20 kB in 40 ms, 0.4 Mbit/s, less a quarter.
    let mut full = duty(1e7, 40);
    full.written = 50_000;
    assert_eq!(full.update(30_000).as_bits(), 300_000);
}

#[test]
fn a_standstill_of_one_frame_brings_the_rate_to_the_floor() {
    let mut still = duty(1e7, 40);
    still.written = 50_000;
    assert_eq!(still.update(50_000).as_bits(), 100_000);
    // Nothing was written since, and 20 kB left.
    assert_eq!(still.update(30_000).as_bits(), 100_000);
}

#[test]
fn the_rate_stays_within_its_bounds() {
    assert_eq!(duty(9e7, 0).update(0).as_bits(), 100_000_000);
    assert_eq!(duty(1.1e5, 40).update(0).as_bits(), 100_000);
    let mut first = Duty::new(&params());
    assert_eq!(first.update(0).as_bits(), 100_000, "the first as it is set");
}

fn tell(call: &mut LibraryCall, ms: u64, input: Input) -> Vec<Output> {
    let mut out = Vec::new();
    call.handle(Instant::ZERO + Duration::from_millis(ms), input, &mut out);
    out
}

/// The length of the frame that is sent at a time when no bytes wait.
fn frame(call: &mut LibraryCall, ms: u64) -> u64 {
    assert_eq!(
        tell(call, ms, Input::Timer(FRAME)),
        [Output::Ask {
            conn: CONN,
            stream: 0
        }],
        "the socket is looked at before the frame is made"
    );
    let conn = CONN;
    let out = tell(call, ms, Input::Unsent { conn, bytes: 0 });
    let Output::Send { bytes, message, .. } = out[1] else {
        panic!("{out:?}")
    };
    let frame = ms / 40;
    assert_eq!(out[0], Output::Report(Report::FrameSent { frame }));
    assert_eq!(message, Message::Frame { id: frame });
    let next = Instant::ZERO + Duration::from_millis(ms + 40);
    assert_eq!(out[2], Output::Timer(next, FRAME));
    bytes
}

#[test]
fn frames_are_equal_shares_of_the_rate_with_the_slip_of_units() {
    let params = params();
    let encoder = Encoder::new(&params, Instant::ZERO, Stream::new(1, "encoder"));
    let mut call = LibraryCall::new(&params, Carrier::Tcp, encoder, Instant::ZERO);
    let out = tell(&mut call, 0, Input::Start);
    assert!(matches!(
        out[0],
        Output::Open {
            carrier: Carrier::Tcp,
            ..
        }
    ));
    // 100 kbit/s / 8 / 25 = 500 B; 1000/1024 of that are 488.
    assert_eq!(frame(&mut call, 0), 488);
    // Bytes waited in all forty looks: 0.875 of the least rate is the least rate.
    for ms in 1..=40 {
        tell(&mut call, ms, Input::Timer(LOOK));
        let out = tell(
            &mut call,
            ms,
            Input::Unsent {
                conn: CONN,
                bytes: 1,
            },
        );
        let next = Instant::ZERO + Duration::from_millis(ms + 1);
        assert_eq!(out, [Output::Timer(next, LOOK)]);
    }
    assert_eq!(frame(&mut call, 40), 488);
    // None did: 137.5 kbit/s, 671 B.
    for ms in 41..=80 {
        tell(&mut call, ms, Input::Timer(LOOK));
        tell(
            &mut call,
            ms,
            Input::Unsent {
                conn: CONN,
                bytes: 0,
            },
        );
    }
    assert_eq!(frame(&mut call, 80), 671);
}
