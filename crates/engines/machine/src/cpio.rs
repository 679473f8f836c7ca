//! The `newc` cpio format, as far as an initramfs needs it (Linux,
//! Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::io::{self, Write};

const DIRECTORY: u32 = 0o040_755;
const REGULAR: u32 = 0o100_000;

/// Writes one archive; all files in it belong to root and are of the epoch, so that equal contents
/// are equal bytes.
pub(crate) struct Archive<W> {
    to: W,
    inode: u32,
    directories: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            inode: 0,
            directories: BTreeSet::new(),
        }
    }

    /// Adds a file at `path` (absolute or not) and the directories above it.
    pub(crate) fn file(&mut self, path: &str, executable: bool, bytes: &[u8]) -> io::Result<()> {
        let path = path.trim_start_matches('/');
        if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            let why = format!("\"{path}\" is not the path of a file in the guest");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        for (end, _) in path.match_indices('/') {
            if self.directories.insert(path[..end].into()) {
                self.entry(&path[..end], DIRECTORY, &[])?;
            }
        }
        self.entry(
            path,
            REGULAR | if executable { 0o755 } else { 0o644 },
            bytes,
        )
    }

    /// Ends the archive and returns its writer.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, &[])?;
        Ok(self.to)
    }

    fn entry(&mut self, name: &str, mode: u32, bytes: &[u8]) -> io::Result<()> {
        let too_large = |_| io::Error::new(io::ErrorKind::InvalidInput, "over 4 GiB");
        let size = u32::try_from(bytes.len()).map_err(too_large)?;
        let name_size = u32::try_from(name.len() + 1).map_err(too_large)?;
        self.inode += 1;
        let links = if mode == DIRECTORY { 2 } else { 1 };
        // inode mode uid gid links mtime size, device and special device, length of name, checksum
        let fields = [
            self.inode, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name_size, 0,
        ];
        write!(self.to, "070701")?;
        for field in fields {
            write!(self.to, "{field:08X}")?;
        }
        self.to.write_all(name.as_bytes())?;
        let header = 6 + 8 * fields.len() + name.len();
        self.to.write_all(&[0; 4][..1 + padding(header + 1)])?;
        self.to.write_all(bytes)?;
        self.to.write_all(&[0; 4][..padding(bytes.len())])
    }
}

/// How many bytes fill `length` up to a multiple of four.
fn padding(length: usize) -> usize {
    (4 - length % 4) % 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_header_a_name_and_its_bytes_each_padded_to_four() {
        let mut archive = Archive::new(Vec::new());
        archive.file("/ab", true, b"hello").unwrap();
        let bytes = archive.finish().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("07070100000001000081ED0000000000000000000000010000000000000005"));
        assert_eq!(&text[110..124], "ab\0\0\0\0hello\0\0\0");
        assert!(text.ends_with("TRAILER!!!\0\0\0\0"));
        assert_eq!(text.len() % 4, 0);
    }

    #[test]
    fn directories_come_once_and_before_what_is_in_them() {
        let mut archive = Archive::new(Vec::new());
        archive.file("a/b/c", false, b"").unwrap();
        archive.file("a/b/d", false, b"").unwrap();
        let text = String::from_utf8(archive.finish().unwrap()).unwrap();
        let at = |name: &str| text.match_indices(name).map(|(i, _)| i).collect::<Vec<_>>();
        assert_eq!((at("a\0").len(), at("a/b\0").len()), (1, 1));
        assert!(at("a\0")[0] < at("a/b\0")[0] && at("a/b\0")[0] < at("a/b/c\0")[0]);
    }

    #[test]
    fn paths_that_leave_the_root_or_name_nothing_are_refused() {
        for path in ["", "/", "a//b", "../x", "a/./b", "a/"] {
            assert!(
                Archive::new(Vec::new()).file(path, false, b"").is_err(),
                "{path}"
            );
        }
    }
}
