//! Frame delay over time, when calls stall, and how delays are distributed.

use super::distribution::{Values, distribution, side_by_side};
use super::frame::section as wrap;
use super::report::{Drawn, Report, Size};
use super::rows::{Bar, Part, Rows};
use crate::draw::Point;
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use crate::draw::values::PlotKey;
use maud::{Markup, html};
use measure::Series;

/// Calls that are drawn, each in plots of its own.
const MOST_CALLS: usize = 4;
/// The time shown before and after the moment of the close-up.
const BEFORE_S: f64 = 1.0;
const AFTER_S: f64 = 5.0;
/// Height of a discipline's row among the stalls.
const ROW: f64 = 14.0;

/// What one sees first: when the first call stalls, and the delays of its frames in the typical run of each
/// discipline.
pub fn seen(report: &Report<'_>) -> Markup {
    let calls = calls(report);
    let content = html! {
        @if let Some(call) = calls.first() { (at_a_glance(report, call)) }
    };
    let heading = calls
        .first()
        .map_or_else(String::new, |call| format!("When {} stalls", call.name));
    wrap("seen", &heading, &content)
}

/// The plots of every call but those seen before, and their distributions.
pub fn section(report: &Report<'_>) -> Markup {
    let calls = calls(report);
    let all = report
        .drawn
        .first()
        .map_or(0, |drawn| drawn.series.calls.len());
    let content = html! {
        @for (n, call) in calls.iter().enumerate() {
            @if calls.len() > 1 { h3 { (call.name) } }
            @if n > 0 { (at_a_glance(report, call)) }
            (of_call(report, call))
        }
        @if all > MOST_CALLS {
            p class="note" { (all - MOST_CALLS) " more calls are not drawn." }
        }
        (distributions(report))
    };
    wrap("frames", "Frame delay", &content)
}

/// The calls that are drawn.
fn calls<'a>(report: &Report<'a>) -> Vec<DrawnCall<'a>> {
    let names = report
        .drawn
        .first()
        .map_or(&[][..], |drawn| &drawn.series.calls);
    let calls = names.iter().enumerate().take(MOST_CALLS);
    let calls = calls.map(|(number, name)| DrawnCall {
        number,
        name,
        threshold: report.subject.threshold_ms(name),
    });
    calls.collect()
}

/// A call that is drawn.
struct DrawnCall<'a> {
    number: usize,
    name: &'a str,
    /// Frames with a delay above this are late, ms.
    threshold: f64,
}

/// A drawn call's frames: when they were handed over, s, and their delay, ms. Those of the end
/// that were still on their way, and not yet late, are left out: their fate is not known.
fn points(report: &Report<'_>, series: &Series, call: usize) -> Vec<Point> {
    let name = series.calls.get(call).map_or("", String::as_str);
    let known_until = report.subject.duration_s - report.subject.threshold_ms(name) / 1e3;
    let frames = series.frames.iter().filter(|frame| frame.0 == call);
    let points = frames.map(|(_, at, delay)| (*at, *delay));
    points
        .filter(|(at, delay)| delay.is_some() || *at < known_until)
        .collect()
}

/// The frames of a call in the runs of one kind, by discipline.
fn lines(report: &Report<'_>, call: &DrawnCall<'_>, worst: bool) -> Vec<Line> {
    let drawn = report.drawn.iter().filter(|drawn| drawn.worst == worst);
    drawn
        .map(|drawn| (drawn.n, points(report, drawn.series, call.number)))
        .collect()
}

/// When a call stalls, and its frames' delays in the typical runs.
fn at_a_glance(report: &Report<'_>, call: &DrawnCall<'_>) -> Markup {
    let typical = lines(report, call, false);
    let name = call.name;
    html! {
        @if axis(call, &typical).is_none() {
            p class="note" { "No frame of " (name) " arrived." }
        } @else {
            (stalls(report, call))
            (over_time(report, call, &typical, &format!("frames-{name}"), ""))
        }
    }
}

/// The same in the worst runs, and more closely.
fn of_call(report: &Report<'_>, call: &DrawnCall<'_>) -> Markup {
    let (typical, worst) = (lines(report, call, false), lines(report, call, true));
    html! {
        @if axis(call, &typical).is_some() {
            @if !worst.is_empty() {
                (over_time(report, call, &worst, &format!("frames-{}-worst", call.name), "The worst run of each discipline: "))
            }
            (closer(report, call, &typical))
        }
    }
}

/// The delays of the frames of some runs over all of their time.
fn over_time(
    report: &Report<'_>,
    call: &DrawnCall<'_>,
    lines: &[Line],
    file: &str,
    of: &str,
) -> Markup {
    let Some(y) = axis(call, lines) else {
        return html! {};
    };
    let title = format!("{of}frame delay of {} over time", call.name);
    let draw =
        |size| delays(report, call, (report.time_axis(), y.clone()), lines, size).finish(&title);
    let caption = html! {
        (of) "delay of each frame, at the time when it was handed over; gaps: lost frames."
    };
    html! {
        figure {
            (report.legend(lines.iter().map(|line| line.0)))
            (report.wide(file, draw, &caption))
        }
    }
}

/// A discipline, and the frames of a call under it.
type Line = (usize, Vec<Point>);

/// The axis of these delays, with the threshold on it. None without frames.
fn axis(call: &DrawnCall<'_>, lines: &[Line]) -> Option<Axis> {
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
    let most = most.max(call.threshold * 1.2);
    Some(Axis::fitting("frame delay, ms", least, most, 6))
}

