//! Whom a client trusts, and a server's certificate.

use crate::Problem;
use crate::certificate::ShortLived;
use probe::{Identity, KeyShown, Trust, verifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{Acceptor, ClientHello};
use rustls::{ClientConfig, ServerConfig, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

/// HTTP/2 over TLS (RFC 9113 section 3.2).
const PROTOCOL: &[u8] = b"h2";
/// HTTP/1.1 (RFC 7301 section 6).
const OLD: &[u8] = b"http/1.1";

/// The servers that a client trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trusted {
    /// Those that an authority of this system vouches for by name.
    Public,
    /// One of the user's own, by its key: TLS 1.3 only.
    Own(Trust),
}

/// A client's configuration.
///
/// # Errors
/// If TLS cannot be set up, or this system names no authority.
pub fn client(trusted: Trusted) -> Result<ClientConfig, Problem> {
    let builder = ClientConfig::builder_with_provider(provider());
    let mut config = match trusted {
        Trusted::Public => builder
            .with_safe_default_protocol_versions()
            .map_err(unset)?
            .with_root_certificates(roots()?),
        Trusted::Own(trust) => builder
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unset)?
            .dangerous()
            .with_custom_certificate_verifier(verifier(trust, KeyShown::Certificate)),
    }
    .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    // Each handshake is to be a whole one: its time is what is measured.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

fn roots() -> Result<rustls::RootCertStore, Problem> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        Err(Problem::Refused(
            "this system names no certificate authority (ca-certificates is not installed?); a server of your own \
             is known by --pin"
                .to_owned(),
        ))
    } else {
        Ok(roots)
    }
}

/// A server's configuration, whose certificate says no more than its key.
///
/// # Errors
/// If no certificate can be made of it.
pub fn server(identity: &Identity) -> Result<ServerConfig, Problem> {
    let wrong = |error: rcgen::Error| Problem::Refused(format!("the server's key: {error}"));
    let key = PrivatePkcs8KeyDer::from(identity.pkcs8().to_vec());
    let pair = rcgen::KeyPair::try_from(&key).map_err(wrong)?;
    let own = rcgen::CertificateParams::new(vec!["analects".to_owned()])
        .and_then(|params| params.self_signed(&pair))
        .map_err(wrong)?;
    given(vec![own.into()], key.into())
}

/// A server's configuration for browsers, with a certificate that they take.
///
/// # Errors
/// If TLS cannot be set up.
pub fn server_of_page(short: Arc<ShortLived>) -> Result<ServerConfig, Problem> {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unset)?;
    Ok(kept(
        builder.with_no_client_auth().with_cert_resolver(short),
    ))
}

/// A server's configuration for WebTransport, which is HTTP/3 (RFC 9114 section 3.1).
///
/// # Errors
/// If TLS cannot be set up.
pub fn server_of_calls(short: Arc<ShortLived>) -> Result<ServerConfig, Problem> {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unset)?;
    let config = builder.with_no_client_auth().with_cert_resolver(short);
    let mut config = kept(config);
    config.alpn_protocols = vec![b"h3".to_vec()];
    Ok(config)
}

/// A server's configuration with a certificate of an authority, from two files in PEM.
///
/// # Errors
/// If a file cannot be read, or the key is not the certificate's.
pub fn server_of(certificates: &Path, key: &Path) -> Result<ServerConfig, Problem> {
    use rustls::pki_types::pem::PemObject as _;
    let wrong = |path: &Path, error: rustls::pki_types::pem::Error| {
        Problem::Refused(format!("{}: {error}; expected PEM", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(certificates, error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, error))?;
    given(chain, secret)
}

fn given(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Problem> {
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unset)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| Problem::Refused(format!("the server's certificate: {e}")))?;
    Ok(kept(config))
}

/// The same for HTTP/2, without anything that is kept for clients that are gone.
fn kept(mut config: ServerConfig) -> ServerConfig {
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config
}

/// A server's TLS: for all, and another one for browsers where it has a page.
#[derive(Debug, Clone)]
pub struct Tls {
    all: Arc<ServerConfig>,
    browsers: Option<Arc<ServerConfig>>,
}

impl Tls {
    /// The same for all.
    pub fn new(all: ServerConfig) -> Self {
        Tls {
            all: Arc::new(all),
            browsers: None,
        }
    }

    /// Browsers get this one, and HTTP/1.1.
    pub fn with_browsers(&mut self, mut browsers: ServerConfig) {
        browsers.alpn_protocols = vec![OLD.to_vec()];
        self.browsers = Some(Arc::new(browsers));
    }

    /// Shakes hands, and tells whether it was with a browser; none if that fails.
    pub async fn accept<S>(&self, stream: S) -> Option<(TlsStream<S>, bool)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let started = LazyConfigAcceptor::new(Acceptor::default(), stream)
            .await
            .ok()?;
        let (config, browser) = match &self.browsers {
            Some(browsers) if is_browser(&started.client_hello()) => (browsers, true),
            _ => (&self.all, false),
        };
        let stream = started.into_stream(config.clone()).await.ok()?;
        Some((stream, browser))
    }
}

/// Browsers take HTTP/1.1 as well, and no Ed25519. `analects measure` offers HTTP/2 alone, as others of the draft do.
fn is_browser(hello: &ClientHello<'_>) -> bool {
    let old = hello
        .alpn()
        .is_some_and(|mut offered| offered.any(|protocol| protocol == OLD));
    old && !hello
        .signature_schemes()
        .contains(&SignatureScheme::ED25519)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn unset(error: rustls::Error) -> Problem {
    Problem::Refused(format!("TLS cannot be set up: {error}"))
}
