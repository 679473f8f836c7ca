//! The bytes of files, which may be compressed.

use bzip2_rs::DecoderReader;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// How a file begins that gzip (RFC 1952) wrote.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// How files begin that other programs compressed, and which.
const OTHERS: [(&[u8], &str); 3] = [
    (b"PK\x03\x04", "zip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
];

/// Reads a file of at most `most` bytes; of one that gzip, zlib or bzip2 compressed, as programs write
/// `browsertime.har.gz`, `flow.zhar` and `rrul.flent.bz2`, what is in it, of at most as many.
///
/// # Errors
/// A sentence with the reason why it cannot be read.
pub fn unpacked(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let reason = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => missing(path),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    };
    // A file that is not an ordinary one has no known size before it is read.
    let bytes = limited(std::fs::File::open(path).map_err(reason)?, most, reason)?;
    let broken = |error: std::io::Error| format!("it is compressed, and broken: {error}");
    if bytes.starts_with(&GZIP) {
        return limited(MultiGzDecoder::new(&*bytes), most, broken);
    }
    if is_zlib(&bytes) {
        return limited(ZlibDecoder::new(&*bytes), most, broken);
    }
    if stream_of_bzip2(&bytes) {
        return limited(of_bzip2(&bytes), most, broken);
    }
    match OTHERS.iter().find(|(begins, _)| bytes.starts_with(begins)) {
        Some((_, with)) => Err(format!("it is compressed by {with}: unpack it first")),
        None => Ok(bytes),
    }
}

fn limited(
    from: impl Read,
    most: u64,
    reason: impl Fn(std::io::Error) -> String,
) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(reason)?;
    if bytes.len() as u64 > most {
        Err(format!("it has more than {most} bytes"))
    } else {
        Ok(bytes)
    }
}

/// Whether a stream of bzip2 begins here, with its level and the first block: 10 bytes.
fn stream_of_bzip2(bytes: &[u8]) -> bool {
    match bytes {
        [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] => rest.starts_with(b"1AY&SY"),
        _ => false,
    }
}

/// What is in all streams: programs that compress in parallel write one after another, each from a byte's start.
fn of_bzip2(bytes: &[u8]) -> impl Read {
    let begins = (0..bytes.len()).filter(|&place| stream_of_bzip2(&bytes[place..]));
    let mut begins: Vec<usize> = begins.chain([bytes.len()]).collect();
    begins.dedup();
    let streams = begins.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
    let none: Box<dyn Read> = Box::new(std::io::empty());
    streams.fold(none, |before, stream| {
        Box::new(before.chain(DecoderReader::new(stream)))
    })
}

/// Whether the first two bytes are zlib's (RFC 1950, section 2.2): deflate, with a window of 32 KiB and a
/// check. No text begins so: the second byte is no character that can follow an `x`, but for `^`, which
/// stands here in no JSON and no trace.
fn is_zlib(bytes: &[u8]) -> bool {
    let [0x78, flags, ..] = *bytes else {
        return false;
    };
    (0x7800 + u16::from(flags)).is_multiple_of(31)
}

/// The sentence for a file that is not there.
fn missing(path: &Path) -> String {
    match tilde(path) {
        Some(why) => format!("there is no such file: {why}"),
        None => "there is no such file".to_owned(),
    }
}

/// Why a path that begins with `~` leads nowhere: shells replace it, and only where a word begins with it.
pub fn tilde(path: &Path) -> Option<&'static str> {
    let first = path.components().next()?;
    let text = first.as_os_str().to_str()?;
    (text.starts_with('~') && !Path::new(text).exists())
        .then_some("~ is not replaced here; write the whole path, or $HOME")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn read(content: &[u8]) -> Result<Vec<u8>, String> {
        let file = std::env::temp_dir().join(format!(
            "analects-unpacked-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::write(&file, content).unwrap();
        let read = unpacked(&file, 1000);
        std::fs::remove_file(&file).unwrap();
        read
    }

    #[test]
    fn what_is_compressed_is_unpacked_to_the_same_limit() {
        let gz = |text: &[u8]| {
            let mut to = GzEncoder::new(Vec::new(), Compression::default());
            to.write_all(text).unwrap();
            to.finish().unwrap()
        };
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(b"{}").unwrap();
        assert_eq!(read(b"0 5").unwrap(), b"0 5");
        assert_eq!(read(&gz(b"0 5")).unwrap(), b"0 5");
        assert_eq!(
            read(&[gz(b"0 5\n"), gz(b"1 5")].concat()).unwrap(),
            b"0 5\n1 5"
        );
        assert_eq!(read(&zlib.finish().unwrap()).unwrap(), b"{}");
        let bomb = read(&gz(&[b'0'; 100_000])).unwrap_err();
        assert_eq!(bomb, "it has more than 1000 bytes");
        let cut = &gz(b"0 5 and more of it")[..15];
        assert!(read(cut).unwrap_err().contains("compressed, and broken"));
        // `printf '0 5\n' | bzip2`, and once more with 1.
        let bz2 = |text: &str| -> Vec<u8> {
            let digits = text.as_bytes().chunks(2);
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
            digits.map(|pair| byte(pair).unwrap()).collect()
        };
        let zero = bz2(
            "425a6839314159265359965642a000000158000010400042002000219a68334d173c5dc914e1424259590a80",
        );
        assert_eq!(read(&zero).unwrap(), b"0 5\n");
        let both = [zero.clone(), bz2("425a68393141592653594a3bd81700000158000010400022002000219a68334d173c5dc914e1424128ef605c")].concat();
        assert_eq!(read(&both).unwrap(), b"0 5\n1 5\n");
        for length in 11..zero.len() {
            assert!(
                read(&zero[..length])
                    .unwrap_err()
                    .contains("compressed, and broken")
            );
        }
        for place in 10..zero.len() {
            let mut wrong = zero.clone();
            wrong[place] ^= 1;
            // A bit that nothing depends on is none of these.
            _ = read(&wrong);
        }
        let zip = read(b"PK\x03\x04...").unwrap_err();
        assert_eq!(zip, "it is compressed by zip: unpack it first");
    }

    #[test]
    fn a_home_that_no_shell_replaced_is_explained() {
        let reason = unpacked(Path::new("~/no/such.txt"), 10).unwrap_err();
        assert!(reason.contains("~ is not replaced here"), "{reason}");
        let reason = unpacked(Path::new("no/~/such.txt"), 10).unwrap_err();
        assert_eq!(reason, "there is no such file");
    }
}
