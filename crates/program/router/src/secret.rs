//! Secrets in files.

use command::Refused;
use core::ops::RangeInclusive;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The secret in a file that nobody else may read, without the white space around it.
///
/// # Errors
/// If it cannot be read, or has another number of bytes than `sizes`; `option` named the file.
pub fn secret(option: &str, path: &Path, sizes: RangeInclusive<usize>) -> Result<Vec<u8>, Refused> {
    let refuse = |what: &str, help: &str| {
        Refused::new(&format!("{option}: {} {what}", path.display()), help)
    };
    let no_file = format!("write the name of a file with the secret behind {option}");
    let unread = |error: &std::io::Error| {
        Refused::new(&format!("{option}: {}: {error}", path.display()), &no_file)
    };
    // Before it is opened: a pipe would wait for its writer.
    let about = path.metadata().map_err(|error| unread(&error))?;
    if !about.is_file() {
        return Err(refuse("is no file", &no_file));
    }
    if about.mode() & 0o077 != 0 {
        return Err(refuse(
            "may be read by others than its owner",
            "chmod 600 it",
        ));
    }
    let file = File::open(path).map_err(|error| unread(&error))?;
    let mut bytes = Vec::new();
    let read = file.take(*sizes.end() as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| unread(&error))?;
    let secret = bytes.trim_ascii();
    if !sizes.contains(&secret.len()) {
        let (least, most) = (sizes.start(), sizes.end());
        let what = format!(
            "has {} bytes, and a secret has {least} to {most}",
            secret.len()
        );
        return Err(refuse(&what, "head -c 32 /dev/urandom | base64 makes one"));
    }
    Ok(secret.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_secret_is_its_owner_s_and_long_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let read = || secret("--it", &path, 8..=12).map_err(|refused| refused.to_string());
        assert!(read().unwrap_err().starts_with("--it: "));
        std::fs::write(&path, "swordfish\n").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert!(read().unwrap_err().contains("by others"));
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read().unwrap(), b"swordfish");
        for (text, bytes) in [
            ("short\n", "5 bytes"),
            ("much longer than twelve", "13 bytes"),
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(read().unwrap_err().contains(bytes), "{text}");
        }
        assert!(secret("--it", folder.path(), 8..=12).is_err());
    }
}
