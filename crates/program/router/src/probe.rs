//! `analects probe`: determines the management of a path's queue, over real multipath QUIC.

use crate::cli::{ProbeArgs, ProbeCommand, ProbeServe};
use ::probe::limits::{Ledger, Policy};
use ::probe::node::{ProbeForm, Wish};
use ::probe::report::{DataDirection, Management, Report};
use ::probe::{Identity, Trust, real};
use cca::tonopah::Settings;
use command::Refused;
use command::print;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

type Result<T> = core::result::Result<T, Refused>;

/// The default address of a server.
const PORT: u16 = 7411;

/// Probes, or serves.
pub fn probe(args: &ProbeArgs) -> Result<()> {
    match &args.command {
        Some(ProbeCommand::Serve(serve_args)) => serve(serve_args),
        None => ask(args),
    }
}

fn ask(args: &ProbeArgs) -> Result<()> {
    let wish = Wish {
        direction: if args.up {
            DataDirection::Up
        } else {
            DataDirection::Down
        },
        form: if args.quick {
            ProbeForm::Quick
        } else {
            ProbeForm::Load(Duration::from_secs(args.seconds))
        },
        trust: args.pin.map_or(Trust::Anyone, Trust::Pin),
        rate: args.rate,
    };
    let remote = resolved(args.host.as_deref().unwrap_or_default())?;
    let mut told: Option<Management> = None;
    let mut failed = Ok(());
    let report = real::probe(
        remote,
        &wish,
        Settings::default(),
        &AtomicBool::new(false),
        |seen| {
            if args.watch && told != Some(seen.verdict) && failed.is_ok() {
                told = Some(seen.verdict);
                failed = print(&changed(seen, args.json));
            }
        },
    )?;
    failed?;
    print(&if args.json {
        json(&report)
    } else {
        report.text()
    })
}

/// A line for `--watch`.
fn changed(report: &Report, as_json: bool) -> String {
    if as_json {
        return json(report);
    }
    let queue = report
        .queue_ms
        .map_or(String::new(), |ms| format!(", queue {ms:.1} ms"));
    format!(
        "{:6.1} s  {}{queue}\n",
        report.at_ms / 1e3,
        report.headline()
    )
}

fn json(report: &Report) -> String {
    // A report has finite numbers and plain names: JSON can represent all of it.
    serde_json::to_string(report).unwrap_or_default() + "\n"
}

fn serve(args: &ProbeServe) -> Result<()> {
    let ledger = Ledger::new(Policy {
        allow: args.allow.clone(),
        clients: usize::from(args.clients),
        clients_per_address: 1,
        longest: Duration::from_secs(args.seconds),
        rate: args.rate,
        rate_in_all: args.rate_in_all,
        bytes: args.bytes.get(),
        bytes_in_all: args.bytes_in_all.get(),
    });
    let identity = Identity::load_or_make(&args.key)?;
    let mut server =
        real::ProbeServer::bind(args.listen, &identity, ledger.clone(), Settings::default())?;
    let address = server.address()?;
    #[cfg(feature = "measure")]
    measured(args, address, &identity, ledger)?;
    if address.is_ipv4() && args.listen.is_ipv6() {
        eprintln!("this kernel has no IPv6: only IPv4 is answered");
    }
    print(&format!("listening on {address}\npin {}\n", identity.pin()))?;
    Ok(server.run(&AtomicBool::new(false))?)
}

/// Answers `analects measure` on the TCP port of the same number, within the same limits.
#[cfg(feature = "measure")]
fn measured(
    args: &ProbeServe,
    address: SocketAddr,
    identity: &Identity,
    ledger: Ledger,
) -> Result<()> {
    let failed = |problem: line::Problem| Refused::failed(&problem.to_string(), "");
    let page = if args.page {
        Some(line::page::ServedPage::new(args.playground.clone()).map_err(failed)?)
    } else {
        None
    };
    let tls = match (&args.certificate, &args.certificate_key) {
        (Some(certificate), Some(key)) => line::server::Server::given(certificate, key),
        _ => line::server::Server::own(identity),
    };
    let tls = tls.map_err(failed)?;
    let browsers = match (&page, &args.certificate) {
        (Some(page), None) => page.own().map_err(failed)?,
        _ => tls.clone(),
    };
    let mut server = line::server::Server::bind(address, tls, ledger).map_err(failed)?;
    if let Some(page) = page {
        server = server.with_page(page, browsers).map_err(failed)?;
        eprintln!(
            "a page for browsers: https://{address}/, its call on UDP port {}",
            address.port() + 1
        );
    }
    std::thread::spawn(move || {
        if let Err(problem) = server.run() {
            eprintln!("`analects measure` is not answered any more: {problem}");
        }
    });
    Ok(())
}

/// The first address of a host, with the port if one is named.
fn resolved(host: &str) -> Result<SocketAddr> {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok((address, PORT).into());
    }
    let found = if host.contains(':') {
        host.to_socket_addrs()
    } else {
        (host, PORT).to_socket_addrs()
    };
    let help = "a host is a name or an address, with a port if it is not 7411: example.org:7411";
    match found.map(|mut addresses| addresses.next()) {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err(Refused::failed(&format!("{host} has no address"), help)),
        Err(e) => Err(Refused::failed(&format!("{host}: {e}"), help)),
    }
}
