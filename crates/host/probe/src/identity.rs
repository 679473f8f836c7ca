//! The identity of a server: a key of its own, and the pin by which a client knows it.
//!
//! The key is Ed25519, shown as a raw public key (RFC 7250): there is no name, date or issuer to
//! check, so that a certificate would add nothing to the pin. The pin is the SHA-256 of the key's
//! SubjectPublicKeyInfo, as in RFC 7469.

use crate::Problem;
use ring::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite;
use rustls::crypto::{CryptoProvider, verify_tls13_signature, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// The protocol name of both ends (ALPN, RFC 7301).
const PROTOCOL: &[u8] = b"analects-probe/1";
/// A key file longer than this is not one of ours. Bytes.
const MAX_KEY_FILE: u64 = 1024;

/// The identifier of a server's key: the SHA-256 of its SubjectPublicKeyInfo, written as 64
/// hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin([u8; 32]);

impl Pin {
    /// That of a key's SubjectPublicKeyInfo in DER.
    pub fn of(key: &[u8]) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, key);
        let mut pin = [0; 32];
        pin.copy_from_slice(digest.as_ref());
        Pin(pin)
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Pin {
    type Err = Problem;

    /// # Errors
    /// If the text is not 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::Refused(format!(
                "a pin is 64 hexadecimal digits, as `analects probe serve` prints it, not `{text}`"
            ))
        };
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut pin = [0; 32];
        for (byte, digits) in pin.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Pin(pin))
    }
}

/// A server's key.
#[derive(Debug)]
pub struct Identity {
    key: Arc<CertifiedKey>,
    pin: Pin,
    pkcs8: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// A new key that is kept nowhere.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new() -> Result<Self, Problem> {
        Self::from_pkcs8(&Self::generate()?)
    }

    /// The key in the file `path`, which is created, readable by its owner only, if there is none.
    ///
    /// # Errors
    /// If the file cannot be read or made, others may read it, or it holds no such key.
    pub fn load_or_make(path: &Path) -> Result<Self, Problem> {
        match File::open(path) {
            Ok(file) => Self::load(path, file),
            Err(e) if e.kind() == ErrorKind::NotFound => Self::make(path),
            Err(e) => Err(Problem::file(path, &e)),
        }
    }

    /// The identifier by which clients know it.
    pub fn pin(&self) -> Pin {
        self.pin
    }

    /// The secret key in PKCS #8, for a certificate of it.
    pub fn pkcs8(&self) -> &[u8] {
        self.pkcs8.secret_pkcs8_der()
    }

    fn generate() -> Result<Vec<u8>, Problem> {
        Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new())
            .map(|document| document.as_ref().to_vec())
            .map_err(|_| Problem::System("no random numbers to make a key of".to_owned()))
    }

    fn make(path: &Path) -> Result<Self, Problem> {
        let key = Self::generate()?;
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| file.write_all(&key))
            .map_err(|e| Problem::file(path, &e))?;
        Self::from_pkcs8(&key)
    }

    fn load(path: &Path, file: File) -> Result<Self, Problem> {
        let about = file.metadata().map_err(|e| Problem::file(path, &e))?;
        if about.mode() & 0o077 != 0 {
            return Err(Problem::Refused(format!(
                "{}: others may read or write this key (mode {:o}); permitted is 600",
                path.display(),
                about.mode() & 0o777
            )));
        }
        let mut key = Vec::new();
        file.take(MAX_KEY_FILE)
            .read_to_end(&mut key)
            .map_err(|e| Problem::file(path, &e))?;
        Self::from_pkcs8(&key).map_err(|_| {
            Problem::Refused(format!(
                "{}: holds no Ed25519 key in PKCS #8",
                path.display()
            ))
        })
    }

    fn from_pkcs8(key: &[u8]) -> Result<Self, Problem> {
        let none = || Problem::Refused("not an Ed25519 key in PKCS #8".to_owned());
        let pkcs8 = PrivatePkcs8KeyDer::from(key.to_vec());
        let key = rustls::crypto::ring::sign::any_eddsa_type(&pkcs8).map_err(|_| none())?;
        let public = key.public_key().ok_or_else(none)?;
        let pin = Pin::of(&public);
        let shown = CertificateDer::from(public.to_vec());
        Ok(Identity {
            key: Arc::new(CertifiedKey::new(vec![shown], key)),
            pin,
            pkcs8,
        })
    }

    /// A server's configuration of TLS: 1.3 only, no tickets, no early data, so that nothing is
    /// kept for clients that are gone.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn server(&self) -> Result<rustls::ServerConfig, Problem> {
        let mut config = rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|e| Problem::System(e.to_string()))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(
                self.key.clone(),
            )));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(config)
    }
}

