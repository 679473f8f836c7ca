use super::*;
use proptest::prelude::*;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * MILLISECOND)
}

#[test]
fn samples_hold_are_rebased_and_repeat() {
    // 8 Mbit/s are 1000 B/ms; 16 Mbit/s twice that. The last sample holds for 1 s.
    let trace = Trace::parse("300.0 8\n301.0 16\n").unwrap();
    assert_eq!(trace.period(), Duration::from_secs(2));
    assert_eq!(trace.nominal().as_bits(), 12_000_000);
    assert_eq!(trace.finish(at(0), 1000), at(1));
    assert_eq!(trace.finish(at(999), 3000), at(1001), "across a border");
    assert_eq!(
        trace.finish(at(2000), 1000),
        at(2001),
        "again from the start"
    );
    assert_eq!(
        trace.finish(at(0), 3_000_000 + 1000),
        at(2001),
        "a whole period"
    );
    assert_eq!(trace.capacity_until(at(1500)), 2_000_000.0);
}

#[test]
fn steps_do_not_repeat() {
    let mbit = |mbit: u64| Rate::from_bits(mbit * 1_000_000);
    let s = Duration::from_secs;
    let trace = Trace::steps(&[(s(0), mbit(8)), (s(2), mbit(16)), (s(5), mbit(4))]);
    assert_eq!((trace.nominal(), trace.period()), (mbit(8), Duration::MAX));
    // 1000 B at 8 Mbit/s until 2 s, then 2000 B at 16 Mbit/s.
    assert_eq!(trace.finish(at(1999), 3000), at(2001));
    // 500 B a millisecond from 5 s on, also a year later.
    assert_eq!(trace.finish(at(5000), 1000), at(5002));
    let year = 365 * 24 * 3600 * 1000;
    assert_eq!(trace.finish(at(year), 1000), at(year + 2));
    // 2 MB, 6 MB and 0.5 MB.
    assert_eq!(trace.capacity_until(at(6000)), 8_500_000.0);
}

#[test]
fn after_a_last_step_to_zero_nothing_is_ever_sent() {
    let steps = [(0, 8_000_000), (1, 0)];
    let steps = steps.map(|(s, bits)| (Duration::from_secs(s), Rate::from_bits(bits)));
    let trace = Trace::steps(&steps);
    assert_eq!(trace.finish(at(999), 1000), at(1000));
    assert_eq!(trace.finish(at(999), 1001), Instant::NEVER);
    assert_eq!(trace.finish(at(2000), 1), Instant::NEVER);
    assert_eq!(trace.capacity_until(at(9000)), 1_000_000.0);
}

#[test]
fn a_zero_sample_holds_packets_back() {
    let trace = Trace::parse("0 8\n1 0\n2 8\n").unwrap();
    assert_eq!(trace.finish(at(1000), 1000), at(2001));
}

#[test]
fn mahimahi_opportunities() {
    // Two opportunities in the first millisecond, none in the next two, one in the fourth.
    let trace = Trace::parse("1\n1\n4\n").unwrap();
    assert_eq!(trace.period(), Duration::from_millis(4));
    assert_eq!(trace.rate_at(at(0)).as_bits(), 24_000_000);
    assert_eq!(trace.rate_at(at(1)).as_bits(), 0);
    assert_eq!(trace.rate_at(at(3)).as_bits(), 12_000_000);
    assert_eq!(trace.capacity_until(at(4)), 4500.0);
}

#[test]
fn a_comma_is_as_good_as_a_space() {
    let spaces = Trace::parse("0 5\n1 7\n2 1.5\n").unwrap();
    assert_eq!(Trace::parse("0,5\n1, 7\n2 ,1.5\n"), Ok(spaces));
}

/// The rates of a trace in Mbit/s, and how long each holds in ms.
fn pieces(text: &str) -> Vec<(f64, u64)> {
    let trace = Trace::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let pieces = trace.pieces();
    let pieces = pieces.map(|(rate, hold)| (rate.as_mbit_f64(), hold.as_millis()));
    pieces.collect()
}

