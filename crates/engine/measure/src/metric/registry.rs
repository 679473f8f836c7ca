//! The metrics by name.
//!
//! A metric describes itself in a [`Metric`] next to the code that takes it; [`Registry::builtin`]
//! has one line for each. Another crate adds its own with [`Registry::add`]: its function is given
//! the whole result of a run, including the results of meters.

use super::declared::{Column, Metric, belongs};
use super::observed::Observed;
use super::{
    actors, answers, calls, fct_by_size, fps, lorenz, loss_by_index, pages, photon, queues,
    redundancy, restored, subflows, transfers, verdicts, videos,
};
use units::Refusal;

/// All known metrics.
#[derive(Debug, Clone)]
pub struct Registry {
    entries: Vec<Metric>,
}

impl Registry {
    /// The metrics of this crate, in the order of `analects list metrics` and of tables' columns.
    pub fn builtin() -> Self {
        Registry {
            entries: vec![
                calls::STALL,
                pages::PAGE_STALL,
                pages::CAUSED,
                pages::PAGE_DELAY,
                calls::FRAME_P50,
                calls::FRAME_P95,
                calls::FRAME_MAX,
                calls::FRAMES_LOST,
                calls::FREEZES,
                calls::FREEZE_TIME,
                calls::JITTER_BUFFER,
                calls::LOW_FPS,
                fps::FPS,
                photon::PHOTON_P99,
                calls::CALL_RATE,
                calls::CALL_DELAY,
                calls::AUDIO_LATE,
                calls::AUDIO_DELAY,
                calls::MOS,
                redundancy::REDUNDANCY,
                restored::RESTORED,
                pages::PLT,
                pages::PLT_SERVERS,
                pages::PLT_TRIPS,
                pages::PLT_LINK,
                pages::UNFINISHED,
                pages::LOADS,
                transfers::FCT,
                transfers::ALL_DONE,
                transfers::FLOW_RATE,
                transfers::FLOW_DELAY,
                transfers::BULK_RATE,
                answers::ANSWER_P99,
                answers::DATAGRAMS_LOST,
                videos::VIDEO_RATE,
                videos::SEGMENTS_FAILED,
                videos::REBUFFERING,
                queues::SOJOURN,
                queues::SOJOURN_P95,
                queues::OCCUPANCY,
                queues::UTILIZATION,
                queues::DROPS,
                queues::MARKS,
                queues::MOVES,
                queues::CLASS_SHARE,
                actors::ACTORS_FCT,
                actors::ACTORS_FCT_FLOWS,
                actors::TRANSFERS,
                transfers::JFI,
                loss_by_index::LOSS_BY_INDEX,
                loss_by_index::LOSS_FIRST,
                loss_by_index::LOSS_LATER,
                loss_by_index::LOSS_RATIO,
                fct_by_size::FCT_BY_SIZE,
                lorenz::LORENZ,
                lorenz::LORENZ_GAP,
                verdicts::VERDICT,
                verdicts::FOLLOWS,
                verdicts::CREDITED,
                subflows::SENT,
                subflows::RECEIVED,
                subflows::WAIT,
            ],
        }
    }

    /// Adds a metric; one of the same name is replaced.
    pub fn add(&mut self, metric: Metric) {
        self.entries.retain(|entry| entry.name != metric.name);
        self.entries.push(metric);
    }

    /// The metric called `name`.
    pub fn get(&self, name: &str) -> Option<&Metric> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Metric> {
        self.entries.iter()
    }

    /// Those that have a column in tables, in order.
    pub fn columns(&self) -> impl Iterator<Item = (&Metric, Column)> {
        self.iter()
            .filter_map(|metric| Some((metric, metric.column?)))
    }

    /// Reads `NAME` or `NAME:ENTRY`.
    ///
    /// # Errors
    /// A sentence with the existing names.
    pub fn select(&self, text: &str) -> Result<Selection, Refusal> {
        let (name, entry) = text.split_once(':').unwrap_or((text, ""));
        let metric = self.get(name).ok_or_else(|| {
            Refusal::unknown("metric", name, self.iter().map(|metric| metric.name))
        })?;
        Ok(Selection {
            metric: metric.clone(),
            entry: entry.to_owned(),
        })
    }
}

/// A metric, of all traffic or of one entry.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The metric.
    pub metric: Metric,
    /// The traffic entry or link that it is of; empty for all.
    pub entry: String,
}

impl Selection {
    /// The values in a run; none if it has none of the kind.
    pub fn of(&self, observed: &Observed<'_>) -> Vec<f64> {
        (self.metric.take)(observed, &self.entry)
    }

    /// Whether a result of this name belongs to its entry: it is it, or one of several.
    pub fn has(&self, name: &str) -> bool {
        belongs(name, &self.entry)
    }
}

impl core::fmt::Display for Selection {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.metric.name)?;
        match self.entry.as_str() {
            "" => Ok(()),
            entry => write!(f, ":{entry}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Better, Range};

    fn own(name: &'static str) -> Metric {
        Metric {
            name,
            unit: "",
            range: Range::Positive,
            summary: "the seed, of all that there is",
            about: "It is what it is.",
            source: "this test",
            better: Better::Neither,
            column: Some(Column::mean("seed", 0)),
            meter: None,
            take: |observed, _| vec![observed.run.seed as f64],
        }
    }

    #[test]
    fn each_metric_says_what_it_is() {
        let metrics = Registry::builtin();
        for metric in metrics.iter() {
            let name = metric.name;
            let same = metrics.iter().filter(|other| other.name == name);
            assert_eq!(same.count(), 1, "{name}");
            assert!(!name.contains([':', ' ']), "{name}");
            assert!(!metric.summary.ends_with('.'), "{name}");
            assert!(metric.about.ends_with('.'), "{name}");
            assert!(!metric.source.is_empty(), "{name}");
        }
        assert!(metrics.columns().count() > 10);
    }

    #[test]
    fn another_crate_adds_its_own_or_replaces_one() {
        let mut metrics = Registry::builtin();
        let before = metrics.iter().count();
        metrics.add(own("seed"));
        assert_eq!(metrics.iter().count(), before + 1);
        assert_eq!(metrics.columns().last().unwrap().0.name, "seed");
        metrics.add(own("stall"));
        assert_eq!(metrics.iter().count(), before + 1);
        assert_eq!(metrics.get("stall").unwrap().source, "this test");
        assert!(metrics.get("seeds").is_none());
    }

    #[test]
    fn a_selection_is_read_and_printed_alike() {
        let metrics = Registry::builtin();
        for text in ["stall", "class_share:call/1"] {
            assert_eq!(metrics.select(text).unwrap().to_string(), text);
        }
        let of_page = metrics.select("fct:page").unwrap();
        let names = ["page", "page-1", "page-x", "pages"];
        assert_eq!(
            names.map(|name| of_page.has(name)),
            [true, true, false, false]
        );
        let error = metrics.select("delay").unwrap_err();
        assert_eq!(error.message, "there is no metric \"delay\"");
        assert!(error.help.unwrap().contains("there are: stall, page_stall"));
    }
}
