//! Random effects on packets, in the words of `netem`.

use scenario::Link;
use units::Duration;

/// Packets on their way: never the limit.
const UNDER_WAY: u32 = 1_000_000;
/// With a rate netem keeps the order of packets, however late each is; this one is no limit.
const IN_ORDER: &str = "rate 32gbit";

/// A delay of so many nanoseconds, and up to `late` more.
pub fn delay(nanos: u64, late: Duration) -> String {
    let micros = |nanos: u64| format!("{}.{:03}us", nanos / 1000, nanos % 1000);
    // netem's jitter is to both sides of the delay.
    let half = late.as_nanos() / 2;
    match half {
        0 => format!("netem delay {} limit {UNDER_WAY}", micros(nanos)),
        _ => format!(
            "netem delay {} {} {IN_ORDER} limit {UNDER_WAY}",
            micros(nanos + half),
            micros(half)
        ),
    }
}

/// The effects of the wire behind the link on packets; none if it has none.
pub fn wire(link: &Link) -> Option<String> {
    let (share, burst) = (link.wire.loss.0, link.wire.loss_burst);
    let losses = match share > 0.0 {
        false => String::new(),
        true if burst > 1.0 => {
            let (begins, ends) = link::gilbert(share, burst);
            let percent = |share: f64| format!("{:.6}%", 100.0 * share);
            format!(
                " loss gemodel {} {} 100% 0%",
                percent(begins),
                percent(ends)
            )
        }
        true => format!(" loss {:.6}%", 100.0 * share),
    };
    let does = share > 0.0 || link.wire.jitter > Duration::ZERO;
    does.then(|| delay(0, link.wire.jitter) + &losses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn words() {
        assert_eq!(
            delay(20_000_000, Duration::ZERO),
            "netem delay 20000.000us limit 1000000"
        );
        assert_eq!(
            delay(20_000_000, Duration::from_micros(600)),
            "netem delay 20300.000us 300.000us rate 32gbit limit 1000000"
        );
        let wire = |keys: &str| {
            let text = format!(
                "disciplines = [\"pfifo\"]\n[link]\nrate = \"20mbit\"\n{keys}\n[[traffic]]\nname = \"b\"\nkind = \"bulk\"\n"
            );
            wire(&samples::read(&text).links[0])
        };
        assert_eq!(wire(""), None);
        let loss = "netem delay 0.000us limit 1000000 loss 1.000000%";
        assert_eq!(wire("loss = \"1%\"").as_deref(), Some(loss));
        // One packet in 400 begins a burst: 0.25 × 0.01 / 0.99.
        let both = "netem delay 1000.000us 1000.000us rate 32gbit limit 1000000 loss gemodel \
                    0.252525% 25.000000% 100% 0%";
        let keys = "loss = \"1%\"\nloss_burst = 4\njitter = \"2ms\"";
        assert_eq!(wire(keys).as_deref(), Some(both));
    }
}
