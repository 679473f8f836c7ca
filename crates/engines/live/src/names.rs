//! Look-ups of names behind a link without the Internet: nobody there can answer them, so that a resolver asks for
//! 5 to 20 s in vain. They are answered at once, that there is no such name, and counted.

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where they are answered, in the namespace: not at 127.0.0.1, where the command may have a server of its own.
pub const NOBODY: Ipv4Addr = Ipv4Addr::new(127, 64, 0, 53);
/// How often it is seen whether the link has ended.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest question.
const LONGEST: usize = 4096;
/// RFC 1035, 4.1.1: a header has twelve bytes.
const HEADER: usize = 12;

/// Answers in this thread's network namespace, until nobody else holds the count; returns how many it answered, as it goes.
///
/// # Errors
/// If the address cannot be taken.
pub fn refuse() -> std::io::Result<Arc<AtomicU64>> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    // A server that the command runs may take the port at all addresses.
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddrV4::new(NOBODY, 53))?;
    let (socket, asked) = (UdpSocket::from(socket), Arc::new(AtomicU64::new(0)));
    socket.set_read_timeout(Some(PATIENCE))?;
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut buffer = [0; LONGEST];
        // Nobody else holds the count when the link has ended.
        while Arc::strong_count(&count) > 1 {
            let Ok((length, client)) = socket.recv_from(&mut buffer) else {
                continue;
            };
            if let Some(answer) = answer(&mut buffer[..length]) {
                count.fetch_add(1, Ordering::Relaxed);
                // A client that is gone needs none.
                _ = socket.send_to(answer, client);
            }
        }
    });
    Ok(asked)
}

/// The answer to a question, in its place: that there is no such name (RFC 1035, 4.1.1: QR, RA, RCODE 3). None to
/// what is no question. REFUSED would be more exact, but musl asks again then, for 5 s.
fn answer(message: &mut [u8]) -> Option<&[u8]> {
    let (header, _) = message.split_at_mut_checked(HEADER)?;
    if header[2] & 0x80 != 0 {
        return None;
    }
    // The opcode, and whether recursion is desired, are the question's.
    header[2] = 0x80 | header[2] & 0x79;
    header[3] = 0x80 | 3;
    // A further record, such as EDNS's, stays behind the question as it was: it is valid in an answer.
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_gets_its_own_number_and_no_name() {
        let mut question = vec![0xab, 0xcd, 0x01, 0x20, 0, 1, 0, 0, 0, 0, 0, 0];
        question.extend(b"\x01a\x00\x00\x01\x00\x01");
        let whole = question.clone();
        let answered = answer(&mut question).unwrap();
        assert_eq!(answered[..4], [0xab, 0xcd, 0x81, 0x83]);
        assert_eq!(answered[4..], whole[4..]);
        assert_eq!(answer(&mut question), None, "an answer is no question");
        assert_eq!(answer(&mut [0; 11]), None);
    }
}
