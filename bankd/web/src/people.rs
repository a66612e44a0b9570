//! The people of sessions, and people whom a proxy has identified.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use bankd_http::auth::{Peer, outside};
use bankd_ledger::access::{Person, Roles};
use bankd_ledger::clock::Stopwatch;
use bankd_services::Services;
use bankd_services::sessions::WebSession;

/// The lifetime of a cached person.
const KNOWN_FOR: Duration = Duration::from_mins(1);
/// Most names remembered; more empties the memory.
const REMEMBERED: usize = 10_000;

/// People by name, with a memory: the system may ask a directory service.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<String, (Person, Stopwatch)>>);

impl Known {
    fn remembered(&self, name: &str) -> Option<Person> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (person, since) = memory.get(name)?;
        (since.elapsed() < KNOWN_FOR).then(|| person.clone())
    }

    /// The person of a name that a proxy or an identity provider vouches for. Without a login on this system,
    /// they have the roles that the bank granted.
    async fn find(&self, services: &Arc<Services>, name: &str) -> Option<Person> {
        if let Some(person) = self.remembered(name) {
            return Some(person);
        }
        let (all, wanted) = (Arc::clone(services), name.to_owned());
        let found = tokio::task::spawn_blocking(move || all.people.find_named(&wanted));
        let person = found.await.ok()?.unwrap_or_else(|| outside(name));
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() >= REMEMBERED {
            memory.clear();
        }
        memory.insert(name.to_owned(), (person.clone(), Stopwatch::start()));
        Some(person)
    }
}

/// The person of a session; none if the system or the bank has no such person any more.
pub(crate) async fn of_session(
    services: &Arc<Services>,
    known: &Known,
    session: &WebSession,
) -> Option<Person> {
    let person = match session.uid {
        Some(uid) => local(services, uid).await?,
        None => known.find(services, &session.name).await?,
    };
    let directory = services.writer.directory();
    let user = directory.user_named(&session.name);
    let is_off = user.is_some_and(|user| !user.active || user.deleted);
    (person.name == session.name && !is_off).then(|| Person {
        roles: of_groups(person.roles, &session.roles),
        ..person
    })
}

fn of_groups(roles: Roles, words: &str) -> Roles {
    let words: Vec<&str> = words.split_whitespace().collect();
    roles.and(Roles::from_words(&words))
}

async fn local(services: &Arc<Services>, uid: u32) -> Option<Person> {
    if let Some(person) = services.people.remembered(uid) {
        return Some(person);
    }
    let services = Arc::clone(services);
    let found = tokio::task::spawn_blocking(move || services.people.find(uid));
    found.await.ok()
}

/// The name that a trusted proxy sent with a request.
pub(crate) fn of_header(services: &Services, peer: Peer, fields: &HeaderMap) -> Option<String> {
    let settings = &services.web.header;
    if settings.name.is_empty() || !is_proxy(services, peer) {
        return None;
    }
    let mut values = fields.get_all(settings.name.as_str()).into_iter();
    let name = values.next()?.to_str().ok()?.trim();
    let is_alone = values.next().is_none();
    (is_alone && may_be_named(name)).then(|| name.to_owned())
}

/// Whether somebody outside of this system may have a name: root and numbers are people of this system only.
pub(crate) fn may_be_named(name: &str) -> bool {
    let fits = (1..=256).contains(&name.len()) && !name.contains(char::is_control);
    fits && name != "root" && !name.starts_with("uid:") && !name.starts_with('-')
}

fn is_proxy(services: &Services, peer: Peer) -> bool {
    let proxies = &services.web.header.proxies;
    matches!(peer, Peer::Tcp(address) if proxies.contains(&address.ip().to_canonical()))
}

/// The address of the browser: behind a trusted proxy, the last one that it forwarded.
pub(crate) fn address(services: &Services, peer: Peer, fields: &HeaderMap) -> IpAddr {
    let own = match peer {
        Peer::Tcp(address) => address.ip(),
        _ => IpAddr::from([0, 0, 0, 0]),
    };
    if !is_proxy(services, peer) {
        return own;
    }
    let forwarded = fields.get_all("x-forwarded-for").into_iter().next_back();
    let last = forwarded.and_then(|line| line.to_str().ok()?.rsplit(',').next());
    last.and_then(|text| text.trim().parse().ok())
        .unwrap_or(own)
}
