//! A recording's file, which may be compressed.

use scenario::files;
use std::path::Path;

/// The largest file in bytes, after decompression: the dump of a call of a day has less.
const MOST: u64 = 256 << 20;

/// The bytes of a file that may be compressed.
pub fn plain(path: &Path) -> Result<Vec<u8>, String> {
    files::unpacked(path, MOST)
}
