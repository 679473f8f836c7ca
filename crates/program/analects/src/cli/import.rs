//! The arguments of `analects import`.

use super::within::within;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use units::{Duration, Rate};

/// What a scenario is made from.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// A dump of a call, as chrome://webrtc-internals writes it in Chromium, Chrome and Edge: "Create a
    /// WebRTC-Internals dump", either of its two formats; or as rtcstats records it. Compressed or not.
    WebrtcInternals(InternalsArgs),
    /// A data file of flent (`.flent`, `.flent.gz`, `.flent.bz2`): its transfers and its ping, on a line as fast as the run found it.
    Flent(FlentArgs),
    /// Recorded capacity in columns or in JSON, as a trace of `seconds megabits_per_second`: 3G and 4G logs of
    /// six columns, 5G tables with names of columns, times of any form, decimal commas, the patterns of
    /// OpenNetLab and rattan. Compressed or not. Says what it understood.
    Trace(TraceArgs),
}

/// A recording of a link's capacity, and what it does not say.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// The file.
    pub file: PathBuf,
    /// The column of times, by its number from 1 or by its name; without it, the one whose name says so, or the
    /// first.
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// The unit of times that are numbers: s, ms, us or ns; without it, what the column's name or their size says.
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<String>,
    /// How long each line holds, if there are no times, such as 1s.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["time", "time_unit"])]
    pub every: Option<String>,
    /// The column of rates; without it, the one whose name says so, or the second of two.
    #[arg(long, value_name = "COLUMN")]
    pub rate: Option<String>,
    /// The unit of rates: mbit, kbit, bit, gbit, MB, kB or bytes a second; without it, what the column's name
    /// says, or mbit.
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// The column of bytes that came in an interval, instead of rates.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["rate", "unit", "every"])]
    pub bytes: Option<String>,
    /// The column of the lengths of these intervals, in milliseconds. Each begins where the one before ends.
    #[arg(long, value_name = "COLUMN")]
    pub ms: Option<String>,
    /// The uplink of a file of JSON that has both directions; without it, the downlink.
    #[arg(long)]
    pub up: bool,
    /// Write the trace into this file. Without it, it is printed.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A data file of flent, and what it does not know.
#[derive(Debug, Args)]
pub struct FlentArgs {
    /// The file.
    pub file: PathBuf,
    /// The rate at which the line receives; without it, from the run's downloads.
    #[arg(long, value_name = "RATE", value_parser = within::<Rate>("1kbit", "1000gbit"))]
    pub down: Option<Rate>,
    /// The rate at which the line sends; without it, from the run's uploads.
    #[arg(long, value_name = "RATE", value_parser = within::<Rate>("1kbit", "1000gbit"))]
    pub up: Option<Rate>,
    /// The line's round trip; without it, the run's shortest ping, or of a run without pings what comes
    /// nearest: TCP's own round trip, a call's delay, a request over HTTP.
    #[arg(long, value_name = "TIME", value_parser = within::<Duration>("1ms", "10s"))]
    pub rtt: Option<Duration>,
    /// Write the scenario into this file, and print the run's figures and the command that prints ours.
    /// Without it, the scenario is printed.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A dump of webrtc-internals, and what it does not know.
#[derive(Debug, Args)]
pub struct InternalsArgs {
    /// The dump.
    pub dump: PathBuf,
    /// The rate at which the line receives, such as 50mbit: a dump does not know it. Without it, 100mbit,
    /// on which no call alone has a queue.
    #[arg(long, value_name = "RATE", value_parser = within::<Rate>("1kbit", "1000gbit"))]
    pub down: Option<Rate>,
    /// The rate at which the line sends; likewise.
    #[arg(long, value_name = "RATE", value_parser = within::<Rate>("1kbit", "1000gbit"))]
    pub up: Option<Rate>,
    /// The connection, if the dump has several; without it, the one with most bytes of video.
    #[arg(long, value_name = "ID")]
    pub connection: Option<String>,
    /// The time in the call at which the scenario begins; without it, the beginning, or in a call longer
    /// than --for the part with most trouble.
    #[arg(long, value_name = "TIME", value_parser = within::<Duration>("0s", "168h"))]
    pub from: Option<Duration>,
    /// The longest time that the scenario covers, from 10s to 1h.
    #[arg(long = "for", value_name = "TIME", default_value = "5m", value_parser = within::<Duration>("10s", "1h"))]
    pub most: Duration,
    /// Write the scenario into this file, and print a summary, a timeline of what the dump knows, and the next
    /// command. Without it, the scenario is printed, and the timeline on standard error.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a page on the dump into this file: the timeline, and rates, losses, round trips, frames and
    /// freezes over time. It has no addresses, URLs or names of devices.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}
