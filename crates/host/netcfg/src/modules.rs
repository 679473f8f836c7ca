//! Whether the kernel loads modules, and the remedy where it lacks a part.

use std::path::Path;

/// What the kernel can do about a part that it lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modules {
    /// It loads modules.
    Loaded,
    /// It was built without CONFIG_MODULES.
    Unsupported,
}

impl Modules {
    /// What this kernel can do.
    pub(crate) fn here() -> Self {
        Modules::of(Path::new("/proc"))
    }

    /// The same by a folder with the kernel's files. kernel/module/procfs.c makes `modules`, and is built
    /// with CONFIG_MODULES only. Where /proc is not mounted, assume that it loads them.
    fn of(proc: &Path) -> Self {
        let mounted = proc.join("version").exists();
        if mounted && !proc.join("modules").exists() {
            Modules::Unsupported
        } else {
            Modules::Loaded
        }
    }

    /// The remedy where the kernel lacks `parts`; `package` says which package has them.
    pub(crate) fn remedy(self, parts: &str, package: &str) -> String {
        match self {
            Modules::Loaded => format!("install the kernel's module {parts}, {package}"),
            Modules::Unsupported => {
                format!("this kernel has no support for modules: it has to have {parts} built in")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, remove_dir_all, write};

    #[test]
    fn only_a_kernel_with_modules_lists_them() {
        let name = format!("analects-modules-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        create_dir_all(&folder).unwrap();
        assert_eq!(Modules::of(&folder), Modules::Loaded, "not mounted");
        write(folder.join("version"), "").unwrap();
        assert_eq!(Modules::of(&folder), Modules::Unsupported);
        write(folder.join("modules"), "").unwrap();
        assert_eq!(Modules::of(&folder), Modules::Loaded);
        remove_dir_all(&folder).unwrap();
    }
}
