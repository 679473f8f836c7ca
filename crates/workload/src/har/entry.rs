//! One entry of a HAR file: which of its fields mean what, whoever exported it.

use super::node::{Leaf, List, Node};
use super::url::{self, Target};
use super::{Fault, date};
use crate::page::{MAX_BYTES, MAX_REQUESTS, MAX_WAIT, Protocol};
use serde::Deserialize;
use std::net::IpAddr;
use units::Duration;

/// Length of headers where an exporter does not tell: near the medians of recorded pages.
const REQUEST_HEADERS: u64 = 450;
const RESPONSE_HEADERS: u64 = 360;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Root {
    pub log: Node<Log>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Log {
    pub pages: List<Node<RawPage>, MAX_REQUESTS>,
    pub entries: List<Node<RawEntry>, MAX_REQUESTS>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawPage {
    pub id: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawEntry {
    pageref: Leaf,
    started_date_time: Leaf,
    time: Leaf,
    request: Node<RawRequest>,
    response: Node<RawResponse>,
    timings: Node<RawTimings>,
    #[serde(rename = "_initiator")]
    initiator: Node<RawInitiator>,
    #[serde(rename = "_protocol")]
    protocol: Leaf,
    #[serde(rename = "_bytesIn")]
    bytes_in: Leaf,
    #[serde(rename = "_bytesOut")]
    bytes_out: Leaf,
    #[serde(rename = "_fromCache")]
    from_cache: Leaf,
    #[serde(rename = "serverIPAddress")]
    address: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawRequest {
    url: Leaf,
    http_version: Leaf,
    headers_size: Leaf,
    body_size: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawResponse {
    status: Leaf,
    http_version: Leaf,
    headers_size: Leaf,
    body_size: Leaf,
    #[serde(rename = "redirectURL")]
    redirect_url: Leaf,
    content: Node<RawContent>,
    #[serde(rename = "_transferSize")]
    transfer_size: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawContent {
    size: Leaf,
    compression: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawTimings {
    blocked: Leaf,
    dns: Leaf,
    connect: Leaf,
    ssl: Leaf,
    send: Leaf,
    wait: Leaf,
    receive: Leaf,
}

/// Chrome's initiator; others write the URL alone.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawInitiator {
    url: Leaf,
    stack: Node<RawStack>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawStack {
    call_frames: List<Node<RawFrame>, 100_000>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawFrame {
    url: Leaf,
}

/// What an entry says, in one form for all exporters.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its index in the file.
    pub index: usize,
    pub pageref: Option<String>,
    pub url: String,
    pub target: Target,
    /// The server's.
    pub address: Option<IpAddr>,
    pub protocol: Option<Protocol>,
    pub kind: Kind,
    pub request: u64,
    pub response: u64,
    /// Nanoseconds since 1970.
    pub start: i128,
    /// From the start to the first byte of the answer, and to its last.
    pub first_byte: Duration,
    pub duration: Duration,
    /// From the request's last byte to the answer's first.
    pub wait: Duration,
    /// What opening the connection says about the round trip.
    pub rtt: Option<Duration>,
    pub initiator: Option<String>,
    pub redirect: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It went over the network.
    Sent,
    /// It was answered from the browser's cache, without asking.
    Cached,
    /// There was no answer, or no network.
    Nothing,
}

/// Values of one entry, with their places for errors.
struct Reader {
    index: usize,
}

impl Reader {
    fn fault(&self, field: &str, found: &Leaf, expected: &str) -> Fault {
        Fault {
            place: format!("entries[{}].{field}", self.index),
            problem: format!("found {found}, expected {expected}"),
        }
    }

    /// A size in bytes; none where it is -1, null or missing. WebPageTest writes some as text.
    fn size(&self, field: &str, leaf: &Leaf) -> Result<Option<u64>, Fault> {
        let number = match leaf {
            Leaf::Missing | Leaf::Null => return Ok(None),
            Leaf::Number(number) => Some(*number),
            Leaf::Text(text) if field.contains('_') => text.parse().ok(),
            _ => None,
        };
        match number {
            Some(-1.0) => Ok(None),
            Some(number) if (0.0..=MAX_BYTES.get() as f64).contains(&number) => {
                Ok(Some(number as u64))
            }
            _ => Err(self.fault(
                field,
                leaf,
                "a size of 0 to 10 GB in bytes, or -1 for unknown",
            )),
        }
    }

    /// A time in milliseconds; none where it is -1, null or missing. Chrome rounds some to just
    /// below zero.
    fn time(&self, field: &str, leaf: &Leaf) -> Result<Option<Duration>, Fault> {
        match leaf {
            Leaf::Missing | Leaf::Null => Ok(None),
            Leaf::Number(ms) if (-1.0..0.0).contains(ms) => Ok(None),
            Leaf::Number(ms) if (0.0..=MAX_WAIT.as_millis_f64()).contains(ms) => {
                Ok(Some(Duration::from_secs_f64(ms / 1e3)))
            }
            _ => Err(self.fault(
                field,
                leaf,
                "a time of 0 to a day in milliseconds, or -1 for none",
            )),
        }
    }

    fn object<T: Default>(&self, field: &str, node: Node<T>, required: bool) -> Result<T, Fault> {
        match node {
            Node::Is(object) => Ok(object),
            Node::Not(Leaf::Missing | Leaf::Null) if !required => Ok(T::default()),
            Node::Not(found) => Err(self.fault(field, &found, "an object")),
        }
    }

    /// A text; none where it is empty or missing.
    fn text(&self, field: &str, leaf: Leaf) -> Result<Option<String>, Fault> {
        match leaf {
            Leaf::Missing | Leaf::Null => Ok(None),
            Leaf::Text(text) => Ok(Some(text).filter(|text| !text.is_empty())),
            found => Err(self.fault(field, &found, "a text")),
        }
    }
}

/// Reads entry `index` of a file.
pub(super) fn read(index: usize, raw: Node<RawEntry>) -> Result<Entry, Fault> {
    let reader = Reader { index };
    let raw = match raw {
        Node::Is(raw) => raw,
        Node::Not(found) => {
            return Err(Fault {
                place: format!("entries[{index}]"),
                problem: format!("found {found}, expected an object"),
            });
        }
    };
    let request = reader.object("request", raw.request, true)?;
    let response = reader.object("response", raw.response, true)?;
    let timings = reader.object("timings", raw.timings, false)?;
    let url = request.url.as_text().unwrap_or_default().to_owned();
    let target = Target::parse(&url)
        .ok_or_else(|| reader.fault("request.url", &request.url, "an absolute URL"))?;
    let start = raw.started_date_time.as_text().and_then(date::parse);
    let start = start.ok_or_else(|| {
        let expected = "a moment such as 2009-07-24T19:20:30.45+01:00";
        reader.fault("startedDateTime", &raw.started_date_time, expected)
    })?;
    let times = times(&reader, &timings, &raw.time)?;
    let (response_bytes, kind) = answer(&reader, &response, &raw.bytes_in, &raw.from_cache)?;
    let versions = [&raw.protocol, &response.http_version, &request.http_version];
    Ok(Entry {
        index,
        pageref: reader.text("pageref", raw.pageref)?,
        protocol: versions
            .into_iter()
            .find_map(|version| version.as_text().and_then(url::protocol)),
        kind: match target {
            Target::Local => Kind::Nothing,
            Target::Remote { .. } => kind,
        },
        target,
        address: address(&raw.address),
        request: question(&reader, &request, &raw.bytes_out)?,
        response: response_bytes,
        start,
        first_byte: times.first_byte,
        duration: times.duration,
        wait: times.wait,
        rtt: times.rtt,
        initiator: initiator(raw.initiator),
        redirect: reader
            .text("response.redirectURL", response.redirect_url)?
            .and_then(|location| url::join(&url, &location)),
        url,
    })
}

/// Length of the request. Headers of HTTP/2 are compressed, and then often not given.
fn question(reader: &Reader, request: &RawRequest, bytes_out: &Leaf) -> Result<u64, Fault> {
    let out = reader.size("_bytesOut", bytes_out)?.filter(|&out| out > 0);
    let headers = reader.size("request.headersSize", &request.headers_size)?;
    let body = reader.size("request.bodySize", &request.body_size)?;
    let sum = headers.unwrap_or(REQUEST_HEADERS) + body.unwrap_or(0);
    Ok(out.unwrap_or(sum).min(MAX_BYTES.get()))
}

/// Length of the answer on the wire, from the first of these that is given: `_transferSize`
/// (Chrome, chrome-har), `_bytesIn` (WebPageTest), `headersSize` and `bodySize` (HAR 1.2, Firefox),
/// `content.size` less `content.compression`. An answer with content of which nothing came over the
/// network is from the cache; one with no content and no status did not come at all.
fn answer(
    reader: &Reader,
    response: &RawResponse,
    bytes_in: &Leaf,
    from_cache: &Leaf,
) -> Result<(u64, Kind), Fault> {
    let status = match response.status {
        Leaf::Number(status) if (-1.0..=999.0).contains(&status) => status,
        ref found => return Err(reader.fault("response.status", found, "a status of 0 to 999")),
    };
    let content = match &response.content {
        Node::Is(content) => content,
        Node::Not(Leaf::Missing | Leaf::Null) => &RawContent::default(),
        Node::Not(found) => return Err(reader.fault("response.content", found, "an object")),
    };
    let transfer = reader.size("response._transferSize", &response.transfer_size)?;
    let bytes_in = reader.size("_bytesIn", bytes_in)?;
    let headers = reader.size("response.headersSize", &response.headers_size)?;
    let body = reader.size("response.bodySize", &response.body_size)?;
    let unpacked = reader.size("response.content.size", &content.size)?;
    // Negative where compression made it longer.
    let saved = match content.compression {
        Leaf::Missing | Leaf::Null => 0.0,
        Leaf::Number(saved) if saved.abs() <= MAX_BYTES.get() as f64 => saved,
        ref found => {
            return Err(reader.fault("response.content.compression", found, "a size in bytes"));
        }
    };
    let from_cache = !matches!(from_cache, Leaf::Missing | Leaf::Null | Leaf::Bool(false));
    let packed = (unpacked.unwrap_or(0) as f64 - saved).max(0.0) as u64;
    let came = transfer.or(bytes_in).or(body);
    let kind = if status <= 0.0 && came.unwrap_or(0) == 0 {
        Kind::Nothing
    } else if from_cache || (came == Some(0) && unpacked > Some(0)) {
        Kind::Cached
    } else {
        Kind::Sent
    };
    let sum = headers.unwrap_or(RESPONSE_HEADERS) + body.filter(|&b| b > 0).unwrap_or(packed);
    let known = transfer.filter(|&n| n > 0).or(bytes_in.filter(|&n| n > 0));
    Ok((known.unwrap_or(sum).min(MAX_BYTES.get()), kind))
}

struct Times {
    first_byte: Duration,
    duration: Duration,
    wait: Duration,
    rtt: Option<Duration>,
}

/// HAR 1.2: `connect` includes `ssl`, and all but `ssl` add up to the entry's `time`, which Firefox
/// leaves out.
fn times(reader: &Reader, raw: &RawTimings, time: &Leaf) -> Result<Times, Fault> {
    let read = |field: &str, leaf| reader.time(field, leaf);
    let connect = read("timings.connect", &raw.connect)?;
    let ssl = read("timings.ssl", &raw.ssl)?.unwrap_or_default();
    let wait = read("timings.wait", &raw.wait)?.unwrap_or_default();
    let before = [
        read("timings.blocked", &raw.blocked)?,
        read("timings.dns", &raw.dns)?,
        connect,
        read("timings.send", &raw.send)?,
    ];
    let first_byte = before
        .into_iter()
        .flatten()
        .fold(wait, |sum, span| sum + span);
    let receive = read("timings.receive", &raw.receive)?.unwrap_or_default();
    let whole = read("time", time)?.unwrap_or_default();
    let duration = whole.max(first_byte + receive);
    // TCP's handshake is one round trip, and at least a third of it with TLS 1.2: some exporters
    // count it into `ssl`.
    let rtt = connect
        .filter(|&connect| connect > Duration::ZERO)
        .map(|connect| connect.saturating_sub(ssl).max(connect / 3));
    Ok(Times {
        first_byte: if first_byte > Duration::ZERO {
            first_byte
        } else {
            duration
        },
        duration,
        wait,
        rtt,
    })
}

/// The server's address, IPv6 with or without brackets. No replay needs it: anything odd is none.
fn address(raw: &Leaf) -> Option<IpAddr> {
    let text = raw.as_text()?.trim();
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    bare.unwrap_or(text).parse().ok()
}

/// The URL of what caused the request. It is only a hint: anything odd is no initiator.
fn initiator(raw: Node<RawInitiator>) -> Option<String> {
    let text = |leaf| match leaf {
        Leaf::Text(url) if !url.is_empty() => Some(url),
        _ => None,
    };
    match raw {
        Node::Not(leaf) => text(leaf),
        Node::Is(raw) => text(raw.url).or_else(|| match raw.stack {
            Node::Is(RawStack {
                call_frames: List::Is(frames),
            }) => frames.into_iter().find_map(|frame| match frame {
                Node::Is(frame) => text(frame.url),
                Node::Not(_) => None,
            }),
            _ => None,
        }),
    }
}
