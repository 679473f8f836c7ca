//! `analects pages`.

use crate::cli::{PagesArgs, PagesFormat};
use crate::own;
use crate::runs::left_out;
use crate::runs::progress::Bar;
use comfy_table::{Cell, Table};
use command::Refused;
use command::cells::{empty, right};
use reproduce::pages::{
    self, ARCHIVE, Access, PUBLISHED, PageFigures, Survey, TABLE_2, archived, published,
};
use scenario::files::Pages;
use scenario::{ScenarioError, printable};
use serde::Serialize;
use std::collections::BTreeMap;

/// Longest source and site name in tables.
const NAME: usize = 40;

/// Surveys pages and prints the results.
pub fn pages(args: &PagesArgs) -> Result<(), Refused> {
    let access = Access::new(args.rate.as_deref(), args.rtt.as_deref());
    let access = access.map_err(|error| ScenarioError {
        set: error.set.map(|set| set.replace("--set link.", "--")),
        ..error
    })?;
    let Pages { pages, incomplete } = scenario::files::pages(&args.source)?;
    left_out::tell(&incomplete, args.strict)?;
    let bar = Bar::new(pages.len(), "pages");
    let survey = pages::survey_over(own::simulator(), &access, &pages, &bar);
    bar.clear();
    let survey = survey.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
    command::print(&match args.format {
        PagesFormat::Table => table(args, &access, &survey),
        PagesFormat::Json => json(args, &access, &survey)?,
    })
}

