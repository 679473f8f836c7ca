//! Runs a command on a real kernel in virtual time: for scripts and tests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, io};

use clap::Parser;
use machine::{Cache, CacheError, DEFAULT_KERNEL, Kernel, Machine, OURS, Outcome};

/// Boots a kernel under an instruction-counted clock and runs a shell command in it.
///
/// Prints the command's output and exits with the command's code, or with 125 if the machine itself
/// failed.
#[derive(Parser)]
#[command(name = "vm", version)]
struct Arguments {
    /// The kernel: 6.1, 6.12, 7.x, or a folder with its vmlinux, base.cpio and release.
    #[arg(long, default_value = DEFAULT_KERNEL)]
    kernel: String,
    /// A file or directory for the guest; without GUEST it goes to /job.
    #[arg(long = "file", value_name = "HOST[:GUEST]")]
    files: Vec<String>,
    /// Also hand in our queue disciplines, as /job/sch_confucius.ko and so on.
    #[arg(long)]
    module: bool,
    /// The seed of the guest's random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for the files that the command left in /out.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The guest's memory in MiB.
    #[arg(long, default_value_t = 1024)]
    memory: u32,
    /// Processors; with several, time is the host's.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    processors: u32,
    /// Seconds of wall time after which the machine is stopped.
    #[arg(long, default_value_t = 3600)]
    limit: u64,
    /// A further argument for QEMU.
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    qemu: Vec<String>,
    /// Also print the kernel's log to standard error.
    #[arg(long)]
    log: bool,
    /// The command, for a shell.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(outcome) => {
            if arguments.log {
                eprint!("{}", outcome.kernel_log);
            }
            let (uptime, busy) = (outcome.uptime.as_secs_f64(), outcome.busy.as_secs_f64());
            eprintln!(
                "vm: exit {}, up {uptime:.2} s, busy {busy:.2} s",
                outcome.exit
            );
            ExitCode::from(u8::try_from(outcome.exit).unwrap_or(u8::MAX))
        }
        Err(error) => {
            eprintln!("vm: {error}");
            ExitCode::from(125)
        }
    }
}

fn run(arguments: &Arguments) -> Result<Outcome, Box<dyn std::error::Error>> {
    let kernel = find(&arguments.kernel)?;
    let modules = OURS.map(|name| (name, kernel.module(name)));
    let mut machine = Machine::new(kernel)
        .seed(arguments.seed)
        .memory_mib(arguments.memory)
        .processors(arguments.processors)
        .time_limit(Duration::from_secs(arguments.limit))
        .on_line(|line| println!("{line}"));
    for word in &arguments.qemu {
        machine = machine.qemu_arg(word);
    }
    if arguments.module {
        for (name, module) in modules {
            let missing =
                || format!("sch_{name}.ko is not built for this kernel: run `make kernel-engine`");
            machine = machine.file(&format!("/job/sch_{name}.ko"), module.ok_or_else(missing)?);
        }
    }
    for (host, guest) in expand(&arguments.files)? {
        machine = machine.file(&guest, host);
    }
    let outcome = machine.run(&arguments.command.join(" "))?;
    if let Some(directory) = &arguments.out {
        save(directory, &outcome)?;
    }
    Ok(outcome)
}

/// The kernel in a folder, whose path has a slash, or else the cache's of that name.
fn find(kernel: &str) -> Result<Kernel, CacheError> {
    if kernel.contains('/') {
        Kernel::at(kernel, kernel)
    } else {
        Cache::find()?.kernel(kernel)
    }
}

/// Every file to hand in and its path in the guest; a directory stands for its contents.
fn expand(files: &[String]) -> Result<Vec<(PathBuf, String)>, String> {
    let mut found = Vec::new();
    for file in files {
        let (host, guest) = match file.split_once(':') {
            Some((host, guest)) => (Path::new(host), guest.to_owned()),
            None => {
                let name = Path::new(file)
                    .file_name()
                    .ok_or(format!("\"{file}\" names no file"))?;
                (Path::new(file), format!("/job/{}", name.to_string_lossy()))
            }
        };
        walk(host, &guest, &mut found)
            .map_err(|e| format!("cannot read {}: {e}", host.display()))?;
    }
    Ok(found)
}

fn walk(host: &Path, guest: &str, found: &mut Vec<(PathBuf, String)>) -> io::Result<()> {
    if !host.is_dir() {
        found.push((host.to_owned(), guest.to_owned()));
        return Ok(());
    }
    let mut entries = fs::read_dir(host)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let guest = format!("{guest}/{}", entry.file_name().to_string_lossy());
        walk(&entry.path(), &guest, found)?;
    }
    Ok(())
}

fn save(directory: &Path, outcome: &Outcome) -> Result<(), String> {
    for (name, bytes) in &outcome.files {
        let path = directory.join(name);
        let written = match path.parent() {
            Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes)),
            None => fs::write(&path, bytes),
        };
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}
