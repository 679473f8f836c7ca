//! Tables as CSV (RFC 4180).

use std::io;

/// A table as CSV (RFC 4180), lines ending in a newline: its head, and rows of as many fields.
///
/// # Errors
/// If a row has more fields than the head, or fewer.
pub fn rows<R>(head: &[&str], rows: impl IntoIterator<Item = R>) -> io::Result<String>
where
    R: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(head)?;
    for row in rows {
        table.write_record(row)?;
    }
    text(table)
}

pub(crate) fn text(table: csv::Writer<Vec<u8>>) -> io::Result<String> {
    let bytes = table.into_inner().map_err(|error| error.into_error())?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// A name without special characters in the name of a file.
pub(crate) fn plain(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars()
        .map(|c| if kept(c) { c } else { '-' })
        .collect()
}
