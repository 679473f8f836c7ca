//! Which server a user means.

use command::Refused;
use line::Trusted;
use line::client::Described;
use line::config::{PlacesConfig, WELL_KNOWN};

/// The port of `analects probe serve`, and that of https.
const OWN: u16 = 7411;
const HTTPS: u16 = 443;

/// A server as it was named.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Where it says what it has.
    pub config: Described,
}

/// The server called so.
///
/// # Errors
/// If none is named, or the name is none.
pub fn named(text: Option<&str>, trusted: Trusted) -> Result<Named, Refused> {
    let help = "`analects measure apple` or `cloudflare`, a host that has /.well-known/nq, or your own `analects probe \
                serve`: `analects measure HOST --pin PIN`";
    let Some(text) = text else {
        let message = "no server is named, and none is contacted unasked";
        return Err(Refused::new(message, help));
    };
    let wrong = |why: &str| Refused::new(&format!("{text}: {why}"), help);
    match text {
        "apple" => return Ok(apple()),
        "cloudflare" => return Ok(cloudflare()),
        _ => {}
    }
    let usual = match trusted {
        Trusted::Public => HTTPS,
        Trusted::Own(_) => OWN,
    };
    let (rest, usual) = match text.split_once("://") {
        Some(("https", rest)) => (rest, HTTPS),
        Some(_) => return Err(wrong("expected https://")),
        None => (text, usual),
    };
    let (place, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let (host, port) = parted(place, usual).ok_or_else(|| wrong("expected HOST or HOST:PORT"))?;
    let path = if path.len() > 1 { path } else { WELL_KNOWN };
    Ok(Named {
        host,
        port,
        config: Described::At(path.to_owned()),
    })
}

/// A host, and the port if there is one. An address of IPv6 may have brackets, and needs them with a port.
fn parted(place: &str, usual: u16) -> Option<(String, u16)> {
    if place.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some((format!("[{place}]"), usual));
    }
    let inside = place.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match place[inside..].rfind(':') {
        Some(at) => {
            let (host, port) = place.split_at(inside + at);
            (host, port[1..].parse().ok()?)
        }
        None => (place, usual),
    };
    (!host.is_empty() && port > 0).then(|| (host.to_owned(), port))
}

/// The server of Apple's `networkQuality`, whose document is at a place of its own.
fn apple() -> Named {
    Named {
        host: "mensura.cdn-apple.com".to_owned(),
        port: HTTPS,
        config: Described::At("/api/v1/gm/config".to_owned()),
    }
}

/// That of Cloudflare's speed test, which has no such document. It gives at most so many bytes at once.
fn cloudflare() -> Named {
    let host = "speed.cloudflare.com".to_owned();
    Named {
        host: host.clone(),
        port: HTTPS,
        config: Described::As(PlacesConfig {
            host,
            port: HTTPS,
            large: "/__down?bytes=100000000".to_owned(),
            small: "/__down?bytes=10".to_owned(),
            upload: "/__up".to_owned(),
            endpoint: None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN_ONE: Trusted = Trusted::Own(line::Trust::Anyone);

    fn of(text: &str, trusted: Trusted) -> (String, u16, Described) {
        let named = named(Some(text), trusted).unwrap();
        (named.host, named.port, named.config)
    }

    #[test]
    fn names_in_all_their_forms() {
        let at = |path: &str| Described::At(path.to_owned());
        for (text, trusted, host, port, path) in [
            (
                "example.org",
                Trusted::Public,
                "example.org",
                443,
                WELL_KNOWN,
            ),
            ("192.0.2.1", OWN_ONE, "192.0.2.1", 7411, WELL_KNOWN),
            ("example.org:4043", OWN_ONE, "example.org", 4043, WELL_KNOWN),
            ("2001:db8::1", OWN_ONE, "[2001:db8::1]", 7411, WELL_KNOWN),
            (
                "[2001:db8::1]:99",
                Trusted::Public,
                "[2001:db8::1]",
                99,
                WELL_KNOWN,
            ),
            (
                "https://example.org/",
                Trusted::Public,
                "example.org",
                443,
                WELL_KNOWN,
            ),
            ("https://h:4043/config", OWN_ONE, "h", 4043, "/config"),
        ] {
            assert_eq!(
                of(text, trusted),
                (host.to_owned(), port, at(path)),
                "{text}"
            );
        }
        assert_eq!(of("apple", Trusted::Public).0, "mensura.cdn-apple.com");
        assert!(matches!(
            of("cloudflare", Trusted::Public).2,
            Described::As(_)
        ));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["http://h", "h:0", "h:many", "", "https://", ":7411"] {
            assert!(named(Some(text), Trusted::Public).is_err(), "{text}");
        }
        assert!(named(None, Trusted::Public).is_err());
    }
}
