//! Common parts of all commands that make many runs: threads, a progress bar, and where results are
//! kept.

use crate::cli::Parallel;
use crate::runs::engines::Chosen;
use crate::runs::progress::Bar;
use campaign::{Error, Store};
use command::Refused;
use std::path::Path;

/// Threads for so many runs at a time.
pub fn pool(parallel: &Parallel) -> Result<rayon::ThreadPool, Refused> {
    let number = parallel.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number).build();
    pool.map_err(|error| Refused::new(&error.to_string(), "use --jobs 1"))
}

/// Does `work` on the threads of `pool`, with a progress bar for the runs of `name`.
pub fn counted<T: Send>(
    pool: &rayon::ThreadPool,
    name: &str,
    work: impl FnOnce(&Bar) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let bar = Bar::of_runs(name);
    let done = pool.install(|| work(&bar));
    bar.clear();
    done
}

/// The store in `folder`.
pub fn store(folder: &Path) -> Result<Store, Refused> {
    Store::open(folder).map_err(refused)
}

/// The store in `folder`, if one was named, and the dependencies of results in it.
pub fn kept(folder: Option<&Path>, chosen: &Chosen) -> Result<Option<(Store, String)>, Refused> {
    let kept = folder.map(|folder| Ok((store(folder)?, chosen.basis()?)));
    kept.transpose()
}

/// The refusal for an error.
pub fn refused(error: Error) -> Refused {
    match error {
        Error::Scenario(error) => Refused::from(error),
        Error::File { .. } => {
            let help = "make it readable and writable, make room there, or name another place";
            Refused::failed(&error.to_string(), help)
        }
        Error::Engine(_) => Refused::new(&error.to_string(), "change this entry"),
        Error::Wrong(refusal) => Refused::because(refusal, "change this entry"),
    }
}
