//! Random variation of packets.

use crate::error::printable;
use crate::model::Link;
use crate::read::{MAX_NAME, Result};
use crate::section::Section;
use units::{Duration, Rate};

/// A larger value would be a path of its own.
const MAX_NOISE: Duration = Duration::from_secs(1);
/// More packets of noise are a mistake.
const MAX_PACKETS: f64 = 1000.0;
/// Bytes of a full packet.
const FULL: u64 = 1500;
/// A packet's time on the slowest link: two flows of one bottleneck then do not stay in step, in which
/// case one would always find the queue full (S. Floyd and V. Jacobson, Internetworking: Research and
/// Experience 3, 1992, who add as much).
const UNSAID: f64 = 1.0;

/// Largest additional delay of packets at their senders.
pub fn noise(root: &mut Section<'_>, links: &[Link]) -> Result<Duration> {
    let slowest = links.iter().map(|link| link.capacity.nominal()).min();
    let full = slowest.map_or(Duration::ZERO, |rate: Rate| rate.time_for(FULL));
    let packets = |count: f64| Duration::from_secs_f64(full.as_secs_f64() * count).min(MAX_NOISE);
    let Some(text) = root.text("noise")? else {
        return Ok(packets(UNSAID));
    };
    let help = "write a time up to 1s, or packets of the slowest link such as 1p; 0s for none";
    let refused = || {
        let found = printable(&text.value, MAX_NAME);
        text.error(&format!("{}: {found:?} is no noise", text.key), help)
    };
    if let Some(count) = text.value.trim().strip_suffix('p') {
        let count = count.trim_end().parse().ok();
        let count = count.filter(|count| (0.0..=MAX_PACKETS).contains(count));
        return count.map(packets).ok_or_else(refused);
    }
    let span: Option<Duration> = text.value.trim().parse().ok();
    span.filter(|span| *span <= MAX_NOISE).ok_or_else(refused)
}
