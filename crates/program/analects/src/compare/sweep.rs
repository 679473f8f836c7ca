//! `analects sweep`.

use crate::cli::{Format, SweepArgs};
use crate::compare::run;
use crate::own;
use crate::runs::engines::{self, with_names};
use crate::runs::left_out;
use crate::runs::many::{self, counted, pool};
use crate::runs::selected;
use crate::runs::table::plain;
use crate::runs::{traces, validity};
use campaign::Keeping;
use command::Refused;
use command::files::unwritable;
use command::print;
use measure::metric::Selection;
use measure::{Estimate, Statistic};
use reproduce::sweep::{self, Point, Runs, Sweep};
use scenario::{Document, Names, Scenario};
use serde::Serialize;
use std::path::Path;
use units::{Refusal, choice};

type Result<T> = std::result::Result<T, Refused>;

/// A path and its values.
type Axis = (String, Vec<String>);

/// Runs a scenario on a grid and prints the results.
pub fn run(args: &SweepArgs) -> Result<()> {
    let (what, printing) = (&args.what, &args.printing);
    let document = run::read(&what.scenario, &what.shape)?;
    let axes = axes(&args.over)?;
    let scenario = with_names(|names| at_first(&document, &axes, names))?;
    run::check_without(&what.shape, &scenario)?;
    run::tell_renamed(&scenario);
    left_out::tell(&scenario.incomplete, what.shape.strict)?;
    traces::tell(&document, &[]);
    check_settings(&axes, &scenario)?;
    let sweep = asked(args, &document, &axes, &scenario)?;
    run::check_count(sweep.runs())?;
    let (out, page) = (args.out.as_deref(), printing.report.as_deref());
    run::prepare(&what.scenario, out, page)?;
    let points = made(args, &sweep, &scenario.name)?;
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| unwritable(path, &error))
    };
    let html = || sweep.html(&points, &scenario.name, &about(&scenario, args));
    let csv = || {
        csv(&sweep, &points).map_err(|error| {
            let message = format!("the results cannot be printed: {error}");
            Refused::new(&message, "report this")
        })
    };
    if let Some(folder) = out {
        let document = json(&sweep, &points, &document, args)?;
        write(&folder.join("results.json"), &document)?;
        write(&folder.join("results.csv"), &csv()?)?;
        write(&folder.join("report.html"), &html())?;
        let plots = folder.join(report::export::PLOTS);
        let written = report::plots::write(&plots, &sweep.plots(&points));
        written.map_err(|error| unwritable(&plots, &error))?;
    }
    if let Some(path) = page {
        write(path, &html())?;
    }
    print(&match printing.format {
        Format::Table => table(&sweep, &points, &scenario, args),
        Format::Json => json(&sweep, &points, &document, args)?,
        Format::Csv => csv()?,
    })?;
    validity::refused(&sweep.invalid(&points), what.shape.strict)
}

fn made(args: &SweepArgs, sweep: &Sweep, name: &str) -> Result<Vec<Point>> {
    let chosen = engines::chosen(&args.what.engine)?;
    let kept = many::kept(
        run::store(&args.what, args.out.as_deref()).as_deref(),
        &chosen,
    )?;
    let keeping = kept.as_ref().map(|(store, basis)| Keeping { store, basis });
    let engine = &*chosen.engine;
    let points = counted(&pool(&args.what.parallel)?, name, |bar| {
        with_names(|names| sweep.run(engine, names, keeping, bar))
    });
    points.map_err(many::refused)
}

/// The axes in `--over`.
fn axes(over: &[String]) -> Result<Vec<Axis>> {
    let help = "write --over link.buffer=0.5bdp,1bdp,2bdp; a comma in parentheses or double quotes \
                belongs to its value, and so does key=value after a comma";
    let mut axes: Vec<Axis> = Vec::new();
    for text in over {
        let refused = |what: &str| Refused::new(&format!("--over {text}: {what}"), help);
        let (path, values) = text
            .split_once('=')
            .ok_or_else(|| refused("there are no values"))?;
        let path = path.trim();
        if axes.iter().any(|(other, _)| other == path) {
            return Err(refused("this path varies already"));
        }
        let mut kept: Vec<String> = Vec::new();
        for value in self::values(values).map_err(refused)? {
            if value.is_empty() {
                return Err(refused("a value is empty"));
            }
            if kept.contains(&value) {
                return Err(refused(&format!("{value} is there twice")));
            }
            kept.push(value);
        }
        axes.push((path.to_owned(), kept));
    }
    Ok(axes)
}

/// The values in a list: those in double quotes as they are, others up to the next comma outside of parentheses.
/// `key=value` is a setting of the value before.
fn values(text: &str) -> std::result::Result<Vec<String>, &'static str> {
    let mut values: Vec<String> = Vec::new();
    for piece in choice::split(text).map(str::trim) {
        match (unquoted(piece)?, values.last_mut()) {
            (Some(whole), _) => values.push(whole.to_owned()),
            (None, Some(before)) if is_setting(piece) => *before += &format!(",{piece}"),
            (None, _) => values.push(piece.to_owned()),
        }
    }
    Ok(values)
}

