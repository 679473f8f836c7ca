//! `--household`: the rate is that of all hosts of a household, and this host's part follows what the others want.

use crate::cli::PaceArgs;
use crate::diverted::broke;
use crate::on_host::device;
use crate::secret::secret;
use command::Refused;
use live::{Gates, Household, Standing, Turn};
use std::collections::VecDeque;
use units::param::Settings;
use units::{Duration, Instant, Rate, Refusal};

type Result<T> = core::result::Result<T, Refused>;

/// A secret has at least so many bytes, and at most.
const SECRET: core::ops::RangeInclusive<usize> = 16..=4096;
/// Looks in a second.
const LOOKS: usize = 10;
/// Looks between two messages to the others.
const BETWEEN: usize = 2;

/// This host among the household's.
pub struct Shared {
    household: Household,
    total: Rate,
    demand: Demand,
    turn: Option<Turn>,
}

impl Shared {
    /// Joins the household that the options name, if they name one.
    pub fn join(args: &PaceArgs) -> Result<Option<Self>> {
        let (Some(file), Some(dev)) = (&args.household, &args.dev) else {
            return Ok(None);
        };
        let total = args.rate.parse().map_err(|_| {
            let message = format!("--household: --rate {} is none to share", args.rate);
            Refused::new(
                &message,
                "write the same --rate on each host, such as 20mbit",
            )
        })?;
        let secret = secret("--household", file, SECRET)?;
        let index = device("--dev", dev)?.index();
        let index = index.map_err(|error| Refused::failed(&error.message, &error.help))?;
        Ok(Some(Shared {
            household: Household::join(index, &secret).map_err(broke)?,
            total,
            demand: Demand::default(),
            turn: None,
        }))
    }

    /// Gives the pacer what is this host's part now.
    pub fn look(&mut self, gates: &mut Gates) {
        let now = Instant::ZERO + Duration::from_secs_f64(gates.seconds());
        let demand = self.demand.look(now, &gates.gates()[0].stands());
        let turn = self.household.turn(now, self.total, demand);
        let former = self.turn.as_ref();
        if let Some(trouble) = &turn.trouble
            && former.is_none_or(|former| former.trouble != turn.trouble)
        {
            eprintln!("the household hears nothing of this host: {trouble}");
        }
        if former.map_or(0, |former| former.others) != turn.others {
            eprintln!("other pacers of the household: {}", turn.others);
        }
        if former.is_none_or(|former| former.share != turn.share) {
            let share = ("rate".to_owned(), format!("{}bit", turn.share.as_bits()));
            if let Err(refusal) = gates.change(0, &[share]) {
                eprintln!("the part of this host, {}: {}", turn.share, refusal.message);
            }
        }
        self.turn = Some(turn);
    }

    /// Changes settings: a rate is the household's, the rest is the pacer's.
    pub fn change(
        &mut self,
        gates: &mut Gates,
        settings: &Settings,
    ) -> core::result::Result<(), Refusal> {
        let (rate, rest): (Vec<_>, Vec<_>) =
            settings.iter().cloned().partition(|(key, _)| key == "rate");
        let total = match rate.last() {
            None => self.total,
            Some((_, text)) => text.parse().map_err(|error: units::ParseError| {
                Refusal::new(format!("rate: {error}"))
                    .with_help("it is the household's, and adaptive is none to share".to_owned())
            })?,
        };
        // Nothing is changed if this is refused.
        gates.change(0, &rest)?;
        self.total = total;
        Ok(())
    }
}

/// What this host would take. A download that is held back takes everything: packets wait at most looks. What comes
/// in bursts, as a video does, takes everything while a burst lasts; and all else a quarter more than what comes.
#[derive(Debug, Default)]
struct Demand {
    before: Option<(Instant, u64, u64)>,
    /// Of the last looks, the newest first: what came, or everything if some of it was held back.
    last: VecDeque<Rate>,
}

const EVERYTHING: Rate = Rate::from_bits(u64::MAX);

impl Demand {
    fn look(&mut self, now: Instant, stands: &Standing) -> Rate {
        let (bytes, drops) = (stands.tally.bytes, stands.tally.drops);
        let (when, bytes_before, drops_before) = self.before.unwrap_or((now, bytes, drops));
        self.before = Some((now, bytes, drops));
        let held = stands.backlog.packets > 0 || drops > drops_before;
        let rate = match now.since(when) {
            _ if held => EVERYTHING,
            Duration::ZERO => Rate::default(),
            span => Rate::from_bytes_over(bytes - bytes_before, span).scale(5, 4),
        };
        self.last.truncate(LOOKS - 1);
        self.last.push_front(rate);
        let held = self.last.iter().filter(|rate| **rate == EVERYTHING).count();
        if held >= LOOKS / 2 {
            return EVERYTHING;
        }
        let told = self.last.iter().take(BETWEEN).copied().max();
        told.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(bytes: u64, drops: u64, waiting: u64) -> Standing {
        let mut stands = Standing::default();
        (stands.tally.bytes, stands.tally.drops) = (bytes, drops);
        stands.backlog.packets = waiting as _;
        stands
    }

    /// The demand at each look, where `came` has kilobytes and packets that wait.
    fn demands(came: &[(u64, u64)]) -> Vec<Rate> {
        let mut demand = Demand::default();
        let mut bytes = 0;
        let looks = came.iter().zip(0..).map(|((kilobytes, waiting), look)| {
            bytes += 1000 * kilobytes;
            let now = Instant::ZERO + Duration::from_millis(100 * look);
            demand.look(now, &stands(bytes, 0, *waiting))
        });
        looks.collect()
    }

    /// 100 kB in 0.1 s are 8 Mbit/s.
    #[test]
    fn what_is_not_held_back_wants_a_quarter_more() {
        let mbit = Rate::from_bits(10_000_000);
        let found = demands(&[(0, 0), (100, 0), (0, 0), (0, 0)]);
        assert_eq!(found, [Rate::default(), mbit, mbit, Rate::default()]);
    }

    #[test]
    fn a_burst_wants_everything_while_it_lasts() {
        let found = demands(&[(0, 0), (100, 3), (100, 1), (0, 0), (0, 0)]);
        let none = Rate::default();
        assert_eq!(found, [none, EVERYTHING, EVERYTHING, EVERYTHING, none]);
    }

    #[test]
    fn a_download_wants_everything_also_at_looks_where_nothing_waits() {
        let came: Vec<_> = (0..40)
            .map(|look| (100, if look % 3 == 0 { 0 } else { 5 }))
            .collect();
        assert!(
            demands(&came)[10..]
                .iter()
                .all(|demand| *demand == EVERYTHING)
        );
        let mut demand = Demand::default();
        demand.look(Instant::ZERO, &stands(0, 0, 0));
        let dropped = demand.look(Instant::ZERO + Duration::from_millis(100), &stands(0, 1, 0));
        assert_eq!(dropped, EVERYTHING);
    }
}
