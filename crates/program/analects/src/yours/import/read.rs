//! A dump's file, in either of two formats.

use super::dump::Dump;
use super::file::plain;
use super::rtcstats;
use std::path::Path;

/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// How a page begins that about:webrtc of Firefox saves.
const PAGE: &[u8] = b"<";

/// Reads a file.
///
/// # Errors
/// A sentence with the reason why it is none.
pub fn dump(path: &Path) -> Result<Dump, String> {
    let bytes = plain(path)?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    if bytes.starts_with(rtcstats::BEGINS) {
        return rtcstats::read(bytes);
    }
    if bytes.starts_with(PAGE) {
        return Err(
            "it is a saved page, as about:webrtc of Firefox saves them: that has the totals of a call, not its seconds"
                .to_owned(),
        );
    }
    Dump::of_internals(bytes)
}
