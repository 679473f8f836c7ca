//! `analects browser`: a call between two Chromiums beside pages, under each discipline.

mod pacer;
mod runs;

use crate::cli::BrowserArgs;
use crate::host::link::CHOICES;
use crate::host::place::OutputFolder;
use browser::Trial;
use comfy_table::Cell;
use command::Refused;
use command::cells::{empty, right};
use command::files::{unwritable, writable};
use measure::interval;
use pacer::RunningPacer;
use qdisc::Choice;
use runs::{Run, TrialPlan, label};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use workload::generator;
use workload::page::Page;

type Result<T> = core::result::Result<T, Refused>;

const DISCIPLINES: [&str; 4] = ["pfifo", "fq_codel", "cake", "mencius"];
/// Bytes of a site that is drawn.
const HEAVY: (u64, u64) = (1_000_000, 4_000_000);

/// Runs trials, and prints their table.
pub fn run(args: &BrowserArgs) -> Result<()> {
    let disciplines = disciplines(args)?;
    crate::host::link::check_capacity("--rate", &args.rate)?;
    for rate in &args.pace {
        router::check_rate("--pace", rate)?;
    }
    let recorded = recorded(&args.har)?;
    // Before an hour is spent.
    args.json.as_deref().map_or(Ok(()), writable)?;
    let version = browser::version().map_err(failed)?;
    let place = OutputFolder::new(args.keep.as_deref(), "analects-browser-")?;
    let rows = rows(args, &disciplines);
    eprintln!("{version}; {}", extent(args, rows.len()));
    let all = repeated(args.repeat, |repeat| {
        let plans = plans(args, &rows, &pages(args, &recorded, repeat));
        let place = &place;
        plans.into_iter().map(move |plan| {
            let run = runs::run(args, place, repeat, &plan)?;
            eprintln!("{}", run.described());
            Ok(run)
        })
    })?;
    print!("{}", report(&rows, &all));
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        std::fs::write(file, text + "\n").map_err(|error| unwritable(file, &error))?;
    }
    Ok(())
}

/// The runs of `wanted` valid repeats. One that is asked for alone is made whole, and once. Of several, each ends
/// with its first run that is not valid, and up to as many again are made in place of those.
fn repeated<R>(wanted: u32, mut repeat: impl FnMut(u32) -> R) -> Result<Vec<Run>>
where
    R: Iterator<Item = Result<Run>>,
{
    let several = wanted > 1;
    let most = wanted.saturating_mul(1 + u32::from(several));
    let (mut all, mut valid) = (Vec::new(), 0);
    for number in 0..most {
        if valid == wanted {
            break;
        }
        let mut good = true;
        for run in repeat(number) {
            let run = run?;
            good &= run.is_valid();
            all.push(run);
            if several && !good {
                break;
            }
        }
        valid += u32::from(good);
    }
    Ok(all)
}

/// The far side's part of a trial, by which this program runs itself.
pub fn far(folder: &Path) -> Result<()> {
    let address = std::env::var(live::FAR).ok();
    let address: Option<IpAddr> = address.and_then(|text| text.parse().ok());
    let Some(address) = address else {
        let message = format!("{} is not set to an address", live::FAR);
        return Err(Refused::new(&message, "use `analects browser`"));
    };
    browser::far(folder, address).map_err(failed)
}

/// The other part, with a pacer at this rate.
pub fn inside(folder: &Path, pace: Option<&str>) -> Result<()> {
    let _pacer = pace
        .map(|rate| RunningPacer::begin(folder, rate))
        .transpose()?;
    browser::inside(folder).map_err(failed)
}

fn failed(error: browser::Error) -> Refused {
    Refused::failed(&error.message, &error.help)
}

fn disciplines(args: &BrowserArgs) -> Result<Vec<String>> {
    let named = if args.disciplines.is_empty() {
        DISCIPLINES.map(str::to_owned).to_vec()
    } else {
        args.disciplines.clone()
    };
    for name in &named {
        let choice: core::result::Result<Choice, _> = name.parse();
        let built = choice.and_then(|choice| {
            qdisc::Registry::<()>::builtin().build(&choice, &qdisc::Env::default())
        });
        built.map_err(|refusal| Refused::because(refusal.within("--discipline"), CHOICES))?;
    }
    Ok(named)
}

