//! Certificates of servers that are reached by https. They are always checked.

use std::{fs, io::Read as _, path::Path};

use ureq::tls::{Certificate, PemItem, parse_pem};

use crate::error::Error;

/// Largest file of certificates, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// The certificates of a file in PEM form.
///
/// # Errors
/// [`Error::Settings`] if the file cannot be read or has no certificate.
pub fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>, Error> {
    let wrong = |why: String| Error::settings(format!("{}: {why}", file.display()));
    let mut bytes = Vec::new();
    fs::File::open(file)
        .and_then(|file| file.take(FILE_MAX).read_to_end(&mut bytes))
        .map_err(|error| Error::settings(format!("cannot read {}: {error}", file.display())))?;
    let mut found = Vec::new();
    for item in parse_pem(&bytes) {
        let item = item.map_err(|error| wrong(error.to_string()))?;
        if let PemItem::Certificate(certificate) = item {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(wrong("no certificate in PEM form".to_owned()));
    }
    Ok(found)
}
