//! One entry of a HAR file: the meaning of its fields with each exporter.
//!
//! A value that cannot be is read as one that is not there: a size of -7 is unknown, as -1 is.

use super::answer::{self, HarAnswer};
use super::left_out::Reason;
use super::node::{HarNode, Leaf, List};
use super::protocol;
use super::raw::{RawEntry, RawInitiator, RawRequest, RawResponse, RawStack, RawTimings};
use super::value::{number, size, time};
use crate::page::{MAX_BYTES, Origin, Protocol};
use jiff::{Timestamp, civil, tz::Offset};
use std::net::IpAddr;
use units::Duration;
use url::Url;

/// Length of headers if an exporter does not give it: near the median of recorded pages.
const REQUEST_HEADERS: u64 = 450;
/// Longest host name (RFC 1035, section 2.3.4).
const MAX_HOST: usize = 255;

/// The contents of an entry, in one form for all exporters.
#[derive(Debug)]
pub(super) struct HarEntry {
    /// Its index in the file.
    pub index: usize,
    pub pageref: Option<String>,
    /// Without a fragment, which is not sent, and which initiators leave out.
    pub url: Url,
    /// The server's.
    pub address: Option<IpAddr>,
    pub protocol: Option<Protocol>,
    /// Why it is not replayed; none if it went over the network.
    pub skipped: Option<Reason>,
    pub request: u64,
    pub response: u64,
    /// Nanoseconds since 1970.
    pub start: i128,
    /// From the start to the first byte of the answer, and to its last.
    pub first_byte: Duration,
    pub duration: Duration,
    /// From the request's last byte to the answer's first.
    pub wait: Duration,
    /// All that is spent on the network until then: for the address, the connection, the request, the
    /// answer.
    pub moving: Duration,
    /// The round trip derived from opening the connection.
    pub rtt: Option<Duration>,
    pub initiator: Option<Url>,
    pub redirect: Option<Url>,
    /// Whether the exporter names its server's address, or its connection.
    pub connected: bool,
    /// Whether the exporter says that it took no time.
    pub instant: bool,
}

impl HarEntry {
    /// Whether it shows nothing of a way over the network: no server, no connection, and neither a
    /// request sent nor an answer waited for. Firefox marks what its caches answered by nothing else.
    pub fn is_unmoved(&self) -> bool {
        !self.connected && self.moving == Duration::ZERO
    }

    /// The server that it was sent to, if it was.
    pub fn origin(&self, protocol: Protocol) -> Option<Origin> {
        let secure = match self.url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        Some(Origin {
            secure,
            host: self.url.host_str()?.to_owned(),
            port: self.url.port_or_known_default()?,
            protocol,
        })
    }
}

/// An entry that has no place among the others: too little of it can be read, or it is a tunnel.
#[derive(Debug)]
pub(super) struct Unplaced {
    /// Its URL, as far as it has one.
    pub url: String,
    pub reason: Reason,
}

/// Reads entry `index` of a file from its JSON.
pub(super) fn read(index: usize, json: &str) -> Result<HarEntry, Unplaced> {
    let unplaced = |url: &str, reason| Unplaced {
        url: url.to_owned(),
        reason,
    };
    let raw: RawEntry = match serde_json::from_str(json) {
        Ok(HarNode::Is(raw)) => raw,
        Ok(HarNode::Not(_)) => return Err(unplaced("", Reason::NoObject)),
        Err(_) => return Err(unplaced("", Reason::Unreadable)),
    };
    let HarNode::Is(request) = raw.request else {
        return Err(unplaced("", Reason::NoRequest));
    };
    let written = request.url.as_text().unwrap_or_default();
    let url = url(written).ok_or_else(|| unplaced(written, Reason::NoUrl))?;
    // A replay takes the time to connect anew.
    if request.method.as_text() == Some("CONNECT") {
        return Err(unplaced(written, Reason::Tunnel));
    }
    let local = local(&url);
    let start = raw.started_date_time.as_text().and_then(moment);
    let start = start.ok_or_else(|| unplaced(written, local.unwrap_or(Reason::NoStart)))?;
    let (response, missing) = match raw.response {
        HarNode::Is(response) => (response, None),
        HarNode::Not(_) => (RawResponse::default(), Some(Reason::NoResponse)),
    };
    let times = times(&object(raw.timings), &raw.time);
    let from_cache = answer::from_cache(&raw.from_cache, &raw.fetch_type, &response);
    let asked_for_headers = request.method.as_text() == Some("HEAD");
    let HarAnswer { bytes, unsent } =
        answer::read(&response, &raw.bytes_in, from_cache, asked_for_headers);
    let impossible = answer::is_impossible(&response, &raw.bytes_in).then_some(Reason::NoSize);
    let address = address(&raw.address);
    let versions = [&raw.protocol, &response.http_version, &request.http_version];
    Ok(HarEntry {
        index,
        pageref: name(raw.pageref),
        protocol: versions
            .into_iter()
            .find_map(|version| version.as_text().and_then(protocol::named)),
        skipped: local.or(missing).or(impossible).or(unsent),
        instant: number(&raw.time) == Some(0.0),
        connected: address.is_some() || name(raw.connection).is_some(),
        address,
        request: question(&request, &raw.bytes_out),
        response: bytes,
        start,
        first_byte: times.first_byte,
        duration: times.duration,
        wait: times.wait,
        moving: times.moving,
        rtt: times.rtt,
        initiator: initiator(raw.initiator),
        redirect: redirect(&url, &response.redirect_url),
        url,
    })
}

