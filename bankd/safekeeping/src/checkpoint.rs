//! Signed checkpoints: the state of a bank at one moment, in a file that is kept elsewhere, signed
//! with a key of the site (Ed25519). With it and the public half of the key a later `verify`
//! detects a truncated journal, a rewritten history with valid hashes, and another bank (decision
//! note 0059).
//!
//! A checkpoint is text, so that a person can read it and a printer can print it: a line for each
//! thing, and the signature over all bytes before its own line. This room must never read the secret
//! half for anything but signing.

mod files;
mod kept;
mod text;
mod timer;

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use zeroize::Zeroizing;

pub use files::{Keeper, default_key, newest, public_of, write_new};
pub use kept::Kept;
pub use text::{Checkpoint, parse, write};
pub use timer::Checkpoints;

/// Errors of keys and checkpoints.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The file exists already, and its contents cannot be recreated.
    #[error("{0} is there already: keep it, or name another file")]
    Exists(String),
    /// A file has invalid contents.
    #[error("{path}: {why}")]
    Bad {
        /// The file.
        path: String,
        /// The reason.
        why: String,
    },
    /// The bank is not sound: a signature would confirm wrong data.
    #[error("the bank is not sound: {0}")]
    Unsound(String),
    /// The bank cannot be read.
    #[error(transparent)]
    Store(#[from] bankd_store::Error),
    /// There is no chance to be had, or a key that cannot sign.
    #[error("cannot make a key: {0}")]
    Ring(&'static str),
}

/// The first word of a file with the secret half.
const SECRET: &str = "bank-checkpoint-secret";
/// The first word of a file with the public half.
const PUBLIC: &str = "bank-checkpoint-public";

/// The public half of a site's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(Vec<u8>);

impl PublicKey {
    /// As the file has it.
    pub fn text(&self) -> String {
        format!("{PUBLIC} {}\n", BASE64_STANDARD.encode(&self.0))
    }

    /// From the file.
    ///
    /// # Errors
    /// If the file is none of a public key.
    pub fn read(path: &Path) -> Result<PublicKey, Error> {
        let text = files::read(path)?;
        let bytes = word(&text, PUBLIC).and_then(|word| BASE64_STANDARD.decode(word).ok());
        match bytes.filter(|bytes| bytes.len() == 32) {
            Some(bytes) => Ok(PublicKey(bytes)),
            None => Err(bad(path, format!("it is not `{PUBLIC} BASE64`"))),
        }
    }

    /// Short identifier of a key: the first eight bytes of SHA-256 in hex.
    pub fn id(&self) -> String {
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(&self.0);
        let mut text = String::new();
        for byte in digest.iter().take(8) {
            use std::fmt::Write as _;
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Whether it is the signature of these bytes.
    pub fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        key.verify(signed, signature).is_ok()
    }
}

/// A site's key with its secret half.
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// From the file.
    ///
    /// # Errors
    /// If the file is none of a secret key.
    pub fn read(path: &Path) -> Result<SigningKey, Error> {
        let text = Zeroizing::new(files::read(path)?);
        let bytes = word(&text, SECRET).and_then(|word| BASE64_STANDARD.decode(word).ok());
        let bytes = bytes.map(Zeroizing::new);
        let key = bytes.and_then(|bytes| Ed25519KeyPair::from_pkcs8(&bytes).ok());
        match key {
            Some(key) => Ok(SigningKey(key)),
            None => Err(bad(path, format!("it is not `{SECRET} BASE64`"))),
        }
    }

    /// A new key, written to a file of mode 0600, with its public half beside it in `FILE.pub`.
    ///
    /// # Errors
    /// If one of the files is there already, or cannot be written.
    pub fn create(path: &Path) -> Result<PublicKey, Error> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| Error::Ring("the system gives no random numbers"))?;
        let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref())
            .map_err(|_| Error::Ring("the generated key is invalid"))?;
        let key = SigningKey(key);
        let text = Zeroizing::new(format!(
            "{SECRET} {}\n",
            BASE64_STANDARD.encode(pkcs8.as_ref())
        ));
        let public = public_of(path);
        if public.exists() {
            return Err(Error::Exists(public.display().to_string()));
        }
        write_new(path, text.as_bytes(), 0o600)?;
        write_new(&public, key.public().text().as_bytes(), 0o644)?;
        Ok(key.public())
    }

    /// Its public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.public_key().as_ref().to_vec())
    }

    fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.0.sign(bytes).as_ref().to_vec()
    }
}

/// The second word of a line that begins with `first`.
fn word<'a>(text: &'a str, first: &str) -> Option<&'a str> {
    let mut words = text.split_ascii_whitespace();
    (words.next() == Some(first))
        .then(|| words.next())
        .flatten()
}

fn bad(path: &Path, why: impl Into<String>) -> Error {
    Error::Bad {
        path: path.display().to_string(),
        why: why.into(),
    }
}

#[cfg(test)]
mod tests;
