//! The key with which requests over TCP are signed.

use std::{fs, io::Read as _, path::Path};

use bank_api::sign;

use crate::{call::Call, clock, error::Error};

/// Largest key file, in bytes.
const FILE_MAX: u64 = 64 * 1024;

/// A key with its id.
#[derive(Debug)]
pub(crate) struct Signer {
    /// Id of the key in the daemon.
    pub(crate) id: String,
    /// The keyed HMAC; its debug form has no secret.
    pub(crate) key: sign::SigningKey,
}

impl Signer {
    /// The key in a file.
    pub(crate) fn new(id: &str, file: &Path) -> Result<Self, Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
            return Err(Error::settings(format!(
                "key id {id:?} is not 1 to 64 letters, digits, dots, underscores or hyphens"
            )));
        }
        let secret = read_secret(file)?;
        Ok(Self {
            id: id.to_owned(),
            key: sign::SigningKey::new(&secret),
        })
    }

    /// The signature headers of a call, under a new nonce.
    pub(crate) fn sign(&self, call: &Call) -> Result<sign::RequestSignature, Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::Internal(format!("no random numbers: {error}")))?;
        let nonce = uuid::Uuid::from_bytes(bytes).simple().to_string();
        let request = sign::OutgoingRequest {
            method: call.method.as_str(),
            target: &call.target,
            body: &call.body,
            idempotency_key: call.key.as_deref(),
            event_time: call.event_time.as_deref(),
        };
        let created = clock::now_us().div_euclid(1_000_000);
        Ok(sign::sign_request(
            &self.key, &self.id, &request, created, &nonce,
        ))
    }
}

/// Reads a secret from a file (`base64:…`, `hex:…` or plain text) that only its owner can read.
///
/// # Errors
/// [`Error::Key`] with the file and the reason.
pub fn read_secret(file: &Path) -> Result<sign::Secret, Error> {
    let failed = |why: String| {
        Error::Key(format!(
            "cannot read the key file {}: {why}",
            file.display()
        ))
    };
    private(file).map_err(failed)?;
    let mut text = String::new();
    fs::File::open(file)
        .and_then(|file| file.take(FILE_MAX).read_to_string(&mut text))
        .map_err(|error| failed(error.to_string()))?;
    sign::Secret::parse(&text).map_err(|error| failed(error.to_string()))
}

/// A secret that others can read is none.
fn private(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = fs::metadata(file)
        .map_err(|error| error.to_string())?
        .mode()
        & 0o7777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "others may read it (mode {mode:04o}); make it 0600"
        ));
    }
    Ok(())
}
