//! Why a connection ended, in words.

use crate::Problem;
use noq_proto::{ConnectionError, TransportErrorCode};

/// The problem to report for a connection that was lost for this reason, after so many datagrams came.
pub(crate) fn told(reason: &ConnectionError, came: u64) -> Problem {
    match reason {
        ConnectionError::TimedOut if came > 0 => Problem::Unreachable(format!(
            "{came} packets came, and then none: the path is full and loses nearly all, or the peer is gone"
        )),
        ConnectionError::TimedOut => Problem::Unreachable(
            "no answer: nothing listens there, or something on the way drops UDP".to_owned(),
        ),
        ConnectionError::Reset => Problem::Unreachable("the server is gone".to_owned()),
        other if refused(other) => Problem::Refused(
            "the server refuses: it is busy, a probe from this address is under way, or what it \
                 gives in an hour is used up"
                .to_owned(),
        ),
        other if wrong_pin(other) => Problem::Peer(
            "the server's key has another pin than was asked for: it is another server, or \
                 someone is in between"
                .to_owned(),
        ),
        other => Problem::Peer(format!("the connection ended: {other}")),
    }
}

fn refused(reason: &ConnectionError) -> bool {
    matches!(reason, ConnectionError::ConnectionClosed(e)
        if e.error_code == TransportErrorCode::CONNECTION_REFUSED)
}

/// Whether the handshake ended because our verifier refused the key.
fn wrong_pin(reason: &ConnectionError) -> bool {
    matches!(reason, ConnectionError::TransportError(e)
        if e.reason.contains("ApplicationVerificationFailure"))
}