/// The servers that a client trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The server whose key has this pin, and no other.
    Pin(Pin),
    /// Any server. Its key is still proven; an attacker on the path can pose as the server.
    Anyone,
}

/// A client's configuration of TLS.
///
/// # Errors
/// If TLS cannot be set up.
pub fn client(trust: Trust) -> Result<rustls::ClientConfig, Problem> {
    let mut config = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| Problem::System(e.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier(trust, KeyShown::RawKey))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// ChaCha20 first: a router's processor seldom has instructions for AES, and without them AES was most
/// of the probe's work (docs/decisions/0070-probe.md). QUIC needs AES for its first packets.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
            cipher_suite::TLS13_AES_128_GCM_SHA256,
        ],
        ..rustls::crypto::ring::default_provider()
    })
}

/// In what a server shows its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyShown {
    /// The key alone (RFC 7250).
    RawKey,
    /// A certificate.
    Certificate,
}

/// What tells whether a server is the trusted one, by its key alone.
pub fn verifier(trust: Trust, shown: KeyShown) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Verifier(trust, shown))
}

#[derive(Debug)]
struct Verifier(Trust, KeyShown);

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let pin = match self.1 {
            KeyShown::RawKey => Pin::of(shown),
            KeyShown::Certificate => Pin::of(
                &webpki::EndEntityCert::try_from(shown)
                    .map_err(|_| CertificateError::BadEncoding)?
                    .subject_public_key_info(),
            ),
        };
        match self.0 {
            Trust::Pin(expected) if pin != expected => {
                Err(CertificateError::ApplicationVerificationFailure.into())
            }
            Trust::Pin(_) | Trust::Anyone => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _shown: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("only TLS 1.3 is offered".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = provider().signature_verification_algorithms;
        match self.1 {
            KeyShown::RawKey => {
                let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
                verify_tls13_signature_with_raw_key(message, &key, signature, &known)
            }
            KeyShown::Certificate => verify_tls13_signature(message, shown, signature, &known),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self.1 {
            KeyShown::RawKey => vec![SignatureScheme::ED25519],
            KeyShown::Certificate => provider()
                .signature_verification_algorithms
                .supported_schemes(),
        }
    }

    fn requires_raw_public_keys(&self) -> bool {
        self.1 == KeyShown::RawKey
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_made_once_and_kept_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let made = Identity::load_or_make(&path).unwrap();
        let found = Identity::load_or_make(&path).unwrap();
        assert_eq!(made.pin(), found.pin());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_ne!(made.pin(), Identity::new().unwrap().pin());
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_none_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        Identity::load_or_make(&path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let refused = Identity::load_or_make(&path).unwrap_err().to_string();
        assert!(refused.contains("mode 640"), "{refused}");

        let wrong = dir.path().join("wrong");
        std::fs::write(&wrong, b"key").unwrap();
        std::fs::set_permissions(&wrong, PermissionsExt::from_mode(0o600)).unwrap();
        assert!(Identity::load_or_make(&wrong).is_err());
    }

    #[test]
    fn a_pin_is_read_as_it_is_written() {
        let pin = Identity::new().unwrap().pin();
        assert_eq!(pin.to_string().parse::<Pin>().unwrap(), pin);
        for wrong in ["", "abc", &"g".repeat(64), &"é".repeat(32)] {
            assert!(wrong.parse::<Pin>().is_err(), "{wrong}");
        }
    }
}
