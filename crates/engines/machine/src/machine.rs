//! One virtual machine, from its files and command to its outcome.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration as HostTime;

use crate::cache::Kernel;
use crate::cpio::Archive;
use crate::outcome::{Outcome, read_disk, tail, trouble};

/// The emulator; Debian's package is `qemu-system-x86`.
const QEMU: &str = "qemu-system-x86_64";

/// How often the host reads the guest's output.
const GLANCE: HostTime = HostTime::from_millis(20);

/// The kernel's command line. Addresses, mitigations and clock checks would differ between hosts or
/// boots. An oops and a warning are made a panic, and a panic ends the machine: a warning alone
/// would not be seen, since `quiet` keeps it off the console.
const COMMAND_LINE: &str = "console=ttyS0 quiet panic=-1 oops=panic panic_on_warn=1 nokaslr \
    norandmaps mitigations=off nowatchdog random.trust_cpu=on tsc=reliable no_timer_check \
    audit=0 cryptomgr.notests";

/// Why a machine gave no outcome.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// QEMU is not there, or cannot be started.
    #[error("cannot start {QEMU}: {0}; `make kernel-engine` installs it")]
    Start(#[source] io::Error),
    /// A file for the guest cannot be read or handed in, or the host's disk is full.
    #[error("{what}: {error}")]
    Io {
        /// The operation.
        what: String,
        /// The error.
        #[source]
        error: io::Error,
    },
    /// The wall-time limit passed.
    #[error("the machine was stopped after {seconds} s of wall time; it last said:\n{last}")]
    Limit {
        /// The limit.
        seconds: u64,
        /// The last lines of its console and of its kernel's log.
        last: String,
    },
    /// The kernel reported a bug, a warning or a panic.
    #[error("the kernel is in trouble:\n{0}")]
    Kernel(String),
    /// The machine ended without results.
    #[error("the machine ended without results ({status}); it last said:\n{last}")]
    NoResults {
        /// How QEMU ended, with its output.
        status: String,
        /// The last lines of its console and of its kernel's log.
        last: String,
    },
}

/// The contents of a path in the guest.
struct Content {
    path: String,
    executable: bool,
    bytes: Vec<u8>,
}

type Listener<'a> = Box<dyn FnMut(&str) + 'a>;

/// A machine to be: a kernel, files, and how to run it.
///
/// No files are left behind in any case: they have no name on the host, and QEMU dies with the
/// thread that runs it.
pub struct Machine<'a> {
    kernel: Kernel,
    files: Vec<Content>,
    errors: Vec<MachineError>,
    arguments: Vec<String>,
    emulator: Vec<String>,
    memory_mib: u32,
    processors: u32,
    seed: u64,
    limit: HostTime,
    listener: Listener<'a>,
}

