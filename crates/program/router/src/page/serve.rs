//! Connections to the page: few at once, short in size and time.

use super::answer::{Answer, LONGEST, Site};
use crate::on_host::now;
use crate::privileges;
use rustix::thread::CapabilitySet;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Connections at once, and those of one address: a page has one or two. More are closed.
const MOST: usize = 8;
const MOST_OF_ONE: usize = 4;
/// How long a request may take, and with its answer, a wrong password's wait included.
const ASKS: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(6);
/// What is read of a request that goes on behind its answer, so that who sends it still reads why.
const DRAINED: usize = 64 << 10;
/// How long the next try waits where no connection can be taken.
const AGAIN: Duration = Duration::from_millis(200);

/// Answers connections, one after the other begun, until the process ends.
pub fn serve(listener: &TcpListener, site: Site) {
    // What a request could be mistaken for, it could not do.
    if let Err(refused) = privileges::keep(CapabilitySet::empty()) {
        eprintln!("there is no page: {refused}");
        return;
    }
    let (site, open) = (Arc::new(site), Open::default());
    loop {
        let Ok((stream, peer)) = listener.accept() else {
            std::thread::sleep(AGAIN);
            continue;
        };
        let Some(place) = ClientPlace::take(&open, peer.ip()) else {
            continue;
        };
        let site = site.clone();
        // Where there is no thread to be had, the connection is closed.
        _ = std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(move || {
                // Who has gone gets no answer.
                _ = talk(&stream, &site, now());
                drop(place);
            });
    }
}

/// Whose connections are open.
type Open = Arc<Mutex<Vec<IpAddr>>>;

/// One of the connections at once, and whose it is.
struct ClientPlace(Open, IpAddr);

impl ClientPlace {
    fn take(open: &Open, whose: IpAddr) -> Option<Self> {
        let mut all = open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = all.iter().filter(|other| **other == whose).count();
        (all.len() < MOST && of_one < MOST_OF_ONE).then(|| {
            all.push(whose);
            ClientPlace(open.clone(), whose)
        })
    }
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|other| *other == self.1) {
            all.swap_remove(at);
        }
    }
}

/// Reads a request and answers it.
fn talk(stream: &TcpStream, site: &Site, began: Duration) -> Result<()> {
    let answer = asked(stream, site, began + ASKS)?;
    std::thread::sleep(answer.waits);
    let until = began + PATIENCE;
    write(stream, &answer.bytes(), until)?;
    stream.shutdown(Shutdown::Write)?;
    let mut rest = [0; 4096];
    for _ in 0..DRAINED / rest.len() {
        if read(stream, &mut rest, until)? == 0 {
            break;
        }
    }
    Ok(())
}

/// The answer to what is asked.
fn asked(stream: &TcpStream, site: &Site, until: Duration) -> Result<Answer> {
    let (mut head, mut length) = ([0; LONGEST], 0);
    loop {
        let came = match read(stream, &mut head[length..], until) {
            Ok(came) => came,
            Err(error) if error.kind() == ErrorKind::TimedOut && length > 0 => {
                let why = "the request took too long";
                return Ok(Answer::refusal("408 Request Timeout", why));
            }
            Err(error) => return Err(error),
        };
        if came == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        length += came;
        if let Some(answer) = site.answer(&head[..length]) {
            return Ok(answer);
        }
    }
}

/// Reads what comes until a time.
fn read(mut stream: &TcpStream, into: &mut [u8], until: Duration) -> Result<usize> {
    in_time(until, &mut |left| {
        stream.set_read_timeout(Some(left))?;
        stream.read(into)
    })
}

/// Writes all of it until a time.
fn write(mut stream: &TcpStream, mut bytes: &[u8], until: Duration) -> Result<()> {
    while !bytes.is_empty() {
        let written = in_time(until, &mut |left| {
            stream.set_write_timeout(Some(left))?;
            stream.write(bytes)
        })?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Tries with what is left until a time. A socket whose time is over says that it would wait (socket(7), `SO_RCVTIMEO`),
/// and one whose process stood still meanwhile that it was interrupted (signal(7)).
fn in_time(until: Duration, tried: &mut dyn FnMut(Duration) -> Result<usize>) -> Result<usize> {
    loop {
        let left = until.saturating_sub(now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        match tried(left) {
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            tried => return tried,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::site;
    use super::*;
    use std::net::SocketAddr;

    const GOOD: &str = "GET /status.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

    fn served() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || serve(&listener, site(None)));
        address
    }

    fn told(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        // A server that has said no reads no further.
        _ = stream.write_all(request);
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    /// Those before may still hold their places for a moment.
    fn answers(address: SocketAddr) -> bool {
        (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            told(address, GOOD.as_bytes()).starts_with("HTTP/1.1 200 OK\r\n")
        })
    }

    #[test]
    fn wrong_requests_are_answered_and_the_service_goes_on() {
        let address = served();
        let long = format!("GET / HTTP/1.1\r\nCookie: {}\r\n\r\n", "x".repeat(40_000));
        for (request, status) in [
            (long.as_str(), "431"),
            ("DELETE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "405"),
            ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
            ("no request\r\n\r\n", "400"),
        ] {
            let answer = told(address, request.as_bytes());
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{answer}"
            );
            assert!(answers(address), "after {status}");
        }
    }

    #[test]
    fn a_request_may_come_in_pieces_but_not_slowly() {
        let address = served();
        let mut pieces = TcpStream::connect(address).unwrap();
        for piece in GOOD.as_bytes().chunks(7) {
            pieces.write_all(piece).unwrap();
        }
        let mut slow = TcpStream::connect(address).unwrap();
        slow.write_all(b"GET / HT").unwrap();
        let mut answer = String::new();
        pieces.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.clear();
        slow.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(answers(address));
    }

    #[test]
    fn one_address_has_half_of_the_places() {
        let open = Open::default();
        let [one, other] = ["192.0.2.1", "2001:db8::1"].map(|of| of.parse().unwrap());
        let mut held: Vec<ClientPlace> = (0..MOST)
            .filter_map(|_| ClientPlace::take(&open, one))
            .collect();
        assert_eq!(held.len(), MOST_OF_ONE);
        held.extend((0..MOST).filter_map(|_| ClientPlace::take(&open, other)));
        assert_eq!(held.len(), MOST);
        held.clear();
        assert!(ClientPlace::take(&open, one).is_some());
    }

    #[test]
    fn who_holds_all_connections_holds_them_for_seconds() {
        let address = served();
        let began = now();
        let mut held: Vec<TcpStream> = (0..2 * MOST)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        for stream in &mut held {
            _ = stream.read(&mut [0]);
        }
        assert!(now() - began < PATIENCE + ASKS);
        assert!(answers(address));
    }

    /// Who asks and does not read: what does not fit into the socket is dropped with it.
    #[test]
    fn a_reader_that_stands_still_is_left() {
        let (near, far) = pair();
        let began = now();
        let until = began + Duration::from_millis(300);
        let error = write(&near, &vec![0; 64 << 20], until).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(now() - began < PATIENCE);
        drop(far);
    }

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, far)
    }
}
