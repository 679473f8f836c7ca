//! Frame delay over time, when calls stall, and how delays are distributed.

use super::rows::{Bar, Rows};
use super::{Report, SHORT_NAME, look, section as wrap};
use crate::draw::Point;
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use crate::draw::svg::{escape, short};
use measure::Series;

/// Calls that are drawn, each in plots of its own.
const MOST_CALLS: usize = 4;
/// What is shown before and after the moment that is looked at more closely.
const BEFORE_S: f64 = 1.0;
const AFTER_S: f64 = 5.0;
/// Height of a discipline's row among the stalls.
const ROW: f64 = 14.0;

/// The plots of every call, and their distributions.
pub fn section(report: &Report<'_>) -> String {
    let names: Vec<&str> = report
        .drawn
        .first()
        .map(|(.., series)| series.calls.iter().map(String::as_str).collect())
        .unwrap_or_default();
    let mut content: String = names
        .iter()
        .enumerate()
        .take(MOST_CALLS)
        .map(|(call, name)| of_call(report, call, name, names.len() > 1))
        .collect();
    if names.len() > MOST_CALLS {
        let more = names.len() - MOST_CALLS;
        content += &format!("<p class=\"note\">{more} more calls are not drawn.</p>\n");
    }
    content += &distributions(report);
    wrap("frames", "Frame delay", &content)
}

/// A drawn call's frames: when they were handed over, s, and their delay, ms. Those of the end
/// that were still on their way, and not yet late, are left out: their fate is not known.
fn points(report: &Report<'_>, series: &Series, call: usize) -> Vec<Point> {
    let known_until = report.subject.duration_s - report.subject.threshold_ms / 1e3;
    let frames = series.frames.iter().filter(|frame| frame.0 == call);
    let points = frames.map(|(_, at, delay)| (*at, *delay));
    points
        .filter(|(at, delay)| delay.is_some() || *at < known_until)
        .collect()
}

fn of_call(report: &Report<'_>, call: usize, name: &str, several: bool) -> String {
    let lines: Vec<Line> = report
        .drawn
        .iter()
        .map(|(n, _, series)| (*n, points(report, series, call)))
        .collect();
    let Some((plot, log)) = delays(report, report.time_axis(), &lines) else {
        return format!(
            "<p class=\"note\">No frame of {} arrived.</p>\n",
            escape(name)
        );
    };
    let heading = match several {
        true => format!("<h3>{}</h3>\n", escape(name)),
        false => String::new(),
    };
    format!(
        "{heading}<figure class=\"wide\">\n{}{}<figcaption>Delay of each frame, at the time when \
         it was handed over; gaps: lost frames.{log}</figcaption>\n</figure>\n{}{}",
        report.legend(lines.iter().map(|line| line.0)),
        plot.finish(&format!("frame delay of {name} over time")),
        stalls(report, &lines, name),
        closer(report, &lines, name)
    )
}

/// A discipline, and the frames of a call under it.
type Line = (usize, Vec<Point>);

/// A plot of delays with the threshold, and what is to be said of its axis. None without frames.
fn delays(report: &Report<'_>, time: Axis, lines: &[Line]) -> Option<(Plot, &'static str)> {
    let delays = || {
        lines
            .iter()
            .flat_map(|line| &line.1)
            .filter_map(|point| point.1)
    };
    let most = delays().max_by(f64::total_cmp)?;
    let least = delays()
        .filter(|delay| *delay > 0.0)
        .fold(f64::INFINITY, f64::min);
    let threshold = report.subject.threshold_ms;
    let y = Axis::fitting("frame delay, ms", least, most.max(threshold * 1.2), 6);
    let log = if y.is_log() {
        " The axis of delay is logarithmic."
    } else {
        ""
    };
    let mut plot = Plot::new(900.0, 340.0, time, y);
    if let Some((_, first, _)) = report.drawn.first().filter(|_| report.drawn.len() == 1) {
        report.shade(&mut plot, first);
    }
    for (n, points) in lines {
        plot.group(&format!("d{n} {}", look(*n)));
        plot.line("", points);
        plot.end();
    }
    plot.level(threshold, &format!("stall above {threshold:.0} ms"));
    Some((plot, log))
}

