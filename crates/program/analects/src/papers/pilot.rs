//! `analects pilot`: how often experiments should be run.

use crate::cli::PilotArgs;
use crate::papers::reproduce::one;
use crate::runs::engines::{Chosen, with_names};
use crate::runs::many::{self, pool};
use crate::runs::plans::{self, Engines};
use campaign::Keeping;
use command::Refused;
use command::print;
use reproduce::budget::{self, Pilot, RunsBudget};
use reproduce::experiment::Wants;
use reproduce::{Data, Experiment, Wanted};
use rustix::time::{ClockId, clock_gettime};

type Result<T> = std::result::Result<T, Refused>;

/// Makes quick runs of experiments, and prints the number of runs for each.
pub fn run(args: &PilotArgs) -> Result<()> {
    let mut experiments = plans::with_calls(&args.experiments, &args.calls)?;
    // Runs in Linux have a time of their own, which does not apply here.
    experiments.retain(|one| one.has_runs() && one.written.engine == Wants::Sim);
    let data = plans::data();
    let pool = pool(&args.parallel)?;
    // Nothing is taken from earlier runs: their run time is not known.
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| Refused::failed(&error.to_string(), "make room there"))?;
    let store = many::store(folder.path())?;
    let mut engines = Engines::default();
    let (chosen, basis) = engines.get(&crate::runs::engines::named("sim", None))?;
    let keeping = Keeping {
        store: &store,
        basis,
    };
    let mut pilots = Vec::new();
    for experiment in &experiments {
        let pilot = of(chosen, experiment, &data, keeping, &pool)?;
        let Pilot {
            id, calls, seconds, ..
        } = &pilot;
        eprintln!("{id} with calls {calls}: {seconds:.0} s of a processor for each seed");
        pilots.push(pilot);
    }
    let budget = 3600.0 * args.hours;
    let seeds = budget::seeds(&pilots, budget).ok_or_else(|| {
        let message = format!(
            "--hours {}: not even the least can be run in that time",
            args.hours
        );
        Refused::new(&message, "allow more, or name fewer experiments")
    })?;
    let taken = pilots.iter().zip(&seeds);
    let taken: f64 = taken
        .map(|(pilot, seeds)| pilot.seconds * *seeds as f64)
        .sum();
    let command = format!(
        "analects pilot {} --calls {} --hours {}",
        args.experiments.join(" "),
        args.calls.join(","),
        args.hours
    );
    print(&format!(
        "# Seeds of each experiment, by preset of its calls. Made by `{command}`, with {}:\n\
         # about {:.1} hours of one processor.\n{}",
        data.described(),
        taken / 3600.0,
        RunsBudget::of(&pilots, &seeds).to_toml()
    ))
}

fn of(
    chosen: &Chosen,
    experiment: &Experiment,
    data: &Data,
    keeping: Keeping<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Pilot> {
    let [quick, whole] = [true, false].map(|quick| Wanted { quick, data });
    let before = processor_seconds();
    let outcome = one(&*chosen.engine, experiment, quick, keeping, pool)?;
    let each = (processor_seconds() - before) / simulated(chosen, experiment, quick)?;
    let mut once = experiment.clone();
    once.written.seeds = 1;
    Ok(Pilot {
        id: experiment.id.clone(),
        calls: experiment.calls().to_owned(),
        units: once.grid(whole)?.traces.len() as u64,
        seconds: each * simulated(chosen, &once, whole)?,
        needs: outcome
            .claims
            .iter()
            .flat_map(|claim| &claim.checks)
            .flat_map(|check| &check.cells)
            .filter_map(|cell| cell.needed)
            .collect(),
    })
}

/// Seconds that all runs of an experiment simulate.
fn simulated(chosen: &Chosen, experiment: &Experiment, wanted: Wanted<'_>) -> Result<f64> {
    let grid = experiment.grid(wanted)?;
    let jobs = with_names(|names| grid.plan(&*chosen.engine, names))?;
    Ok(jobs
        .iter()
        .map(|job| job.scenario.duration.as_secs_f64())
        .sum())
}

/// Seconds of a processor that this program has taken.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
