//! What a controller of a link's rate is told of the line, as nobody could know it: for comparisons.
//!
//! A setting such as `min_down=p10` or `down=0.85mean` is that quantile over time of the line's capacity,
//! or that part of its mean: the capacity of the slowest link before, in the direction that ends the
//! setting's name.

use crate::error::ScenarioError;
use crate::model::Link;
use crate::names::Names;
use crate::read::{Result, judged};
use crate::section::Text;
use link::Capacity;
use units::{Choice, Rate, Refusal};

/// What is told is at least this: lines stand still at times, and no rate may.
const LEAST: Rate = Rate::from_bits(300_000);

/// The controller that `text` names, with what it is told in figures.
pub fn controller(text: &Text<'_>, before: &[Link], names: &dyn Names) -> Result<Choice> {
    let figures = |choice: &Choice| {
        let mut choice = choice.clone();
        for (key, value) in &mut choice.settings {
            if let Some(part) = RatePart::parse(value) {
                *value = part.of(slowest(before, key)?).max(LEAST).to_string();
            }
        }
        Ok(choice)
    };
    let judge = |choice: &Choice| names.autorate(&figures(choice)?);
    let choice = judged(text, &judge)?;
    figures(&choice).map_err(|refusal: Refusal| -> ScenarioError {
        let help = refusal.help.as_deref().unwrap_or("write a rate");
        text.error(&refusal.message, help)
    })
}

/// The capacity of the slowest link before, in the direction of the setting `key`.
fn slowest<'a>(before: &'a [Link], key: &str) -> core::result::Result<&'a Capacity, Refusal> {
    let up = key.ends_with("up");
    let capacities = before.iter().filter_map(|link| {
        if up {
            link.up.as_ref().map(|up| &up.capacity)
        } else {
            Some(&link.capacity)
        }
    });
    let slowest = capacities.min_by_key(|capacity| capacity.nominal());
    slowest.ok_or_else(|| {
        let refusal = Refusal::new(format!(
            "{key}: no link before has a capacity in this direction"
        ));
        refusal.with_help("write a rate such as 10mbit")
    })
}

/// A part of a mean, or of a quantile.
#[derive(Debug, PartialEq)]
struct RatePart {
    factor: f64,
    /// The share of the time; the mean without it.
    below: Option<f64>,
}

impl RatePart {
    /// `mean` or `p10`, behind a factor or alone.
    fn parse(text: &str) -> Option<Self> {
        let at = text.find(['m', 'p'])?;
        let (factor, what) = text.split_at(at);
        let factor = match factor.trim() {
            "" => 1.0,
            factor => factor
                .parse()
                .ok()
                .filter(|f: &f64| (0.0..=100.0).contains(f))?,
        };
        let below = match what {
            "mean" => None,
            quantile => {
                let percent: u8 = quantile.strip_prefix('p')?.parse().ok()?;
                Some(f64::from(percent).clamp(0.0, 100.0) / 100.0)
            }
        };
        Some(RatePart { factor, below })
    }

    fn of(&self, capacity: &Capacity) -> Rate {
        let rate = match (capacity, self.below) {
            (Capacity::Trace(trace), Some(below)) => trace.quantile(below),
            (capacity, _) => capacity.nominal(),
        };
        Rate::from_mbit_f64(rate.as_mbit_f64() * self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_from_rates() {
        let part = |text| RatePart::parse(text).map(|part| (part.factor, part.below));
        assert_eq!(part("mean"), Some((1.0, None)));
        assert_eq!(part("0.85mean"), Some((0.85, None)));
        assert_eq!(part("p10"), Some((1.0, Some(0.1))));
        assert_eq!(part("0.5 p98"), Some((0.5, Some(0.98))));
        for rate in ["10mbit", "10ms", "p", "pfifo", "-1mean", "both", "xp10"] {
            assert_eq!(part(rate), None, "{rate}");
        }
    }
}
