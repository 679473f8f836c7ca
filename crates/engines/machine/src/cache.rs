//! The cache of `make kernel-engine`: where kernels are, and the files of each.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The kernels that are known by name: Debian 12's, Debian 12's backport, and the newest 7.
pub const KERNELS: [&str; 3] = ["6.1", "6.12", "7.x"];

/// The disciplines whose modules are this project's.
pub const OURS: [&str; 3] = ["confucius", "mencius", "floq"];

/// The kernel that is used by default. `scripts/kernel-engine.sh` has the same default.
pub const DEFAULT_KERNEL: &str = "6.1";

/// Why no kernel can be booted; always with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Neither of the variables for the caches' folders is set.
    #[error("no cache directory: set ANALECTS_CACHE, XDG_CACHE_HOME or HOME")]
    NoPlace,
    /// A kernel that does not exist.
    #[error("there is no kernel \"{name}\": expected one of {}", KERNELS.join(", "), name = .0)]
    Unknown(String),
    /// The kernel has not been fetched.
    #[error("{} is missing: run `make kernel-engine RELEASE={kernel}` (or RELEASE=all)", .file.display())]
    Missing {
        /// The kernel's name.
        kernel: String,
        /// The first file of it that is missing.
        file: PathBuf,
    },
    /// A kernel's folder lacks a file.
    #[error("{} is missing", .0.display())]
    Incomplete(PathBuf),
}

/// The directory `$ANALECTS_CACHE/kernel`, by default `~/.cache/analects/kernel`.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

impl Cache {
    /// The cache that the environment names.
    ///
    /// # Errors
    /// [`CacheError::NoPlace`] if it names none.
    pub fn find() -> Result<Self, CacheError> {
        let set = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let root = set("ANALECTS_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").map(|d| d.join("analects")))
            .or_else(|| set("HOME").map(|d| d.join(".cache/analects")))
            .ok_or(CacheError::NoPlace)?;
        Ok(Self(root.join("kernel")))
    }

    /// The cache at `dir`.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self(dir.into())
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// The plugin that `tc` reads one of our disciplines' parameters with, if it has been built.
    #[must_use]
    pub fn plugin(&self, discipline: &str) -> Option<PathBuf> {
        Some(self.0.join(format!("q_{discipline}.so"))).filter(|file| file.is_file())
    }

    /// The kernel called `name`, one of [`KERNELS`].
    ///
    /// # Errors
    /// If there is no such kernel, or it has not been fetched.
    pub fn kernel(&self, name: &str) -> Result<Kernel, CacheError> {
        if !KERNELS.contains(&name) {
            return Err(CacheError::Unknown(name.into()));
        }
        Kernel::at(name, self.0.join(name)).map_err(|error| match error {
            CacheError::Incomplete(file) => CacheError::Missing {
                kernel: name.into(),
                file,
            },
            other => other,
        })
    }
}

/// One kernel: of the [`Cache`], or in a folder like those there.
#[derive(Clone, Debug)]
pub struct Kernel {
    name: String,
    dir: PathBuf,
}

impl Kernel {
    /// The kernel in the folder `dir`: `vmlinux`, `base.cpio` and `release`.
    ///
    /// # Errors
    /// [`CacheError::Incomplete`] if one of them is missing.
    pub fn at(name: &str, dir: impl Into<PathBuf>) -> Result<Self, CacheError> {
        let kernel = Self {
            name: name.into(),
            dir: dir.into(),
        };
        let needed = [kernel.vmlinux(), kernel.base(), kernel.dir.join("release")];
        match needed.into_iter().find(|file| !file.is_file()) {
            Some(file) => Err(CacheError::Incomplete(file)),
            None => Ok(kernel),
        }
    }

    /// Its name, in the [`Cache`] one of [`KERNELS`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its `uname -r`, such as `6.1.0-56-amd64`; empty if that cannot be read.
    #[must_use]
    pub fn release(&self) -> String {
        fs::read_to_string(self.dir.join("release"))
            .unwrap_or_default()
            .trim()
            .into()
    }

    /// The uncompressed kernel, which QEMU boots through its PVH entry.
    #[must_use]
    pub fn vmlinux(&self) -> PathBuf {
        self.dir.join("vmlinux")
    }

    /// The initramfs of busybox, `ip`, `tc` and network modules.
    #[must_use]
    pub fn base(&self) -> PathBuf {
        self.dir.join("base.cpio")
    }

    /// One of our queue disciplines built for this kernel, if it has been.
    #[must_use]
    pub fn module(&self, discipline: &str) -> Option<PathBuf> {
        Some(self.dir.join(format!("sch_{discipline}.ko"))).filter(|file| file.is_file())
    }

    /// The directory that holds all of it.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_was_not_fetched_says_how_to_fetch_it() {
        let dir = tempfile::tempdir().unwrap();
        let error = Cache::at(dir.path())
            .kernel("6.12")
            .unwrap_err()
            .to_string();
        assert!(error.contains("6.12/vmlinux is missing"), "{error}");
        assert!(error.contains("make kernel-engine RELEASE=6.12"), "{error}");
    }

    #[test]
    fn an_unknown_kernel_is_told_the_known_ones() {
        let error = Cache::at("/nowhere")
            .kernel("../6.1")
            .unwrap_err()
            .to_string();
        assert!(error.contains("6.1, 6.12, 7.x"), "{error}");
    }

    #[test]
    fn a_folder_without_a_kernel_is_told_what_it_lacks() {
        let error = Kernel::at("own", "/nowhere").unwrap_err().to_string();
        assert_eq!(error, "/nowhere/vmlinux is missing");
    }

    #[test]
    fn a_fetched_kernel_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let k = dir.path().join("7.x");
        fs::create_dir(&k).unwrap();
        for (name, text) in [
            ("vmlinux", ""),
            ("base.cpio", ""),
            ("release", "7.2.12-amd64\n"),
        ] {
            fs::write(k.join(name), text).unwrap();
        }
        let kernel = Cache::at(dir.path()).kernel("7.x").unwrap();
        assert_eq!(
            (kernel.release().as_str(), kernel.module("mencius")),
            ("7.2.12-amd64", None)
        );
    }
}
