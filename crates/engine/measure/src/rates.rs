//! Rates of followed links over time, and the reasons for them.

use crate::engine::BuiltLink;
use crate::event::LinkId;
use crate::result::{RateResult, ReasonShare};
use autorate::Decision;
use std::collections::BTreeMap;
use units::Instant;

/// More changes are not drawn: a plot is full long before.
const MOST: usize = 1_000_000;

/// All followed links of a run.
#[derive(Debug, Default)]
pub struct FollowedRates {
    links: BTreeMap<LinkId, RatesMeter>,
    /// Time, queue, Mbit/s and reason of each change, if kept.
    pub line: Vec<(f64, usize, f64, &'static str)>,
}

#[derive(Debug)]
struct RatesMeter {
    /// The last decision, and since when it is accounted for.
    last: (Instant, Decision),
    /// Mbit.
    sum: f64,
    least: f64,
    greatest: f64,
    changes: u64,
    /// Seconds, by reason.
    reasons: BTreeMap<&'static str, f64>,
}

impl FollowedRates {
    /// A link's rate was decided; what is before `from` is not measured.
    pub fn rated(
        &mut self,
        now: Instant,
        from: Instant,
        link: LinkId,
        decision: Decision,
        keep: bool,
    ) {
        let meter = self.links.entry(link).or_insert_with(|| RatesMeter {
            last: (now.max(from), decision),
            sum: 0.0,
            least: f64::INFINITY,
            greatest: 0.0,
            changes: 0,
            reasons: BTreeMap::new(),
        });
        meter.until(now.max(from));
        if now >= from && meter.last.1.rate != decision.rate {
            meter.changes += 1;
        }
        meter.last.1 = decision;
        if keep && self.line.len() < MOST {
            let (at, queue) = (now.as_secs_f64(), usize::from(link.0));
            let rate = decision.rate.as_mbit_f64();
            self.line.push((at, queue, rate, decision.why.name()));
        }
    }

    /// The results at the end of a run.
    pub fn results(&mut self, end: Instant, links: &[BuiltLink]) -> Vec<RateResult> {
        let results = self.links.iter_mut().map(|(link, meter)| {
            meter.until(end);
            let measured: f64 = meter.reasons.values().sum();
            let share = |(reason, span): (&&str, &f64)| ReasonShare {
                reason: (*reason).to_owned(),
                share: span / measured,
            };
            let built = links.get(usize::from(link.0));
            RateResult {
                name: built.map(|link| link.name.clone()).unwrap_or_default(),
                mean_mbps: meter.sum / measured,
                least_mbps: meter.least,
                greatest_mbps: meter.greatest,
                changes: meter.changes,
                reasons: meter.reasons.iter().map(share).collect(),
            }
        });
        results.collect()
    }
}

impl RatesMeter {
    /// Accounts for the time until `now`.
    fn until(&mut self, now: Instant) {
        let (since, decision) = self.last;
        let span = now.since(since).as_secs_f64();
        if span > 0.0 {
            let rate = decision.rate.as_mbit_f64();
            self.sum += rate * span;
            self.least = self.least.min(rate);
            self.greatest = self.greatest.max(rate);
            *self.reasons.entry(decision.why.name()).or_default() += span;
            self.last.0 = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use autorate::{Told, Why};
    use units::{Duration, Rate};

    #[test]
    fn rates_count_by_their_time_after_the_warmup() {
        let mut rates = FollowedRates::default();
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut rated = |seconds, mbit, why| {
            let decision = Decision {
                rate: Rate::from_mbit_f64(mbit),
                why,
                told: Told::Nothing,
            };
            rates.rated(at(seconds), at(10), LinkId(1), decision, true);
        };
        rated(0, 5.0, Why::Start);
        rated(8, 20.0, Why::Start);
        rated(16, 10.0, Why::Idle);
        let result = &rates.results(at(20), &[])[0];
        // 6 s at 20 Mbit/s, 4 s at 10.
        assert_eq!((result.mean_mbps, result.changes), (16.0, 1));
        assert_eq!((result.least_mbps, result.greatest_mbps), (10.0, 20.0));
        let reasons: Vec<_> = result
            .reasons
            .iter()
            .map(|r| (&*r.reason, r.share))
            .collect();
        assert_eq!(reasons, [("idle", 0.4), ("start", 0.6)]);
        assert_eq!(rates.line[1], (8.0, 1, 20.0, "start"));
    }
}
