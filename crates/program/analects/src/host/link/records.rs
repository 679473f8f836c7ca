//! Files with the packets that leave the queues of a link.

use crate::cli::LinkArgs;
use command::Refused;
use command::files::{distinct, unwritable, writable};
use live::{Fate, Gone, Tap};
use report::taps::{Capture, PacketLine, PacketLines};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use units::Ecn;

/// The longest packet.
const SNAP: u32 = 1 << 16;

/// The files.
pub struct LinkRecords {
    log: Option<(PathBuf, PacketLines<File>)>,
    capture: Option<(PathBuf, Capture<File>)>,
    /// Nanoseconds since 1970 when the link began.
    began: u64,
    packets: u64,
}

impl LinkRecords {
    /// Opens those that are asked for; none if none are.
    ///
    /// # Errors
    /// If one cannot be written, or is named twice.
    pub fn open(args: &LinkArgs) -> Result<Option<LinkRecords>, Refused> {
        let asked = [&args.log, &args.pcap, &args.json];
        let asked: Vec<PathBuf> = asked.into_iter().flatten().cloned().collect();
        distinct(None, &asked)?;
        asked.iter().try_for_each(|file| writable(file))?;
        if args.log.is_none() && args.pcap.is_none() {
            return Ok(None);
        }
        let log = args.log.as_deref().map(create).transpose()?;
        let capture = args.pcap.as_deref().map(create).transpose()?;
        Ok(Some(LinkRecords {
            log: log.map(|(path, file)| (path, PacketLines::new(file))),
            capture: capture.map(|(path, file)| (path, Capture::new(file, SNAP))),
            began: since_1970(),
            packets: 0,
        }))
    }

    /// Writes the data that is still held back.
    ///
    /// # Errors
    /// The first error since the link began.
    pub fn finish(&mut self) -> Result<(), Refused> {
        let of = |(path, done): (&PathBuf, io::Result<()>)| {
            done.map_err(|error| unwritable(path, &error))
        };
        let log = self.log.as_mut().map(|(path, log)| (&*path, log.finish()));
        log.map(of).transpose()?;
        let capture = self.capture.as_mut();
        let capture = capture.map(|(path, capture)| (&*path, capture.finish()));
        capture.map(of).transpose()?;
        Ok(())
    }
}

impl Tap for LinkRecords {
    fn gone(&mut self, gone: &Gone<'_>) {
        self.packets += 1;
        let Some(ends) = gone.frame.ends() else {
            return;
        };
        let (decision, reason) = match gone.fate {
            Fate::Sent => ("sent", ""),
            Fate::Marked => ("marked", ""),
            Fate::Lost => ("lost", ""),
            Fate::Dropped(reason) => ("dropped", reason.name()),
        };
        if let Some((_, log)) = &mut self.log {
            let [source, destination] = [ends.source, ends.destination].map(|end| end.to_string());
            log.add(&PacketLine {
                came: gone.came,
                left: gone.left,
                link: gone.direction.name(),
                packet: self.packets,
                flow: "",
                carrier: carrier(ends.protocol),
                ends: [&source, &destination],
                bytes: gone.bytes,
                ecn: Ecn::of_tos(ends.tos),
                decision,
                reason,
            });
        }
        if let Some((_, capture)) = &mut self.capture
            && !matches!(gone.fate, Fate::Dropped(_))
        {
            let packet = gone.frame.finished();
            let at = self.began.saturating_add(gone.left.as_nanos());
            capture.add(at, &packet, packet.len() as u32);
        }
    }
}

/// A protocol's name, of those with ports.
fn carrier(protocol: u8) -> &'static str {
    match protocol {
        6 => "tcp",
        17 => "udp",
        _ => "",
    }
}

fn create(path: &Path) -> Result<(PathBuf, File), Refused> {
    let file = File::create(path).map_err(|error| unwritable(path, &error))?;
    Ok((path.to_owned(), file))
}

#[expect(clippy::disallowed_methods, reason = "a capture has the time of day")]
fn since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
