//! A stock Linux kernel in virtual time.
//!
//! A [`Machine`] boots a stock Debian kernel in QEMU with an instruction-counted clock: one
//! executed instruction is one nanosecond, and idle time is skipped. The host's load cannot change
//! what the guest sees, so the same files, command and seed give the same bytes, always.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kernel = machine::Cache::find()?.kernel("6.1")?;
//! let outcome = machine::Machine::new(kernel)
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
//! the [`Cache`]; see `docs/guide-kernel.md`.
//!
//! Not for: networks and traffic inside the machine (`linux`, `guest`).

#![deny(missing_docs)]

mod cache;
mod cpio;
mod machine;
mod outcome;

pub use cache::{Cache, CacheError, DEFAULT_KERNEL, KERNELS, Kernel, OURS};
pub use machine::{Machine, MachineError};
pub use outcome::Outcome;
