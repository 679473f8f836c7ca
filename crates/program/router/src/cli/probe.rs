//! The arguments of `analects probe`.

use clap::{Args, Subcommand};
use probe::Pin;
use probe::limits::AddressPrefix;
use std::net::SocketAddr;
use std::path::PathBuf;
use units::{Bytes, Rate};

/// The path to probe, and how to report on it.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ProbeArgs {
    /// To serve instead.
    #[command(subcommand)]
    pub command: Option<ProbeCommand>,
    /// The host, such as example.org, 192.0.2.1:7411 or `[2001:db8::1]:7411`.
    #[arg(required = true, value_name = "HOST[:PORT]")]
    pub host: Option<String>,
    /// The server's pin, which `analects probe serve` prints.
    #[arg(long, value_name = "PIN", required_unless_present = "trust_anyone")]
    pub pin: Option<Pin>,
    /// Accept any server that answers: anyone on the path can pose as it, and report anything.
    #[arg(long, conflicts_with = "pin")]
    pub trust_anyone: bool,
    /// Duration of the probe, 3 s to 1 h; servers permit 60 s by default. A small call is sent as long: for half a
    /// second alone, and then beside the load.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub seconds: u64,
    /// Send two trains of 88 packets instead of a load: less than 150 kB, and under a second where round
    /// trips take 50 ms or less. It can find fair queuing, and nothing else: packets that stay in order
    /// belong to one queue, or to one that shows nothing while it is idle. It says nothing of a path
    /// that others keep busy, and nothing of calls.
    #[arg(long, conflicts_with_all = ["seconds", "watch", "rate"])]
    pub quick: bool,
    /// Send data to the server, to probe the uplink's queue. Without it, the server sends, which probes
    /// the downlink's, where most of a home's traffic is.
    #[arg(long, conflicts_with = "down")]
    pub up: bool,
    /// Probe the downlink's queue: the server sends data. This is the default.
    #[arg(long)]
    pub down: bool,
    /// Send no faster than this with --up, such as 20mbit.
    #[arg(long, default_value = "1gbit", value_name = "RATE")]
    pub rate: Rate,
    /// Print the report as JSON, on one line.
    #[arg(long)]
    pub json: bool,
    /// Print a line whenever the verdict changes, and the report over the whole time at the end.
    #[arg(long)]
    pub watch: bool,
}

/// Other things to do.
#[derive(Debug, Subcommand)]
pub enum ProbeCommand {
    /// Answer probes until stopped. Data goes to proven addresses only, within the limits below.
    Serve(ProbeServe),
}

/// The address and the limits of a server.
#[derive(Debug, Args)]
pub struct ProbeServe {
    /// The address to listen on. [::] answers IPv4 too, and is 0.0.0.0 on a kernel without IPv6.
    #[arg(long, default_value = "[::]:7411", value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
    /// The file of the server's key, readable by its owner only; it is created if it does not exist.
    #[arg(long, default_value = "analects-probe.key", value_name = "FILE")]
    pub key: PathBuf,
    /// Answer this network only. May be repeated. Without it, every client is answered.
    #[arg(long, value_name = "CIDR")]
    pub allow: Vec<AddressPrefix>,
    /// Number of probes at once, in all; each address may run one at once.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub clients: u16,
    /// The longest probe, in seconds.
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub seconds: u64,
    /// The highest rate of one probe.
    #[arg(long, default_value = "200mbit", value_name = "RATE")]
    pub rate: Rate,
    /// The highest rate of all probes together.
    #[arg(long, default_value = "400mbit", value_name = "RATE")]
    pub rate_in_all: Rate,
    /// Data that one address (an IPv6 /64) may use in an hour.
    #[arg(long, default_value = "2GB", value_name = "BYTES")]
    pub bytes: Bytes,
    /// Data that all clients may use in an hour.
    #[arg(long, default_value = "20GB", value_name = "BYTES")]
    pub bytes_in_all: Bytes,
    /// A certificate of an authority, in PEM, for `analects measure` without --pin. Needs --certificate-key.
    #[cfg(feature = "measure")]
    #[arg(long, value_name = "FILE", requires = "certificate_key")]
    pub certificate: Option<PathBuf>,
    /// The certificate's key, in PEM.
    #[cfg(feature = "measure")]
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub certificate_key: Option<PathBuf>,
    /// Serve a page at https://ADDRESS:PORT/ by which a browser measures its line as `analects measure` does. Its call
    /// takes the UDP port after this one. Without --certificate, browsers warn of the page's own.
    #[cfg(feature = "measure")]
    #[arg(long)]
    pub page: bool,
    /// The address of a playground (docs/playground.md), to which the page's result leads.
    #[cfg(feature = "measure")]
    #[arg(long, value_name = "URL", requires = "page")]
    pub playground: Option<String>,
}
