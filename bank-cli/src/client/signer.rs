//! The key with which requests over TCP are signed (http-auth.md 4).

use std::path::Path;

use bank_api::sign;

use super::Call;
use crate::{
    clock,
    config::{self, Settings},
    fail::Failure,
};

/// A key with its id.
#[derive(Debug)]
pub(super) struct Signer {
    /// As the daemon knows it.
    pub(super) id: String,
    /// The keyed HMAC; its debug form tells nothing.
    pub(super) key: sign::SigningKey,
}

impl Signer {
    /// The key of the settings; `None` where none is named.
    pub(super) fn new(settings: &Settings) -> Result<Option<Self>, Failure> {
        let (id, file) = match (&settings.key_id, &settings.key_file) {
            (None, None) => return Ok(None),
            (Some(id), Some(file)) => (id, file),
            (Some(_), None) => return Err(Failure::usage("key_id is set, but key_file is not")),
            (None, Some(_)) => return Err(Failure::usage("key_file is set, but key_id is not")),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
            return Err(Failure::usage(format!(
                "key id {id:?} is not 1 to 64 letters, digits, dots, underscores or hyphens"
            )));
        }
        let secret = read_secret(file)?;
        Ok(Some(Self {
            id: id.clone(),
            key: sign::SigningKey::new(&secret),
        }))
    }

    /// The signature headers of a call, under a new nonce.
    pub(super) fn sign(&self, call: &Call) -> Result<sign::RequestSignature, Failure> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| Failure::internal(format!("no random numbers: {error}")))?;
        let nonce = uuid::Uuid::from_bytes(bytes).simple().to_string();
        let request = sign::OutgoingRequest {
            method: call.method.as_str(),
            target: &call.target,
            body: &call.body,
            idempotency_key: call.key.as_deref(),
            event_time: None,
        };
        let created = clock::now_us().div_euclid(1_000_000);
        Ok(sign::sign_request(
            &self.key, &self.id, &request, created, &nonce,
        ))
    }
}

/// Reads a secret from a file (`base64:…`, `hex:…` or plain text).
pub(crate) fn read_secret(file: &Path) -> Result<sign::Secret, Failure> {
    let failed = |why: String| {
        Failure::access(format!(
            "cannot read the key file {}: {why}",
            file.display()
        ))
    };
    private(file).map_err(failed)?;
    let text = config::bounded(file).map_err(|error| failed(error.to_string()))?;
    sign::Secret::parse(&text).map_err(|error| failed(error.to_string()))
}

/// A secret that others can read is none.
fn private(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = std::fs::metadata(file)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_key_is_a_usage_error() {
        let id = Settings {
            key_id: Some("ops".into()),
            ..Settings::default()
        };
        assert_eq!(Signer::new(&id).unwrap_err().exit, 2);
        let file = Settings {
            key_file: Some("/none".into()),
            ..Settings::default()
        };
        assert_eq!(Signer::new(&file).unwrap_err().exit, 2);
        let both = Settings {
            key_file: Some("/no/such/file".into()),
            ..id
        };
        assert_eq!(Signer::new(&both).unwrap_err().exit, 6);
        let odd = Settings {
            key_id: Some("a b".into()),
            ..both
        };
        assert_eq!(Signer::new(&odd).unwrap_err().exit, 2);
    }
}