/// A plot of delays with the threshold.
fn delays(
    report: &Report<'_>,
    call: &DrawnCall<'_>,
    (x, y): (Axis, Axis),
    lines: &[Line],
    size: Size,
) -> Plot {
    let threshold = call.threshold;
    let mut plot = Plot::new(size.width, size.height, x, y);
    if let [only] = &report.drawn[..] {
        report.shade(&mut plot, only.run);
    }
    for (n, points) in lines {
        plot.series(&report.plotted(*n), &format!("d{n}"), |plot| {
            plot.line("", points);
        });
    }
    plot.level(threshold, &format!("stall above {threshold:.0} ms"));
    plot
}

/// The same, seconds only: the page load with the longest stall, or the start of a transfer.
/// Nothing if that is most of the run anyway.
fn closer(report: &Report<'_>, call: &DrawnCall<'_>, lines: &[Line]) -> Markup {
    let Some((from, to)) = moment(report) else {
        return html! {};
    };
    let inside = |point: &&Point| (from..=to).contains(&point.0);
    let within = |(n, points): &Line| (*n, points.iter().filter(inside).copied().collect());
    let lines: Vec<Line> = lines.iter().map(within).collect();
    let Some(y) = axis(call, &lines) else {
        return html! {};
    };
    let x = Axis::exact("time, s", from, to, 10);
    let title = format!("frame delay of {} over a few seconds", call.name);
    let draw = |size| delays(report, call, (x.clone(), y.clone()), &lines, size).finish(&title);
    let caption = if report.subject.has_pages() {
        html! { "The same around the page load with the longest stall." }
    } else {
        html! { "The same when a transfer starts." }
    };
    html! {
        figure {
            (report.legend(lines.iter().map(|line| line.0)))
            (report.wide(&format!("frames-{}-closer", call.name), draw, &caption))
        }
    }
}

/// From when to when is looked at more closely.
fn moment(report: &Report<'_>) -> Option<(f64, f64)> {
    let subject = &report.subject;
    let typical = report.drawn.iter().filter(|drawn| !drawn.worst);
    let pages = typical.flat_map(|drawn| &drawn.run.pages);
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

/// When frames were late or lost: a row for each run.
fn stalls(report: &Report<'_>, call: &DrawnCall<'_>) -> Markup {
    let parts = ["late", "lost"].map(|part| Part::new(part, part));
    let end = report.subject.duration_s;
    let title = format!("stalls of {} over time", call.name);
    let name = |drawn: &Drawn<'_>| {
        if drawn.worst {
            format!("{}, worst", report.name(drawn.n))
        } else {
            report.name(drawn.n).to_owned()
        }
    };
    let names: Vec<String> = report.drawn.iter().map(name).collect();
    let draw = |size: Size| {
        let of = names.iter().map(String::as_str);
        let mut rows = Rows::new(size.width, report.time_axis(), of);
        for (drawn, name) in report.drawn.iter().zip(&names) {
            let group = format!("d{} {}", drawn.n, report.look(drawn.n).classes());
            let points = points(report, drawn.series, call.number);
            rows.row(
                &group,
                name,
                ROW,
                &parts,
                &[late(&points, call.threshold, end)],
            );
        }
        let keys = report
            .drawn
            .iter()
            .zip(&names)
            .map(|(drawn, name)| PlotKey {
                shape: None,
                name: name.clone(),
                ..report.plotted(drawn.n)
            });
        rows.finish(&title, keys.collect())
    };
    let caption = html! {
        "When the call stalls: frames above the threshold, until the next frame’s turn; in black or \
         white: frames that were lost, or had not arrived when the run ended."
    };
    html! { figure { (report.wide(&format!("stalls-{}", call.name), draw, &caption)) } }
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
fn distributions(report: &Report<'_>) -> Markup {
    let typical = report.drawn.iter().filter(|drawn| !drawn.worst);
    let of_frames: Vec<Values> = typical
        .map(|drawn| {
            let measured = |point: &Point| point.0 >= report.subject.warmup_s;
            let calls = 0..drawn.series.calls.len();
            let frames = calls
                .flat_map(|call| points(report, drawn.series, call))
                .filter(measured);
            let frames: Vec<Point> = frames.collect();
            (
                drawn.n,
                frames.iter().filter_map(|point| point.1).collect(),
                frames.len(),
            )
        })
        .collect();
    let several = report.runs() > 1;
    let of_calls: Vec<Values> = if several { p95s(report) } else { Vec::new() };
    // The calls of a scenario may have several.
    let mut thresholds = report
        .subject
        .thresholds
        .iter()
        .map(|(_, threshold)| *threshold);
    let threshold = match (thresholds.next(), thresholds.next()) {
        (Some(only), None) => only,
        (Some(first), Some(second)) if first == second && thresholds.all(|of| of == first) => first,
        _ => 0.0,
    };
    let first = if several { " (typical runs)" } else { "" };
    let about = format!(
        "Share of frames with at most this delay{first}; a line that ends below 100 %: frames were \
         lost."
    );
    let label = ("frame delay, ms", about.as_str());
    let frames = distribution(report, "frame-delays", label, of_frames, threshold);
    let label = (
        "95th percentile of a call’s frame delay, ms",
        "Share of calls of all runs, by the 95th percentile of their frames’ delay.",
    );
    let calls = distribution(report, "call-delays", label, of_calls, threshold);
    side_by_side(report, &frames.into_iter().chain(calls).collect::<Vec<_>>())
}

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
