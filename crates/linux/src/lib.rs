//! Real Linux in virtual time.
//!
//! A [`Machine`] boots a stock Debian kernel in QEMU with an instruction-counted clock: one
//! executed instruction is one nanosecond, and idle time is skipped. The host's load cannot change
//! what the guest sees, so the same files, command and seed give the same bytes, always.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kernel = linux::Cache::find()?.kernel("6.1")?;
//! let outcome = linux::Machine::new(kernel)
//!     .seed(7)
//!     .bytes("/job/hello", b"hello\n".to_vec())
//!     .run("cat hello; uname -r > /out/release")?;
//! assert_eq!(outcome.exit, 0);
//! println!("{} {:?}", outcome.console, outcome.file("release"));
//! # Ok(())
//! # }
//! ```
//!
//! The kernels, their modules and the base initramfs are made once by `make kernel-engine`, into
//! the [`Cache`]; `docs/guide-kernel.md` tells the rest.
//!
//! Not for: the traffic inside the machine (`guest`); anything that the simulator can answer faster
//! (`sim`).

#![deny(missing_docs)]

mod cache;
mod chance;
mod cpio;
mod disciplines;
mod engine;
mod host;
mod levels;
mod machine;
mod network;
mod outcome;
mod packets;
mod plan;
mod rates;
#[cfg(test)]
mod samples;
mod unsupported;
mod written;

pub use cache::{Cache, CacheError, DEFAULT_KERNEL, KERNELS, Kernel};
pub use disciplines::OURS;
pub use engine::{KernelEngine, SetupError};
pub use host::{HostEngine, HostError};
pub use machine::{Machine, MachineError};
pub use outcome::Outcome;
pub use unsupported::unsupported;
