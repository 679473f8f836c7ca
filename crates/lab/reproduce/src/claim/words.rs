//! A check in words, made from what is computed.

use super::{Claim, How, Names};
use crate::facts;
use crate::records::Records;
use measure::estimate::Statistic;
use measure::metric::Registry;

impl Claim {
    /// The whole check: `p50 of plt:tcp of floq, against the worst of pfifo, codel: less than 0 %, in each k`.
    pub(super) fn in_words(&self, records: &Records<'_>) -> String {
        let Some(expect) = self.expect else {
            return "none".to_owned();
        };
        let unit = self.unit(records.design().metrics);
        let mut text = format!("{}: {expect} {unit}", self.subject());
        text.truncate(text.trim_end().len());
        let place: Vec<String> = (self.place.iter())
            .map(|(axis, label)| format!("{axis} {label}"))
            .collect();
        if !place.is_empty() {
            text += &format!(", at {}", place.join(", "));
        }
        if !self.each.0.is_empty() {
            text += &format!(", for each {}", named(&self.each));
        }
        if !self.best.0.is_empty() {
            text += &format!(", for the best {}", named(&self.best));
        }
        text
    }

    /// What is measured, and what it is compared with.
    fn subject(&self) -> String {
        if let Some(fact) = &self.fact {
            let other = (!self.to.0.is_empty()).then(|| self.compared());
            let sides: Vec<String> = [fact.clone()].into_iter().chain(other).collect();
            return sides.join(", ");
        }
        let metric = self.metrics.0.join(", ");
        let metric = match self.statistic.as_deref() {
            None | Some("mean") => metric,
            Some(statistic) => format!("{statistic} of {metric}"),
        };
        let of = format!("{metric} of {}", self.of.0.join(", "));
        match (self.how, self.to.0.is_empty()) {
            (How::Spread, _) => format!("spread of {of}"),
            (_, false) => format!("{of}, {}", self.compared()),
            (_, true) if self.pooled => format!("{of}, together"),
            (_, true) => of,
        }
    }

    fn compared(&self) -> String {
        let word = match self.how {
            How::Difference => "less that of",
            How::Change => "relative to",
            How::Spread => "and",
        };
        let apart = |over: &Names| over.0.iter().any(|name| name == "to");
        let several = self.to.0.len() > 1 && self.how != How::Spread;
        if several && !apart(&self.each) && !apart(&self.best) {
            format!("{word} each of {}", self.to.0.join(", "))
        } else {
            format!("{word} {}", self.to.0.join(", "))
        }
    }

    /// The unit of the value.
    pub(super) fn unit(&self, metrics: &Registry) -> String {
        let relative = !self.to.0.is_empty() && self.how == How::Change || self.how == How::Spread;
        let share = matches!(self.statistic(), Ok(Statistic::ShareAbove(_)));
        let metric = self.metrics.0.first().map(|text| metrics.select(text));
        match metric {
            Some(Ok(_)) if relative || share => "%".to_owned(),
            Some(Ok(metric)) => metric.metric.unit.to_owned(),
            _ if relative => "%".to_owned(),
            _ => self.fact.as_deref().map_or("", facts::unit).to_owned(),
        }
    }
}

/// What cells are over, in words.
fn named(over: &Names) -> String {
    let named = |name: &String| match name.as_str() {
        "of" => "case".to_owned(),
        "to" => "rival".to_owned(),
        axis => axis.to_owned(),
    };
    let names: Vec<String> = over.0.iter().map(named).collect();
    names.join(" and ")
}