/// What stands in double quotes, if a piece does.
fn unquoted(piece: &str) -> std::result::Result<Option<&str>, &'static str> {
    let inner = piece
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(inner) if !inner.contains('"') => Ok(Some(inner)),
        None if !piece.contains('"') => Ok(None),
        _ => Err("a double quote has no counterpart at the other end of its value"),
    }
}

/// Whether a piece is `key=value`.
fn is_setting(piece: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    piece
        .split_once('=')
        .is_some_and(|(key, _)| !key.is_empty() && key.chars().all(letter))
}

/// The scenario with the first value of each axis: it may be that the file alone is not complete.
fn at_first(document: &Document, axes: &[Axis], names: &dyn Names) -> Result<Scenario> {
    let mut document = document.clone();
    for (path, value) in sweep::first(axes) {
        if path == "disciplines" {
            let help = "compare them with --discipline, which may be repeated";
            return Err(Refused::new("--over disciplines: no axis", help));
        }
        document.set(&path, &value)?;
    }
    Ok(document.resolve(names)?)
}

/// Checks that an axis `disciplines.NAME.KEY` has an effect, and does not override another setting.
fn check_settings(axes: &[Axis], scenario: &Scenario) -> Result<()> {
    let choices = &scenario.disciplines;
    let listed: Vec<String> = choices.iter().map(ToString::to_string).collect();
    for (path, _) in axes {
        let Some(setting) = path.strip_prefix("disciplines.") else {
            continue;
        };
        let refused = |what: &str, help: &str| {
            let message = format!("--over {path}: {what}");
            Err(Refused::new(&message, help))
        };
        let Some((name, key)) = setting.split_once('.') else {
            return refused("a key is missing", "write disciplines.confucius.doubling");
        };
        let mut named = choices.iter().filter(|choice| choice.name == name);
        let Some(first) = named.next() else {
            let help = format!("there are: {}", listed.join("; "));
            return refused("no such discipline is compared", &help);
        };
        let sets = |choice: &&scenario::Choice| choice.get(key).is_some();
        if let Some(choice) = std::iter::once(first).chain(named).find(sets) {
            let help = format!("compare --discipline {name} without it");
            return refused(&format!("{choice} sets it already"), &help);
        }
    }
    Ok(())
}

/// The sweep that is asked for.
fn asked(
    args: &SweepArgs,
    document: &Document,
    axes: &[Axis],
    scenario: &Scenario,
) -> Result<Sweep> {
    let metrics = &own::simulator().metrics;
    let metric = |option: &str, text: &str| -> Result<Selection> {
        let refused = |refusal: Refusal| {
            Refused::because(refusal.within(option), "see `analects list metrics`")
        };
        let metric = metrics.select(text).map_err(refused)?;
        if metric.metric.name == "caused" && args.what.shape.without.is_none() {
            let help = "add --without NAME of the traffic that causes it";
            let refusal = Refusal::new("caused compares with runs without a traffic");
            return Err(refused(refusal.with_help(help)));
        }
        selected::known(&metric, scenario).map_err(|refusal| refused(refusal.within(text)))?;
        Ok(metric)
    };
    let mut y: Vec<Selection> = Vec::new();
    for text in &args.metrics {
        let next = metric("--metric", text)?;
        if y.iter().any(|other| other.to_string() == next.to_string()) {
            let refusal = Refusal::new(format!("{next} is there twice"));
            return Err(Refused::because(
                refusal.within("--metric"),
                "name each once",
            ));
        }
        y.push(next);
    }
    let x = args.against.as_ref();
    let x = x.map(|text| metric("--against", text)).transpose()?;
    let statistic: std::result::Result<Statistic, Refusal> = args.statistic.parse();
    let statistic = statistic
        .map_err(|refusal| Refused::because(refusal.within("--statistic"), "see --help"))?;
    let runs = Runs {
        seed: args.what.shape.seed,
        repeat: args.what.repeats(),
        without: args.what.shape.without.clone(),
    };
    let listed = scenario.disciplines.iter().map(ToString::to_string);
    let listed: Vec<String> = listed.collect();
    let statistic = (args.statistic.clone(), statistic);
    Sweep::new(document.clone(), axes, &listed, runs, (y, x), statistic)
        .map_err(|refusal| Refused::because(refusal, "name another discipline"))
}

/// Its description, in a line.
fn about(scenario: &Scenario, args: &SweepArgs) -> String {
    match args.what.repeats() {
        1 => format!("{}\none run each, so no intervals", scenario.summary),
        n => format!("{}\n{n} runs each; 95 % intervals", scenario.summary),
    }
}

