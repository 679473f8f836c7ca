//! Calls under real controls.

use super::*;
use cca::Registry;

fn bed(name: &str) -> Bed {
    let params = MediaParams::default();
    let bounds = (Rate::from_bits(150_000), Rate::from_bits(100_000_000));
    let setup = params.setup(Rate::from_bits(300_000), bounds, 1);
    let control = (Registry::builtin().get(name).unwrap().build)(&[], &setup).unwrap();
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
