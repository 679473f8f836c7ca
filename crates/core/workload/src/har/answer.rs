//! How many bytes of an answer crossed the network, and whether it came over the network at all.
//!
//! Exporters also write sizes of what did not: of a stored copy, of the content that a cache gave.

use super::left_out::Reason;
use super::node::{HarNode, Leaf};
use super::raw::{RawContent, RawResponse};
use super::value::{number, size};
use crate::page::MAX_BYTES;

/// Length of headers if an exporter does not give it: near the median of recorded pages.
const HEADERS: u64 = 360;
/// Servers send no longer headers: Apache and nginx refuse theirs from 8 kB on.
const LONGEST_HEADERS: u64 = 16_384;

/// What is replayed of an answer.
pub(super) struct HarAnswer {
    /// Its length on the wire.
    pub bytes: u64,
    /// Why none came over the network, if none did.
    pub unsent: Option<Reason>,
}

/// Length of the answer on the wire, from the first of these that is given: `_transferSize`
/// (Chrome, chrome-har), `_bytesIn` (WebPageTest), `headersSize` and `bodySize` (HAR 1.2, Firefox),
/// `content.size` less `content.compression`. An answer without bytes from the network is the
/// browser's own: `_transferSize` has the headers, the others show it if there is content. One
/// without bytes and without a status of HTTP did not arrive. One that has no body by its status or by
/// its request's method `HEAD` has headers only, whatever is written of a stored copy.
pub(super) fn read(
    response: &RawResponse,
    bytes_in: &Leaf,
    from_cache: bool,
    asked_for_headers: bool,
) -> HarAnswer {
    let content = match &response.content {
        HarNode::Is(content) => content,
        HarNode::Not(_) => &RawContent::default(),
    };
    let (transfer, bytes_in) = (size(&response.transfer_size), size(bytes_in));
    let (headers, body) = (size(&response.headers_size), size(&response.body_size));
    // Some tools write -2 or 12029 for errors of their own.
    let status = number(&response.status).filter(|status| (100.0..1000.0).contains(status));
    let bare = asked_for_headers || status.is_some_and(has_no_body);
    let unpacked = size(&content.size).filter(|_| !bare);
    // Negative where compression made it longer.
    let saved = number(&content.compression).filter(|saved| saved.abs() <= MAX_BYTES.get() as f64);
    let packed = (unpacked.unwrap_or(0) as f64 - saved.unwrap_or(0.0)).max(0.0) as u64;
    let came = transfer.or(bytes_in).or(body);
    let unsent = if status.is_none() && came.unwrap_or(0) == 0 {
        Some(Reason::Unanswered)
    } else if from_cache || transfer == Some(0) || (came == Some(0) && unpacked > Some(0)) {
        Some(Reason::Cached)
    } else {
        None
    };
    let known = transfer.filter(|&n| n > 0).or(bytes_in.filter(|&n| n > 0));
    let headers = headers.filter(|&n| n > 0 || !bare).unwrap_or(HEADERS);
    let bytes = if bare {
        known
            .filter(|&n| n <= headers.max(LONGEST_HEADERS))
            .unwrap_or(headers)
    } else {
        known.unwrap_or(headers + body.filter(|&b| b > 0).unwrap_or(packed))
    };
    HarAnswer {
        bytes: bytes.min(MAX_BYTES.get()),
        unsent,
    }
}

/// Whether an answer of this status has no body (RFC 9110, sections 6.4.1 and 15.3.6).
fn has_no_body(status: f64) -> bool {
    status < 200.0 || [204.0, 205.0, 304.0].contains(&status)
}

/// Whether the exporter marks the answer as one from the browser's cache or a service worker:
/// requests of the latter to the network are entries of their own.
pub(super) fn from_cache(from_cache: &Leaf, fetch_type: &Leaf, response: &RawResponse) -> bool {
    // Safari's.
    let kept = ["Memory Cache", "Disk Cache", "Service Worker"];
    let says = |leaf: &Leaf| !matches!(leaf, Leaf::Missing | Leaf::Null | Leaf::Bool(false));
    says(from_cache)
        || fetch_type
            .as_text()
            .is_some_and(|text| kept.contains(&text))
        || response.via_service_worker == Leaf::Bool(true)
}

/// Whether a size of the answer is larger than any: a replay with another one would be of another page.
pub(super) fn is_impossible(response: &RawResponse, bytes_in: &Leaf) -> bool {
    let content = match &response.content {
        HarNode::Is(content) => &content.size,
        HarNode::Not(_) => &Leaf::Missing,
    };
    let sizes = [
        &response.transfer_size,
        bytes_in,
        &response.headers_size,
        &response.body_size,
        content,
    ];
    let most = MAX_BYTES.get() as f64;
    sizes.into_iter().any(|size| number(size) > Some(most))
}
