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
use std::net::TcpListener;
use std::sync::Arc;

/// Opens the page that the options ask for, if they do, and says where it is; it is there until the process ends.
///
/// # Errors
/// If the address cannot be had, or others could see it and there is no password.
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
    let failed = |error: std::io::Error| {
        let help = "name an address of this host, and a port that no other program has";
        Refused::failed(&format!("--page: {address}: {error}"), help)
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let board = Arc::new(Board::default());
    let site = Site {
        board: board.clone(),
        password,
    };
    let begun = std::thread::Builder::new().spawn(move || serve::serve(&listener, site));
    begun.map_err(failed)?;
    eprintln!("the page is http://{address}/");
    Ok(Some(board))
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
    fn an_address_that_another_has_is_refused() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = opened(&other.local_addr().unwrap().to_string(), None).unwrap_err();
        assert!(refused.starts_with("--page: 127.0.0.1:"), "{refused}");
    }
}