/// Why no request is sent for `url`, if so.
fn local(url: &Url) -> Option<Reason> {
    match url.scheme() {
        "http" | "https" => None,
        "ws" | "wss" => Some(Reason::Socket),
        "data" => Some(Reason::Data),
        "blob" => Some(Reason::Blob),
        _ => Some(Reason::Scheme),
    }
}

/// An absolute URL without its fragment.
fn url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    url.set_fragment(None);
    let host = url.host_str().map_or(0, str::len);
    (host <= MAX_HOST).then_some(url)
}

/// The target of an answer from `from`.
fn redirect(from: &Url, location: &Leaf) -> Option<Url> {
    let location = location.as_text().filter(|text| !text.is_empty())?;
    let mut to = from.join(location).ok()?;
    to.set_fragment(None);
    Some(to)
}

/// Nanoseconds since 1970 of an ISO 8601 moment, as HAR 1.2 has it:
/// `2009-07-24T19:20:30.45+01:00`. Without a zone it counts as one of UTC: only differences matter.
fn moment(text: &str) -> Option<i128> {
    let text = text.trim();
    // A date alone is midnight to jiff, and would be hours before the rest of its page.
    let of_utc = || {
        if text.contains(':') {
            Offset::UTC
                .to_timestamp(text.parse::<civil::DateTime>().ok()?)
                .ok()
        } else {
            None
        }
    };
    let moment: Option<Timestamp> = text.parse().ok().or_else(of_utc);
    moment.map(Timestamp::as_nanosecond)
}