#[test]
fn times_since_1970_names_of_columns_and_equal_times() {
    let plain = pieces("0 3.1\n1 2.4\n2 2.9\n");
    for text in [
        "1289406399 3.1\n1289406400 2.4\n1289406401 2.9\n",
        "1714557600.25 3.1\n1714557601.25 2.4\n1714557602.25 2.9\n",
        "time,mbps\n0,3.1\n1,2.4\n2,2.9\n",
        "# recorded\nTimestamp (s)\tThroughput (Mbit/s)\r\n5\t3.1\r\n6\t2.4\r\n7\t2.9\r\n",
        "0 3.1\n1 2.3\n1 2.5\n2 2.9\n",
        "0 3.0\n0 3.2\n1 2.4\n2 2.8\n2 2.9\n2 3.0\n",
    ] {
        assert_eq!(pieces(text), plain, "{text}");
    }
    for (text, found) in [
        ("time_ms,mbps\n0,3\n", "time_ms,mbps"),
        ("time,throughput_kbps\n0,3\n", "throughput_kbps"),
        ("seconds,bytes\n0,3\n", "seconds,bytes"),
        ("mbps\n3\n4\n", "mbps"),
        ("1714557600000 3\n", "1714557600000"),
        ("0 3\n2000000 3\n", "2000000 3"),
        ("time,mbps\n", "no samples"),
        ("time,mbps\nrate,mbps\n", "rate"),
    ] {
        let error = Trace::parse(text).unwrap_err().to_string();
        assert!(error.contains(found), "{text}: {error}");
    }
}

#[test]
fn a_mahimahi_trace_without_length_is_refused() {
    let error = Trace::parse("0\n0\n0\n").unwrap_err().to_string();
    assert!(
        error.starts_with("line 3") && error.contains("how long"),
        "{error}"
    );
    assert!(Trace::parse("0\n0\n1\n").is_ok());
}

#[test]
fn what_is_told_of_a_trace() {
    let mbit = |mbit: f64| Rate::from_mbit_f64(mbit);
    let samples = Trace::parse("0 3000\n1000 4000\n2000 2500\n3000 1000\n").unwrap();
    assert_eq!(samples.range(), (mbit(1000.0), mbit(4000.0)));
    let gap = Duration::from_secs(1000);
    assert_eq!(samples.medians(), Some((gap, mbit(3000.0))));
    // 12 Mbit/s in the first of two seconds, a millisecond after the other, and then 6.
    let moments = (1..=1000).chain((1001..=2000).filter(|ms| ms % 2 == 0));
    let text: String = moments.map(|ms| format!("{ms}\n")).collect();
    let mahimahi = Trace::parse(&text).unwrap();
    assert_eq!(mahimahi.range(), (mbit(6.0), mbit(12.0)));
    assert_eq!(mahimahi.medians(), None);
}

#[test]
fn errors_name_the_line_and_what_is_wanted() {
    let message = |text| Trace::parse(text).unwrap_err().to_string();
    assert!(message("").contains("no samples"));
    assert!(message("1 5\n0.5 5\n").starts_with("line 2"));
    assert!(message("1 fast\n").contains("\"fast\""));
    assert!(message("1 -5\n").contains("megabits per second"));
    assert!(message("1 1e20\n").contains("megabits per second"));
    assert!(message("5\n4\n").starts_with("line 2"));
    assert!(message("0 0\n1 0\n").contains("carries nothing"));
    assert!(message("1 2 3\n").contains("two columns"));
    assert!(message("nan 3\n").contains("seconds"));
}

proptest! {
    #[test]
    fn any_text_is_a_trace_or_an_error(text in "([0-9. -]{0,9}[ \t]?[0-9e.]{0,9}\n?){0,8}") {
        if let Ok(trace) = Trace::parse(&text) {
            let end = trace.finish(at(7), 100_000);
            prop_assert!(end > at(7));
        }
    }

    #[test]
    fn finishing_in_two_steps_is_finishing_in_one(
        rates in proptest::collection::vec(0u32..100, 1..8),
        (a, b) in (1u64..1_000_000, 1u64..1_000_000),
    ) {
        let text: String = (0..).zip(&rates).map(|(t, r)| format!("{t} {r}\n")).collect();
        prop_assume!(rates.iter().any(|rate| *rate > 0));
        let trace = Trace::parse(&text).unwrap();
        let once = trace.finish(at(0), a + b).as_nanos();
        let twice = trace.finish(trace.finish(at(0), a), b).as_nanos();
        // Each step rounds up to the nanosecond.
        prop_assert!(twice >= once && twice - once <= 1_000_000_001, "{once} {twice}");
    }
}
