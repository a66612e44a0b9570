//! Sessions of people on the web pages, and the codes of links to sign in.
//!
//! A session is a random text in a cookie; the bank keeps its SHA-256. Sessions are in memory, and changes are
//! written beside the ledger: a new one and an end at once, uses once a minute. Codes are in memory only.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use bankd_config as config;
use bankd_ledger::clock;
use bankd_ledger::keys::tokens::{self, Hash};
use bankd_ledger::writer::{SubmitError, Writer};
use bankd_store::web_session::SessionChange;

use super::passage::change_session;

pub use bankd_store::web_session::WebSession;

/// Prefixes of cookies and of codes, so that scans for leaked secrets find them.
const SESSION: &str = "bs_";
const CODE: &str = "bl_";
/// Seconds for which the link of a user of the socket can be used.
pub const LINK_S: i64 = 120;
/// Codes at once; with more, the oldest is dropped.
const CODES_MAX: usize = 1000;
/// Sessions of one person; with more, the one that is unused for longest ends.
const EACH_MAX: usize = 20;
/// Seconds after which a session is certainly in the database of its node.
const SETTLED_S: i64 = 15;
/// Longest name of a browser that is kept, in characters.
const AGENT_MAX: usize = 120;

/// A person who signs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignIn {
    /// Their name.
    pub name: String,
    /// Their uid, if the socket identified them.
    pub uid: Option<u32>,
    /// `link`, `header` or `oidc`.
    pub way: &'static str,
    /// Roles by groups of an identity provider, with spaces between.
    pub roles: String,
    /// As the browser names itself.
    pub agent: String,
}

/// Why a person could not sign in.
#[derive(Debug)]
pub enum Unable {
    /// The system has no randomness to give.
    NoChance,
    /// The session could not be written.
    Unwritten(SubmitError),
}

/// The sessions of the web pages.
#[derive(Debug)]
pub struct Sessions {
    memory: Mutex<Memory>,
    idle_s: i64,
    session_s: i64,
    url: OnceLock<String>,
}

#[derive(Debug, Default)]
struct Memory {
    sessions: HashMap<Hash, Live>,
    last: i64,
    codes: HashMap<Hash, Code>,
    /// Sessions that ended here, and may still be in the database.
    ended: HashSet<i64>,
}

#[derive(Debug)]
struct Live {
    session: WebSession,
    /// The last use that is written.
    kept_s: i64,
}

#[derive(Debug)]
struct Code {
    name: String,
    uid: Option<u32>,
    until_s: i64,
}

