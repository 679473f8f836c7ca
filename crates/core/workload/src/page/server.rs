//! The far side of a page: one [`PageServer`] for each connection.
//!
//! It completes TLS, thinks as long as a request demands, and gives answers in parts of
//! [`PART`](super::PART) bytes, round robin over those that are ready, each on its request's
//! stream. On an HTTP/1 connection only one answer is ever ready, so the same code serves all three
//! protocols. Answers are given to the transport as it drains, never all at once: otherwise an
//! answer that is ready later would wait behind megabytes.

use super::PART;
use super::connections::SERVER_HELLO;
use crate::{App, ConnId, Input, Message, Output};
use std::collections::{BTreeMap, VecDeque};
use units::Instant;

/// Given at once before [`Input::Writable`] is awaited; not less than a transport's low mark, so
/// that the batch crosses it.
const BATCH: u64 = 2 * PART;

/// Answers the requests of one connection.
#[derive(Debug, Default)]
pub struct PageServer {
    /// Requests whose think time runs, by timer token.
    thinking: BTreeMap<u64, ServerAnswer>,
    next_token: u64,
    /// Answers that are being given; the front one's turn is next.
    ready: VecDeque<ServerAnswer>,
    /// A whole batch was given and its `Writable` has not come.
    full: bool,
}

#[derive(Debug)]
struct ServerAnswer {
    conn: ConnId,
    stream: u32,
    id: u32,
    left: u64,
}

impl PageServer {
    /// A server for one connection.
    pub fn new() -> Self {
        Self::default()
    }

    fn receive(
        &mut self,
        now: Instant,
        (conn, stream): (ConnId, u32),
        message: Message,
        out: &mut Vec<Output>,
    ) {
        match message {
            Message::ClientHello => out.push(Output::Send {
                conn,
                stream,
                bytes: SERVER_HELLO,
                message: Message::ServerHello,
            }),
            Message::Request {
                id,
                response,
                think,
            } => {
                // An answer without bytes could never arrive.
                let left = response.max(1);
                let token = self.next_token;
                self.next_token += 1;
                self.thinking.insert(
                    token,
                    ServerAnswer {
                        conn,
                        stream,
                        id,
                        left,
                    },
                );
                out.push(Output::Timer(now + think, token));
            }
            _ => {}
        }
    }

    fn give(&mut self, out: &mut Vec<Output>) {
        let mut given = 0;
        while !self.full
            && let Some(mut answer) = self.ready.pop_front()
        {
            let bytes = answer.left.min(PART);
            answer.left -= bytes;
            given += bytes;
            let last = answer.left == 0;
            out.push(Output::Send {
                conn: answer.conn,
                stream: answer.stream,
                bytes,
                message: Message::Response {
                    id: answer.id,
                    last,
                },
            });
            if !last {
                self.ready.push_back(answer);
            }
            self.full = given >= BATCH;
        }
    }
}

impl App for PageServer {
    fn handle(&mut self, now: Instant, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Message {
                conn,
                stream,
                message,
            } => self.receive(now, (conn, stream), message, out),
            Input::Timer(token) => {
                self.ready.extend(self.thinking.remove(&token));
                self.give(out);
            }
            Input::Writable(_) => {
                self.full = false;
                self.give(out);
            }
            Input::Start
            | Input::Opened(_)
            | Input::Datagram { .. }
            | Input::Session { .. }
            | Input::Unsent { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    const CONN: ConnId = ConnId(7);

    fn tell(server: &mut PageServer, ms: u64, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        server.handle(Instant::ZERO + Duration::from_millis(ms), input, &mut out);
        out
    }

    fn request(id: u32, response: u64, think: u64) -> Input {
        Input::Message {
            conn: CONN,
            stream: 4 * id,
            message: Message::Request {
                id,
                response,
                think: Duration::from_millis(think),
            },
        }
    }

    fn sent(out: &[Output]) -> Vec<(u32, u64, bool)> {
        out.iter()
            .map(|output| match *output {
                Output::Send {
                    stream,
                    bytes,
                    message: Message::Response { id, last },
                    ..
                } => {
                    assert_eq!(stream, 4 * id);
                    (id, bytes, last)
                }
                _ => panic!("{output:?}"),
            })
            .collect()
    }

    #[test]
    fn it_thinks_then_interleaves_parts() {
        let mut server = PageServer::new();
        let out = tell(&mut server, 0, request(1, 40_000, 30));
        assert_eq!(out, [Output::Timer(Instant::from_nanos(30_000_000), 0)]);
        tell(&mut server, 0, request(2, 20_000, 30));
        // 40,000 = 2 · 16,384 + 7,232; a batch is two parts.
        let out = tell(&mut server, 30, Input::Timer(0));
        assert_eq!(sent(&out), [(1, 16_384, false), (1, 16_384, false)]);
        // The second answer is ready, but the transport still has two parts.
        assert!(tell(&mut server, 30, Input::Timer(1)).is_empty());
        // Then turns: 7,232 + 16,384 < 32,768, so the rest of the second fits as well.
        let out = tell(&mut server, 40, Input::Writable(CONN));
        assert_eq!(
            sent(&out),
            [(1, 7_232, true), (2, 16_384, false), (2, 3_616, true)]
        );
        assert!(tell(&mut server, 50, Input::Writable(CONN)).is_empty());
    }

    #[test]
    fn tls_and_empty_answers() {
        let mut server = PageServer::new();
        let hello = Input::Message {
            conn: CONN,
            stream: 0,
            message: Message::ClientHello,
        };
        let out = tell(&mut server, 0, hello);
        assert!(matches!(
            out[..],
            [Output::Send {
                bytes: 3_500,
                message: Message::ServerHello,
                ..
            }]
        ));
        tell(&mut server, 0, request(3, 0, 0));
        assert_eq!(sent(&tell(&mut server, 0, Input::Timer(0))), [(3, 1, true)]);
    }
}