/// The pages of each source, in their order.
fn recorded(sources: &[String]) -> Result<Vec<Arc<Page>>> {
    let mut all = Vec::new();
    for source in sources {
        all.extend(scenario::files::pages(source)?.pages);
    }
    Ok(all)
}

/// The pages of a repeat: recorded ones in turn, or sites that no other repeat has.
fn pages(args: &BrowserArgs, recorded: &[Arc<Page>], repeat: u32) -> Vec<Page> {
    let visits = args.seconds.div_ceil(args.every) as usize;
    if !recorded.is_empty() {
        let turns = recorded.iter().cycle().take(visits);
        return turns.map(|page| Page::clone(page)).collect();
    }
    let heavy = |page: &Page| (HEAVY.0..=HEAVY.1).contains(&page.total_response().get());
    let sites = (0..).map(|number| generator::WEB.site(number));
    sites
        .filter(heavy)
        .skip(repeat as usize * visits)
        .take(visits)
        .collect()
}

/// A discipline, and the rate of the receiver's pacer if there is one.
type Row = (String, Option<String>);

/// The rows of the table: each discipline alone, and then with each pacer.
fn rows(args: &BrowserArgs, disciplines: &[String]) -> Vec<Row> {
    let pacers = || {
        [None]
            .into_iter()
            .chain(args.pace.iter().cloned().map(Some))
    };
    let rows = disciplines
        .iter()
        .flat_map(|name| pacers().map(|pace| (name.clone(), pace)));
    rows.collect()
}

/// The runs of a repeat: one without pages, and one with them for each row.
fn plans(args: &BrowserArgs, rows: &[Row], pages: &[Page]) -> Vec<TrialPlan> {
    let plan = |(discipline, pace): &Row, control: bool, pages: &[Page]| TrialPlan {
        discipline: discipline.clone(),
        pace: pace.clone(),
        control,
        trial: Trial {
            call_kbit: args.call,
            warmup: args.warmup,
            seconds: args.seconds,
            every: args.every,
            pages: pages.to_vec(),
            web: !args.pace.is_empty(),
            kept: args.keep.is_some(),
        },
    };
    let each = |pages| rows.iter().map(move |row| plan(row, false, pages));
    if args.no_pages {
        each(&[]).collect()
    } else {
        [plan(&rows[0], true, &[])]
            .into_iter()
            .chain(each(pages))
            .collect()
    }
}

fn extent(args: &BrowserArgs, rows: usize) -> String {
    let controls = usize::from(!args.no_pages);
    let runs = args.repeat as usize * (rows + controls);
    let seconds = u64::from(args.warmup + args.seconds + 5) * runs as u64;
    format!("{runs} runs, {} minutes or more", seconds.div_ceil(60))
}

/// A row's runs of valid repeats, and their means.
fn report(rows: &[Row], all: &[Run]) -> String {
    let valid = |repeat: u32| {
        all.iter()
            .filter(|run| run.repeat == repeat)
            .all(Run::is_valid)
    };
    let repeats = all.iter().map(|run| run.repeat + 1).max().unwrap_or(0);
    let good = (0..repeats).filter(|&repeat| valid(repeat)).count();
    let mut table = empty();
    // A column that no run has a figure for is left out.
    let figures = runs::FIGURES.iter();
    let figures = figures.filter(|(_, figure)| all.iter().any(|run| figure(run).is_some()));
    let headings = figures.clone().map(|(name, _)| right(name));
    table.set_header([Cell::new("discipline")].into_iter().chain(headings));
    for (discipline, pace) in rows {
        let label = label(discipline, pace.as_deref());
        let mine = all
            .iter()
            .filter(|run| !run.control && run.label() == label && valid(run.repeat));
        let mine: Vec<&Run> = mine.collect();
        let cells = figures.clone().map(|(_, figure)| {
            let values: Vec<f64> = mine.iter().filter_map(|run| figure(run)).collect();
            right(&mean(&values))
        });
        table.add_row([Cell::new(label)].into_iter().chain(cells));
    }
    let mut text = format!("{table}\n{good} of {repeats} repeats are valid");
    if good < repeats as usize {
        text += ": in the others the call froze without pages as well, or packets came too late, so that this \
                 host was the limit, and not the link";
    }
    text + "\n"
}

