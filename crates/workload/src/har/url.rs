//! The little of URLs that a plan needs: the origin, and whether there is a network behind it.

use crate::page::{Origin, Protocol};

/// Where a URL leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// To a server.
    Remote {
        /// https or wss.
        secure: bool,
        /// In lower case.
        host: String,
        /// The port, 80 or 443 where none is written.
        port: u16,
    },
    /// Nowhere: `data:`, `blob:`, `about:`, an extension's own.
    Local,
}

/// Longest host name (RFC 1035, section 2.3.4).
const MAX_HOST: usize = 255;

impl Target {
    /// The target of `url`, or none where it is no absolute URL.
    pub(super) fn parse(url: &str) -> Option<Target> {
        let (scheme, rest) = url.trim().split_once(':')?;
        let mut letters = scheme.bytes();
        let named = letters.next().is_some_and(|b| b.is_ascii_alphabetic())
            && letters.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        if !named {
            return None;
        }
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return Some(Target::Local),
        };
        let rest = rest.strip_prefix("//")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let (host, port) = split_port(authority.rsplit('@').next()?);
        let port = match port {
            None | Some("") if secure => 443,
            None | Some("") => 80,
            Some(port) => port.parse().ok().filter(|&port| port > 0)?,
        };
        if host.is_empty() || host.len() > MAX_HOST || host.chars().any(char::is_whitespace) {
            return None;
        }
        Some(Target::Remote {
            secure,
            host: host.to_ascii_lowercase(),
            port,
        })
    }

    /// The origin at this target.
    pub(super) fn origin(&self, protocol: Protocol) -> Option<Origin> {
        match self {
            Target::Remote { secure, host, port } => Some(Origin {
                secure: *secure,
                host: host.clone(),
                port: *port,
                protocol,
            }),
            Target::Local => None,
        }
    }
}

/// Splits `[::1]:80` or `host:80`.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        // A colon within an IPv6 literal's brackets is none.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Where a redirect of `from` to `location` leads: an absolute URL, or a path on the same server.
pub(super) fn join(from: &str, location: &str) -> Option<String> {
    let (scheme, rest) = from.split_once("://")?;
    if location.starts_with("//") {
        return Some(format!("{scheme}:{location}"));
    }
    if location.starts_with('/') {
        let host = rest.split(['/', '?', '#']).next()?;
        return Some(format!("{scheme}://{host}{location}"));
    }
    location.contains("://").then(|| location.to_owned())
}

/// `url` without its fragment, which is not sent and which initiators leave out.
pub(super) fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// The protocol that an exporter's name for it means, if any.
pub(super) fn protocol(name: &str) -> Option<Protocol> {
    let name = name.trim().to_ascii_lowercase();
    let version = name.strip_prefix("http/").unwrap_or(&name);
    match version {
        "1.1" | "1.0" | "0.9" => Some(Protocol::H1),
        "2" | "2.0" | "h2" | "h2c" => Some(Protocol::H2),
        "3" | "3.0" => Some(Protocol::H3),
        _ if version.starts_with("spdy") => Some(Protocol::H2),
        _ if version.starts_with("h3") || version.contains("quic") => Some(Protocol::H3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(url: &str) -> Option<(bool, String, u16)> {
        match Target::parse(url)? {
            Target::Remote { secure, host, port } => Some((secure, host, port)),
            Target::Local => None,
        }
    }

    #[test]
    fn origins() {
        let is = |secure, host: &str, port| Some((secure, host.to_owned(), port));
        assert_eq!(remote("http://A.example"), is(false, "a.example", 80));
        assert_eq!(
            remote("https://me:pw@a.example:8443/x?u=http://b.example"),
            is(true, "a.example", 8443)
        );
        assert_eq!(remote("wss://[::1]/socket"), is(true, "[::1]", 443));
        assert_eq!(remote("http://[::1]:81?x"), is(false, "[::1]", 81));
        for local in [
            "data:text/plain,x",
            "blob:https://a.example/1",
            "about:blank",
        ] {
            assert_eq!(Target::parse(local), Some(Target::Local), "{local}");
        }
        for none in [
            "",
            "/path",
            "https:",
            "https://",
            "https://:80/",
            "https://a.example:x/",
            "https://a.example:99999/",
            "https://a b/",
            "1http://a.example/",
        ] {
            assert_eq!(Target::parse(none), None, "{none}");
        }
    }

    #[test]
    fn redirects() {
        let from = "https://a.example:8443/x?y";
        for (location, url) in [
            ("/z", Some("https://a.example:8443/z")),
            ("//b.example/z", Some("https://b.example/z")),
            ("http://b.example/", Some("http://b.example/")),
            ("z", None),
            ("", None),
        ] {
            assert_eq!(join(from, location).as_deref(), url);
        }
    }

    #[test]
    fn names_of_protocols() {
        for (name, is) in [
            ("HTTP/1.1", Some(Protocol::H1)),
            ("1.0", Some(Protocol::H1)),
            ("HTTP/2.0", Some(Protocol::H2)),
            ("spdy/3.1", Some(Protocol::H2)),
            ("h3-29", Some(Protocol::H3)),
            ("http/2+quic/46", Some(Protocol::H3)),
            ("unknown", None),
            (": /", None),
            ("", None),
        ] {
            assert_eq!(protocol(name), is, "{name}");
        }
    }
}
