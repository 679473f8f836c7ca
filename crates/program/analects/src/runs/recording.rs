//! Files that are written during runs.

use crate::cli::Recording;
use campaign::{Job, Listener};
use command::Refused;
use command::files::writable;
use measure::{EngineError, RunResult, Sink};
use report::export::run_name;
use report::taps::{Flent, JsonLines, PacketLog, Pcap, WritingTap};
use scenario::Scenario;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The contents of a file.
#[derive(Debug, Clone, Copy)]
enum ContentKind {
    Log,
    Pcap,
    Events,
    Flent,
}

/// A run's files.
#[derive(Debug)]
pub struct Recorder {
    scenario: Arc<Scenario>,
    title: String,
    files: Vec<(ContentKind, PathBuf)>,
    /// The first that could not be written, and why.
    failed: Mutex<Option<(PathBuf, io::Error)>>,
}

/// Ensures that each job is written to the requested files, once they are known to be writable;
/// returns the listener. `others` are files that they must not be.
pub fn attach(
    args: &Recording,
    jobs: &mut [Job],
    others: &[&Path],
) -> Result<Vec<Arc<Recorder>>, Refused> {
    let asked = [
        (ContentKind::Log, "--log", &args.log),
        (ContentKind::Pcap, "--pcap", &args.pcap),
        (ContentKind::Events, "--events", &args.events),
        (ContentKind::Flent, "--flent", &args.flent),
    ];
    let asked = asked.map(|(kind, option, file)| Some((kind, option, file.as_deref()?)));
    let asked: Vec<(ContentKind, &str, &Path)> = asked.into_iter().flatten().collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    for (kind, option, file) in &asked {
        kind.check_name(option, file)?;
    }
    let others = others.iter().map(|path| (place(path), path.to_path_buf()));
    let mut taken: BTreeMap<PathBuf, PathBuf> = others.collect();
    let several = jobs.len() > 1;
    let mut recorders = Vec::new();
    for (number, job) in jobs.iter_mut().enumerate() {
        let mut files = Vec::new();
        for &(kind, option, file) in &asked {
            let file = if several {
                named(file, kind.ending(), &run_name(number, &job.case, job.seed))
            } else {
                file.to_owned()
            };
            check(option, &file, &mut taken)?;
            files.push((kind, file));
        }
        let recorder = Arc::new(Recorder {
            scenario: job.scenario.clone(),
            title: format!("{} seed {}", job.case, job.seed),
            files,
            failed: Mutex::default(),
        });
        job.listener = Some(recorder.clone());
        recorders.push(recorder);
    }
    Ok(recorders)
}

/// Refuses a file that cannot be written, or that is needed for another purpose.
fn check(option: &str, file: &Path, taken: &mut BTreeMap<PathBuf, PathBuf>) -> Result<(), Refused> {
    if file == Path::new("-") {
        let message = format!("{option} -: the results are printed there");
        return Err(Refused::new(
            &message,
            "name a file, or a pipe that mkfifo made",
        ));
    }
    writable(file)?;
    if let Some(other) = taken.insert(place(file), file.to_owned()) {
        let message = format!(
            "{option} {}: that is {}, which is named for something else",
            file.display(),
            other.display()
        );
        return Err(Refused::new(&message, "name another file"));
    }
    Ok(())
}

/// The location of a file, under any name.
fn place(file: &Path) -> PathBuf {
    std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

/// `file` with the name of a run before its ending, or before the given one.
fn named(file: &Path, ending: Option<&str>, run: &str) -> PathBuf {
    let whole = file.file_name().unwrap_or_default().to_string_lossy();
    if let Some(stem) = ending.and_then(|ending| whole.strip_suffix(ending)) {
        return file.with_file_name(format!("{stem}-{run}{}", ending.unwrap_or_default()));
    }
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{run}"));
    if let Some(ending) = file.extension() {
        name.extend([&OsString::from("."), ending]);
    }
    file.with_file_name(name)
}

/// Reports the first file that could not be written, now that all runs are over.
pub fn complete(recorders: &[Arc<Recorder>]) -> Result<(), Refused> {
    for recorder in recorders {
        let mut failed = recorder
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((path, error)) = failed.take() {
            let message = format!("{} is not complete: {error}", path.display());
            let help = "the results are; make room and run it again, or name another place";
            return Err(Refused::failed(&message, help));
        }
    }
    Ok(())
}

impl Recorder {
    fn failed(&self, path: &Path, error: io::Error) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert_with(|| (path.to_owned(), error));
    }
}

impl ContentKind {
    /// The ending that its readers insist on.
    const fn ending(self) -> Option<&'static str> {
        match self {
            ContentKind::Flent => Some(".flent.gz"),
            _ => None,
        }
    }

    fn check_name(self, option: &str, file: &Path) -> Result<(), Refused> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match self.ending() {
            Some(ending) if !name.ends_with(ending) => {
                let message = format!(
                    "{option} {}: expected a name that ends in {ending}",
                    file.display()
                );
                Err(Refused::new(
                    &message,
                    "others are not opened by the program that it is for",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The tap that writes such a file.
    fn tap<'a>(self, scenario: &'a Scenario, title: &str, file: File) -> Box<dyn WritingTap + 'a> {
        match self {
            ContentKind::Log => Box::new(PacketLog::new(scenario, file)),
            ContentKind::Pcap => Box::new(Pcap::new(scenario, file)),
            ContentKind::Events => Box::new(JsonLines::new(scenario, file)),
            ContentKind::Flent => Box::new(Flent::new(scenario, title.to_owned(), file)),
        }
    }
}

impl Listener for Recorder {
    fn listen(
        &self,
        run: &mut dyn FnMut(&mut dyn Sink) -> Result<RunResult, EngineError>,
    ) -> Result<RunResult, EngineError> {
        let (mut taps, mut paths) = (Vec::new(), Vec::new());
        for (kind, path) in &self.files {
            match File::create(path) {
                Ok(file) => {
                    taps.push(kind.tap(&self.scenario, &self.title, file));
                    paths.push(path);
                }
                Err(error) => self.failed(path, error),
            }
        }
        let result = run(&mut taps);
        for (mut tap, path) in taps.into_iter().zip(paths) {
            if let Err(error) = tap.finish() {
                self.failed(path, error);
            }
        }
        result
    }
}
