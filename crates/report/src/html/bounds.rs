//! The bound on a call's delay: the bytes that it went on sending while it got less.

use super::flows::offered_and_served;
use super::report::Report;
use super::words::time;
use measure::Series;

/// Looked at before the worst frame, seconds: longer than any control takes to notice.
const BEFORE_S: f64 = 1.0;

/// A sentence about the worst frame of the measured time: in the time before it, beginning where
/// the call got least compared with its sending, how much it sent, how much it got, and the
/// resulting queue. None if the call sent no more than it got.
pub fn sentence(report: &Report<'_>, series: &Series) -> Option<String> {
    let frames = series
        .frames
        .iter()
        .filter(|frame| frame.1 >= report.subject.warmup_s);
    let worst = frames
        .filter_map(|&(_, at, delay)| Some((at, delay?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let groups = report.subject.groups(series);
    let calls = groups.iter().filter(|group| group.is_call);
    let flows: Vec<usize> = calls.flat_map(|group| group.flows.clone()).collect();
    let end = ((worst.0 + worst.1 * 1e-3) / series.bin_s) as usize;
    let first = end.saturating_sub((BEFORE_S / series.bin_s) as usize);
    let excess = |from: usize, to: usize| {
        let (sent, got) = offered_and_served(series, &flows, from..to);
        sent as i64 - got as i64
    };
    let (_, from, to) = (first..end)
        .flat_map(|from| (from + 1..=end).map(move |to| (from, to)))
        .map(|(from, to)| (excess(from, to), from, to))
        .max_by_key(|&(excess, from, to)| (excess, from, to))?;
    let (sent, got) = offered_and_served(series, &flows, from..to);
    let span = (to - from) as f64 * series.bin_s;
    let mbps = |bytes: u64| bytes as f64 * 8e-6 / span;
    (sent > got).then(|| {
        format!(
            " What bounds its longest delay of {}: for {} the call sent {:.1} Mbit/s and got \
             {:.1}, so {:.0} kB of it waited.",
            time(worst.1),
            time(span * 1e3),
            mbps(sent),
            mbps(got),
            (sent - got) as f64 / 1e3,
        )
    })
}
