//! By how much packets were handed on too late, and whether that leaves a link to be believed.

use crate::Error;
use hdrhistogram::Histogram;
use units::Duration;

/// Larger delays are counted as this, in nanoseconds: a minute.
const LATEST: u64 = 60_000_000_000;
/// Of a hundred packets one may be late by this part of the round trip: by 2 ms of 40.
const PART: u64 = 20;
/// Whatever the round trip is, so much may it be late.
const LEAST: Duration = Duration::from_micros(500);
/// And no more than this: half of the least trend that GCC takes for a queue, 6 ms (draft-ietf-rmcat-gcc-02, 5.4), and
/// a tenth of the time between frames.
const MOST: Duration = Duration::from_millis(3);

/// What was observed.
#[derive(Debug, Clone)]
pub struct Lateness(Histogram<u64>);

impl Lateness {
    /// Of no packets.
    ///
    /// # Errors
    /// None in practice: the histogram's bounds are constants.
    pub fn new() -> Result<Self, Error> {
        let made = Histogram::new_with_max(LATEST, 2);
        made.map(Lateness)
            .map_err(|error| Error::new(error.to_string(), "report this"))
    }

    /// A packet was late by this much.
    pub fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.as_nanos().max(1));
    }

    /// How late such a share of the packets was at most, microseconds.
    pub fn us(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1e3
    }

    /// Why a link of this round trip is not to be believed, of whose packets so many were never read; none if it is.
    pub fn doubt(&self, rtt: Duration, missed: u64) -> Option<String> {
        let (late, bound) = (self.us(0.99) / 1e3, bound(rtt).as_secs_f64() * 1e3);
        let mut reasons = Vec::new();
        if late > bound {
            reasons.push(format!(
                "of 100 packets one was {late:.1} ms late or more, where {bound:.1} ms are the most for a round trip of {rtt}"
            ));
        }
        if missed > 0 {
            reasons.push(format!("{missed} packets were not read at all"));
        }
        (!reasons.is_empty()).then(|| format!("this host was too slow: {}", reasons.join("; ")))
    }
}

/// So late may one packet in a hundred be.
fn bound(rtt: Duration) -> Duration {
    Duration::from_nanos(rtt.as_nanos() / PART).clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_weighed_against_the_round_trip() {
        let ms = Duration::from_millis;
        let late = |us| {
            let mut late = Lateness::new().unwrap();
            for _ in 0..98 {
                late.record(Duration::from_micros(10));
            }
            late.record(Duration::from_micros(us));
            late.record(Duration::from_micros(us));
            late
        };
        for (us, rtt, believed) in [
            (400, ms(0), true),
            (700, ms(0), false),
            (1900, ms(40), true),
            (2100, ms(40), false),
            (2900, ms(600), true),
            (3100, ms(600), false),
        ] {
            assert_eq!(
                late(us).doubt(rtt, 0).is_none(),
                believed,
                "{us} us of {rtt}"
            );
        }
        let doubt = late(2100).doubt(ms(40), 3).unwrap();
        for words in [
            "2.1 ms late",
            "2.0 ms are the most",
            "40",
            "3 packets were not read",
        ] {
            assert!(doubt.contains(words), "{words}: {doubt}");
        }
        assert!(Lateness::new().unwrap().doubt(ms(0), 0).is_none());
    }
}