impl<'a> Machine<'a> {
    /// A machine of 1 GiB with `kernel`, seed 1, and an hour of wall time at most.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            files: Vec::new(),
            errors: Vec::new(),
            arguments: Vec::new(),
            emulator: Vec::new(),
            memory_mib: 1024,
            processors: 1,
            seed: 1,
            limit: HostTime::from_secs(3600),
            listener: Box::new(|_| ()),
        }
    }

    /// The host's file `from` will be at `path` in the guest, executable if it is here. A file
    /// that cannot be read fails [`run`](Self::run).
    #[must_use]
    pub fn file(mut self, path: &str, from: impl AsRef<Path>) -> Self {
        let from = from.as_ref();
        let read = || -> io::Result<Content> {
            let executable = fs::metadata(from)?.permissions().mode() & 0o111 != 0;
            Ok(Content {
                path: path.into(),
                executable,
                bytes: fs::read(from)?,
            })
        };
        match read() {
            Ok(content) => self.files.push(content),
            Err(error) => self
                .errors
                .push(failed(format!("cannot read {}", from.display()))(error)),
        }
        self
    }

    /// `bytes` will be at `path` in the guest, not executable.
    #[must_use]
    pub fn bytes(mut self, path: &str, bytes: Vec<u8>) -> Self {
        self.files.push(Content {
            path: path.into(),
            executable: false,
            bytes,
        });
        self
    }

    /// Adds a word to the kernel's command line.
    #[must_use]
    pub fn arg(mut self, word: impl Into<String>) -> Self {
        self.arguments.push(word.into());
        self
    }

    /// Adds an argument for QEMU, such as a plugin to profile with.
    #[must_use]
    pub fn qemu_arg(mut self, word: impl Into<String>) -> Self {
        self.emulator.push(word.into());
        self
    }

    /// The guest's memory, in MiB.
    #[must_use]
    pub fn memory_mib(mut self, mib: u32) -> Self {
        self.memory_mib = mib;
        self
    }

    /// How many processors there are. Several run at once, each in a thread of the host's, so that
    /// time is the host's as well, and no two runs are the same: for finding races.
    #[must_use]
    pub fn processors(mut self, count: u32) -> Self {
        self.processors = count;
        self
    }

    /// The seed of the guest's random numbers. It is a word of the command line, which Linux mixes
    /// into its entropy (`random_init_early`), and there is no other source.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The wall time after which the machine is stopped: a safety net, not a measure.
    #[must_use]
    pub fn time_limit(mut self, limit: HostTime) -> Self {
        self.limit = limit;
        self
    }

    /// Calls `listener` with each complete line that the command prints, soon after it did.
    #[must_use]
    pub fn on_line(mut self, listener: impl FnMut(&str) + 'a) -> Self {
        self.listener = Box::new(listener);
        self
    }

    /// Boots, runs the shell `command` in `/job` as root, and halts. The command's output is the
    /// console; the files that it leaves in `/out` are returned. A second of virtual time is for 11
    /// kB of console, so results belong in `/out`.
    ///
    /// # Errors
    /// If the machine could not be started or stopped early, its kernel warned of a bug, or the
    /// limit passed. A command that fails is no error: see [`Outcome::exit`].
    pub fn run(mut self, command: &str) -> Result<Outcome, MachineError> {
        if !self.errors.is_empty() {
            return Err(self.errors.swap_remove(0));
        }
        let host =
            HostFiles::new(&self, command).map_err(failed("cannot make the machine's files"))?;
        let mut qemu = Guard(self.qemu(&host).spawn().map_err(MachineError::Start)?);
        self.watch(&mut qemu.0, &host)?;
        let read =
            |file: &File| read_all(file).map_err(failed("cannot read what the machine said"));
        let (console, kernel_log) = (read(&host.console)?, read(&host.log)?);
        if let Some(lines) = trouble(&kernel_log, 40) {
            return Err(MachineError::Kernel(lines));
        }
        let disk = read_disk(from_start(&host.disk).map_err(failed("cannot read the disk"))?);
        match disk.map_err(failed("the machine's results cannot be read"))? {
            Some((exit, uptime, busy, files)) => Ok(Outcome {
                exit,
                console,
                kernel_log,
                uptime,
                busy,
                files,
            }),
            None => Err(MachineError::NoResults {
                status: read(&host.errors)?.trim().into(),
                last: last_words(&console, &kernel_log),
            }),
        }
    }

    /// Waits for `qemu` to end, passing lines on, and stops it at the limit.
    #[expect(
        clippy::disallowed_methods,
        reason = "the limit is for the host, not in a result"
    )]
    fn watch(&mut self, qemu: &mut Child, host: &HostFiles) -> Result<(), MachineError> {
        let lost = || failed("cannot follow the machine");
        let started = std::time::Instant::now();
        let mut reported = 0;
        loop {
            let ended = qemu.try_wait().map_err(lost())?.is_some();
            let console = read_all(&host.console).map_err(lost())?;
            let complete = console.rfind('\n').map_or(0, |end| end + 1);
            if complete > reported {
                console[reported..complete]
                    .lines()
                    .for_each(&mut self.listener);
                reported = complete;
            }
            if ended {
                return Ok(());
            }
            if started.elapsed() > self.limit {
                let log = read_all(&host.log).map_err(lost())?;
                let last = last_words(&console, &log);
                return Err(MachineError::Limit {
                    seconds: self.limit.as_secs(),
                    last,
                });
            }
            thread::sleep(GLANCE);
        }
    }

    /// QEMU's command. `setpriv` makes it die with us, however we die.
    fn qemu(&self, host: &HostFiles) -> Command {
        let mut append = format!("{COMMAND_LINE} seed={}", self.seed);
        for word in &self.arguments {
            append.push(' ');
            append.push_str(word);
        }
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", QEMU])
            .args([
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-no-reboot",
            ])
            .args(["-machine", "q35", "-cpu", processor(self.processors)])
            .args(["-m", &self.memory_mib.to_string()])
            .args(clock(self.processors))
            .args(["-rtc", "base=2026-01-01,clock=vm", "-seed", "1"])
            .arg("-kernel")
            .arg(self.kernel.vmlinux())
            .args(["-initrd", &path_of(&host.initrd), "-append", &append])
            .args([
                "-chardev",
                &format!("file,id=log,path={}", path_of(&host.log)),
            ])
            .args(["-device", "isa-serial,chardev=log"])
            .args([
                "-chardev",
                &format!("file,id=console,path={}", path_of(&host.console)),
            ])
            .args(["-device", "isa-serial,chardev=console"])
            .args([
                "-drive",
                &format!("if=none,id=disk,file={},format=raw", path_of(&host.disk)),
            ])
            .args(["-device", "virtio-blk-pci,drive=disk"])
            .args(&self.emulator)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        match host.errors.try_clone() {
            Ok(file) => command.stderr(file),
            Err(_) => command.stderr(Stdio::inherit()),
        };
        command
    }
}

