//! Who stalls, who waits and why: sentences, the comparison, and the trade-off as a plot.

use super::bounds;
use super::flows::mbps;
use super::{Report, SHORT_NAME, look, section as wrap, shape, swatch, time};
use crate::draw::axis::Axis;
use crate::draw::plot::Plot;
use crate::draw::svg::{escape, short};
use crate::summary::{Mean, Summary};
use measure::{RunResult, Series};
use std::fmt::Write as _;

/// A call's rate is taken over this time before other traffic starts, and looked for as long
/// after.
const AROUND_S: f64 = 1.0;
/// Its lowest rate is a mean over this long.
const LOWEST_S: f64 = 0.3;

/// Title, sentences, table and scatter.
pub fn section(report: &Report<'_>) -> String {
    let subject = &report.subject;
    let sentences: String = (0..report.summaries.len())
        .map(|n| format!("<li>{}</li>\n", sentence(report, n)))
        .collect();
    format!(
        "<header>\n<h1>{}</h1>\n<p>{}</p>\n<p class=\"verdict\">{}</p>\n</header>\n\
         <ul class=\"sentences\">\n{sentences}</ul>\n{}{}",
        escape(subject.name),
        escape(subject.summary),
        verdict(report),
        wrap(
            "comparison",
            "Comparison",
            &(table(report) + &extent(report))
        ),
        wrap("tradeoff", "Stall against page load time", &scatter(report))
    )
}

/// Who does best for the call, for the page, and for transfers.
fn verdict(report: &Report<'_>) -> String {
    let summaries = &report.summaries;
    if summaries.len() < 2 {
        return String::new();
    }
    let stall = best(summaries, |s| s.stall_s.map(|stall| scaled(stall, 1e3)));
    let parts: Vec<String> = [
        stall.map(|best| best.text(["stalls", "stall"], "least")),
        best(summaries, |s| s.plt_ms).map(|best| best.text(["loads", "load"], "pages fastest")),
        best(summaries, |s| s.fct_ms)
            .map(|best| best.text(["completes", "complete"], "transfers fastest")),
    ]
    .into_iter()
    .flatten()
    .collect();
    match parts.as_slice() {
        [] => String::new(),
        parts => format!("Of {} disciplines, {}.", summaries.len(), parts.join("; ")),
    }
}

/// Those with the lowest value as it is printed, and how many others may be as low.
struct Best<'a> {
    names: Vec<&'a str>,
    least: f64,
    close: usize,
}

fn best(summaries: &[Summary], value: fn(&Summary) -> Option<Mean>) -> Option<Best<'_>> {
    let values = || {
        summaries
            .iter()
            .filter_map(|s| Some((s.discipline.as_str(), value(s)?)))
    };
    let least = values()
        .map(|of| of.1)
        .min_by(|a, b| a.mean.total_cmp(&b.mean))?;
    let same = |mean: &Mean| time(mean.mean) == time(least.mean);
    let half = |mean: &Mean| mean.ci95.unwrap_or(0.0);
    let overlaps = |mean: &Mean| mean.mean - half(mean) <= least.mean + half(&least);
    Some(Best {
        names: values().filter(|of| same(&of.1)).map(|of| of.0).collect(),
        least: least.mean,
        close: values()
            .filter(|of| !same(&of.1) && overlaps(&of.1))
            .count(),
    })
}

impl Best<'_> {
    /// That these, one or several of them, do it best.
    fn text(&self, [one, several]: [&str; 2], best: &str) -> String {
        let verb = if self.names.len() == 1 { one } else { several };
        let (names, least) = (listed(&self.names), time(self.least));
        let close = match self.close {
            0 => String::new(),
            1 => "; the confidence interval of one other overlaps".to_owned(),
            n => format!("; confidence intervals of {n} others overlap"),
        };
        match least.as_str() {
            "0" if best == "least" => format!("{names} {verb} not at all"),
            least => format!("{names} {verb} {best} ({least}{close})"),
        }
    }
}