fn table(sweep: &Sweep, points: &[Point], scenario: &Scenario, args: &SweepArgs) -> String {
    let about = about(scenario, args);
    let doubts = sweep.invalid(points) + &sweep::limited(points);
    let mut text = format!("{}: {about}\n", scenario.name);
    for (place, shown) in sweep.shown(points).into_iter().enumerate() {
        let (head, rows) = shown.table();
        let what = match sweep.against {
            Some(_) => format!("{} against {}", shown.axes[1], shown.axes[0]),
            None => shown.axes[1].clone(),
        };
        let (gap, doubts) = match place {
            0 => ("", doubts.as_str()),
            _ => ("\n", ""),
        };
        text += &format!("{gap}{what}\n{doubts}\n{}\n", plain(&head, rows));
    }
    text
}

/// The JSON document.
#[derive(Serialize)]
struct PrintedSweep<'a> {
    version: &'a str,
    engine: &'a str,
    scenario: serde_json::Value,
    seed: u64,
    repeat: u64,
    without: Option<&'a str>,
    statistic: &'a str,
    metric: NamedSweep,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<NamedSweep>,
    against: Option<NamedSweep>,
    axes: Vec<&'a str>,
    points: &'a [Point],
}

#[derive(Serialize)]
struct NamedSweep {
    name: String,
    unit: &'static str,
}

fn json(sweep: &Sweep, points: &[Point], document: &Document, args: &SweepArgs) -> Result<String> {
    let named = |metric: &Selection| NamedSweep {
        name: metric.to_string(),
        unit: sweep::unit(metric, sweep.statistic.1),
    };
    let (first, others) = sweep.metrics.split_first().expect("one has a default");
    let document = PrintedSweep {
        version: own::version_of_results(),
        engine: &args.what.engine.name,
        scenario: document.to_json(),
        seed: args.what.shape.seed,
        repeat: args.what.repeats(),
        without: args.what.shape.without.as_deref(),
        statistic: &sweep.statistic.0,
        metric: named(first),
        others: others.iter().map(named).collect(),
        against: sweep.against.as_ref().map(named),
        axes: sweep.axes(),
        points,
    };
    let text = serde_json::to_string_pretty(&document);
    let text = text.map_err(|error| Refused::new(&error.to_string(), "report this"))?;
    Ok(text + "\n")
}

/// A line for each point and metric; without a value, its three fields are empty.
fn csv(sweep: &Sweep, points: &[Point]) -> csv::Result<String> {
    let mut lines = csv::Writer::from_writer(Vec::new());
    let behind = [
        "metric",
        "statistic",
        "unit",
        "value",
        "low",
        "high",
        "invalid",
    ];
    let head = ["discipline"].into_iter().chain(sweep.axes());
    lines.write_record(head.chain(behind))?;
    for point in points {
        let against = sweep.against.as_ref().map(|metric| (metric, point.against));
        let metrics = sweep.metrics.iter().enumerate();
        let metrics = metrics.map(|(place, metric)| (metric, point.metric(place)));
        for (metric, value) in metrics.chain(against) {
            lines.write_field(&point.discipline)?;
            for at in &point.at {
                lines.write_field(at)?;
            }
            lines.write_field(metric.to_string())?;
            lines.write_field(&sweep.statistic.0)?;
            lines.write_field(sweep::unit(metric, sweep.statistic.1))?;
            let [value, low, high] = fields(value);
            let invalid = point.invalid.clone().unwrap_or_default();
            lines.write_record([value, low, high, invalid])?;
        }
    }
    let bytes = lines.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The value and the ends of its interval.
fn fields(value: Option<Estimate>) -> [String; 3] {
    let text = |number: Option<f64>| number.map(|n| n.to_string()).unwrap_or_default();
    let ci95 = value.and_then(|value| value.ci95);
    [
        text(value.map(|value| value.value)),
        text(ci95.map(|(low, _)| low)),
        text(ci95.map(|(_, high)| high)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_commas_in_parentheses_quotes_and_settings() {
        for (text, expected) in [
            ("5mbit, 10mbit", &["5mbit", "10mbit"][..]),
            ("bbr,\"bbr,version=3\"", &["bbr", "bbr,version=3"]),
            (
                "bbr,bbr,version=3,padding=no,cubic",
                &["bbr", "bbr,version=3,padding=no", "cubic"],
            ),
            ("tonopah(cubic,x=1),reno", &["tonopah(cubic,x=1)", "reno"]),
            ("\"a,b\",\"\"", &["a,b", ""]),
            ("version=3,reno", &["version=3", "reno"]),
        ] {
            assert_eq!(values(text).unwrap(), expected, "{text}");
        }
        for wrong in ["\"a,b", "a\"b\"", "\"a\"b\"", "\""] {
            assert!(values(wrong).is_err(), "{wrong}");
        }
    }
}
