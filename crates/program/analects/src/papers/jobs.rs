//! `analects jobs` and `analects job`: a campaign, spread over as many processes as there are.

use crate::cli::{EngineArgs, JobArgs, JobsArgs, Parallel};
use crate::compare::run::{self, check_count};
use crate::runs::engines::{self, Chosen, with_names};
use crate::runs::many::{self, counted, pool};
use crate::runs::plans::{self, Engines};
use crate::runs::progress::Bar;
use campaign::job::{self, Keyed};
use campaign::store::StoredJob;
use campaign::{Description, Job, Progress, Store, work};
use command::Refused;
use command::print;
use reproduce::{Experiment, Wanted};
use scenario::Document;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

type Result<T> = std::result::Result<T, Refused>;

/// A job as it is left in the store.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedJob {
    engine: EngineArgs,
    run: Description,
}

/// Jobs of a plan.
struct Planned {
    plan: String,
    engine: EngineArgs,
    jobs: Vec<Job>,
}

/// Lists jobs, or works through those that the store lacks.
pub fn jobs(args: &JobsArgs) -> Result<()> {
    let mut engines = Engines::default();
    let planned = planned(args, &mut engines)?;
    check_count(planned.iter().map(|plan| plan.jobs.len() as u64).sum())?;
    let store = many::store(&args.store)?;
    if args.list {
        return list(&planned, &mut engines, &store);
    }
    // Jobs of one engine run together: no thread waits for the last job of a plan while another
    // plan has more.
    let mut asked: Vec<&EngineArgs> = Vec::new();
    for plan in &planned {
        if !asked.contains(&&plan.engine) {
            asked.push(&plan.engine);
        }
    }
    for engine in asked {
        let same = planned.iter().filter(|plan| plan.engine == *engine);
        let jobs: Vec<Job> = same.flat_map(|plan| plan.jobs.clone()).collect();
        let (chosen, basis) = engines.get(engine)?;
        let keyed = job::keyed(&jobs, (chosen.engine.name(), basis)).map_err(many::refused)?;
        done(chosen, &keyed, &store, &args.parallel)?;
    }
    Ok(())
}

/// Makes a job that was listed.
pub fn job(args: &JobArgs) -> Result<()> {
    let JobArgs { key, store } = args;
    let again = "list the jobs again: analects jobs PLAN --store DIR --list";
    if !job::is_key(key) {
        let help = "a key has 32 digits from 0 to f, as `analects jobs --list` prints it";
        return Err(Refused::new(&format!("{key:?} is no key"), help));
    }
    if !store.is_dir() {
        let message = format!("{}: there is no such store", store.display());
        return Err(Refused::new(&message, again));
    }
    let store = many::store(store)?;
    let Some((path, bytes)) = store.description(key).map_err(many::refused)? else {
        return Err(Refused::new(&format!("no job {key} was listed"), again));
    };
    let path = path.display().to_string();
    let listed: ListedJob = serde_json::from_slice(&bytes)
        .map_err(|error| Refused::new(&format!("{path}: it describes no job: {error}"), again))?;
    let chosen = engines::chosen(&listed.engine)?;
    let basis = chosen.basis()?;
    let grid = listed.run.grid(&path).map_err(many::refused)?;
    let jobs = with_names(|names| grid.plan(&*chosen.engine, names))?;
    let keyed = job::keyed(&jobs[..1], (chosen.engine.name(), &basis));
    let keyed = keyed.map_err(many::refused)?;
    if keyed[0].key != *key {
        let message = format!(
            "job {key} is now {}: the program, the engine or a file that it names has changed since \
             it was listed",
            keyed[0].key
        );
        return Err(Refused::new(&message, again));
    }
    done(&chosen, &keyed, &store, &Parallel { jobs: Some(1) })
}

fn planned(args: &JobsArgs, engines: &mut Engines) -> Result<Vec<Planned>> {
    let mut planned = Vec::new();
    for name in &args.plans {
        let path = Path::new(name);
        if plans::is_file(name) && !plans::is_experiment(&run::parse(path)?) {
            let document = run::read(path, &args.shape)?;
            planned.push(of_scenario(args, name, &document, engines)?);
        } else {
            planned.extend(of_experiments(args, name, engines)?);
        }
    }
    Ok(planned)
}

fn of_scenario(
    args: &JobsArgs,
    name: &str,
    document: &Document,
    engines: &mut Engines,
) -> Result<Planned> {
    if args.quick {
        let message = format!("--quick: {name} is a scenario, which has no quick form");
        return Err(Refused::new(&message, "use --repeat and --set"));
    }
    let (chosen, _) = engines.get(&args.engine)?;
    let jobs = run::plan(&args.shape, &*chosen.engine, document)?;
    Ok(Planned {
        plan: name.to_owned(),
        engine: args.engine.clone(),
        jobs,
    })
}

