//! A recording's file, which may be compressed.

use flate2::read::MultiGzDecoder;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The largest file in bytes, after decompression: the dump of a call of a day has less.
const MOST: u64 = 256 << 20;
/// How a compressed file begins (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file that may be compressed.
pub fn plain(path: &Path) -> Result<Vec<u8>, String> {
    let reason = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    let bytes = limited(std::fs::File::open(path).map_err(reason)?)?;
    match bytes.starts_with(&GZIP) {
        true => limited(MultiGzDecoder::new(&*bytes)),
        false => Ok(bytes),
    }
}

fn limited(from: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = from.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    match bytes.len() as u64 > MOST {
        true => Err(format!("it has more than {MOST} bytes")),
        false => Ok(bytes),
    }
}
