//! `analects browser`.

use clap::Args;
use std::path::PathBuf;

/// Options of `analects browser`.
#[derive(Debug, Args)]
pub struct BrowserArgs {
    /// A discipline of the link; several are compared. Without it: pfifo, fq_codel, cake and mencius.
    #[arg(long = "discipline", short = 'd', value_name = "NAME[,key=value...]")]
    pub disciplines: Vec<String>,
    /// Try each discipline also with `analects pace` on the receiver's computer, at this rate; several are
    /// compared. Pages are then served from the web's ports, 443 and 80, in all runs.
    #[arg(long, value_name = "RATE|adaptive", conflicts_with = "no_pages")]
    pub pace: Vec<String>,
    /// The link's rate in both directions, or a file with a trace, as for `analects link`.
    #[arg(long, value_name = "RATE|TRACE", default_value = "3mbit")]
    pub rate: String,
    /// The round trip without queues.
    #[arg(long, value_name = "TIME", default_value = "40ms")]
    pub rtt: String,
    /// The limit of both queues: 250p, 375kB, or 1.5bdp. Without it, the discipline's own.
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<String>,
    /// The most that the call sends, kbit/s.
    #[arg(long, value_name = "KBIT", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(50..=20_000))]
    pub call: u32,
    /// How long each call goes on before it is measured, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub warmup: u32,
    /// How long each call is measured, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,
    /// From one page to the next, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub every: u32,
    /// How often each discipline is tried, each time with other pages, and once without pages. Of several
    /// repeats, those in which this host was too slow are made again with other pages: up to as many again.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Only calls, without pages.
    #[arg(long, conflicts_with_all = ["har", "every"])]
    pub no_pages: bool,
    /// A recording of pages to open, or a folder of them; several are opened in turn. Without it, sites of
    /// 1 to 4 MB drawn as those of HTTP Archive.
    #[arg(long, value_name = "FILE")]
    pub har: Vec<String>,
    /// Write all runs as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Keep what the browsers told, and the link's packets, in this folder, which must not exist. Of each call
    /// `call.rtcstats` is what `analects import webrtc-internals` reads.
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
}