fn of_experiments(args: &JobsArgs, name: &str, engines: &mut Engines) -> Result<Vec<Planned>> {
    if !args.shape.is_plain() {
        let message = format!(
            "{name} is an experiment: it defines its own settings, comparisons and number of runs"
        );
        let help = "use --set, --discipline, --without, --seed and --repeat with scenarios";
        return Err(Refused::new(&message, help));
    }
    let experiments = if name.starts_with("engines/") {
        plans::for_engines(name)?
    } else {
        plans::experiments(name)?
    };
    let data = plans::data();
    let wanted = Wanted {
        quick: args.quick,
        data: &data,
    };
    let several = experiments.len() > 1;
    let with_runs = experiments
        .iter()
        .filter(|experiment| experiment.has_runs());
    let mut planned = Vec::new();
    for experiment in with_runs {
        let engine = plans::wanted(&args.engine, experiment);
        let Some((chosen, _)) = engines.for_one_of(several, experiment, &engine)? else {
            continue;
        };
        planned.push(Planned {
            plan: experiment.id.clone(),
            jobs: of_experiment(experiment, wanted, chosen)?,
            engine,
        });
    }
    Ok(planned)
}

fn of_experiment(experiment: &Experiment, wanted: Wanted<'_>, chosen: &Chosen) -> Result<Vec<Job>> {
    let grid = experiment.grid(wanted)?;
    Ok(with_names(|names| grid.plan(&*chosen.engine, names))?)
}

/// Prints a line for each job, and leaves its description in the store.
fn list(planned: &[Planned], engines: &mut Engines, store: &Store) -> Result<()> {
    let mut seen = BTreeSet::new();
    for plan in planned {
        let (chosen, basis) = engines.get(&plan.engine)?;
        let engine = chosen.engine.name();
        let keyed = job::keyed(&plan.jobs, (engine, basis)).map_err(many::refused)?;
        for Keyed { job, key, .. } in &keyed {
            if !seen.insert(key.clone()) {
                continue;
            }
            let state = match store.read(key).map_err(many::refused)? {
                StoredJob::Result(_) => "done",
                StoredJob::Missing => "missing",
                StoredJob::Wrong(what) => {
                    eprintln!("{what}; it is missing");
                    "missing"
                }
            };
            let run = job.description(&plan.plan).map_err(many::refused)?;
            let (discipline, seed, about) = (&run.discipline, run.seed, run.about.clone());
            let line = format!("{key}\t{state}\t{engine}\t{discipline}\t{seed}\t{about}\n");
            let engine = plan.engine.clone();
            let described = store.describe(key, &ListedJob { engine, run });
            described.map_err(many::refused)?;
            print(&line)?;
        }
    }
    Ok(())
}

/// Ensures that jobs are done; prints the keys of those that were run here.
fn done(chosen: &Chosen, keyed: &[Keyed<'_>], store: &Store, parallel: &Parallel) -> Result<()> {
    let engine = &*chosen.engine;
    let [planned, missing, made] = [const { AtomicUsize::new(0) }; 3];
    let worked = counted(&pool(parallel)?, "this campaign", |bar| {
        let told = ToldKeys {
            bar,
            planned: &planned,
            missing: &missing,
            made: &made,
        };
        work(engine, keyed, store, &told, |_| ())
    });
    worked.map_err(many::refused)?;
    let [planned, missing, made] = [planned, missing, made].map(AtomicUsize::into_inner);
    eprintln!(
        "{planned} jobs: {made} made here, {} by others meanwhile, {} before",
        missing - made,
        planned - missing
    );
    Ok(())
}

/// Prints keys along with the bar, and counts.
struct ToldKeys<'a> {
    bar: &'a Bar,
    planned: &'a AtomicUsize,
    missing: &'a AtomicUsize,
    made: &'a AtomicUsize,
}

impl Progress for ToldKeys<'_> {
    fn done(&self) {
        self.bar.done();
    }

    fn planned(&self, all: usize, missing: usize) {
        self.planned.store(all, Ordering::Relaxed);
        self.missing.store(missing, Ordering::Relaxed);
        self.bar.expect(missing);
    }

    fn made(&self, key: &str) {
        self.made.fetch_add(1, Ordering::Relaxed);
        // Results are stored even if their keys are not read.
        self.bar.beside(|| _ = print(&format!("{key}\n")));
    }

    fn remark(&self, text: &str) {
        self.bar.remark(text);
    }
}
