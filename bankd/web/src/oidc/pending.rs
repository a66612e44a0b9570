//! Sign-ins that are under way, each of one browser.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bankd_ledger::clock;
use bankd_ledger::keys::tokens::{self, Hash};
use subtle::ConstantTimeEq as _;

use super::provider::Started;
use crate::failed::Failed;

/// Seconds in which a person must come back from the provider.
pub(super) const LASTING_S: i64 = 600;
/// Sign-ins at once; with more, the oldest is dropped.
const MOST: usize = 10_000;
/// The prefix of the cookie.
const PREFIX: &str = "bo_";

/// A sign-in that is under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) started: Started,
    /// The page to which the person goes afterwards.
    pub(super) next: String,
    until_s: i64,
}

/// All of them, by the digest of the browser's cookie.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<HashMap<Hash, UnderWay>>);

impl Pending {
    /// Adds one: the text for the cookie.
    pub(super) fn add(&self, started: Started, next: &str) -> Result<String, Failed> {
        let made = tokens::new_text(PREFIX);
        let (text, hash) = made.map_err(|_| Failed::new("busy", "the system has no randomness"))?;
        let now_s = clock::auth_now_s();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.retain(|_, one| now_s < one.until_s);
        }
        if all.len() >= MOST {
            let oldest = all.iter().min_by_key(|(_, one)| one.until_s);
            if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
                all.remove(&oldest);
            }
        }
        let one = UnderWay {
            started,
            next: next.to_owned(),
            until_s: now_s.saturating_add(LASTING_S),
        };
        all.insert(hash, one);
        Ok(text.to_string())
    }

    /// Takes the one of a cookie, if the state is its own. Another state leaves it: anybody can send a browser
    /// here.
    pub(super) fn take(&self, cookie: &str, state: &str) -> Option<UnderWay> {
        let hash = tokens::hash_of(PREFIX, cookie)?;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.get(&hash)?;
        let is_own: bool = own.started.state.as_bytes().ct_eq(state.as_bytes()).into();
        if !is_own {
            return None;
        }
        let one = all.remove(&hash)?;
        (clock::auth_now_s() < one.until_s).then_some(one)
    }
}
