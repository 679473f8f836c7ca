//! A web server for browsers on this machine: HTTP/1.1 without encryption, a thread for each connection.
//!
//! Not for: strangers. It listens on the link's address alone.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A connection without a request is closed after this, so that each page opens its own.
const IDLE: Duration = Duration::from_secs(4);
/// The most bytes of a request's head and of its body.
const HEAD: usize = 16 << 10;
const BODY: usize = 256 << 10;
/// The most fields of a head.
const FIELDS: usize = 64;
/// Bytes written at once of an answer that is only long.
const PIECE: usize = 64 << 10;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Whether it sends something.
    pub(crate) post: bool,
    /// Without the query.
    pub(crate) path: String,
    /// What it sends.
    pub(crate) body: Vec<u8>,
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A page or a message.
    Text(Vec<u8>),
    /// An object of so many bytes, head included, after the server has thought for some time.
    Object(u64, Duration),
    /// There is nothing.
    Missing,
}

/// Answers requests.
pub(crate) trait Handler: Send + Sync {
    /// The answer.
    fn answer(&self, request: Request) -> Reply;
}

/// Serves what arrives at `listener`, from now on.
pub(crate) fn serve<H: Handler + 'static>(listener: TcpListener, handler: Arc<H>) {
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handler = Arc::clone(&handler);
            std::thread::spawn(move || {
                // A browser closes connections as it likes.
                _ = connection(stream, &*handler);
            });
        }
    });
}

fn connection(mut stream: TcpStream, handler: &impl Handler) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(IDLE))?;
    let mut read = Vec::new();
    while let Some(request) = next(&mut stream, &mut read)? {
        write(&mut stream, handler.answer(request))?;
    }
    Ok(())
}

/// The next request; none at the end of the connection.
fn next(stream: &mut impl Read, read: &mut Vec<u8>) -> io::Result<Option<Request>> {
    loop {
        if let Some((request, length)) = parsed(read)? {
            read.drain(..length);
            return Ok(Some(request));
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece)? {
            0 => return Ok(None),
            bytes => read.extend_from_slice(&piece[..bytes]),
        }
    }
}

/// The request at the beginning of `read`, and its length; none if more has to be read.
fn parsed(read: &[u8]) -> io::Result<Option<(Request, usize)>> {
    let refused = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let status = head.parse(read).map_err(|_| refused("no HTTP"))?;
    let httparse::Status::Complete(start) = status else {
        return if read.len() <= HEAD {
            Ok(None)
        } else {
            Err(refused("the head is too long"))
        };
    };
    let length = head
        .headers
        .iter()
        .find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let length = match length {
        Some(field) => std::str::from_utf8(field.value)
            .ok()
            .and_then(|text| text.parse().ok()),
        None => Some(0),
    };
    let length: usize = length
        .filter(|&length| length <= BODY)
        .ok_or_else(|| refused("the body is too long"))?;
    let Some(body) = read.get(start..start + length) else {
        return Ok(None);
    };
    let path = head.path.unwrap_or("/");
    let request = Request {
        post: head.method == Some("POST"),
        path: path.split('?').next().unwrap_or_default().to_owned(),
        body: body.to_vec(),
    };
    Ok(Some((request, start + length)))
}

fn write(stream: &mut impl Write, reply: Reply) -> io::Result<()> {
    let head = |status: &str, length: u64| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
             Cache-Control: no-store\r\nAccess-Control-Allow-Origin: *\r\n\r\n"
        )
    };
    match reply {
        Reply::Text(text) => {
            let mut whole = head("200 OK", text.len() as u64).into_bytes();
            whole.extend(text);
            stream.write_all(&whole)
        }
        Reply::Missing => stream.write_all(head("404 Not Found", 0).as_bytes()),
        Reply::Object(bytes, think) => {
            std::thread::sleep(think);
            let own = head("200 OK", bytes).len() as u64;
            let mut left = bytes.saturating_sub(own);
            stream.write_all(head("200 OK", left).as_bytes())?;
            let piece = [b' '; PIECE];
            while left > 0 {
                let now = left.min(PIECE as u64);
                stream.write_all(&piece[..now as usize])?;
                left -= now;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> io::Result<Vec<Request>> {
        let (mut stream, mut read) = (bytes, Vec::new());
        let mut requests = Vec::new();
        while let Some(request) = next(&mut stream, &mut read)? {
            requests.push(request);
        }
        Ok(requests)
    }

    #[test]
    fn requests_follow_each_other_on_a_connection() {
        let text = b"GET /a?b=1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /p HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi";
        let request = |post, path: &str, body: &[u8]| Request {
            post,
            path: path.to_owned(),
            body: body.to_vec(),
        };
        let expected = [request(false, "/a", b""), request(true, "/p", b"hi")];
        assert_eq!(read_all(text).unwrap(), expected);
    }

    #[test]
    fn what_is_no_request_or_too_long_ends_the_connection() {
        assert!(read_all(b"\x16\x03\x01\x02\x00").is_err());
        assert!(read_all(&[b'A'; HEAD + 2]).is_err());
        assert!(read_all(b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n").is_err());
        assert!(read_all(b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n").is_err());
        assert!(read_all(b"GET / HTTP/1.1\r\nHo").unwrap().is_empty());
    }

    #[test]
    fn an_object_is_as_long_as_asked_for_with_its_head() {
        let written = |bytes| {
            let mut all = Vec::new();
            write(&mut all, Reply::Object(bytes, Duration::ZERO)).unwrap();
            all.len() as u64
        };
        let long = written(100_000);
        assert!((99_998..=100_000).contains(&long), "{long}");
        let least = written(0);
        assert!((100..300).contains(&least), "{least}");
    }
}