/// The mean, and the interval that it lies in with 95 % confidence.
fn mean(values: &[f64]) -> String {
    if values.is_empty() {
        return "-".to_owned();
    }
    let mean = interval::mean(values);
    match interval::of_mean(values, 0.95) {
        Some(ends) => {
            let ends = interval::written(mean, ends, |end| format!("{end:.2}"));
            format!("{mean:.2}\n({ends})")
        }
        None => format!("{mean:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::browser::{Call, Outcome, Visit};
    use serde_json::json;

    fn run(repeat: u32, discipline: &str, control: bool, freezes: f64, believed: bool) -> Run {
        let visit = Visit {
            number: 0,
            requests: 10,
            failed: 0,
            ms: 2500.0,
        };
        Run {
            repeat,
            discipline: discipline.to_owned(),
            pace: None,
            control,
            pages: usize::from(!control),
            outcome: Outcome {
                call: Call {
                    seconds: 30.0,
                    freezes,
                    frozen: 2.0 * freezes,
                    fps: 25.0,
                    low_fps: 1.0,
                    kbit: 1500.0,
                    buffer_ms: 40.0,
                    encoded_fps: 30.0,
                    slow: 0.0,
                },
                visits: if control { vec![] } else { vec![visit] },
            },
            link: json!({ "believed": believed }),
            pacer: None,
        }
    }

    /// The row of a discipline in the table.
    fn row(all: &[Run]) -> String {
        let text = report(&[("cake".to_owned(), None)], all);
        let row = text.lines().find(|line| line.contains("cake")).unwrap();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_valid_repeats_count() {
        let calm = [
            run(0, "cake", true, 0.0, true),
            run(0, "cake", false, 3.0, true),
        ];
        assert_eq!(row(&calm), "cake 12.00 6.00 25.00 2.00 1.50 40.00 2.50");
        let frozen = [
            run(0, "cake", true, 1.0, true),
            run(0, "cake", false, 3.0, true),
        ];
        assert_eq!(row(&frozen), "cake - - - - - - -");
        let late = [
            run(0, "cake", true, 0.0, true),
            run(0, "cake", false, 3.0, false),
        ];
        assert_eq!(row(&late), "cake - - - - - - -");
        let text = report(&[("cake".to_owned(), None)], &late);
        assert!(text.contains("0 of 1 repeats"), "{text}");
    }

    #[test]
    fn others_are_made_in_place_of_repeats_that_are_not_valid() {
        // The second and the third come too late in their control runs.
        let runs = |number: u32| {
            let believed = !(1..=2).contains(&number);
            [
                run(number, "cake", true, 0.0, believed),
                run(number, "cake", false, 3.0, true),
            ]
        };
        let of = |wanted: u32| repeated(wanted, |number| runs(number).into_iter().map(Ok)).unwrap();
        let numbers: Vec<u32> = of(3).iter().map(|run| run.repeat).collect();
        assert_eq!(numbers, [0, 0, 1, 2, 3, 3, 4, 4]);
        assert_eq!(of(2).len(), 6, "four at most");
        assert_eq!(of(1).len(), 2);
        let text = report(&[("cake".to_owned(), None)], &of(3));
        assert!(text.contains("3 of 5 repeats"), "{text}");
    }

    #[test]
    fn a_pacer_has_a_row_of_its_own() {
        let mut paced = run(0, "cake", false, 1.0, true);
        paced.pace = Some("20mbit".to_owned());
        paced.pacer = Some(json!({ "seconds": 50.0, "processor_seconds": 1.5 }));
        let all = [
            run(0, "cake", true, 0.0, true),
            run(0, "cake", false, 3.0, true),
            paced,
        ];
        let rows = [
            ("cake".to_owned(), None),
            ("cake".to_owned(), Some("20mbit".to_owned())),
        ];
        let text = report(&rows, &all);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        let has = |line: &str| assert!(lines.iter().any(|found| found == line), "{text}");
        has("cake 12.00 6.00 25.00 2.00 1.50 40.00 2.50 -");
        has("cake, paced: 20mbit 4.00 2.00 25.00 2.00 1.50 40.00 2.50 3.00");
    }
}
