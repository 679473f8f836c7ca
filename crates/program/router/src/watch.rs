//! `analects tc apply 2lps --threshold auto --watch`: a threshold that follows the sizes of flows.

use command::Refused;
use core::ops::ControlFlow;
use netcfg::{Device, Ended, EndedFlows, Host, Routes, Runner, Threshold};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use theory::ages::{Phases, Sizes, TwoLevels, optimum};

/// The last flows that count.
const MOST: usize = 100_000;
/// A change that gains less is none: the fit is not better than that.
const WORTH: f64 = 0.01;
/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(500);

/// The conditions and the purpose of a change of the threshold.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The load for which it is optimized.
    pub load: f64,
    /// After how long to look again.
    pub every: Duration,
    /// How many flows have to have ended.
    pub flows: usize,
}

/// Changes the threshold. Stops if the applied settings are no longer in place.
pub type Change<'a> = dyn FnMut(&mut Host, Threshold) -> Result<ControlFlow<()>, Refused> + 'a;

/// Changes the threshold from `first` on until a signal comes.
///
/// # Errors
/// If the kernel does not report flows, or a change fails.
#[expect(
    clippy::disallowed_methods,
    reason = "when to look again, not a result"
)]
pub fn follow(
    host: &mut Host,
    device: &Device,
    rules: &Rules,
    first: Threshold,
    change: &mut Change<'_>,
) -> Result<(), Refused> {
    let mut flows = EndedFlows::listen()?;
    let mut ways = Ways::new(device)?;
    let (mut seen, mut threshold) = (VecDeque::new(), first);
    let mut due = Instant::now() + rules.every;
    while !host.interrupted() {
        let left = due.saturating_duration_since(Instant::now());
        // A socket with a timeout of zero waits forever.
        let wait = left.min(PATIENCE).max(Duration::from_millis(1));
        let mut failed = None;
        flows.wait(wait, &mut |ended| {
            match ways.sizes(ended) {
                Ok(sizes) => seen.extend(sizes.into_iter().flatten()),
                Err(error) => failed = Some(error),
            }
            while seen.len() > MOST {
                seen.pop_front();
            }
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        if Instant::now() < due {
            continue;
        }
        due = Instant::now() + rules.every;
        let (better, why) = judge(&seen, rules, threshold);
        eprintln!("{device}: {why}");
        if let Some(better) = better {
            if change(host, better)?.is_break() {
                return Ok(());
            }
            threshold = better;
        }
    }
    eprintln!("{device}: {threshold} stand; `analects tc clear --dev {device}` undoes all of it");
    Ok(())
}

/// Which of the two directions of a flow left by the device.
struct Ways {
    routes: Routes,
    device: u32,
}

impl Ways {
    fn new(device: &Device) -> Result<Self, netcfg::Error> {
        Ok(Ways {
            device: device.index()?,
            routes: Routes::open()?,
        })
    }

    /// Bytes of the directions that did.
    fn sizes(&mut self, ended: Ended) -> Result<[Option<u64>; 2], netcfg::Error> {
        let mut sizes = [None; 2];
        for (size, sent) in sizes.iter_mut().zip(ended) {
            if sent.bytes > 0 && self.routes.device_towards(sent.towards)? == Some(self.device) {
                *size = Some(sent.bytes);
            }
        }
        Ok(sizes)
    }
}

/// A better threshold for the observed flows, if there is one, and the message about it.
fn judge(seen: &VecDeque<u64>, rules: &Rules, now: Threshold) -> (Option<Threshold>, String) {
    let count = seen.len();
    if count < rules.flows {
        let least = rules.flows;
        return (
            None,
            format!("{count} of {least} flows ended so far; {now} stand"),
        );
    }
    match best(seen, rules.load, now) {
        Ok((mean, _, gain)) if gain < WORTH => {
            let why = format!("{count} flows of {mean:.0} bytes on average; {now} are best");
            (None, why)
        }
        Ok((mean, best, gain)) => {
            let why = format!(
                "{count} flows of {mean:.0} bytes on average; {best} instead of {now} save {:.1} % of the \
                 mean time, by theory",
                100.0 * gain
            );
            (Some(best), why)
        }
        Err(why) => (None, format!("{count} flows; {why}; {now} stand")),
    }
}

/// Mean size, the best threshold, and the part of the mean time that it saves.
fn best(seen: &VecDeque<u64>, load: f64, now: Threshold) -> Result<(f64, Threshold, f64), String> {
    let sizes = Sizes::seen(seen.iter().copied()).map_err(|refusal| refusal.message)?;
    let fit = Phases::fit(&sizes);
    let model = TwoLevels::new(&fit, load).map_err(|refusal| refusal.message)?;
    let best = optimum(&fit, load, sizes.bounds()).map_err(|refusal| refusal.message)?;
    let gain = 1.0 - best.response / model.response(now.get() as f64);
    let threshold =
        Threshold::try_from(best.threshold as u64).map_err(|error| error.to_string())?;
    Ok((sizes.mean(), threshold, gain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        load: 0.88,
        every: Duration::from_secs(600),
        flows: 10_000,
    };

    /// Nineteen of twenty have 50 to 150 kB, the others a hundred times as much.
    fn flows(count: u64) -> VecDeque<u64> {
        let size = |place: u64| 50_000 + 100_000 * place / count;
        let times = |place: u64| if place.is_multiple_of(20) { 100 } else { 1 };
        (0..count).map(|place| size(place) * times(place)).collect()
    }

    fn threshold(bytes: u64) -> Threshold {
        bytes.try_into().unwrap()
    }

    #[test]
    fn a_threshold_that_is_far_off_changes_and_a_good_one_stays() {
        let seen = flows(20_000);
        let (better, why) = judge(&seen, &RULES, threshold(10_000));
        let better = better.unwrap();
        assert!((150_000..5_000_000).contains(&better.get()), "{better}");
        assert!(why.contains("instead of 10000 bytes save"), "{why}");
        let (again, why) = judge(&seen, &RULES, better);
        assert_eq!(again, None, "{why}");
    }

    #[test]
    fn few_flows_and_flows_of_one_size_change_nothing() {
        let (none, why) = judge(&flows(9_999), &RULES, threshold(1));
        assert_eq!(none, None);
        assert!(why.starts_with("9999 of 10000 flows"), "{why}");
        let alike = vec![1000; 20_000].into();
        let (none, why) = judge(&alike, &RULES, threshold(1));
        assert_eq!(none, None, "{why}");
    }
}
