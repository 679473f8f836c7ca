//! Metrics of videos on demand: the observations of their players.

use super::answers::each;
use super::declared::{Better, Metric, Range};

/// The picture's quality.
pub const VIDEO_RATE: Metric = Metric {
    name: "video_rate",
    unit: "Mbit/s",
    range: Range::Positive,
    summary: "mean bitrate of a video's segments",
    about: "The bitrate of the representation that the player of `kind = \"video\"` chose, for \
            each segment that arrived: the quality of the picture, not the rate that the network \
            carried.",
    source: "FLOQ, figure 11",
    better: Better::More,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, "video_bitrate", |row| row.value),
};

/// Segments that arrived too late.
pub const SEGMENTS_FAILED: Metric = Metric {
    name: "segments_failed",
    unit: "",
    range: Range::Positive,
    summary: "segments of a video that had not arrived when they were due to play",
    about: "Each one stops the picture until it arrives: see `rebuffering`. One value for each \
            video.",
    source: "FLOQ, figure 10",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, "video_failed", |row| row.value),
};

/// Time for which the picture stood still.
pub const REBUFFERING: Metric = Metric {
    name: "rebuffering",
    unit: "s",
    range: Range::Time,
    summary: "time for which a video's picture stood still after it had begun",
    about: "A stall that the end of the run cuts off counts until about then.",
    source: "FLOQ, VI.C; ITU-T P.1203",
    better: Better::Less,
    column: None,
    meter: None,
    take: |observed, entry| each(observed, entry, "video_rebuffering", |row| row.value),
};

#[cfg(test)]
mod tests {
    use super::super::observed::Observed;
    use super::*;
    use crate::result::{FigureResult, RunResult};

    #[test]
    fn each_video_has_its_values() {
        let row = |name: &str, figure: &str, value| FigureResult {
            name: name.to_owned(),
            figure: figure.to_owned(),
            value: Some(value),
            ..FigureResult::default()
        };
        let run = RunResult {
            figures: vec![
                row("film", "video_bitrate", 2.5),
                row("film", "video_failed", 3.0),
                row("film", "video_rebuffering", 4.5),
                row("other", "video_failed", 1.0),
            ],
            ..RunResult::default()
        };
        let observed = Observed {
            run: &run,
            control: None,
        };
        assert_eq!((VIDEO_RATE.take)(&observed, ""), [2.5]);
        assert_eq!((SEGMENTS_FAILED.take)(&observed, ""), [3.0, 1.0]);
        assert_eq!((SEGMENTS_FAILED.take)(&observed, "film"), [3.0]);
        assert_eq!((REBUFFERING.take)(&observed, "film"), [4.5]);
    }
}
