//! The far side of the link: the web server, and the caller.

use crate::Error;
use crate::chromium::Chromium;
use crate::http;
use crate::records::{CALL, RecordsFile, STATISTICS};
use crate::site::{PORTS, Site, WEB};
use crate::trial::Trial;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

/// The file with the server's address.
pub(crate) const ADDRESS: &str = "address";

/// Serves the trial in `folder` at `address`, and calls, until the link ends this process.
///
/// # Errors
/// If the address cannot be served, files cannot be written, there is no browser, or it ends.
pub fn far(folder: &Path, address: IpAddr) -> Result<(), Error> {
    let trial = Trial::read(folder)?;
    let pages: &[u16] = if trial.web { &WEB } else { &[0; PORTS] };
    let ports = core::iter::once(&0).chain(pages);
    let listeners = ports.map(|&port| TcpListener::bind(SocketAddr::new(address, port)));
    let listeners = listeners.collect::<Result<Vec<_>, _>>();
    let failed = |error: std::io::Error| {
        Error::new(
            format!("{address} cannot be served: {error}"),
            "run it at the far side of a link",
        )
    };
    let listeners = listeners.map_err(failed)?;
    let ports = listeners
        .iter()
        .map(|listener| listener.local_addr().map(|at| at.port()));
    let ports = ports.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let first = SocketAddr::new(address, ports[0]).to_string();
    let records = RecordsFile::create(folder, CALL)?;
    let kept = trial.kept.then(|| RecordsFile::create(folder, STATISTICS));
    let site = Arc::new(Site::new(trial, ports, records, kept.transpose()?));
    for listener in listeners {
        http::serve(listener, Arc::clone(&site));
    }
    let mut caller = Chromium::open(folder, "caller", &format!("http://{first}/call"))?;
    let file = folder.join(ADDRESS);
    std::fs::write(&file, &first).map_err(|error| Error::unwritable(&file, &error))?;
    // The link ends this process.
    let status = caller.wait();
    Err(Error::new(
        format!("the caller's browser ended: {status}"),
        "try whether it runs by itself",
    ))
}
