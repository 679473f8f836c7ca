//! What a request gets: the page, its document, or why not.

use super::board::Board;
use super::password::Password;
use crate::on_host::now;
use core::fmt::Write as _;
use httparse::{EMPTY_HEADER, Request};
use page::{HEADERS, Page, Parts};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// The longest head of a request. Cookies that others left for this host are in it.
pub const LONGEST: usize = 8 << 10;
/// The most headers that one has.
const HEADERS_AT_MOST: usize = 64;
/// How long the answer to a wrong password waits.
const WRONG: Duration = Duration::from_secs(1);

/// The page's parts. They load nothing.
const PARTS: Parts = Parts {
    title: "The router",
    body: include_str!("../../page/page.html"),
    data: "",
    style: include_str!("../../page/page.css"),
    script: concat!(
        include_str!("../../page/curves.js"),
        include_str!("../../page/page.js"),
    ),
    connects: "",
};
/// The paths of the page, and of its document.
const PAGE: &str = "/";
const DOCUMENT: &str = "/status.json";

/// What is answered from.
pub struct Site {
    /// What the page shows.
    pub board: std::sync::Arc<Board>,
    /// What has to be known to see it, if anything.
    pub password: Option<Password>,
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    status: &'static str,
    /// Headers of this answer.
    headers: Vec<(&'static str, String)>,
    body: String,
    /// How long it waits before it is given.
    pub waits: Duration,
}

impl Answer {
    /// Why a request gets nothing else.
    pub fn refusal(status: &'static str, why: &str) -> Self {
        Answer {
            status,
            headers: vec![("content-type", "text/plain; charset=utf-8".to_owned())],
            body: format!("{why}\n"),
            waits: Duration::ZERO,
        }
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// As HTTP/1.1 has it. It is the last one of its connection.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {}\r\nconnection: close\r\n", self.status);
        let own = self.headers.iter().map(|(name, value)| (*name, &**value));
        for (name, value) in HEADERS.into_iter().chain(own) {
            _ = write!(text, "{name}: {value}\r\n");
        }
        _ = write!(text, "content-length: {}\r\n\r\n", self.body.len());
        text += &self.body;
        text.into_bytes()
    }
}

impl Site {
    /// The answer to what has come of a request; none if more of it is to come.
    pub fn answer(&self, head: &[u8]) -> Option<Answer> {
        let mut headers = [EMPTY_HEADER; HEADERS_AT_MOST];
        let mut request = Request::new(&mut headers);
        match request.parse(head) {
            Ok(parsed) if parsed.is_complete() => {
                Some(self.found(&request).unwrap_or_else(|refusal| refusal))
            }
            Ok(_) if head.len() < LONGEST => None,
            Ok(_) | Err(httparse::Error::TooManyHeaders) => Some(Answer::refusal(
                "431 Request Header Fields Too Large",
                "the request is too long; clear this address's cookies in your browser",
            )),
            Err(error) => {
                let why = format!("no request of HTTP/1.1: {error}");
                Some(Answer::refusal("400 Bad Request", &why))
            }
        }
    }

    /// What was asked for, or why it is not given.
    fn found(&self, request: &Request) -> Result<Answer, Answer> {
        let refuse = |status, why| Err(Answer::refusal(status, why));
        // Another site whose name leads here has its own name in it (DNS rebinding).
        if !one(request, "host").is_some_and(is_ours) {
            let why = "open the page by the router's address, such as http://192.168.1.1:8080/, not by a name";
            return refuse("421 Misdirected Request", why);
        }
        self.allowed(request)?;
        if request.method != Some("GET") {
            let why = "the page only reads: GET";
            return Err(Answer::refusal("405 Method Not Allowed", why).with("allow", "GET"));
        }
        let length = values(request, "content-length").any(|length| length != b"0");
        if length || values(request, "transfer-encoding").next().is_some() {
            return refuse(
                "400 Bad Request",
                "found a request with a body, expected none",
            );
        }
        match request.path {
            Some(PAGE) => document(),
            Some(DOCUMENT) => Ok(Answer {
                status: "200 OK",
                headers: vec![("content-type", "application/json".to_owned())],
                body: self.board.document(now()).to_string(),
                waits: Duration::ZERO,
            }),
            _ => refuse("404 Not Found", "there are / and /status.json"),
        }
    }

