//! What a server says of itself at `/.well-known/nq` (draft-ietf-ippm-responsiveness, "Test Server Discovery").

use crate::Problem;
use serde::Deserialize;
use url::Url;

/// The path of the document on a server.
pub const WELL_KNOWN: &str = "/.well-known/nq";
/// The only version there is.
const VERSION: u64 = 1;

/// The three places that a test asks for, all of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacesConfig {
    /// The host that requests name.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Path of an object without an end.
    pub large: String,
    /// Path of an object of one byte.
    pub small: String,
    /// Path that takes any number of bytes.
    pub upload: String,
    /// The host to connect with, where it is another one.
    pub endpoint: Option<String>,
}

#[derive(Deserialize)]
struct WrittenConfig {
    version: u64,
    urls: Urls,
    test_endpoint: Option<String>,
}

/// The draft's names, and those of servers before it, which some give beside them.
#[derive(Deserialize)]
struct Urls {
    large_download_url: Option<String>,
    small_download_url: Option<String>,
    upload_url: Option<String>,
    large_https_download_url: Option<String>,
    small_https_download_url: Option<String>,
    https_upload_url: Option<String>,
}

impl PlacesConfig {
    /// Reads the document.
    ///
    /// # Errors
    /// If it is no JSON of version 1, a URL lacks or is not of `https`, or the hosts differ.
    pub fn parse(text: &[u8]) -> Result<Self, Problem> {
        let wrong = |why: String| Problem::Server(format!("{WELL_KNOWN}: {why}"));
        let written: WrittenConfig = serde_json::from_slice(text).map_err(|e| {
            wrong(format!(
                "{e}; expected the JSON of draft-ietf-ippm-responsiveness"
            ))
        })?;
        if written.version != VERSION {
            return Err(wrong(format!(
                "found version {}, expected {VERSION}",
                written.version
            )));
        }
        let urls = written.urls;
        let read = |name: &str, new: Option<String>, old: Option<String>| {
            let text = new
                .or(old)
                .ok_or_else(|| wrong(format!("urls: {name} lacks")))?;
            let url = Url::parse(&text).map_err(|e| wrong(format!("{name}: {text}: {e}")))?;
            match (url.scheme(), url.host_str()) {
                ("https", Some(_)) => Ok(url),
                _ => Err(wrong(format!(
                    "{name}: found {text}, expected https://HOST/…"
                ))),
            }
        };
        let large = read(
            "large_download_url",
            urls.large_download_url,
            urls.large_https_download_url,
        )?;
        let small = read(
            "small_download_url",
            urls.small_download_url,
            urls.small_https_download_url,
        )?;
        let upload = read("upload_url", urls.upload_url, urls.https_upload_url)?;
        if let Some(other) = [&small, &upload]
            .into_iter()
            .find(|url| place(url) != place(&large))
        {
            return Err(wrong(format!(
                "found URLs of {} and {}, expected one host",
                place(&large).0,
                place(other).0
            )));
        }
        let (host, port) = place(&large);
        Ok(PlacesConfig {
            host,
            port,
            large: path(&large),
            small: path(&small),
            upload: path(&upload),
            endpoint: written.test_endpoint,
        })
    }
}

fn place(url: &Url) -> (String, u16) {
    let port = url.port_or_known_default().unwrap_or(443);
    (url.host_str().unwrap_or_default().to_owned(), port)
}

fn path(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(large: &str, small: &str, upload: &str) -> String {
        format!(
            r#"{{"version": 1, "urls": {{"large_download_url": "{large}", "small_download_url": "{small}",
            "upload_url": "{upload}"}}, "more": [1]}}"#
        )
    }

    #[test]
    fn as_the_draft_and_as_older_servers_write_it() {
        let text = urls(
            "https://h:4043/l?a=b",
            "https://h:4043/s",
            "https://h:4043/u",
        );
        let config = PlacesConfig::parse(text.as_bytes()).unwrap();
        assert_eq!((config.host.as_str(), config.port), ("h", 4043));
        assert_eq!(
            [&config.large, &config.small, &config.upload],
            ["/l?a=b", "/s", "/u"]
        );
        let old = r#"{"version": 1, "test_endpoint": "edge.example",
            "urls": {"small_https_download_url": "https://h/api/v1/small",
            "large_https_download_url": "https://h/api/v1/large", "https_upload_url": "https://h/api/v1/upload",
            "small_download_url": "https://h/api/v1/small"}}"#;
        let config = PlacesConfig::parse(old.as_bytes()).unwrap();
        assert_eq!((config.port, config.small.as_str()), (443, "/api/v1/small"));
        assert_eq!(config.endpoint.as_deref(), Some("edge.example"));
    }

    #[test]
    fn what_is_none_is_named() {
        for (text, said) in [
            ("<html>", "expected the JSON"),
            (
                r#"{"version": 2, "urls": {}}"#,
                "found version 2, expected 1",
            ),
            (r#"{"version": 1, "urls": {}}"#, "large_download_url lacks"),
            (
                &urls("http://h/l", "https://h/s", "https://h/u"),
                "expected https://HOST",
            ),
            (
                &urls("https://h/l", "https://other/s", "https://h/u"),
                "expected one host",
            ),
            (
                r#"{"version": 1, "version": 1, "urls": {}}"#,
                "duplicate field",
            ),
        ] {
            let why = PlacesConfig::parse(text.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(why.contains(said), "{why}");
        }
    }
}
