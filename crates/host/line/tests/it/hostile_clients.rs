//! Clients that ask a server for more than it grants.

use crate::page::{get, opened, run};
use crate::{served, wish};
use line::Trust;
use line::client::measure;
use probe::limits::Policy;
use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn measures(address: SocketAddr) -> Result<u64, String> {
    let found = measure(
        &wish(address, Trust::Anyone),
        &AtomicBool::new(false),
        &mut |_| (),
    );
    found
        .map(|found| found.bytes)
        .map_err(|problem| problem.to_string())
}

/// Whether the server has closed `stream`.
fn closed(mut stream: &TcpStream) -> bool {
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    !matches!(stream.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn connections_beyond_those_of_one_client_are_closed_and_the_server_goes_on() {
    let (address, _) = served(Policy::default());
    let mut held: Vec<TcpStream> = Vec::new();
    for _ in 0..700 {
        // The backlog may be full.
        held.extend(TcpStream::connect_timeout(&address, Duration::from_secs(3)));
    }
    let last = &held[held.len() - 1];
    assert!(held.len() > 550 && closed(last), "{}", held.len());
    assert!(!closed(&held[0]));
    drop(held);
    let measured = || measures(address);
    // It sees their ends as it comes to them.
    let found = (0..20).find_map(|_| measured().ok());
    assert!(found.is_some());
}

/// As goresponsiveness leaves its own, of which fifty a second are too many otherwise.
#[test]
fn connections_without_a_request_are_closed_and_one_that_loads_is_not() {
    let (address, _) = served(Policy::default());
    run(async {
        let (mut small, small_ends) = opened(address).await;
        let (mut large, large_ends) = opened(address).await;
        let object = large.send_request(get(address, "/large")).await.unwrap();
        let answer = small.send_request(get(address, "/small")).await.unwrap();
        assert_eq!(answer.status(), 200);
        small_ends.await.unwrap();
        assert!(!large_ends.is_finished());
        drop(object);
        large_ends.await.unwrap();
    });
}

#[test]
fn bytes_of_an_hour_are_given_once() {
    let (address, _) = served(Policy {
        bytes: 300_000,
        ..Policy::default()
    });
    let [first, second] = [measures(address), measures(address)];
    assert!(second.is_err(), "{first:?} {second:?}");
    assert!(
        first.as_ref().map_or(true, |bytes| *bytes < 600_000),
        "{first:?}"
    );
}

#[test]
fn who_is_not_allowed_gets_no_answer() {
    let (address, _) = served(Policy {
        allow: vec!["192.0.2.0/24".parse().unwrap()],
        ..Policy::default()
    });
    let stream = TcpStream::connect(address).unwrap();
    assert!(closed(&stream));
    assert!(measures(address).is_err());
}