    /// Whether the request has the password, if there is one.
    fn allowed(&self, request: &Request) -> Result<(), Answer> {
        let Some(password) = &self.password else {
            return Ok(());
        };
        let said = one(request, "authorization");
        if said.is_some_and(|said| password.is(said)) {
            return Ok(());
        }
        let why = "the name is analects, and the password that of --page-password-file";
        let asks = "Basic realm=\"analects\", charset=\"UTF-8\"";
        let mut refusal = Answer::refusal("401 Unauthorized", why).with("www-authenticate", asks);
        if said.is_some() {
            refusal.waits = WRONG;
        }
        Err(refusal)
    }
}

/// The page itself.
fn document() -> Result<Answer, Answer> {
    let made = Page::made(&PARTS);
    let none = || {
        Answer::refusal(
            "503 Service Unavailable",
            "the system has no random numbers",
        )
    };
    let page = made.ok_or_else(none)?;
    Ok(Answer {
        status: "200 OK",
        headers: vec![
            ("content-type", "text/html; charset=utf-8".to_owned()),
            ("content-security-policy", page.policy),
        ],
        body: page.text,
        waits: Duration::ZERO,
    })
}

/// The values of the headers of that name.
fn values<'a>(request: &'a Request, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let headers = request.headers.iter();
    let named = headers.filter(move |header| header.name.eq_ignore_ascii_case(name));
    named.map(|header| header.value)
}

/// The value of the one header of that name; none if there is none, or more.
fn one<'a>(request: &'a Request, name: &'a str) -> Option<&'a [u8]> {
    let mut values = values(request, name);
    values.next().filter(|_| values.next().is_none())
}

