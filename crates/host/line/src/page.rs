//! A page by which a browser measures its line: what `analects measure` does, as far as a browser lets it. It loads
//! nothing from elsewhere, and nothing of it is kept.

use crate::Problem;
use crate::answer::{Answer, json, of};
use crate::call::{CALL, FRAMES, SIZE};
use crate::certificate::ShortLived;
use crate::grants::GrantedPlace;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use page::{HEADERS, Parts};
use std::sync::Arc;

/// The page, what it looks like, and what it does.
const BODY: &str = include_str!("../page/page.html");
const DATA: &str = include_str!("../page/data.html");
const STYLE: &str = include_str!("../page/page.css");
/// One script, in the order in which its parts need each other, behind what all pages have.
const SCRIPT: &str = concat!(
    include_str!("../page/constants.js"),
    include_str!("../page/call.js"),
    include_str!("../page/load.js"),
    include_str!("../page/result.js"),
    include_str!("../page/view.js"),
    include_str!("../page/page.js"),
);
/// A scenario with a household.
const HOUSEHOLD: &str = include_str!("../../../../scenarios/my-link.toml");
/// Where its traffic begins.
const TRAFFIC: &str = "[[traffic]]";

/// The paths of the page's places.
const PAGE: &str = "/";
const SETTINGS: &str = "/settings";
const UPLOADED: &str = "/uploaded";

/// The page, and the certificate that browsers are shown.
#[derive(Debug)]
pub struct ServedPage {
    short: Arc<ShortLived>,
    playground: Option<String>,
}

impl ServedPage {
    /// A page whose result leads to the playground at the address `playground`, if there is one.
    ///
    /// # Errors
    /// If no certificate can be made, or the address is not one of the web.
    pub fn new(playground: Option<String>) -> Result<Self, Problem> {
        if let Some(address) = &playground {
            let wrong =
                |why: &str| Problem::Refused(format!("{address}: {why}; expected https://…"));
            match url::Url::parse(address) {
                Err(error) => return Err(wrong(&error.to_string())),
                Ok(url) if !matches!(url.scheme(), "https" | "http") => {
                    return Err(wrong("no address of the web"));
                }
                Ok(url) if url.fragment().is_some() => {
                    return Err(wrong("the part after # is the scenario's"));
                }
                Ok(_) => {}
            }
        }
        Ok(ServedPage {
            short: Arc::new(ShortLived::new()?),
            playground,
        })
    }

    /// TLS that shows browsers a certificate of the page's own, of which they warn.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn own(&self) -> Result<rustls::ServerConfig, Problem> {
        crate::tls::server_of_page(self.short.clone())
    }

    pub(crate) fn calls(&self) -> Result<rustls::ServerConfig, Problem> {
        crate::tls::server_of_calls(self.short.clone())
    }

    /// What is at `path`. `host` is what the request named, and the port of the page's calls.
    pub(crate) fn answer(
        &self,
        method: &Method,
        path: &str,
        host: (&str, u16),
        place: &Arc<GrantedPlace>,
    ) -> Response<Answer> {
        let response = match (method, path) {
            (&Method::GET, PAGE) => document(host),
            (&Method::GET, SETTINGS) => Some(json(self.settings(host.1, place))),
            (&Method::GET, UPLOADED) => Some(of(StatusCode::OK, Answer::uploaded(place.clone()))),
            _ => return of(StatusCode::NOT_FOUND, Answer::empty()),
        };
        let response = response.filter(|response| match response.body() {
            Answer::Whole(Some(bytes)) => place.count(bytes.len() as u64),
            _ => true,
        });
        let mut response =
            response.unwrap_or_else(|| of(StatusCode::TOO_MANY_REQUESTS, Answer::empty()));
        let headers = HEADERS.map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        response.headers_mut().extend(headers);
        response
    }

    fn settings(&self, port: u16, place: &GrantedPlace) -> String {
        serde_json::json!({
            "port": port,
            "path": CALL,
            "sha256": self.short.sha256(),
            "frames": FRAMES,
            "size": SIZE,
            "left_ms": place.left().as_millis() as u64,
            "rate_mbit": place.rate().as_bits() as f64 / 1e6,
            "playground": self.playground,
        })
        .to_string()
    }
}

/// The traffic of the household of a line's scenario: two calls, pages, a download and an upload.
pub fn household() -> &'static str {
    HOUSEHOLD.find(TRAFFIC).map_or("", |at| &HOUSEHOLD[at..])
}

/// The page; none if the system has no random numbers.
fn document((host, port): (&str, u16)) -> Option<Response<Answer>> {
    let made = page::Page::made(&Parts {
        title: "Your line",
        body: BODY,
        data: &DATA.replace("{household}", household()),
        style: STYLE,
        script: SCRIPT,
        connects: &calls_of(host, port),
    })?;
    let mut response = of(StatusCode::OK, Answer::whole(made.text));
    let policy = HeaderValue::from_str(&made.policy).ok()?;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    headers.insert(CONTENT_TYPE, html);
    Some(response)
}

/// What the page may connect to for its call.
fn calls_of(host: &str, port: u16) -> String {
    format!("https://{}:{port}", named(host))
}

/// The host as a policy has it, without its port. It has no form for addresses of IPv6: these are any host, at the
/// one port. What is no host is none.
fn named(host: &str) -> &str {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    match name {
        _ if host.starts_with('[') => "*",
        name if !name.is_empty() && name.chars().all(is_name) => name,
        _ => "none.invalid",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_the_host_and_nothing_that_a_request_smuggles_in() {
        for (host, named_as) in [
            ("example.org:7411", "example.org"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:db8::1]:7411", "*"),
            ("h; script-src *", "none.invalid"),
            ("h;x:1", "none.invalid"),
            ("", "none.invalid"),
        ] {
            assert_eq!(named(host), named_as, "{host}");
        }
        assert_eq!(calls_of("h:1", 2), "https://h:2");
    }

    #[test]
    fn the_playground_is_an_address_of_the_web() {
        for wrong in ["try", "javascript:alert(1)", "https://h/try/#story=x"] {
            assert!(ServedPage::new(Some(wrong.to_owned())).is_err(), "{wrong}");
        }
        assert!(ServedPage::new(Some("https://h/try/".to_owned())).is_ok());
    }

    #[test]
    fn a_page_has_its_parts_and_loads_nothing() {
        assert!(DATA.contains("{household}"));
        for text in [BODY, DATA, STYLE, SCRIPT] {
            assert_eq!(page::strays(text), None);
        }
    }
}