/// A page's name: a text, or a number as some write it.
pub(super) fn name(leaf: Leaf) -> Option<String> {
    match leaf {
        Leaf::Text(text) => Some(text).filter(|text| !text.is_empty()),
        Leaf::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// An object, or an empty one in place of another value.
fn object<T: Default>(node: HarNode<T>) -> T {
    match node {
        HarNode::Is(object) => object,
        HarNode::Not(_) => T::default(),
    }
}

/// Length of the request. Headers of HTTP/2 are compressed, and then often not given.
fn question(request: &RawRequest, bytes_out: &Leaf) -> u64 {
    let out = size(bytes_out).filter(|&out| out > 0);
    let headers = size(&request.headers_size).unwrap_or(REQUEST_HEADERS);
    let sum = headers + size(&request.body_size).unwrap_or(0);
    out.unwrap_or(sum).min(MAX_BYTES.get())
}

struct HarTimes {
    first_byte: Duration,
    duration: Duration,
    wait: Duration,
    moving: Duration,
    rtt: Option<Duration>,
}

/// HAR 1.2: `connect` includes `ssl`, and all but `ssl` add up to the entry's `time`, which Firefox
/// leaves out.
fn times(raw: &RawTimings, whole: &Leaf) -> HarTimes {
    let connect = time(&raw.connect);
    let ssl = time(&raw.ssl).unwrap_or_default();
    let wait = time(&raw.wait).unwrap_or_default();
    let before = [time(&raw.dns), connect, time(&raw.send)];
    let moving = before
        .into_iter()
        .flatten()
        .fold(wait, |sum, span| sum + span);
    let first_byte = moving + time(&raw.blocked).unwrap_or_default();
    let receive = time(&raw.receive).unwrap_or_default();
    let whole = time(whole).unwrap_or_default();
    let duration = whole.max(first_byte + receive);
    // TCP's handshake is one round trip, and at least a third of it with TLS 1.2: some exporters
    // count it into `ssl`.
    let rtt = connect
        .filter(|&connect| connect > Duration::ZERO)
        .map(|connect| connect.saturating_sub(ssl).max(connect / 3));
    HarTimes {
        first_byte: if first_byte > Duration::ZERO {
            first_byte
        } else {
            duration
        },
        duration,
        wait,
        moving,
        rtt,
    }
}

/// The server's address, IPv6 with or without brackets. No replay needs it: an invalid one is none.
fn address(raw: &Leaf) -> Option<IpAddr> {
    let text = raw.as_text()?.trim();
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    bare.unwrap_or(text).parse().ok()
}

/// The URL of what caused the request. It is only a hint: an invalid one is no initiator.
fn initiator(raw: HarNode<RawInitiator>) -> Option<Url> {
    let read = |leaf: &Leaf| leaf.as_text().and_then(url);
    match raw {
        HarNode::Not(leaf) => read(&leaf),
        HarNode::Is(raw) => read(&raw.url).or_else(|| match raw.stack {
            HarNode::Is(RawStack {
                call_frames: List::Is(frames),
            }) => frames.into_iter().find_map(|frame| match frame {
                HarNode::Is(frame) => read(&frame.url),
                HarNode::Not(_) => None,
            }),
            _ => None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scheme behind TLS, host and port.
    fn origin(text: &str) -> Option<(bool, String, u16)> {
        let json = format!(
            r#"{{"startedDateTime":"2024-05-01T10:00:00Z","response":{{}},"request":{{"url":{text:?}}}}}"#
        );
        let origin = read(0, &json).ok()?.origin(Protocol::H1)?;
        Some((origin.secure, origin.host, origin.port))
    }

    #[test]
    fn origins() {
        let is = |secure, host: &str, port| Some((secure, host.to_owned(), port));
        for (text, server) in [
            ("http://A.example", is(false, "a.example", 80)),
            (
                "https://me:pw@a.example:8443/x?u=http://b.example",
                is(true, "a.example", 8443),
            ),
            ("wss://[::1]/socket", None),
            ("http://[::1]:81?x", is(false, "[::1]", 81)),
            ("http://a_b.example:", is(false, "a_b.example", 80)),
            (
                "https://b\u{fc}cher.example/",
                is(true, "xn--bcher-kva.example", 443),
            ),
            ("data:text/plain,x", None),
            ("blob:https://a.example/1", None),
            ("about:blank", None),
        ] {
            assert_eq!(origin(text), server, "{text}");
        }
    }

    #[test]
    fn what_is_no_url() {
        let long = format!("https://{}/", "a.".repeat(200));
        for text in [
            "",
            "/path",
            "https:",
            "https://",
            "https://:80/",
            "https://a.example:x/",
            "https://a.example:99999/",
            "https://a b/",
            "1http://a.example/",
            &long,
        ] {
            assert_eq!(url(text), None, "{text}");
        }
    }

    #[test]
    fn redirects() {
        let from = url("https://a.example:8443/x/?y").unwrap();
        for (location, to) in [
            ("/z#top", Some("https://a.example:8443/z")),
            ("//b.example/z", Some("https://b.example/z")),
            ("http://b.example", Some("http://b.example/")),
            ("z", Some("https://a.example:8443/x/z")),
            ("", None),
            ("https://", None),
        ] {
            let to = to.map(|to| Url::parse(to).unwrap());
            assert_eq!(redirect(&from, &Leaf::Text(location.to_owned())), to);
        }
        assert_eq!(redirect(&from, &Leaf::Null), None);
    }

    #[test]
    fn moments() {
        // date -u -d '2017-06-26T12:45:04Z' +%s
        const S: i128 = 1_498_481_104;
        for (text, seconds, nanos) in [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("2017-06-26T21:45:04.598+09:00", S, 598_000_000),
            ("2017-06-26T12:45:04Z", S, 0),
            // Fiddler's seven decimals.
            ("2017-06-26T09:15:04.0000001-03:30", S, 100),
            ("2017-06-26T09:15:04.000000001-0330", S, 1),
            ("2017-06-26 13:45:04.5+01", S, 500_000_000),
            ("2017-06-26T12:45:04.5", S, 500_000_000),
            // date -u -d '2000-03-01' +%s; 2000 was a leap year, 1900 was none.
            ("2000-03-01T00:00:00Z", 951_868_800, 0),
            ("1900-03-01T00:00:00Z", -2_203_891_200, 0),
        ] {
            assert_eq!(
                moment(text),
                Some(seconds * 1_000_000_000 + nanos),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_moment() {
        for text in [
            "",
            "T",
            "2017-06-26",
            "2017-13-01T00:00:00Z",
            "2017-02-29T00:00:00Z",
            "2017-06-26T25:00:00Z",
            "2017-06-26T12:45:04.Z",
            "2017-06-26T12:45:04+\u{e9}",
            "-017-06-26T12:45:04Z",
            "99999-06-26T12:45:04Z",
            "1498481104",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
