//! API tokens: random text that replaces a signature (`Authorization: Bearer bk_…`).
//!
//! Only the SHA-256 of a token is kept, and the look-up uses it: the time of a look-up reveals nothing about
//! existing tokens. The text leaves this module once, in the answer that makes it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bank_core::command::Scope;
use bank_core::model::Key;
use bank_core::time::{Timestamp, Window};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::access::Roles;

/// The prefix of every token, so that scans for leaked secrets find it.
const PREFIX: &str = "bk_";
/// Random bytes of a token: 43 characters.
const BYTES: usize = 32;
/// Characters of a whole token.
const LENGTH: usize = 46;

/// SHA-256 of a token.
pub type Hash = [u8; 32];

/// A new token, and its hash.
///
/// # Errors
/// If the system has no randomness to give.
pub fn new_token() -> io::Result<(Zeroizing<String>, Hash)> {
    new_text(PREFIX)
}

/// The hash of what a request shows; none for what cannot be a token.
pub fn hash(text: &str) -> Option<Hash> {
    hash_of(PREFIX, text)
}

/// A new random text of another kind, with a prefix of three characters, and its hash.
///
/// # Errors
/// If the system has no randomness to give.
pub fn new_text(prefix: &str) -> io::Result<(Zeroizing<String>, Hash)> {
    let mut bytes = Zeroizing::new([0_u8; BYTES]);
    getrandom::fill(bytes.as_mut()).map_err(io::Error::other)?;
    let text = Zeroizing::new(format!(
        "{prefix}{}",
        URL_SAFE_NO_PAD.encode(bytes.as_ref())
    ));
    let hash = Sha256::digest(text.as_bytes()).into();
    Ok((text, hash))
}

/// The hash of a text made by [`new_text`]; none for what cannot be one.
pub fn hash_of(prefix: &str, text: &str) -> Option<Hash> {
    let random = text.strip_prefix(prefix)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let fits = text.len() == LENGTH && random.bytes().all(allowed);
    fits.then(|| Sha256::digest(text.as_bytes()).into())
}

/// A token ready for use.
#[derive(Debug)]
pub struct Token {
    /// Its id.
    pub id: String,
    /// The owner; the scope of idempotency keys.
    pub client: String,
    /// The roles of the client.
    pub roles: Roles,
    /// The scope of the client.
    pub scope: Scope,
    window: Window,
    disabled: bool,
    used: Arc<AtomicI64>,
}

impl Token {
    /// Of a row with a hash.
    pub(super) fn new(key: &Key, used: Arc<AtomicI64>) -> Self {
        Self {
            id: key.id.clone(),
            client: key.client.clone(),
            roles: Roles::from_words(&key.roles),
            scope: super::scope_of(key),
            window: key.window,
            disabled: key.disabled,
            used,
        }
    }
}

/// The result of a look-up.
#[derive(Clone, Debug)]
pub enum Shown {
    /// No such token.
    Unknown,
    /// One that is switched off, or not valid yet.
    Disabled,
    /// An expired token.
    Expired,
    /// One that counts now.
    Found(Arc<Token>),
}

/// All tokens by their hashes.
pub(super) type Tokens = HashMap<Hash, Arc<Token>>;

/// The result for a hash at an instant of the authentication clock; records a use of a valid token.
pub(super) fn look_up(tokens: &Tokens, hash: &Hash, now_s: i64) -> Shown {
    match tokens.get(hash) {
        None => Shown::Unknown,
        Some(token) => {
            let now = Timestamp::from_seconds(now_s);
            if token.disabled {
                return Shown::Disabled;
            }
            if token.window.is_over(now) {
                return Shown::Expired;
            }
            if !token.window.contains(now) {
                return Shown::Disabled;
            }
            token.used.store(now_s, Ordering::Relaxed);
            Shown::Found(Arc::clone(token))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_alone() {
        let (text, made) = new_token().unwrap();
        assert_eq!(text.len(), LENGTH);
        assert_eq!(hash(&text), Some(made));
        let other = new_token().unwrap().0;
        assert_ne!(hash(&other), Some(made));
        let short = &text[..45];
        for wrong in [
            "",
            "bk_",
            short,
            &format!("{}ä", &text[..44]),
            &text.replace("bk_", "bx_"),
        ] {
            assert_eq!(hash(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_counts_within_its_window_until_it_is_switched_off() {
        let key = |disabled| Key {
            id: "ci".to_owned(),
            client: "ci".to_owned(),
            roles: vec!["auditor".to_owned()],
            projects: Vec::new(),
            machines: Vec::new(),
            window: Window {
                start: Some(Timestamp::from_seconds(10)),
                end: Some(Timestamp::from_seconds(20)),
            },
            disabled,
            deleted: false,
            token: None,
        };
        let (_, hash) = new_token().unwrap();
        let used = Arc::new(AtomicI64::new(0));
        let with = |disabled| {
            let token = Token::new(&key(disabled), Arc::clone(&used));
            Tokens::from([(hash, Arc::new(token))])
        };
        for (disabled, now_s, shown) in [
            (false, 9, "disabled"),
            (false, 10, "found"),
            (false, 19, "found"),
            (false, 20, "expired"),
            (true, 15, "disabled"),
            // `disabled` has precedence over `expired`.
            (true, 20, "disabled"),
        ] {
            let found = match look_up(&with(disabled), &hash, now_s) {
                Shown::Unknown => "unknown",
                Shown::Disabled => "disabled",
                Shown::Expired => "expired",
                Shown::Found(_) => "found",
            };
            assert_eq!(found, shown, "{now_s} {disabled}");
        }
        assert_eq!(used.load(Ordering::Relaxed), 19);
        let unknown = new_token().unwrap().1;
        assert!(matches!(
            look_up(&with(false), &unknown, 15),
            Shown::Unknown
        ));
    }
}