/// Whether a host is an address, or this one itself: no other site can be called so.
fn is_ours(host: &[u8]) -> bool {
    let Ok(host) = core::str::from_utf8(host) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => name,
        _ => host,
    };
    let v6 = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    name.eq_ignore_ascii_case("localhost")
        || host.parse::<SocketAddr>().is_ok()
        || host.parse::<Ipv4Addr>().is_ok()
        || v6.is_some_and(|inner| inner.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
pub mod tests {
    use super::super::password::tests::password;
    use super::*;
    use proptest::prelude::*;

    /// A site with the password, if one is given.
    pub fn site(word: Option<&str>) -> Site {
        Site {
            board: Default::default(),
            password: word.map(password),
        }
    }

    fn status(site: &Site, request: &str) -> &'static str {
        let answer = site.answer(request.as_bytes());
        answer.map_or("more", |answer| &answer.status[..3])
    }

    const HOST: &str = "Host: 127.0.0.1:8080\r\n";

    #[test]
    fn the_page_and_its_document_are_there() {
        let site = site(None);
        let page = site.answer(format!("GET / HTTP/1.1\r\n{HOST}\r\n").as_bytes());
        let text = String::from_utf8(page.unwrap().bytes()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        for line in [
            "HTTP/1.1 200 OK",
            "connection: close",
            "cache-control: no-store",
            &format!("content-length: {}", body.len()),
        ] {
            assert!(head.lines().any(|found| found == line), "{line}: {head}");
        }
        let policy = head
            .lines()
            .find(|line| line.starts_with("content-security-policy"));
        assert!(
            policy.unwrap().contains("connect-src 'self';"),
            "{policy:?}"
        );
        assert!(body.starts_with("<!doctype html>"));
        let document = site.answer(format!("GET /status.json HTTP/1.1\r\n{HOST}\r\n").as_bytes());
        let document: serde_json::Value = serde_json::from_str(&document.unwrap().body).unwrap();
        assert!(document["time_s"].as_f64().unwrap() > 0.0);
        assert!(site.board.is_looked_at(now()));
    }

    #[test]
    fn wrong_requests_are_told_why() {
        let site = site(None);
        for (request, expected) in [
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n", "more"),
            ("", "more"),
            ("GET / HTTP/1.1\r\n\r\n", "421"),
            ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
            (
                "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
                "421",
            ),
            ("POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", "405"),
            ("HEAD / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", "405"),
            (
                "GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "404",
            ),
            (
                "GET /status.json?x HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "404",
            ),
            ("GET http://h/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
            (
                "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
                "400",
            ),
            (
                "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
                "400",
            ),
            ("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", "400"),
            ("\u{16}\u{3}\u{1}", "400"),
            ("GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", "400"),
        ] {
            assert_eq!(status(&site, request), expected, "{request:?}");
        }
        let long = format!("GET / HTTP/1.1\r\nCookie: {}", "x".repeat(LONGEST));
        assert_eq!(status(&site, &long), "431");
        let many = "a: b\r\n".repeat(HEADERS_AT_MOST + 1);
        assert_eq!(
            status(&site, &format!("GET / HTTP/1.1\r\n{many}\r\n")),
            "431"
        );
    }

    #[test]
    fn only_addresses_and_this_host_are_ours() {
        for ours in [
            "127.0.0.1:8080",
            "192.168.1.1",
            "[::1]:8080",
            "[fd00::1]",
            "localhost",
            "LOCALHOST:9",
        ] {
            assert!(is_ours(ours.as_bytes()), "{ours}");
        }
        for other in [
            "",
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "::1",
            "[::1",
            "127.0.0.1:port",
            "localhost:80:80",
        ] {
            assert!(!is_ours(other.as_bytes()), "{other}");
        }
        assert!(!is_ours(b"\xff"));
    }

    #[test]
    fn a_password_is_asked_for_and_a_wrong_one_waits() {
        let site = site(Some("swordfish"));
        let asked = |line: &str| {
            let request = format!("GET / HTTP/1.1\r\n{HOST}{line}\r\n");
            site.answer(request.as_bytes()).unwrap()
        };
        let none = asked("");
        assert!(none.status.starts_with("401") && none.waits.is_zero());
        assert!(
            none.headers
                .iter()
                .any(|(name, _)| *name == "www-authenticate")
        );
        let wrong = asked("Authorization: Basic YW5hbGVjdHM6c3dvcmRmaXNr\r\n");
        assert!(wrong.status.starts_with("401") && wrong.waits == WRONG);
        let right = "Authorization: Basic YW5hbGVjdHM6c3dvcmRmaXNo\r\n";
        assert!(asked(right).status.starts_with("200"));
        assert!(asked(&right.repeat(2)).status.starts_with("401"));
        // What is not there is told to nobody else, either.
        let elsewhere = format!("GET /secret HTTP/1.1\r\n{HOST}\r\n");
        assert_eq!(status(&site, &elsewhere), "401");
    }

    #[test]
    fn the_page_loads_nothing() {
        for part in [PARTS.body, PARTS.style, PARTS.script] {
            assert_eq!(page::strays(part), None);
        }
    }

    proptest! {
        #[test]
        fn nothing_that_comes_makes_it_panic(noise in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..200, with: u8) {
            let site = site(Some("swordfish"));
            _ = site.answer(&noise);
            _ = is_ours(&noise);
            let mut good = format!("GET / HTTP/1.1\r\n{HOST}Authorization: Basic YW5hbGVjdHM6c3dvcmRmaXNo\r\n\r\n").into_bytes();
            let place = at % good.len();
            good[place] = with;
            _ = site.answer(&good);
            _ = site.answer(&good[..place]);
            let [head, tail] = [&good[..place], &good[place..]];
            if let Some(answer) = site.answer(&[head, &noise, tail].concat()) {
                // No line of a request comes back as a line of the answer's head.
                let bytes = answer.bytes();
                let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
                prop_assert_eq!(bytes.len() - end - 4, answer.body.len());
                let lines = std::str::from_utf8(&bytes[..end]).unwrap().split("\r\n").skip(1);
                let names = lines.filter_map(|line| line.split_once(':')).map(|(name, _)| name);
                let own = answer.headers.iter().map(|(name, _)| *name);
                let said = HEADERS.iter().map(|(name, _)| *name).chain(own);
                let expected: Vec<&str> = ["connection"].into_iter().chain(said).chain(["content-length"]).collect();
                prop_assert_eq!(names.collect::<Vec<_>>(), expected);
            }
        }
    }
}
