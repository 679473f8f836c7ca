//! The password of the page: HTTP's Basic scheme (RFC 7617).

use crate::secret::secret;
use command::Refused;
use ring::hmac::{HMAC_SHA256, Key, Tag, sign, verify};
use std::path::Path;

/// The option that names its file.
const OPTION: &str = "--page-password-file";
/// The name that belongs to it.
const NAME: &str = "analects";
/// How a header begins that has one.
const SCHEME: &str = "Basic ";
/// The digits of Base64 (RFC 4648, table 1).
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A name and a password, of which only a tag is kept.
pub struct Password {
    key: Key,
    tag: Tag,
}

impl Password {
    /// That in a file.
    ///
    /// # Errors
    /// If the file has none, or others may read it.
    pub fn read(file: &Path) -> Result<Self, Refused> {
        let password = secret(OPTION, file, 8..=1024)?;
        let random = ring::rand::SystemRandom::new();
        let key = Key::generate(HMAC_SHA256, &random);
        let key = key.map_err(|_| Refused::failed("the system has no random numbers", ""))?;
        Ok(Password::of(key, &password))
    }

    fn of(key: Key, password: &[u8]) -> Self {
        let pair = [NAME.as_bytes(), b":", password].concat();
        let tag = sign(&key, base64(&pair).as_bytes());
        Password { key, tag }
    }

    /// Whether the value of the header `authorization` has it. The time that it takes depends on the length of `said`
    /// only: tags are compared, in constant time.
    pub fn is(&self, said: &[u8]) -> bool {
        let scheme = said.get(..SCHEME.len()).unwrap_or_default();
        let pair = said.get(SCHEME.len()..).unwrap_or_default();
        scheme.eq_ignore_ascii_case(SCHEME.as_bytes())
            && verify(&self.key, pair, self.tag.as_ref()).is_ok()
    }
}

/// Bytes in Base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place) & 63) as usize;
            let filled = place <= three.len();
            text.push(if filled { DIGITS[digit].into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// One of a known password.
    pub fn password(text: &str) -> Password {
        Password::of(Key::new(HMAC_SHA256, &[7; 32]), text.as_bytes())
    }

    /// RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        for (text, digits) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), digits);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn only_the_password_is_taken() {
        let known = password("swordfish");
        let header = |name: &str, word: &str| {
            format!("Basic {}", base64(format!("{name}:{word}").as_bytes()))
        };
        let right = header("analects", "swordfish");
        assert!(known.is(right.as_bytes()));
        assert!(known.is(right.replace("Basic", "basic").as_bytes()));
        for wrong in [
            header("analects", "swordfisk"),
            header("analects", "swordfish "),
            header("analects", ""),
            header("root", "swordfish"),
            right.replace("Basic", "Bearer"),
            right.replace("Basic ", "Basic"),
            right[..right.len() - 1].to_owned(),
            format!("{right}A"),
            String::new(),
            "Basic".to_owned(),
        ] {
            assert!(!known.is(wrong.as_bytes()), "{wrong}");
        }
    }
}
