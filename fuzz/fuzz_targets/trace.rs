//! Any text is a trace that carries packets forwards in time, or is refused in a few lines.

#![no_main]

use libfuzzer_sys::fuzz_target;
use link::Trace;
use units::{Duration, Instant};

fuzz_target!(|text: &str| {
    match Trace::parse(text) {
        Ok(trace) => {
            let start = Instant::ZERO + Duration::from_millis(7);
            let end = trace.finish(start, 1500);
            assert!(end > start);
            assert!(trace.finish(start, 3000) >= end);
            assert!(trace.capacity_until(end) >= trace.capacity_until(start));
            assert!(trace.rate_at(start) <= units::Rate::from_bits(u64::MAX));
        }
        Err(error) => {
            let message = scenario::printable(&error.to_string(), 500);
            assert!(!message.contains(char::is_control));
        }
    }
});