/// The same, seconds only: the page load with the longest stall, or the start of a transfer.
/// Nothing where that is most of the run anyway.
fn closer(report: &Report<'_>, lines: &[Line], name: &str) -> String {
    let Some((from, to)) = moment(report) else {
        return String::new();
    };
    let inside = |point: &&Point| (from..=to).contains(&point.0);
    let within = |(n, points): &Line| (*n, points.iter().filter(inside).copied().collect());
    let lines: Vec<Line> = lines.iter().map(within).collect();
    let Some((plot, log)) = delays(report, Axis::exact("time, s", from, to, 10), &lines) else {
        return String::new();
    };
    format!(
        "<figure class=\"wide\">\n{}{}<figcaption>{}{log}</figcaption>\n</figure>\n",
        report.legend(lines.iter().map(|line| line.0)),
        plot.finish(&format!("frame delay of {name} over a few seconds")),
        if report.subject.has("page") {
            "The same around the page load with the longest stall."
        } else {
            "The same when a transfer starts."
        }
    )
}

/// From when to when is looked at more closely.
fn moment(report: &Report<'_>) -> Option<(f64, f64)> {
    let subject = &report.subject;
    let pages = report.drawn.iter().flat_map(|(_, run, _)| &run.pages);
    let worst = pages.reduce(|worst, page| {
        if page.stall_s > worst.stall_s {
            page
        } else {
            worst
        }
    });
    let from = subject.warmup_s.max(BEFORE_S);
    let mut starts = subject
        .transfers
        .iter()
        .copied()
        .filter(|start| *start >= from);
    let (start, last) = match worst {
        Some(page) => (
            page.start_s,
            page.start_s + page.plt_ms.unwrap_or(0.0) / 1e3,
        ),
        None => starts.next().map(|start| (start, start))?,
    };
    let from = (start - BEFORE_S).max(0.0);
    let to = (last + AFTER_S).min(subject.duration_s);
    (to - from < subject.duration_s / 2.0 && to > from).then_some((from, to))
}

/// When frames were late or lost: a row for each discipline.
fn stalls(report: &Report<'_>, lines: &[Line], call: &str) -> String {
    let name = |n: usize| short(report.name(n), SHORT_NAME);
    let names: Vec<String> = lines.iter().map(|line| name(line.0)).collect();
    let mut rows = Rows::new(900.0, report.time_axis(), names.iter().map(String::as_str));
    let classes = ["late".to_owned(), "lost".to_owned()];
    for ((n, points), name) in lines.iter().zip(&names) {
        rows.group(&format!("d{n} {}", look(*n)));
        let end = report.subject.duration_s;
        rows.row(
            name,
            ROW,
            &classes,
            &[late(points, report.subject.threshold_ms, end)],
        );
        rows.end();
    }
    format!(
        "<figure class=\"wide\">\n{}<figcaption>When the call stalls: frames above the threshold, \
         until the next frame’s turn; in black or white: frames that \
         were lost, or had not arrived when the run ended.</figcaption>\n\
         </figure>\n",
        rows.finish(&format!("stalls of {call} over time"))
    )
}

/// Turns of late frames (class 0) and of lost ones (class 1), adjoining ones joined.
fn late(points: &[Point], threshold_ms: f64, end_s: f64) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    for (at, (from, delay)) in points.iter().enumerate() {
        let class = match delay {
            Some(delay) if *delay <= threshold_ms => continue,
            Some(_) => 0,
            None => 1,
        };
        let to = points.get(at + 1).map_or(end_s, |next| next.0);
        match bars.last_mut() {
            Some(last) if last.class == class && last.to == *from => last.to = to,
            _ => bars.push(Bar {
                from: *from,
                to,
                class,
            }),
        }
    }
    bars
}