impl Sessions {
    /// With the stored ones.
    pub fn new(stored: Vec<WebSession>, settings: &config::Web) -> Self {
        let last = stored.iter().map(|session| session.id).max().unwrap_or(0);
        let live = stored.into_iter().map(|session| {
            let kept_s = session.used_s;
            (session.hash, Live { session, kept_s })
        });
        let memory = Memory {
            sessions: live.collect(),
            last,
            codes: HashMap::new(),
            ended: HashSet::new(),
        };
        Self {
            memory: Mutex::new(memory),
            idle_s: settings.idle_s,
            session_s: settings.session_s,
            url: OnceLock::new(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The origin under which people reach the pages; none before they are served.
    pub fn url(&self) -> Option<&str> {
        self.url.get().map(String::as_str)
    }

    /// The pages are served under this origin.
    pub fn serve_at(&self, url: String) {
        let _ = self.url.set(url);
    }

    /// A link with which a person can sign in once, within this time in seconds; none while no pages are served. A
    /// user of the socket has a uid; without one the daemon itself vouches for the name.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn link(
        &self,
        name: &str,
        uid: Option<u32>,
        valid_s: i64,
    ) -> Result<Option<String>, Unable> {
        let Some(origin) = self.url() else {
            return Ok(None);
        };
        let code = self.code(name, uid, valid_s)?;
        Ok(Some(format!("{origin}/login/link?code={code}")))
    }

    fn code(&self, name: &str, uid: Option<u32>, valid_s: i64) -> Result<String, Unable> {
        let (text, hash) = tokens::new_text(CODE).map_err(|_| Unable::NoChance)?;
        let now_s = clock::auth_now_s();
        let mut memory = self.memory();
        memory.codes.retain(|_, code| now_s < code.until_s);
        if memory.codes.len() >= CODES_MAX {
            let oldest = memory.codes.iter().min_by_key(|(_, code)| code.until_s);
            if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
                memory.codes.remove(&oldest);
            }
        }
        let code = Code {
            name: name.to_owned(),
            uid,
            until_s: now_s.saturating_add(valid_s),
        };
        memory.codes.insert(hash, code);
        Ok(text.to_string())
    }

    /// The person of a code that can still be used.
    pub fn name_of_code(&self, code: &str) -> Option<String> {
        let hash = tokens::hash_of(CODE, code)?;
        let memory = self.memory();
        let code = memory.codes.get(&hash)?;
        (clock::auth_now_s() < code.until_s).then(|| code.name.clone())
    }

    /// Uses a code up: the person, and the uid of a user of the socket.
    pub fn redeem(&self, code: &str) -> Option<(String, Option<u32>)> {
        let hash = tokens::hash_of(CODE, code)?;
        let code = self.memory().codes.remove(&hash)?;
        (clock::auth_now_s() < code.until_s).then_some((code.name, code.uid))
    }

    /// Begins a session: the text for the cookie.
    ///
    /// # Errors
    /// If the system has no randomness, or the session cannot be written.
    pub async fn begin(&self, writer: &Writer, who: SignIn) -> Result<String, Unable> {
        let (text, hash) = tokens::new_text(SESSION).map_err(|_| Unable::NoChance)?;
        let now_s = clock::auth_now_s();
        let (session, surplus) = {
            let mut memory = self.memory();
            // In a cluster, other nodes number sessions too.
            let least = writer.cluster().map_or(0, |_| clock::real_us());
            memory.last = memory.last.saturating_add(1).max(least);
            let session = WebSession {
                id: memory.last,
                hash,
                name: who.name,
                uid: who.uid,
                way: who.way.to_owned(),
                roles: who.roles,
                agent: printable(&who.agent),
                created_s: now_s,
                used_s: now_s,
            };
            (session.clone(), memory.surplus(&session.name))
        };
        if !surplus.is_empty() {
            self.end(writer, &surplus).await;
        }
        let change = SessionChange::New(session.clone());
        let written = change_session(writer, change).await;
        written.map_err(Unable::Unwritten)?;
        let live = Live {
            session,
            kept_s: now_s,
        };
        self.memory().sessions.insert(hash, live);
        Ok(text.to_string())
    }

    /// The session of a cookie, which is in use now.
    pub fn find(&self, cookie: &str) -> Option<WebSession> {
        let hash = tokens::hash_of(SESSION, cookie)?;
        let now_s = clock::auth_now_s();
        let mut memory = self.memory();
        let live = memory.sessions.get_mut(&hash)?;
        if self.is_over(&live.session, now_s) {
            return None;
        }
        live.session.used_s = live.session.used_s.max(now_s);
        Some(live.session.clone())
    }

    /// When a session ends if it is not used any more.
    pub fn ends_s(&self, session: &WebSession) -> i64 {
        let idle = session.used_s.saturating_add(self.idle_s);
        idle.min(session.created_s.saturating_add(self.session_s))
    }

    fn is_over(&self, session: &WebSession, now_s: i64) -> bool {
        now_s >= self.ends_s(session)
    }

    /// The sessions of a person that have not ended, the newest first.
    pub fn of(&self, name: &str) -> Vec<WebSession> {
        let mut own = self.all();
        own.retain(|session| session.name == name);
        own
    }

    /// The sessions of all people that have not ended, the newest first.
    pub fn all(&self) -> Vec<WebSession> {
        let now_s = clock::auth_now_s();
        let memory = self.memory();
        let all = memory.sessions.values().map(|live| &live.session);
        let all = all.filter(|session| !self.is_over(session, now_s));
        let mut all: Vec<WebSession> = all.cloned().collect();
        all.sort_by_key(|session| std::cmp::Reverse(session.id));
        all
    }

    /// Ends sessions. They are over at once, even if that cannot be written yet.
    pub async fn end(&self, writer: &Writer, ids: &[i64]) {
        {
            let mut memory = self.memory();
            let sessions = &mut memory.sessions;
            sessions.retain(|_, live| !ids.contains(&live.session.id));
            if writer.cluster().is_some() {
                memory.ended.extend(ids);
            }
        }
        let written = change_session(writer, SessionChange::End(ids.to_vec()));
        if let Err(error) = written.await {
            tracing::warn!(?error, "ended sessions are still in the database");
        }
    }

    /// Takes over what people did at other nodes of a cluster, as the database contains it now.
    pub fn refresh(&self, stored: Vec<WebSession>) {
        let now_s = clock::auth_now_s();
        let mut memory = self.memory();
        let there: HashSet<i64> = stored.iter().map(|session| session.id).collect();
        memory.ended.retain(|id| there.contains(id));
        // A session that began just now may be younger than what was read.
        memory.sessions.retain(|_, live| {
            let age_s = now_s.saturating_sub(live.session.created_s);
            there.contains(&live.session.id) || age_s < SETTLED_S
        });
        for session in stored {
            if memory.ended.contains(&session.id) {
                continue;
            }
            memory.last = memory.last.max(session.id);
            let kept_s = session.used_s;
            let known = memory.sessions.entry(session.hash);
            let live = known.or_insert_with(|| Live { session, kept_s });
            live.kept_s = live.kept_s.max(kept_s);
            live.session.used_s = live.session.used_s.max(kept_s);
        }
    }

    /// Writes the last uses to the minute, and removes sessions that are over.
    pub async fn keep(&self, writer: &Writer) {
        let now_s = clock::auth_now_s();
        let (uses, over) = {
            let memory = self.memory();
            let live = || memory.sessions.values();
            let over = live().filter(|live| self.is_over(&live.session, now_s));
            let over: Vec<i64> = over.map(|live| live.session.id).collect();
            let since = live().filter(|live| live.session.used_s.saturating_sub(live.kept_s) >= 60);
            let uses: Vec<(i64, i64)> = since
                .map(|live| (live.session.id, live.session.used_s))
                .filter(|(id, _)| !over.contains(id))
                .collect();
            (uses, over)
        };
        if !over.is_empty() {
            self.end(writer, &over).await;
        }
        if uses.is_empty() {
            return;
        }
        let written = change_session(writer, SessionChange::Used(uses.clone()));
        if written.await.is_ok() {
            let mut memory = self.memory();
            for live in memory.sessions.values_mut() {
                if let Some((_, used_s)) = uses.iter().find(|(id, _)| *id == live.session.id) {
                    live.kept_s = *used_s;
                }
            }
        }
    }
}

impl Memory {
    /// Sessions of a person that make room for another one.
    fn surplus(&self, name: &str) -> Vec<i64> {
        let own = self.sessions.values().map(|live| &live.session);
        let mut own: Vec<_> = own.filter(|session| session.name == name).collect();
        own.sort_by_key(|session| std::cmp::Reverse((session.used_s, session.id)));
        let rest = own.iter().skip(EACH_MAX.saturating_sub(1));
        rest.map(|session| session.id).collect()
    }
}

/// A short text without control characters.
fn printable(text: &str) -> String {
    let shown = text.chars().filter(|character| !character.is_control());
    shown.take(AGENT_MAX).collect()
}
