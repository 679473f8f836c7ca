//! `--page`: a page of how lines stand, for a browser. It changes nothing.
//!
//! Who knows something tells the [`Board`]; threads without privileges answer browsers from that.

mod answer;
mod board;
mod history;
mod password;
mod serve;

use crate::cli::PageArgs;
use answer::Site;
pub use board::{Board, Looked, Stands};
use command::Refused;
use password::Password;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// How long until an address that cannot be had is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Opens the page that the options ask for, if they do, and says where it is; it is there until the process ends. An
/// address that cannot be had yet is waited for: a line is not to lose its shaper because a page has no place.
///
/// # Errors
/// If others could see it and there is no password.
pub fn open(args: &PageArgs) -> Result<Option<Arc<Board>>, Refused> {
    let Some(address) = args.page else {
        return Ok(None);
    };
    let file = args.page_password_file.as_deref();
    let password = file.map(Password::read).transpose()?;
    if password.is_none() && !address.ip().is_loopback() {
        let message =
            format!("--page: {address} can be reached by others, and there is no password");
        let help = "write one into a file that only its owner may read, for --page-password-file; or use 127.0.0.1";
        return Err(Refused::new(&message, help));
    }
    let board = Arc::new(Board::default());
    let site = Site {
        board: board.clone(),
        password,
    };
    let begun = std::thread::Builder::new().spawn(move || serve::serve(&listening(address), site));
    begun.map_err(|error| Refused::failed(&format!("--page: {error}"), ""))?;
    Ok(Some(board))
}

/// Listens as soon as the address can be had, and says so.
fn listening(address: SocketAddr) -> TcpListener {
    let mut told = false;
    loop {
        let listener = TcpListener::bind(address);
        match listener.and_then(|listener| Ok((listener.local_addr()?, listener))) {
            Ok((address, listener)) => {
                eprintln!("the page is http://{address}/");
                return listener;
            }
            Err(error) if !std::mem::replace(&mut told, true) => eprintln!(
                "there is no page yet: --page: {address}: {error}; it begins when this host has that address, and no other program its port"
            ),
            Err(_) => (),
        }
        std::thread::sleep(AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(address: &str, password: Option<&str>) -> Result<bool, String> {
        let args = PageArgs {
            page: Some(address.parse().unwrap()),
            page_password_file: password.map(Into::into),
        };
        let board = open(&args).map_err(|refused| refused.to_string())?;
        Ok(board.is_some())
    }

    #[test]
    fn there_is_none_unless_it_is_asked_for_and_none_for_others_without_a_password() {
        assert!(open(&PageArgs::default()).unwrap().is_none());
        assert_eq!(opened("127.0.0.1:0", None), Ok(true));
        for others in ["0.0.0.0:0", "192.0.2.1:8080", "[::]:0"] {
            let refused = opened(others, None).unwrap_err();
            assert!(refused.contains("there is no password"), "{refused}");
        }
        let refused = opened("127.0.0.1:0", Some("/nowhere")).unwrap_err();
        assert!(
            refused.starts_with("--page-password-file: /nowhere"),
            "{refused}"
        );
    }

    #[test]
    fn an_address_that_another_has_is_waited_for() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        assert_eq!(opened(&address.to_string(), None), Ok(true));
        drop(other);
        let tries = AGAIN.as_millis() / 50 + 100;
        let listens = (0..tries).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            std::net::TcpStream::connect(address).is_ok()
        });
        assert!(listens);
    }
}
