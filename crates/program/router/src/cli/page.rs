//! The options of a page of the router.

use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where there is a page, and who may see it.
#[derive(Debug, Default, Args)]
pub struct PageArgs {
    /// Serve a page at http://ADDRESS:PORT/, such as 127.0.0.1:8080, that shows how the line stands and what each
    /// computer has had. It changes nothing. There is no TLS: whoever is on the way to another address than this host's
    /// own reads the page and its password.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub page: Option<SocketAddr>,
    /// The file of the page's password, 8 to 1024 bytes, readable by its owner only; the name beside it is analects. Any
    /// address but this host's own (127.0.0.1, [::1]) needs it.
    #[arg(long, value_name = "FILE", requires = "page")]
    pub page_password_file: Option<PathBuf>,
}
