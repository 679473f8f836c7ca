//! Certificates for browsers: these take no Ed25519, the key of [`Identity`]. And one that a page names by its hash may
//! be valid for two weeks at most (WebTransport, "custom certificate requirements"), so that it is made anew meanwhile.

use crate::Problem;
use probe::locked;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// How long before it was made a certificate is valid: clocks differ.
const BEFORE: Duration = DAY;
/// How long it is valid, in all.
const VALID: Duration = Duration::from_secs(13 * 24 * 3600);
/// When the next one is made.
const USED: Duration = Duration::from_secs(6 * 24 * 3600);

/// An ECDSA certificate that is made anew each week, and kept nowhere.
#[derive(Debug)]
pub struct ShortLived(Mutex<Made>);

#[derive(Debug, Clone)]
struct Made {
    at: Instant,
    key: Arc<CertifiedKey>,
}

impl ShortLived {
    /// One that is valid from now on.
    ///
    /// # Errors
    /// If no certificate can be made.
    pub fn new() -> Result<Self, Problem> {
        Ok(ShortLived(Mutex::new(made()?)))
    }

    /// The one that is valid now.
    fn key(&self) -> Arc<CertifiedKey> {
        let mut held = locked(&self.0);
        if held.at.elapsed() >= USED
            && let Ok(next) = made()
        {
            *held = next;
        }
        held.key.clone()
    }

    /// The SHA-256 of the one that is valid now, by which a page names it.
    pub fn sha256(&self) -> String {
        let key = self.key();
        let shown = key.cert.first().map_or(&[][..], |shown| shown.as_ref());
        page::hex(ring::digest::digest(&ring::digest::SHA256, shown).as_ref())
    }
}

fn made() -> Result<Made, Problem> {
    let wrong = |error: &dyn std::fmt::Display| {
        Problem::Refused(format!("a certificate for browsers: {error}"))
    };
    let pair = rcgen::KeyPair::generate().map_err(|e| wrong(&e))?;
    let mut params =
        rcgen::CertificateParams::new(vec!["analects".to_owned()]).map_err(|e| wrong(&e))?;
    let since = rcgen::date_time_ymd(1970, 1, 1) + (since_1970() - BEFORE);
    (params.not_before, params.not_after) = (since, since + VALID);
    let shown = params.self_signed(&pair).map_err(|e| wrong(&e))?;
    let key = PrivatePkcs8KeyDer::from(pair.serialize_der());
    let key = rustls::crypto::ring::sign::any_ecdsa_type(&key.into()).map_err(|e| wrong(&e))?;
    Ok(Made {
        at: Instant::now(),
        key: Arc::new(CertifiedKey::new(vec![shown.into()], key)),
    })
}

#[expect(clippy::disallowed_methods, reason = "a certificate has dates")]
fn since_1970() -> Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // A clock before 1970 is set by nobody who serves.
    now.unwrap_or_default().max(BEFORE)
}

impl ResolvesServerCert for ShortLived {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.key())
    }
}