/// Distributions: of all frames of the drawn runs, and of calls over all runs.
fn distributions(report: &Report<'_>) -> String {
    let of_frames: Vec<Values> = report
        .drawn
        .iter()
        .map(|(n, _, series)| {
            let measured = |point: &Point| point.0 >= report.subject.warmup_s;
            let calls = 0..series.calls.len();
            let frames = calls
                .flat_map(|call| points(report, series, call))
                .filter(measured);
            let frames: Vec<Point> = frames.collect();
            (
                *n,
                frames.iter().filter_map(|point| point.1).collect(),
                frames.len(),
            )
        })
        .collect();
    let several = report.summaries.iter().any(|summary| summary.runs > 1);
    let of_calls: Vec<Values> = if several { p95s(report) } else { Vec::new() };
    let threshold = report.subject.threshold_ms;
    let first = if several {
        " (runs that are drawn over time)"
    } else {
        ""
    };
    let frames = distribution("frame delay, ms", of_frames, threshold);
    let calls = distribution(
        "95th percentile of a call’s frame delay, ms",
        of_calls,
        threshold,
    );
    let frames = frames.map(|plot| {
        format!(
            "<figure>\n{plot}<figcaption>Share of frames with at most this delay{first}; a line \
             that ends below 100 %: frames were lost.</figcaption>\n</figure>\n"
        )
    });
    let calls = calls.map(|plot| {
        format!(
            "<figure>\n{plot}<figcaption>Share of calls of all runs, by the 95th percentile of \
             their frames’ delay.</figcaption>\n</figure>\n"
        )
    });
    match frames.into_iter().chain(calls).collect::<String>() {
        none if none.is_empty() => none,
        plots => side_by_side(report, &plots),
    }
}

/// Figures beside one another under one legend.
pub fn side_by_side(report: &Report<'_>, figures: &str) -> String {
    let legend = report.legend(0..report.summaries.len());
    format!("{legend}<div class=\"grid\">\n{figures}</div>\n")
}

/// A discipline, its values, and how many there would be if none were missing.
pub type Values = (usize, Vec<f64>, usize);

fn p95s(report: &Report<'_>) -> Vec<Values> {
    let results = report.document.results;
    (0..report.summaries.len())
        .map(|n| {
            let runs = results
                .iter()
                .filter(|result| result.discipline == report.name(n));
            let calls = runs.flat_map(|run| &run.calls);
            let values = calls
                .clone()
                .filter_map(|call| call.frame_delay_ms.p95)
                .collect();
            (n, values, calls.count())
        })
        .collect()
}

/// Distributions in one plot with an upright line at `limit`, or nothing if there are no values.
pub fn distribution(label: &str, mut lines: Vec<Values>, limit: f64) -> Option<String> {
    let values = || lines.iter().flat_map(|line| line.1.iter().copied());
    let most = values().max_by(f64::total_cmp)?;
    let least = values()
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    let most = if limit > 0.0 {
        most.max(limit * 1.2)
    } else {
        most
    };
    let x = Axis::fitting(label, least, most, 6);
    let mut plot = Plot::new(480.0, 300.0, x, Axis::percent("share"));
    for (n, values, total) in &mut lines {
        plot.group(&format!("d{n} {}", look(*n)));
        plot.distribution(values, *total);
        plot.end();
    }
    if limit > 0.0 {
        plot.upright(limit, &format!("{limit:.0} ms"));
    }
    Some(plot.finish(&format!("distribution of {label}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_and_lost_frames_cover_their_turns() {
        let points = [
            (0.0, Some(50.0)),
            (0.1, Some(200.0)),
            (0.2, Some(300.0)),
            (0.3, None),
            (0.4, Some(191.0)),
        ];
        let bar = |from, to, class| Bar { from, to, class };
        let expected = [bar(0.1, 0.3, 0), bar(0.3, 0.4, 1), bar(0.4, 1.0, 0)];
        assert_eq!(late(&points, 190.0, 1.0), expected);
    }
}
