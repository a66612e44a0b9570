//! Secrets and the keyed state made from them (`http-auth.md` 4).
//!
//! A secret is wiped from memory when it is dropped. `Debug` never prints it. It leaves this module only
//! through [`Secret::bytes`] and [`Secret::to_text`]. The daemon needs these to store a key and to show a
//! new one once.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// Length of a block of SHA-256; a longer HMAC key is hashed first (RFC 2104).
const BLOCK: usize = 64;
/// The HMAC input of a fingerprint (`http-auth.md` 4).
const FINGERPRINT_TEXT: &[u8] = b"bank key fingerprint";
/// Longest secret accepted, in bytes.
const MAX_SECRET: usize = 1024;

/// A secret ready for use: HMAC-SHA256 with its key already absorbed, cloned for every signature.
#[derive(Clone)]
pub struct SigningKey {
    keyed: Hmac<Sha256>,
}

impl SigningKey {
    /// Prepares the secret; costs two blocks of SHA-256, so do it once per key.
    pub fn new(secret: &Secret) -> Self {
        Self::from_bytes(secret.bytes())
    }

    /// Prepares raw bytes; a key longer than a block is hashed first, as RFC 2104 demands.
    pub(super) fn from_bytes(secret: &[u8]) -> Self {
        let mut block = Zeroizing::new([0_u8; BLOCK]);
        if let Some(start) = block.get_mut(..secret.len()) {
            start.copy_from_slice(secret);
        } else {
            let hashed = Sha256::digest(secret);
            for (to, from) in block.iter_mut().zip(hashed) {
                *to = from;
            }
        }
        let mut key = hmac::digest::Key::<Hmac<Sha256>>::default();
        key.copy_from_slice(block.as_slice());
        let keyed = Hmac::new(&key);
        zeroize::Zeroize::zeroize(key.as_mut_slice());
        Self { keyed }
    }

    /// HMAC-SHA256 over `message`.
    pub fn mac(&self, message: &[u8]) -> [u8; 32] {
        let mut mac = self.keyed.clone();
        mac.update(message);
        mac.finalize().into_bytes().into()
    }

    /// Compares in constant time.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8; 32]) -> bool {
        let mut mac = self.keyed.clone();
        mac.update(message);
        mac.verify_slice(signature).is_ok()
    }

    /// The first 16 hex digits of HMAC-SHA256(secret, `bank key fingerprint`) in groups of four. Equal
    /// secrets have equal fingerprints. A fingerprint does not reveal the secret (`http-auth.md` 4).
    pub fn fingerprint(&self) -> String {
        let mut text = String::with_capacity(19);
        for (index, byte) in self.mac(FINGERPRINT_TEXT).iter().take(8).enumerate() {
            if index > 0 && index % 2 == 0 {
                text.push(' ');
            }
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        }
        text
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(redacted)")
    }
}

/// The bytes of a shared secret, 1 to 1024 of them; wiped on drop.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes raw bytes, for instance 32 random ones for a new key.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, SecretError> {
        let bytes = Zeroizing::new(bytes);
        match bytes.len() {
            0 => Err(SecretError::Empty),
            1..=MAX_SECRET => Ok(Self(bytes)),
            _ => Err(SecretError::TooLong),
        }
    }

    /// Reads the written form: `base64:…`, `hex:…`, or plain text (its UTF-8 bytes). White space
    /// around it, such as the line feed that ends a file, does not belong to it
    /// (`http-auth.md` 4).
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        if let Some(encoded) = text.strip_prefix("base64:") {
            return Self::from_bytes(
                STANDARD
                    .decode(encoded.trim())
                    .map_err(|_| SecretError::BadEncoding)?,
            );
        }
        if let Some(encoded) = text.strip_prefix("hex:") {
            return Self::from_bytes(from_hex(encoded.trim()).ok_or(SecretError::BadEncoding)?);
        }
        Self::from_bytes(text.as_bytes().to_vec())
    }

    /// The secret itself. For signing and for storage only: never log it.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The written form `base64:…`, shown once when a key is made.
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("base64:{}", STANDARD.encode(self.bytes())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

/// Reasons to refuse a secret. They contain no part of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Nothing was there.
    #[error("the secret is empty")]
    Empty,
    /// More than 1024 bytes.
    #[error("the secret is longer than 1024 bytes")]
    TooLong,
    /// The text after `base64:` or `hex:` has another form.
    #[error("the secret is not valid base64 or hex")]
    BadEncoding,
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let nibble = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|v| u8::try_from(v).ok())
    };
    pairs
        .iter()
        .map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?))
        .collect()
}
