//! The outcome of a machine: read from its disk and from its kernel's messages.

use std::collections::BTreeMap;
use std::io::{self, Read};

use units::Duration;

/// The outcome of a command in a [`Machine`](crate::Machine).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The command's exit code.
    pub exit: i32,
    /// The output of the command, standard output and error in the order of arrival.
    pub console: String,
    /// The messages of the kernel. Lines from after the command's end have the host's timing.
    pub kernel_log: String,
    /// Virtual time from the kernel's start to the command's end, to 10 ms.
    pub uptime: Duration,
    /// How much of that the processor was busy, to 10 ms; a nanosecond is an instruction.
    pub busy: Duration,
    /// Every file that the command left under `/out`, by its path there.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Outcome {
    /// The file that the command left at `/out/{path}`.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }
}

/// The lines of a kernel log that mean the run cannot be trusted.
const TROUBLE: [&str; 7] = [
    "Kernel panic",
    "Oops",
    "BUG:",
    "WARNING:",
    "general protection fault",
    "Out of memory",
    "analects:",
];

/// The first line of `log` that reports trouble, with up to `context` lines after it.
pub(crate) fn trouble(log: &str, context: usize) -> Option<String> {
    let at = log
        .lines()
        .position(|line| TROUBLE.iter().any(|word| line.contains(word)))?;
    Some(
        log.lines()
            .skip(at)
            .take(1 + context)
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

/// The last `lines` lines of `text`.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let skip = text.lines().count().saturating_sub(lines);
    text.lines().skip(skip).collect::<Vec<_>>().join("\n")
}

/// The results on the machine's disk: exit code, uptime, busy time and the files of `/out`; nothing
/// if the machine never wrote it.
pub(crate) type Results = (i32, Duration, Duration, BTreeMap<String, Vec<u8>>);

/// Reads the tar that the guest's `/init` wrote to its disk: `status`, then `out/…`.
pub(crate) fn read_disk(disk: impl Read) -> io::Result<Option<Results>> {
    let mut status = None;
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(disk).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        match path.strip_prefix("out/") {
            Some(name) => drop(files.insert(name.into(), bytes)),
            None if path == "status" => status = parse_status(&String::from_utf8_lossy(&bytes)),
            None => {}
        }
    }
    Ok(status.map(|(exit, uptime, busy)| (exit, uptime, busy, files)))
}

/// `EXIT UPTIME IDLE`: a number and the contents of /proc/uptime, seconds with two decimals.
fn parse_status(text: &str) -> Option<(i32, Duration, Duration)> {
    let mut words = text.split_whitespace();
    let exit = words.next()?.parse().ok()?;
    let uptime = centiseconds(words.next()?)?;
    let idle = centiseconds(words.next()?)?;
    let duration = |cs: u64| Duration::from_millis(cs * 10);
    Some((
        exit,
        duration(uptime),
        duration(uptime.saturating_sub(idle)),
    ))
}

fn centiseconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.')?;
    if part.len() != 2 {
        return None;
    }
    whole
        .parse::<u32>()
        .ok()
        .zip(part.parse::<u8>().ok())
        .map(|(w, p)| u64::from(w) * 100 + u64::from(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, bytes) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, path, *bytes).unwrap();
        }
        let mut bytes = tar.into_inner().unwrap();
        bytes.resize(1 << 16, 0);
        bytes
    }

    #[test]
    fn results_are_read_from_a_disk_longer_than_its_tar() {
        let bytes = disk(&[
            ("status", b"3 12.50 10.25\n"),
            ("out/a/b", b"x"),
            ("out/c", b""),
        ]);
        let (exit, uptime, busy, files) = read_disk(&bytes[..]).unwrap().unwrap();
        assert_eq!((exit, uptime), (3, Duration::from_millis(12_500)));
        assert_eq!(busy, Duration::from_millis(2_250));
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a/b", "c"]);
    }

    #[test]
    fn an_untouched_disk_holds_no_results() {
        assert_eq!(read_disk(&[0; 4096][..]).unwrap(), None);
    }

    #[test]
    fn a_disk_cut_short_is_an_error_not_a_result() {
        let bytes = disk(&[("status", b"0 1.00 0.00"), ("out/a", &[1; 4000])]);
        assert!(read_disk(&bytes[..2048]).is_err());
    }

    #[test]
    fn trouble_is_found_with_what_follows_it() {
        assert_eq!(trouble("fine\nalso fine", 3), None);
        let log = "fine\n[1.0] BUG: unable to handle\nline\nlast";
        assert_eq!(
            trouble(log, 1).unwrap(),
            "[1.0] BUG: unable to handle\nline"
        );
    }
}
