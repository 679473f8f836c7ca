//! `analects browser`: a call between two Chromiums beside pages, under each discipline.

mod runs;

use crate::cli::BrowserArgs;
use crate::refused::Refused;
use crate::table::{empty, right};
use browser::Trial;
use comfy_table::Cell;
use measure::interval;
use qdisc::Choice;
use runs::{Place, Run};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use workload::generator;
use workload::har;
use workload::page::Page;

type Result<T> = core::result::Result<T, Refused>;

const DISCIPLINES: [&str; 4] = ["pfifo", "fq_codel", "cake", "mencius"];
/// Bytes of a site that is drawn.
const HEAVY: (u64, u64) = (1_000_000, 4_000_000);

/// Runs trials, and prints their table.
pub fn run(args: &BrowserArgs) -> Result<()> {
    let disciplines = disciplines(args)?;
    let recorded = recorded(&args.har)?;
    let version = browser::version().map_err(failed)?;
    let place = Place::new(args.keep.as_deref())?;
    eprintln!("{version}; {}", extent(args, disciplines.len()));
    let mut all = Vec::new();
    for repeat in 0..args.repeat {
        let pages = pages(args, &recorded, repeat);
        let control = trial(args, Vec::new());
        let runs = [(&disciplines[0], true)].into_iter();
        let runs = runs.chain(disciplines.iter().map(|name| (name, false)));
        for (discipline, is_control) in runs {
            let trial = match is_control {
                true => control.clone(),
                false => trial(args, pages.clone()),
            };
            let run = runs::run(args, &place, repeat, discipline, &trial)?;
            eprintln!("{}", run.described());
            all.push(run);
        }
    }
    print!("{}", report(&disciplines, &all));
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        let failed = |error: std::io::Error| {
            Refused::failed(&format!("{}: {error}", file.display()), "name another file")
        };
        std::fs::write(file, text + "\n").map_err(failed)?;
    }
    Ok(())
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

/// The other part.
pub fn inside(folder: &Path) -> Result<()> {
    browser::inside(folder).map_err(failed)
}

fn failed(error: browser::Error) -> Refused {
    Refused::failed(&error.message, &error.help)
}

fn disciplines(args: &BrowserArgs) -> Result<Vec<String>> {
    let named = match args.disciplines.is_empty() {
        true => DISCIPLINES.map(str::to_owned).to_vec(),
        false => args.disciplines.clone(),
    };
    for name in &named {
        let help = "`analects list disciplines` lists the disciplines";
        let choice: core::result::Result<Choice, _> = name.parse();
        let built = choice.and_then(|choice| {
            qdisc::Registry::<()>::builtin().build(&choice, &qdisc::Env::default())
        });
        built.map_err(|refusal| Refused::because(refusal.within("--discipline"), help))?;
    }
    Ok(named)
}

/// The first page of each file.
fn recorded(files: &[PathBuf]) -> Result<Vec<Page>> {
    let read = |file: &PathBuf| {
        let name = file.display().to_string();
        let help = "export the page again, from a browser's developer tools";
        let text = std::fs::read(file)
            .map_err(|error| Refused::new(&format!("--har: {name}: {error}"), help))?;
        let har = har::read(&name, &text, &har::Options::default());
        let har = har.map_err(|error| Refused::new(&format!("--har: {error}"), help))?;
        Ok(har.pages.into_iter().next())
    };
    let pages: Result<Vec<_>> = files.iter().map(read).collect();
    Ok(pages?.into_iter().flatten().collect())
}

/// The pages of a repeat: recorded ones in turn, or sites that no other repeat has.
fn pages(args: &BrowserArgs, recorded: &[Page], repeat: u32) -> Vec<Page> {
    let visits = args.seconds.div_ceil(args.every) as usize;
    if !recorded.is_empty() {
        return recorded.iter().cycle().take(visits).cloned().collect();
    }
    let heavy = |page: &Page| (HEAVY.0..=HEAVY.1).contains(&page.total_response().get());
    let sites = (0..).map(|number| generator::WEB.site(number));
    sites
        .filter(heavy)
        .skip(repeat as usize * visits)
        .take(visits)
        .collect()
}

fn trial(args: &BrowserArgs, pages: Vec<Page>) -> Trial {
    Trial {
        call_kbit: args.call,
        warmup: args.warmup,
        seconds: args.seconds,
        every: args.every,
        pages,
    }
}

fn extent(args: &BrowserArgs, disciplines: usize) -> String {
    let runs = args.repeat as usize * (disciplines + 1);
    let seconds = u64::from(args.warmup + args.seconds + 5) * runs as u64;
    format!("{runs} runs, {} minutes or more", seconds.div_ceil(60))
}

/// A discipline's runs of valid repeats, and their means.
fn report(disciplines: &[String], all: &[Run]) -> String {
    let valid = |repeat: u32| {
        all.iter()
            .filter(|run| run.repeat == repeat)
            .all(Run::is_valid)
    };
    let repeats = all.iter().map(|run| run.repeat + 1).max().unwrap_or(0);
    let good = (0..repeats).filter(|&repeat| valid(repeat)).count();
    let mut table = empty();
    let headings = runs::FIGURES.iter().map(|(name, _)| right(name));
    table.set_header([Cell::new("discipline")].into_iter().chain(headings));
    for discipline in disciplines {
        let mine = all
            .iter()
            .filter(|run| !run.is_control() && run.discipline == *discipline && valid(run.repeat));
        let mine: Vec<&Run> = mine.collect();
        let cells = runs::FIGURES.iter().map(|(_, figure)| {
            let values: Vec<f64> = mine.iter().filter_map(|run| figure(run)).collect();
            right(&mean(&values))
        });
        table.add_row([Cell::new(discipline)].into_iter().chain(cells));
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
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    match interval::of_mean(values, 0.95) {
        Some((low, high)) => format!("{mean:.2}\n({low:.2} to {high:.2})"),
        None => format!("{mean:.2}"),
    }
}