/// The processors' model.
fn processor(processors: u32) -> &'static str {
    match processors {
        1 => "qemu64,+rdrand",
        // If QEMU 7.2 runs processors in threads of their own, `cmpxchg16b` now and then leaves
        // flags that no processor has, and Linux' allocator fails: decision 0050.
        _ => "qemu64,+rdrand,-cx16",
    }
}

/// How the processors run, and their clock.
fn clock(processors: u32) -> Vec<String> {
    let words = match processors {
        // Recording, discarded, makes QEMU's main loop wait while instructions run. Without, it may
        // see the processor halted before its last instructions are counted, and skip too much idle
        // time (icount_start_warp_timer against rr_cpu_thread_fn, QEMU 7.2): less than a
        // microsecond, on a loaded host, now and then.
        1 => "-accel tcg,thread=single -icount shift=0,sleep=off,rr=record,rrfile=/dev/null -smp 1"
            .to_owned(),
        several => format!("-accel tcg,thread=multi -smp {several}"),
    };
    words.split(' ').map(str::to_owned).collect()
}

/// The machine's files on the host. None has a name: QEMU opens them through ours.
struct HostFiles {
    initrd: File,
    console: File,
    log: File,
    disk: File,
    errors: File,
}

impl HostFiles {
    /// Sparse; the guest's memory bounds the data written to it.
    const DISK_BYTES: u64 = 4 << 30;

    fn new(machine: &Machine, command: &str) -> io::Result<Self> {
        let disk = tempfile::tempfile()?;
        disk.set_len(Self::DISK_BYTES)?;
        let mut initrd = tempfile::tempfile()?;
        io::copy(&mut File::open(machine.kernel.base())?, &mut initrd)?;
        // Linux unpacks concatenated archives, each at a multiple of four.
        let length = initrd.stream_position()?;
        initrd.write_all(&[0; 4][..usize::try_from(length.wrapping_neg() % 4).unwrap_or(0)])?;
        let mut archive = Archive::new(io::BufWriter::new(&initrd));
        for content in &machine.files {
            archive.file(&content.path, content.executable, &content.bytes)?;
        }
        archive.file("/job/.command", true, command.as_bytes())?;
        archive.finish()?.flush()?;
        let [console, log, errors] = [
            tempfile::tempfile()?,
            tempfile::tempfile()?,
            tempfile::tempfile()?,
        ];
        Ok(Self {
            initrd,
            console,
            log,
            disk,
            errors,
        })
    }
}

/// How another process of ours opens `file`.
fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

/// QEMU, stopped and reaped when it goes out of scope.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn from_start(mut file: &File) -> io::Result<&File> {
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn read_all(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    from_start(file)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).replace('\r', ""))
}

fn last_words(console: &str, log: &str) -> String {
    format!("{}\n{}", tail(console, 15), tail(log, 15))
        .trim()
        .into()
}

fn failed(what: impl Into<String>) -> impl FnOnce(io::Error) -> MachineError {
    let what = what.into();
    move |error| MachineError::Io { what, error }
}
