//! Messages between client and server: lines of JSON on the first stream, none longer than
//! [`LONGEST`].

use crate::Problem;
use crate::report::{DataDirection, Report};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes of the longest line. A peer that writes a longer one is cut off.
pub(crate) const LONGEST: usize = 2048;

/// The client's first and only line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) direction: DataDirection,
    /// How long to send data.
    pub(crate) millis: u64,
    /// Whether to send two trains only. A server of before the quick form refuses it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) quick: bool,
    /// Whether to send a call beside the load, over a third path. A server of before the call has no such path, and is
    /// not asked for one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) call: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The server's lines: one `Granted` or `Refused`, then reports if it is the sender.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ServerLine {
    /// Data may flow, for no longer and no faster than this.
    Granted { millis: u64, bits_per_second: u64 },
    /// No.
    Refused(String),
    /// The report of the server as the sender.
    Seen(Box<Report>),
    /// The last of it: time or bytes are used up.
    Done(Box<Report>),
}

/// Bytes to send for `message`.
pub(crate) fn line<T: Serialize>(message: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Lines out of pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// The messages that `piece` completes.
    pub(crate) fn add<T: DeserializeOwned>(&mut self, piece: &[u8]) -> Result<Vec<T>, Problem> {
        let mut messages = Vec::new();
        for part in piece.split_inclusive(|&b| b == b'\n') {
            if self.0.len() + part.len() > LONGEST {
                return Err(Problem::Peer(format!(
                    "the peer sent a line of more than {LONGEST} bytes"
                )));
            }
            self.0.extend_from_slice(part);
            if self.0.ends_with(b"\n") {
                let message = serde_json::from_slice(&self.0)
                    .map_err(|e| Problem::Peer(format!("the peer sent an invalid message: {e}")))?;
                messages.push(message);
                self.0.clear();
            }
        }
        Ok(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_pieces_and_together() {
        let ask = line(&Ask {
            direction: DataDirection::Down,
            millis: 10,
            quick: false,
            call: false,
        });
        let two = [&ask[..], &ask[..]].concat();
        let mut lines = Lines::default();
        assert_eq!(lines.add::<Ask>(&two[..7]).unwrap().len(), 0);
        assert_eq!(lines.add::<Ask>(&two[7..]).unwrap().len(), 2);
    }

    #[test]
    fn a_long_line_and_a_wrong_one_are_errors() {
        let mut lines = Lines::default();
        assert!(lines.add::<Ask>(&vec![b' '; LONGEST]).is_ok());
        assert!(lines.add::<Ask>(b" ").is_err());
        for wrong in [
            "{}\n",
            "\n",
            "[1]\n",
            "{\"direction\":\"aside\",\"millis\":1}\n",
        ] {
            assert!(
                Lines::default().add::<Ask>(wrong.as_bytes()).is_err(),
                "{wrong}"
            );
        }
    }
}