/// Names in a sentence.
fn listed(names: &[&str]) -> String {
    let bold: Vec<String> = names
        .iter()
        .take(3)
        .map(|name| format!("<b>{}</b>", escape(&short(name, SHORT_NAME))))
        .collect();
    match (bold.as_slice(), names.len()) {
        (bold, n) if n > bold.len() => format!("{} and {} more", bold.join(", "), n - bold.len()),
        ([one], _) => one.clone(),
        ([first @ .., last], _) => format!("{} and {last}", first.join(", ")),
        ([], _) => String::new(),
    }
}

/// One discipline: does the call stall, does the page wait, and what its queue does.
fn sentence(report: &Report<'_>, n: usize) -> String {
    let summary = &report.summaries[n];
    let mut parts = Vec::new();
    if let Some(stall) = summary.stall_s {
        let stall = time(stall.mean * 1e3);
        parts.push(if stall == "0" {
            "no stall".to_owned()
        } else {
            format!("stalls {stall}")
        });
    }
    match summary.plt_ms {
        Some(plt) => parts.push(format!("pages in {}", time(plt.mean))),
        None if report.subject.has("page") => parts.push("no page was complete".to_owned()),
        None => {}
    }
    if let Some(fct) = summary.fct_ms {
        parts.push(format!("transfers in {}", time(fct.mean)));
    } else if let Some(bulk) = summary.bulk_mbps {
        parts.push(format!("{:.2} Mbit/s of bulk", bulk.mean));
    }
    let mut why = String::new();
    if let Some(sojourn) = summary.sojourn_ms {
        _ = write!(why, " Packets wait {} on average", time(sojourn.mean));
        let drops = summary
            .drops
            .map(|drops| drops.mean)
            .filter(|drops| *drops > 0.0);
        why += &drops
            .map(|d| format!(", {d:.0} are dropped."))
            .unwrap_or_else(|| ".".to_owned());
    }
    let drawn = report.drawn.iter().find(|(number, ..)| *number == n);
    if let Some((before, lowest)) = drawn.and_then(|(_, run, series)| dip(report, run, series)) {
        _ = write!(
            why,
            " When other traffic starts, the call goes from {before:.2} down to {lowest:.2} \
             Mbit/s."
        );
    }
    why += &drawn
        .and_then(|(.., series)| bounds::sentence(report, series))
        .unwrap_or_default();
    let name = escape(report.name(n));
    let what = parts.join(", ");
    format!(
        "<b class=\"{}\">{}{name}</b>: {what}.{why}",
        look(n),
        swatch(n)
    )
}

/// The rate of all calls before pages and transfers start, and the lowest one soon after: the mean
/// over all such moments of the measured time, Mbit/s.
fn dip(report: &Report<'_>, run: &RunResult, series: &Series) -> Option<(f64, f64)> {
    let groups = report.subject.groups(series);
    let calls = groups.iter().filter(|group| group.kind == "call");
    let flows: Vec<usize> = calls.flat_map(|group| group.flows.clone()).collect();
    let bins = |seconds: f64| (seconds / series.bin_s).round() as usize;
    let (around, window) = (bins(AROUND_S), bins(LOWEST_S).max(1));
    let mbps = |from, to| mbps(series, &flows, from, to);
    let from = bins(report.subject.warmup_s).max(around);
    let end = bins(report.subject.duration_s);
    let pages = run.pages.iter().map(|page| page.start_s);
    let starts: Vec<usize> = pages
        .chain(report.subject.transfers.iter().copied())
        .map(bins)
        .filter(|start| *start >= from && start + around <= end)
        .collect();
    let before: f64 = starts
        .iter()
        .map(|&start| mbps(start - around, start))
        .sum();
    let lowest = |start: usize| {
        let windows = (start..=start + around - window).map(|from| mbps(from, from + window));
        windows.min_by(f64::total_cmp).unwrap_or(0.0)
    };
    let after: f64 = starts.iter().map(|&start| lowest(start)).sum();
    // A rate that rises, as it may on a link that varies, is no dip.
    (after < before).then(|| (before / starts.len() as f64, after / starts.len() as f64))
}

