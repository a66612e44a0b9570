//! Signing keys: their secrets on disk, ready for use in memory, and what each remembers of the
//! nonces that it has seen (`http-auth.md` 2 and 4). API tokens, and when each was used last.
//!
//! The public halves are rows of the ledger, changed by commands; the secrets are files in `keys/`
//! (0700), one of mode 0600 for each key, named by its id. A secret leaves this room only as
//! keyed state or in the one answer that shows a new one; it is never logged.

pub mod hmac64;
pub(crate) mod replay;
pub mod tokens;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bank_api::sign::{KeyLookup, Secret, SigningKey};
use bank_core::command::Scope;
use bank_core::directory::Directory;
use bank_core::model::Key;
use bank_core::role::Who;
use bank_core::time::{Timestamp, Window};
use bankd_config::data_dir::give;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use self::hmac64::Hmac64;
use self::replay::Replay;
use self::tokens::{Shown, Token, Tokens};
use crate::access::Roles;

/// Bytes of a secret that the bank makes.
const SECRET_BYTES: usize = 32;
/// Random bytes of a TID: 16 characters.
const TID_BYTES: usize = 12;

/// A new secret of 32 random bytes.
///
/// # Errors
/// If the system has no randomness to give.
pub fn new_secret() -> io::Result<Secret> {
    let mut bytes = vec![0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Secret::from_bytes(bytes).map_err(io::Error::other)
}

/// A new id of a quote, `[A-Za-z0-9_-]{16}` (`nami.md` 2).
///
/// # Errors
/// If the system has no randomness to give.
pub fn new_tid() -> io::Result<String> {
    let mut bytes = [0_u8; TID_BYTES];
    loop {
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let tid = URL_SAFE_NO_PAD.encode(bytes);
        // A TID that begins with a dash looks like an option to every command line; one of 64 does.
        if !tid.starts_with('-') {
            return Ok(tid);
        }
    }
}

/// Writes a key's secret, in place of one that is there: whole, and on the disk when it returns.
///
/// # Errors
/// Of the file system; `InvalidInput` for an id that is none.
pub fn write_secret(keys: &Path, id: &str, secret: &Secret) -> io::Result<PathBuf> {
    let path = secret_file(keys, id)?;
    // No id holds a `#`, so this can be nobody's file.
    let new = keys.join(format!("{id}#new"));
    let written = (|| {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&new)?;
        file.write_all(secret.to_text().as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        give(&new, keys)?;
        fs::rename(&new, &path)?;
        File::open(keys)?.sync_all()
    })();
    if written.is_err() {
        // The remaining file holds a secret that nobody will use.
        let _ = fs::remove_file(&new);
    }
    written.map(|()| path)
}

/// Removes a key's secret; one that is not there is no error.
///
/// # Errors
/// Of the file system; `InvalidInput` for an id that is none.
pub fn remove_secret(keys: &Path, id: &str) -> io::Result<()> {
    match fs::remove_file(secret_file(keys, id)?) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The id of the secret that a partner bank gave to this bank.
pub fn of_partner(name: &str) -> String {
    format!("partner-{name}")
}

/// Reads a key's secret.
///
/// # Errors
/// Of the file system; `InvalidData` for a file that holds no secret.
pub fn read_secret(keys: &Path, id: &str) -> io::Result<Secret> {
    let text = zeroize::Zeroizing::new(fs::read_to_string(secret_file(keys, id)?)?);
    Secret::parse(&text).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// The file of a key id, `[A-Za-z0-9._-]{1,64}` and no name with a special meaning.
fn secret_file(keys: &Path, id: &str) -> io::Result<PathBuf> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let fits = (1..=64).contains(&id.len()) && id.bytes().all(allowed) && id != "." && id != "..";
    if fits {
        return Ok(keys.join(id));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a key id"))
}

/// A key ready for use.
#[derive(Debug)]
pub struct RingKey {
    /// Its id.
    pub id: String,
    /// The owner; the scope of idempotency keys.
    pub client: String,
    /// The roles of the client.
    pub roles: Roles,
    /// The scope of the client.
    pub scope: Scope,
    /// The secret.
    pub signing: SigningKey,
    /// The secret for the Gold gateway, where it can be one.
    pub hmac64: Option<Hmac64>,
    window: Window,
    disabled: bool,
    replay: Arc<Mutex<Replay>>,
    used: Arc<AtomicI64>,
}

impl RingKey {
    /// It signed a request at this instant of the authentication clock, in seconds.
    pub fn was_used(&self, now_s: i64) {
        self.used.store(now_s, Ordering::Relaxed);
    }

    /// Remembers a nonce until `created` + window; false if it was there already.
    pub fn accept_nonce(&self, nonce: &str, created: i64, window_s: i64, now_s: i64) -> bool {
        let mut replay = self.replay.lock().unwrap_or_else(PoisonError::into_inner);
        replay.accept(nonce, created.saturating_add(window_s), now_s)
    }
}

impl std::borrow::Borrow<SigningKey> for Found {
    fn borrow(&self) -> &SigningKey {
        &self.0.signing
    }
}

/// A key that a look-up found.
#[derive(Clone, Debug)]
pub struct Found(pub Arc<RingKey>);

type Ring = HashMap<String, Arc<RingKey>>;

/// All keys, swapped as a whole when one changes. A handle: clones share the keys.
#[derive(Clone, Debug)]
pub struct KeyRing(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    nonces_per_key: usize,
    ring: RwLock<Arc<Ring>>,
    tokens: RwLock<Arc<Tokens>>,
    /// When each key and token was used last, in seconds of the authentication clock; 0 for never.
    used: Mutex<HashMap<String, Arc<AtomicI64>>>,
    changing: tokio::sync::Mutex<()>,
}

impl KeyRing {
    /// An empty ring over a folder of secrets.
    pub fn new(folder: &Path, nonces_per_key: usize) -> Self {
        Self(Arc::new(Shared {
            folder: folder.to_owned(),
            nonces_per_key,
            ring: RwLock::default(),
            tokens: RwLock::default(),
            used: Mutex::default(),
            changing: tokio::sync::Mutex::new(()),
        }))
    }

    /// The folder of secrets.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// To be held from before a secret is written or removed until the ring is reloaded, so that
    /// two changes of one key cannot leave one's row with the other's secret.
    pub async fn changing(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.changing.lock().await
    }

    /// Rebuilds the ring from the ledger's keys and their secrets. A key keeps its stored nonces. A key with
    /// an unreadable secret is left out and logged.
    pub fn reload(&self, directory: &Directory) {
        let old = self.ring();
        let mut ring = Ring::with_capacity(old.len());
        let mut tokens = Tokens::new();
        for key in directory.keys() {
            if let Some(hash) = key.token {
                tokens.insert(hash, Arc::new(Token::new(key, self.used(&key.id))));
                continue;
            }
            match self.ready(key, old.get(&key.id)) {
                Ok(ready) => {
                    ring.insert(key.id.clone(), Arc::new(ready));
                }
                Err(e) => tracing::error!(key = %key.id, "no usable secret: {e}"),
            }
        }
        *self.0.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        let shown = &self.0.tokens;
        *shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tokens);
    }

    /// The result for a token's hash at an instant of the authentication clock.
    pub fn look_up_token(&self, hash: &tokens::Hash, now_s: i64) -> Shown {
        let tokens = &self.0.tokens;
        let tokens = Arc::clone(&tokens.read().unwrap_or_else(PoisonError::into_inner));
        tokens::look_up(&tokens, hash, now_s)
    }

    /// Stores earlier times of use of keys and tokens.
    pub fn remember_uses(&self, uses: Vec<(String, i64)>) {
        for (id, used_s) in uses {
            self.used(&id).fetch_max(used_s, Ordering::Relaxed);
        }
    }

    /// When each key and token was used last, in seconds of the authentication clock; by id, without
    /// those that never were.
    pub fn uses(&self) -> Vec<(String, i64)> {
        let marks = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        let all = marks
            .iter()
            .map(|(id, mark)| (id.clone(), mark.load(Ordering::Relaxed)));
        let mut uses: Vec<(String, i64)> = all.filter(|(_, at_s)| *at_s > 0).collect();
        uses.sort_unstable();
        uses
    }

    /// When a key or a token was used last, in seconds of the authentication clock.
    pub fn used_s(&self, id: &str) -> Option<i64> {
        let used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used_s = used.get(id)?.load(Ordering::Relaxed);
        (used_s > 0).then_some(used_s)
    }

    fn used(&self, id: &str) -> Arc<AtomicI64> {
        let mut used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(used.entry(id.to_owned()).or_default())
    }

    fn ready(&self, key: &Key, old: Option<&Arc<RingKey>>) -> io::Result<RingKey> {
        let replay = old.map(|old| Arc::clone(&old.replay));
        let secret = read_secret(&self.0.folder, &key.id)?;
        Ok(RingKey {
            id: key.id.clone(),
            client: key.client.clone(),
            roles: Roles::from_words(&key.roles),
            scope: scope_of(key),
            signing: SigningKey::new(&secret),
            hmac64: Hmac64::new(&secret).ok(),
            window: key.window,
            disabled: key.disabled,
            replay: replay
                .unwrap_or_else(|| Arc::new(Mutex::new(Replay::new(self.0.nonces_per_key)))),
            used: self.used(&key.id),
        })
    }

    /// The result for a key id at an instant of the authentication clock.
    pub fn look_up(&self, id: &str, now_s: i64) -> KeyLookup<Found> {
        match self.ring().get(id) {
            None => KeyLookup::Unknown,
            Some(key) if key.disabled || !key.window.contains(Timestamp::from_seconds(now_s)) => {
                KeyLookup::Disabled(Found(Arc::clone(key)))
            }
            Some(key) => KeyLookup::Found(Found(Arc::clone(key))),
        }
    }

    /// The fingerprint of a key's secret, such as `911f 523a 28a7 b02e`.
    pub fn fingerprint(&self, id: &str) -> Option<String> {
        self.ring().get(id).map(|key| key.signing.fingerprint())
    }

    fn ring(&self) -> Arc<Ring> {
        Arc::clone(&self.0.ring.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The owner and the scope of a key.
pub fn scope_of(key: &Key) -> Scope {
    Scope {
        projects: key.projects.clone(),
        machines: key.machines.clone(),
        who: Some(Arc::new(Who {
            actor: key.id.clone(),
            client: key.client.clone(),
            roles: Roles::from_words(&key.roles),
            person: None,
        })),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_is_a_private_file_that_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let secret = new_secret().unwrap();
        let path = write_secret(folder.path(), "moab.1", &secret).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let read = read_secret(folder.path(), "moab.1").unwrap();
        assert_eq!(read.bytes(), secret.bytes());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        remove_secret(folder.path(), "moab.1").unwrap();
        remove_secret(folder.path(), "moab.1").unwrap();
        for id in ["", ".", "..", "a/b", "a#b", "ä"] {
            assert!(write_secret(folder.path(), id, &secret).is_err(), "{id}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn tids_are_of_their_form() {
        let tid = new_tid().unwrap();
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(tid.len() == 16 && tid.chars().all(allowed), "{tid}");
        assert_ne!(tid, new_tid().unwrap());
    }
}