/// The output of `--format json`.
#[derive(Serialize)]
struct PagesDocument<'a> {
    version: &'a str,
    source: &'a str,
    rate_mbps: f64,
    rtt_ms: f64,
    survey: &'a Survey,
    top: Vec<&'a PageFigures>,
    published: BTreeMap<&'a str, f64>,
    published_top: [(&'a str, [u64; 3]); 10],
    http_archive: BTreeMap<&'a str, f64>,
}

fn json(args: &PagesArgs, access: &Access, survey: &Survey) -> Result<String, Refused> {
    let document = PagesDocument {
        version: own::version_of_results(),
        source: &args.source,
        rate_mbps: access.rate().as_mbit_f64(),
        rtt_ms: access.rtt().as_millis_f64(),
        survey,
        top: survey.top(args.top.into()),
        published: PUBLISHED.iter().copied().collect(),
        published_top: TABLE_2,
        http_archive: ARCHIVE.iter().copied().collect(),
    };
    let text = serde_json::to_string_pretty(&document).map_err(|error| {
        let message = format!("the survey cannot be printed: {error}");
        Refused::new(&message, "report this")
    })?;
    Ok(text + "\n")
}

fn table(args: &PagesArgs, access: &Access, survey: &Survey) -> String {
    let (count, source) = (survey.sites.len(), printable(&args.source, NAME));
    let (rate, rtt) = (access.rate(), access.rtt());
    let each = match count {
        1 => "1 page",
        _ => &format!("{count} pages, each"),
    };
    let mut text = format!("{source}: {each} loaded alone over {rate}, round trip {rtt}\n");
    if survey.incomplete > 0 {
        let incomplete = survey.incomplete;
        text += &format!("{incomplete} not complete within ten minutes: counted until then\n");
    }
    for table in [distributions(survey), archive(survey), versions(survey)] {
        text += &format!("\n{table}\n");
    }
    if args.top > 0 {
        text += &format!("\n{}\n", top(survey, args.top.into()));
    }
    text
}

/// The rows of the table of distributions: the figure, how it is called there, and the unit.
const ROWS: &[(&str, &str, f64)] = &[
    ("active", "ACTIVE flows", 1.0),
    ("in_use", "IN_USE flows", 1.0),
    ("open", "OPEN flows", 1.0),
    ("connections", "connections", 1.0),
    ("connection_limit", "connection limit", 1.0),
    ("requests", "requests", 1.0),
    ("origins", "origins", 1.0),
    ("addresses", "IP addresses", 1.0),
    ("page_bytes", "page kB", 1e3),
    ("flow_bytes", "flow kB", 1e3),
    ("request_bytes", "answer kB", 1e3),
];

/// The values of a distribution that are printed.
const VALUES: [&str; 6] = ["min", "p10", "p50", "p90", "max", "mean"];

fn distributions(survey: &Survey) -> Table {
    let mut table = empty();
    let headings = VALUES.iter().map(|name| right(name));
    table.set_header(
        std::iter::once(Cell::new(""))
            .chain(headings)
            .chain([Cell::new("Confucius paper")]),
    );
    for &(figure, title, unit) in ROWS {
        let distribution = survey.figures.get(figure);
        let value = |name: &&str| match distribution.and_then(|of| of.get(name)) {
            Some(value) => right(&number(value / unit)),
            None => right("-"),
        };
        let told = |name: &&str| {
            let value = published(&format!("{figure}.{name}"))?;
            Some(format!("{name} {}", number(value / unit)))
        };
        let told: Vec<String> = VALUES.iter().filter_map(told).collect();
        let cells = std::iter::once(Cell::new(title)).chain(VALUES.iter().map(value));
        table.add_row(cells.chain([Cell::new(told.join(", "))]));
    }
    table
}

/// These pages compared with HTTP Archive's figures of home pages.
fn archive(survey: &Survey) -> Table {
    const VALUES: [&str; 3] = ["p10", "p50", "p90"];
    let mut table = empty();
    let theirs = VALUES.map(|value| right(&format!("HTTP Archive {value}")));
    let headings = VALUES.iter().map(|value| right(value)).chain(theirs);
    table.set_header(std::iter::once(Cell::new("")).chain(headings));
    for &(figure, title, unit) in ROWS {
        let of = |from: &dyn Fn(&str) -> Option<f64>| {
            let value = |value| from(&format!("{figure}.{value}"));
            let values = VALUES
                .map(value)
                .map(|found| found.map(|found| found / unit));
            values.map(|value| right(&value.map_or("-".to_owned(), number)))
        };
        if archived(&format!("{figure}.p50")).is_some() {
            let cells = of(&|name| survey.figure(name)).into_iter();
            table.add_row(
                std::iter::once(Cell::new(title))
                    .chain(cells)
                    .chain(of(&archived)),
            );
        }
    }
    table
}

fn versions(survey: &Survey) -> Table {
    let mut table = empty();
    let headings = ["websites", "%", "paper %", "requests", "%", "paper %"];
    table.set_header(std::iter::once(Cell::new("")).chain(headings.map(right)));
    let versions = survey.versions;
    let websites = versions.websites.named();
    let rows = websites.into_iter().zip(versions.requests.named());
    for ((version, websites), (_, requests)) in rows {
        let percent = |of: Option<f64>| right(&of.map_or("-".to_owned(), |p| format!("{p:.2}")));
        let shares = |by: &str| {
            let name = format!("protocol.{by}.{version}");
            [percent(survey.figure(&name)), percent(published(&name))]
        };
        let title = match version {
            "h1" => "HTTP/1",
            "h2" => "HTTP/2",
            _ => "HTTP/3",
        };
        let websites = std::iter::once(right(&websites.to_string())).chain(shares("website"));
        let requests = std::iter::once(right(&requests.to_string())).chain(shares("request"));
        table.add_row(
            std::iter::once(Cell::new(title))
                .chain(websites)
                .chain(requests),
        );
    }
    table
}

/// Table 2 of the paper next to that of these pages.
fn top(survey: &Survey, most: usize) -> Table {
    let mut table = empty();
    let flows = ["ACTIVE", "IN_USE", "OPEN"];
    let heading = |title: &str| std::iter::once(Cell::new(title)).chain(flows.map(right));
    table.set_header(
        std::iter::once(right("rank"))
            .chain(heading("page"))
            .chain(heading("Confucius paper")),
    );
    let row = |name: &str, flows: [u64; 3]| {
        let flows = flows.map(|flows| right(&flows.to_string()));
        std::iter::once(Cell::new(name)).chain(flows)
    };
    for (index, site) in survey.top(most).into_iter().enumerate() {
        let ours = row(
            &printable(&site.name, NAME),
            [site.active, site.in_use, site.open],
        );
        let rank = right(&(index + 1).to_string());
        let cells = std::iter::once(rank).chain(ours);
        match TABLE_2.get(index) {
            Some(&(name, flows)) => table.add_row(cells.chain(row(name, flows))),
            None => table.add_row(cells),
        };
    }
    table
}

/// Whole numbers as they are, others with one decimal.
fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}
