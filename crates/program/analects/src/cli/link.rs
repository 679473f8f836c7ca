//! The arguments of `analects link`.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// A link, and what to run behind it.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// The scenario whose link it is; its traffic is left out. Without it, the options alone declare the link.
    pub scenario: Option<PathBuf>,
    /// A link that people have, instead of a scenario: `analects describe NAME` shows it.
    #[arg(long, value_name = "NAME", conflicts_with = "scenario")]
    pub preset: Option<String>,
    /// Change a key of the scenario: link.jitter=5ms, link.device=10, link.up.discipline=cake. Every key of [link] and
    /// [link.up] is one: `analects describe scenario`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The rate towards the command, such as 20mbit, or a file with a trace, of ours or Mahimahi's.
    /// Without it, the rate is not limited.
    #[arg(long, value_name = "RATE|TRACE")]
    pub down: Option<String>,
    /// The same away from the command. Without it, the rate is not limited.
    #[arg(long, value_name = "RATE|TRACE")]
    pub up: Option<String>,
    /// The round trip without queues, half in each direction, up to 60s.
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,
    /// The share of packets that the wire loses in each direction: 1% or 0.01.
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<String>,
    /// The discipline of directions that the scenario names none for. Without it, the first that the scenario
    /// compares, or pfifo.
    #[arg(long, short = 'd', value_name = "NAME[,key=value...]")]
    pub discipline: Option<String>,
    /// The limit of both queues: 250p, 375kB, or 1.5bdp. Without it, the discipline's own.
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<String>,
    /// Write a summary of the traffic as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a line for each packet that leaves a queue to this file, as CSV, with the columns of
    /// `analects run --log`.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write the packets that leave the queues to this file, for Wireshark and tcpdump. Packets that are
    /// still to be cut into segments are whole.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Show rates, queues and flows with their classes while the command runs, on this terminal or another
    /// one: /dev/pts/3.
    #[arg(long, value_name = "TERMINAL", num_args = 0..=1, require_equals = true)]
    pub watch: Option<Option<PathBuf>>,
    /// Let the command reach the Internet through the link, over IPv4, by slirp4netns. Nothing of the host
    /// is changed; the host's own addresses other than loopback are reachable, too.
    #[arg(long)]
    pub internet: bool,
    /// Run this line of sh at the far side of the link as long as the command runs: a server that the
    /// command reaches at $ANALECTS_FAR, for example. The far side is a network of its own, with no other
    /// server. The summary says if the line ended before the command.
    #[arg(long, value_name = "LINE")]
    pub far: Option<OsString>,
    /// Begin the command when a server of --far listens at this port, over TCP or UDP; fail if none does in
    /// 30 s.
    #[arg(long, value_name = "PORT", requires = "far", value_parser = clap::value_parser!(u16).range(1..))]
    pub far_ready: Option<u16>,
    /// Let the far side be this host's own network, for servers that run here already. Its firewall has to
    /// let packets of the devices analects0 to analects62 in. Only for root.
    #[arg(long, conflicts_with = "internet")]
    pub host: bool,
    /// The command. Without it, a shell.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