/// A column of the comparison.
struct Column {
    heading: &'static str,
    unit: &'static str,
    value: fn(&Summary) -> Option<Mean>,
    decimals: usize,
    /// Whether less is better; then each figure has a bar behind it.
    bar: bool,
}

const fn column(
    (heading, unit): (&'static str, &'static str),
    decimals: usize,
    bar: bool,
    value: fn(&Summary) -> Option<Mean>,
) -> Column {
    Column {
        heading,
        unit,
        value,
        decimals,
        bar,
    }
}

const COLUMNS: &[Column] = &[
    column(("stall", "s"), 2, true, |s| s.stall_s),
    column(("stall per page", "ms"), 0, true, |s| s.stall_per_load_ms),
    column(("PLT", "ms"), 0, true, |s| s.plt_ms),
    column(("frame p95", "ms"), 0, true, |s| s.frame_p95_ms),
    column(("frame max", "ms"), 0, true, |s| s.frame_max_ms.map(alone)),
    column(("FCT", "ms"), 0, true, |s| s.fct_ms),
    column(("call", "Mbit/s"), 2, false, |s| s.call_mbps),
    column(("bulk", "Mbit/s"), 2, false, |s| s.bulk_mbps),
    column(("sojourn", "ms"), 1, true, |s| s.sojourn_ms),
    column(("use", "%"), 0, false, |s| s.utilization.map(percent)),
    column(("drops", ""), 0, true, |s| s.drops),
    column(("JFI", ""), 3, false, |s| s.jfi),
];

fn alone(mean: f64) -> Mean {
    Mean { mean, ci95: None }
}

fn percent(share: Mean) -> Mean {
    scaled(share, 100.0)
}

fn scaled(mean: Mean, factor: f64) -> Mean {
    Mean {
        mean: mean.mean * factor,
        ci95: mean.ci95.map(|ci95| ci95 * factor),
    }
}

/// A line for each discipline, with its tick; behind figures of which less is
/// better a bar, its share of the largest.
fn table(report: &Report<'_>) -> String {
    let summaries = &report.summaries;
    // A column that no discipline has a value for says nothing.
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| summaries.iter().any(|s| (column.value)(s).is_some()))
        .collect();
    let largest = |column: &Column| {
        summaries
            .iter()
            .filter_map(column.value)
            .map(|mean| mean.mean)
            .fold(0.0, f64::max)
    };
    let mut table = String::from("<div class=\"wide\">\n<table>\n<thead><tr><th>discipline</th>");
    for Column { heading, unit, .. } in &columns {
        _ = write!(table, "<th>{heading}<br/><small>{unit}</small></th>");
    }
    table += "</tr></thead>\n<tbody>\n";
    for (n, summary) in summaries.iter().enumerate() {
        let name = escape(report.name(n));
        _ = write!(
            table,
            "<tr><th class=\"{}\"><input type=\"checkbox\" id=\"t{n}\" checked=\"checked\"/>\
             <label for=\"t{n}\">{}{name}</label></th>",
            look(n),
            swatch(n)
        );
        for column in &columns {
            table += &cell(column, summary, largest(column));
        }
        table += "</tr>\n";
    }
    table + "</tbody>\n</table>\n</div>\n"
}

