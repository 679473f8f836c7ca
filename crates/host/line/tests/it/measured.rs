//! A measurement over loopback: what can be said of it without a clock.

use crate::{served, wish};
use line::Trust;
use line::client::{ClientProgress, Way, measure};
use probe::Identity;
use probe::limits::Policy;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Rate;

/// Mbit/s: little enough that a loaded machine carries it.
const RATE: f64 = 8.0;

fn policy() -> Policy {
    Policy {
        rate: Rate::from_bits((RATE * 1e6) as u64),
        ..Policy::default()
    }
}

#[test]
fn a_servers_limit_is_found_and_named_both_ways() {
    let (address, identity) = served(policy());
    let mut told = Vec::new();
    let wish = wish(address, Trust::Pin(identity.pin()));
    let found = measure(&wish, &AtomicBool::new(false), &mut |seen| told.push(seen)).unwrap();
    for (way, direction) in found.ways() {
        assert!(direction.server_limit, "{way:?} {direction:?}");
        // A loaded machine may carry less.
        assert!(direction.rate_mbit < 1.3 * RATE, "{way:?} {direction:?}");
    }
    assert_eq!(found.ways().count(), 2);
    assert!(matches!(told[0], ClientProgress::Idle(ms) if ms > 0.0 && ms < 1e3));
    // Nobody answers on this port's datagrams.
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(found.notes[0].contains("by waits alone"));
    let text = found.text();
    assert!(
        text.contains("the server's limit, not the line's"),
        "{text}"
    );
}

#[test]
fn bytes_end_it_and_what_is_known_is_told() {
    let (address, _) = served(policy());
    let wish = line::client::Wish {
        bytes: 400_000,
        ..wish(address, Trust::Anyone)
    };
    let found = measure(&wish, &AtomicBool::new(false), &mut |_| ()).unwrap();
    // What passes within a few hundredths of a second, and both ends' windows.
    assert!(found.bytes < 30_000_000, "{}", found.bytes);
    let ended = |remark: &String| {
        remark.starts_with("down: ended early") && remark.contains("as --max-bytes wants it")
    };
    let remarks: Vec<String> = found.remarks().collect();
    assert!(remarks.iter().any(ended), "{remarks:?}");
}

#[test]
fn it_ends_when_it_is_stopped_with_what_is_known() {
    let (address, _) = served(policy());
    let stop = AtomicBool::new(false);
    let mut seen = |_| stop.store(true, Ordering::Relaxed);
    let found = measure(&wish(address, Trust::Anyone), &stop, &mut seen).unwrap();
    assert_eq!(found.ways().count(), 0);
    assert!(found.way(Way::Down).is_none() && found.idle.rtt_ms > 0.0);
}

#[test]
fn another_key_is_refused() {
    let (address, _) = served(policy());
    let other = Trust::Pin(Identity::new().unwrap().pin());
    let refused = measure(&wish(address, other), &AtomicBool::new(false), &mut |_| ());
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("another key than --pin's"), "{text}");
}
