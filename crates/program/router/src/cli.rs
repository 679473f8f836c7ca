//! The commands of a router, and their arguments, declared once.

mod autorate;
mod doctor;
mod gateway;
mod pace;
mod page;
mod probe;
mod tc;

pub use autorate::{AutorateArgs, Favoured};
use clap::Subcommand;
pub use doctor::{DoctorArgs, Examined};
pub use gateway::{ChangeArgs, GatewayArgs, RunningCommand};
pub use pace::{PACED, PaceArgs};
pub use page::PageArgs;
pub use probe::{ProbeArgs, ProbeCommand, ProbeServe};
pub use tc::{SHAPED, ShowFormat, TRIAL, TcApply, TcClear, TcCommand, TcKeep, TcShow};

/// What to do on this host.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Hold this host's incoming web traffic to a rate, so that a call beside it survives a router that
    /// cannot be changed. Runs until it is interrupted; needs root.
    Pace(PaceArgs),
    /// Shape what this router forwards between two devices, with any discipline, without kernel modules. Runs
    /// until it is interrupted; needs root. If it dies, packets pass.
    Gateway(GatewayArgs),
    /// Change settings of a running gateway or pacer; packets that wait keep their places.
    Change(ChangeArgs),
    /// Put a discipline on a device of this host, behind a shaper; show it; remove it.
    Tc {
        /// What to do.
        #[command(subcommand)]
        command: TcCommand,
    },
    /// Follow a line that changes: give the shaper of `tc apply` the rates that the line carries, or only say them, by
    /// the packets that pass the device: their headers only. Runs until it is interrupted; needs root.
    Autorate(AutorateArgs),
    /// Find what manages the queue of the path to a host that runs `analects probe serve`: fair queuing,
    /// a shared FIFO, or an AQM; and what that means for a call.
    Probe(ProbeArgs),
    /// Look at this host for what `link`, `gateway`, `pace`, `tc`, `browser` and `probe` need: a line each, with
    /// its remedy. Changes nothing. The status is 1 if something that one of them needs lacks.
    Doctor(DoctorArgs),
}
