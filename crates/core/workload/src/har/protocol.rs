//! The exporters' names of the versions of HTTP.

use crate::page::Protocol;

/// The protocol that an exporter's name for it means; none for an empty, unknown or broken one.
pub(super) fn named(name: &str) -> Option<Protocol> {
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

    #[test]
    fn names_of_protocols() {
        for (name, is) in [
            ("HTTP/1.1", Some(Protocol::H1)),
            ("1.0", Some(Protocol::H1)),
            ("HTTP/2.0", Some(Protocol::H2)),
            ("HTTP/2", Some(Protocol::H2)),
            ("spdy/3.1", Some(Protocol::H2)),
            ("SPDY/2", Some(Protocol::H2)),
            ("h3-29", Some(Protocol::H3)),
            ("http/2+quic/46", Some(Protocol::H3)),
            ("unknown", None),
            ("data", None),
            (": /", None),
            ("", None),
        ] {
            assert_eq!(named(name), is, "{name}");
        }
    }
}
