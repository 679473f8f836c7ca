//! Calls under real controls.

use super::*;
use cca::{Choice, Registry};

fn bed(name: &str) -> Bed {
    capped(name, 100)
}

/// A call of at most so many Mbit/s.
fn capped(name: &str, most: u64) -> Bed {
    let params = MediaParams::default();
    let bounds = (Rate::from_bits(150_000), Rate::from_bits(most * 1_000_000));
    let setup = params.setup(Rate::from_bits(300_000), bounds, 1);
    let control = Registry::builtin().build(&Choice::plain(name), &setup);
    let control = control.unwrap();
    let mut bed = Bed::new(&params, control);
    bed.rate = Rate::from_bits(20_000_000);
    bed
}

/// Bytes delivered between two moments, as a rate.
fn goodput(bed: &mut Bed, span: Duration) -> Rate {
    let before = bed.receiver.stats().bytes;
    let end = bed.now + span;
    bed.run(end);
    Rate::from_bytes_over(bed.receiver.stats().bytes - before, span)
}

#[test]
fn reno_fills_the_link_and_its_buffer() {
    let mut bed = bed("reno");
    bed.call(ms(20_000));
    bed.run(ms(10_000));
    let rate = goodput(&mut bed, Duration::from_secs(5));
    assert!(rate > Rate::from_bits(14_000_000), "{rate}");
    assert!(
        bed.sender.stats().congestions > 0,
        "it grows until it loses"
    );
    bed.run(ms(21_000));
    assert_eq!(bed.shown().len() + bed.lost().len(), bed.pushed.len());
    assert!(bed.lost().len() * 10 < bed.pushed.len(), "{:?}", bed.lost());
}

/// Frames whose delay was above 190 ms among those handed over from `from` on, and a
/// percentile of these delays in milliseconds.
fn late_and_percentile(bed: &Bed, from: Instant, percent: usize) -> (usize, u64) {
    let delays = bed.delays(from);
    let late = delays.iter().filter(|&&delay| delay > 190).count();
    let percentile = delays.get(delays.len() * percent / 100).copied();
    (late, percentile.unwrap_or(u64::MAX))
}

/// The rate is found, kept with little delay, given up when the link loses three quarters of its
/// capacity, and kept with little delay again. At most `allowed` frames in five seconds may be late
/// for the control's own reasons.
fn ramps_up_and_gives_way(
    name: &str,
    mut bed: Bed,
    low_share: u64,
    allowed: usize,
    percent: usize,
) {
    bed.call(ms(40_000));
    bed.run(ms(12_000));
    let rate = goodput(&mut bed, Duration::from_secs(3));
    assert!(
        rate > Rate::from_bits(10_000_000),
        "{name} after 15 s: {rate}"
    );
    let (late, worst) = late_and_percentile(&bed, ms(10_000), percent);
    assert!(
        late <= allowed && worst < 100,
        "{name}: {late} late, {percent}% within {worst} ms"
    );

    bed.rate = Rate::from_bits(5_000_000);
    bed.run(ms(20_000));
    let (late, _) = late_and_percentile(&bed, ms(15_000), percent);
    assert!(late > allowed, "{name}: no control foresees this");
    let rate = goodput(&mut bed, Duration::from_secs(5));
    assert!(
        rate.as_bits() * 100 > 5_000_000 * low_share,
        "{name} on a quarter: {rate}"
    );
    let (late, worst) = late_and_percentile(&bed, ms(20_000), percent);
    assert!(
        late <= allowed && worst < 100,
        "{name} on a quarter: {late} late, {percent}% within {worst} ms"
    );

    bed.run(ms(41_000));
    assert_eq!(bed.shown().len() + bed.lost().len(), bed.pushed.len());
    // Packets under way when the capacity fell may overflow the buffer, and its repair too: the
    // picture may stand for as long as the stall lasts, not longer.
    assert!(bed.lost().len() < 90, "{name}: {:?}", bed.lost());
    assert!(
        bed.lost()
            .iter()
            .all(|&id| bed.pushed[id as usize] < ms(18_000))
    );
}

#[test]
fn gcc_ramps_up_and_gives_way() {
    // Without a cap it would find the queue of 50 ms only when packets are lost already: bursts
    // make one group a frame, and the trend is over twenty. libwebrtc does the same (`make
    // witness`).
    ramps_up_and_gives_way("gcc", capped("gcc", 15), 40, 0, 95);
}

#[test]
fn copa_ramps_up_and_gives_way() {
    ramps_up_and_gives_way("copa", bed("copa"), 90, 0, 95);
}

#[test]
fn bbr_ramps_up_and_gives_way() {
    // Every ten seconds it sends only four packets a round trip for 200 ms, to see the least
    // round trip: six or seven frames wait for that, and the queue they leave takes as long as the
    // spare rate needs. So the median has to do.
    ramps_up_and_gives_way("bbr", bed("bbr"), 90, 20, 50);
}

/// A queue that marks from four packets on, 2 ms at 20 Mbit/s: a call takes most of the link, and
/// its frames hardly wait. On a quarter of the rate four packets are 8 ms.
#[test]
fn prague_fills_a_marking_link_without_a_queue() {
    let mut bed = bed("prague");
    bed.mark = Box::new(|_, queued| queued >= 4);
    bed.call(ms(30_000));
    bed.run(ms(12_000));
    let rate = goodput(&mut bed, Duration::from_secs(3));
    assert!(rate > Rate::from_bits(16_000_000), "{rate}");
    let (late, worst) = late_and_percentile(&bed, ms(10_000), 95);
    assert!(late == 0 && worst < 100, "{late} late, {worst} ms");
    bed.rate = Rate::from_bits(5_000_000);
    bed.run(ms(20_000));
    let rate = goodput(&mut bed, Duration::from_secs(5));
    assert!(rate > Rate::from_bits(4_000_000), "{rate}");
    let (late, worst) = late_and_percentile(&bed, ms(20_000), 95);
    assert!(late == 0 && worst < 100, "{late} late, {worst} ms");
}

/// The same queue: a call leaves some of the link, since pictures come in bursts of which the end is marked, and
/// its frames do not wait either.
#[test]
fn scream_keeps_a_marking_link_without_a_queue() {
    let mut bed = bed("scream");
    bed.mark = Box::new(|_, queued| queued >= 4);
    bed.call(ms(30_000));
    bed.run(ms(12_000));
    let rate = goodput(&mut bed, Duration::from_secs(3));
    assert!(rate > Rate::from_bits(10_000_000), "{rate}");
    let (late, worst) = late_and_percentile(&bed, ms(10_000), 95);
    assert!(late == 0 && worst < 100, "{late} late, {worst} ms");
    bed.rate = Rate::from_bits(5_000_000);
    bed.run(ms(20_000));
    let rate = goodput(&mut bed, Duration::from_secs(5));
    assert!(rate > Rate::from_bits(2_500_000), "{rate}");
    let (late, worst) = late_and_percentile(&bed, ms(20_000), 95);
    assert!(late == 0 && worst < 100, "{late} late, {worst} ms");
}

#[test]
fn scream_ramps_up_and_gives_way() {
    ramps_up_and_gives_way("scream", capped("scream", 15), 50, 0, 95);
}