fn cell(column: &Column, summary: &Summary, largest: f64) -> String {
    let Some(Mean { mean, ci95 }) = (column.value)(summary) else {
        return "<td>–</td>".to_owned();
    };
    // An empty sum is a negative zero.
    let mean = mean + 0.0;
    let decimals = column.decimals;
    let bar = match mean / largest * 100.0 {
        share if column.bar && share > 0.0 => format!(" style=\"--bar:{:.0}%\"", share.min(100.0)),
        _ => String::new(),
    };
    let ci95 = ci95
        .map(|ci95| format!(" <small>±{ci95:.decimals$}</small>"))
        .unwrap_or_default();
    format!("<td{bar}>{mean:.decimals$}{ci95}</td>")
}

/// How much was run, and what the plots over time show of it.
fn extent(report: &Report<'_>) -> String {
    let most = |of: fn(&Summary) -> usize| report.summaries.iter().map(of).max().unwrap_or(0);
    let (runs, loads) = (most(|s| s.runs), most(|s| s.loads));
    let mut text = match runs {
        0 => "There are no results.".to_owned(),
        1 => "One run of each discipline.".to_owned(),
        runs => format!("{runs} runs of each discipline; means, ± 95 % confidence."),
    };
    if loads > 1 {
        _ = write!(text, " {loads} page loads each.");
    }
    match report.which().as_str() {
        "" if runs > 0 => text += " No series was kept, so nothing is drawn over time.",
        "" => {}
        which if runs > 1 => _ = write!(text, " Plots over time show one run each: {which}."),
        which => _ = write!(text, " Plots show {which}."),
    }
    if report.summaries.len() > 1 {
        text += " Bars, where less is better: share of the largest in the column. Ticks, and \
                 the names above the plots, choose what is drawn.";
    }
    format!("<p class=\"note\">{}</p>\n", escape(&text))
}

/// A point for each discipline, where there is more than one load to take a mean of.
fn scatter(report: &Report<'_>) -> String {
    let points: Vec<(usize, Mean, Mean)> = (0..)
        .zip(&report.summaries)
        .filter(|(_, summary)| summary.loads > 1)
        .filter_map(|(n, summary)| Some((n, summary.plt_ms?, summary.stall_per_load_ms?)))
        .collect();
    if points.len() < 2 {
        return String::new();
    }
    let half = |mean: &Mean| mean.ci95.unwrap_or(0.0);
    let ends = |(_, plt, _): &(usize, Mean, Mean)| {
        ((plt.mean - half(plt)) / 1e3, (plt.mean + half(plt)) / 1e3)
    };
    let from = points
        .iter()
        .map(|point| ends(point).0)
        .fold(f64::INFINITY, f64::min)
        .max(0.0);
    let to = points.iter().map(|point| ends(point).1).fold(0.0, f64::max);
    let top = points
        .iter()
        .map(|(.., stall)| stall.mean + half(stall))
        .fold(0.0, f64::max);
    let x = Axis::round("page load time, s", from, to, 8);
    let zero = if x.ends().0 > 0.0 {
        " The axis of page load time does not begin at zero."
    } else {
        ""
    };
    let mut plot = Plot::new(
        900.0,
        360.0,
        x,
        Axis::from_zero("stall per page load, ms", top, 6),
    );
    for (n, plt, stall) in &points {
        plot.group(&format!("d{n} {}", look(*n)));
        let about = format!(
            "{}: PLT {}, stall {} per page load",
            report.name(*n),
            time(plt.mean),
            time(stall.mean)
        );
        let half = (half(plt) / 1e3, half(stall));
        plot.marker(shape(*n), (plt.mean / 1e3, stall.mean), half, &about);
        plot.end();
    }
    for (n, plt, stall) in &points {
        plot.group(&format!("d{n}"));
        plot.label(
            (plt.mean / 1e3, stall.mean),
            &short(report.name(*n), SHORT_NAME),
        );
        plot.end();
    }
    format!(
        "<figure class=\"wide\">\n{}{}<figcaption>Means over all page loads; lines: 95 % \
         confidence. Better is down and to the left.{zero}</figcaption>\n</figure>\n",
        report.legend(points.iter().map(|point| point.0)),
        plot.finish("stall per page load against page load time")
    )
}
