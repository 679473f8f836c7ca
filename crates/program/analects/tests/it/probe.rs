//! The arguments of `analects probe`: what does not go together is refused before anything is sent; and its
//! server on a kernel without IPv6.

use crate::common::{Folder, text};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

#[test]
fn the_quick_form_has_no_length_no_pace_and_no_course() {
    let folder = Folder::new("probe-arguments");
    let base = ["probe", "192.0.2.1", "--trust-anyone", "--quick"];
    for (option, value) in [
        ("--seconds", Some("5")),
        ("--rate", Some("5mbit")),
        ("--watch", None),
    ] {
        let mut args = base.to_vec();
        args.push(option);
        args.extend(value);
        let output = folder.analects(&args);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert_eq!(text(&output.stdout), "");
        assert!(message.contains("--quick"), "{message}");
        assert!(message.contains(option), "{message}");
    }
}

/// A kernel started with `ipv6.disable=1`, as a library plays it: no socket of that family.
#[cfg(target_os = "linux")]
const WITHOUT_IPV6: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
int socket(int domain, int type, int protocol)
{
	int (*real)(int, int, int) = dlsym(RTLD_NEXT, "socket");

	if (domain == AF_INET6) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	return real(domain, type, protocol);
}
"#;

#[test]
#[cfg(target_os = "linux")]
fn a_server_without_ipv6_answers_ipv4_and_says_so() {
    use std::io::{BufRead, BufReader, Read};
    let folder = Folder::new("probe-ipv4");
    let source = folder.write("without.c", WITHOUT_IPV6);
    let library = folder.0.join("without.so");
    let compiled = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()))
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    assert!(compiled.unwrap().success());
    let mut server = Command::new(env!("CARGO_BIN_EXE_analects"))
        .current_dir(&folder.0)
        .args(["probe", "serve", "--listen", "[::]:0", "--key", "key"])
        .env("LD_PRELOAD", &library)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    server.kill().unwrap();
    let mut said = String::new();
    let mut stderr = server.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    server.wait().unwrap();
    assert!(line.starts_with("listening on 0.0.0.0:"), "{line}{said}");
    assert!(said.contains("no IPv6: only IPv4 is answered"), "{said}");
}
