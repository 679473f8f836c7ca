//! A page that is one answer: `document:15kB:h2`.
//!
//! Not for the web as browsers see it: pages have tens of requests that wait for each other.

use super::{After, Origin, Page, Protocol, Request};
use std::sync::Arc;
use units::{Bytes, Duration};

/// The prefix of a source that names a document.
const PREFIX: &str = "document:";
/// Length of its request with headers: the median of generated pages.
const REQUEST: Bytes = Bytes::new(450);

/// The page named by `source`, over HTTP/1, 2 or 3, with TLS, from a server that answers at once;
/// none if `source` is not a document.
///
/// # Errors
/// The error in it.
pub fn document(source: &str) -> Option<Result<Arc<Page>, String>> {
    let of = source.strip_prefix(PREFIX)?;
    Some(parse(source, of).map(Arc::new))
}

fn parse(name: &str, of: &str) -> Result<Page, String> {
    let (size, protocol) = of.split_once(':').unwrap_or((of, ""));
    let response: Bytes = size.parse().map_err(|error| format!("{error}"))?;
    let protocol = match protocol {
        "h1" => Protocol::H1,
        "h2" => Protocol::H2,
        "h3" => Protocol::H3,
        other => return Err(format!("there is no protocol {other:?}")),
    };
    let origin = Origin {
        secure: true,
        host: name.to_owned(),
        port: 443,
        protocol,
    };
    let request = Request {
        origin: 0,
        request: REQUEST,
        response,
        think: Duration::ZERO,
        after: After::Navigation,
        delay: Duration::ZERO,
    };
    Page::new(name, vec![origin], vec![request]).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_one_request() {
        let page = document("document:15kB:h2").unwrap().unwrap();
        assert_eq!(page.total_response(), Bytes::new(15_000));
        assert_eq!((page.origins().len(), page.requests().len()), (1, 1));
        assert_eq!(page.origins()[0].protocol, Protocol::H2);
        let page = document("document:1MB:h3").unwrap().unwrap();
        assert_eq!(page.origins()[0].protocol, Protocol::H3);
    }

    #[test]
    fn what_names_no_document_is_said() {
        assert!(document("generated:3").is_none());
        for (source, reason) in [
            ("document:15kB:h4", "there is no protocol \"h4\""),
            ("document:15kB", "there is no protocol \"\""),
            ("document:much:h2", "much"),
            ("document:11GB:h2", "more than 10 GB"),
        ] {
            let found = document(source).unwrap().unwrap_err();
            assert!(found.contains(reason), "{source}: {found}");
        }
    }
}
