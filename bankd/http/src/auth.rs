//! Authentication: signed requests over TCP, peer credentials on the Unix socket (decisions.md 21,
//! `http-auth.md`).
//!
//! This module alone answers unknown senders. A 401 has the same text for every cause; only the log and a
//! counter contain the cause. Faults of the headers are reported only to senders with a valid signature.

pub(super) mod spent;
mod stranger;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use bank_api::sign::{
    CommandHeaders, Condition, Failure, ReceivedRequest, VerifiedRequest, command_headers,
    sign_answer, verify_request,
};
use bank_core::access;
use bank_core::command::Scope;
use bank_core::directory::Directory;
use bank_core::time::Timestamp;
use bankd_ledger::access::{Person, Role, Roles};
use bankd_ledger::clock;
use bankd_ledger::keys::tokens::{self, Shown};
use bankd_ledger::keys::{Found, KeyRing};
use bankd_ledger::writer::{Caller, IdempotencyKey, Origin, Turn};
use sha2::{Digest, Sha256};

pub(super) use self::stranger::{unauthorized, unauthorized_with};

/// An authenticated caller, as every handler gets it.
#[derive(Clone, Debug)]
pub struct Authenticated {
    /// For the journal and the rules: actor, client, origin, scope.
    pub caller: Caller,
    /// The roles of the caller.
    pub roles: Roles,
    /// The registered user of the caller: on the socket by name, with a key by its client.
    pub user: Option<String>,
    /// The uid of a caller on the socket.
    pub uid: Option<u32>,
    /// Whether roles over the whole bank do not count, as in a query with `view_as`.
    pub of_own_projects: bool,
    /// The idempotency key; always there for a request that writes.
    pub key: Option<IdempotencyKey>,
    /// `Bank-Event-Time`.
    pub event_time: Option<Timestamp>,
    /// When the request was signed, in seconds; zero without a signature.
    pub signed_at_s: i64,
    /// The id of the request in the log.
    pub request_id: String,
    /// Its place in a request of many commands; none in every other request.
    pub turn: Option<Turn>,
}

impl<S: Sync> FromRequestParts<S> for Authenticated {
    type Rejection = Response;

    /// The value that the frame stored. A route outside of the frame is a bug and stays closed.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(unauthorized)
    }
}

/// Data to sign the answer to a signed request.
#[derive(Debug)]
pub(super) struct Signer {
    key: Found,
    label: String,
    signature: Vec<u8>,
}

impl Signer {
    /// Adds the three fields to an answer (`http-auth.md` 5).
    pub(super) fn sign(&self, status: u16, body: &[u8], headers: &mut HeaderMap) {
        let signed = sign_answer(
            &self.key.0.signing,
            &self.key.0.id,
            &self.label,
            &self.signature,
            clock::auth_now_s(),
            status,
            body,
        );
        let fields = [
            ("content-digest", signed.content_digest),
            ("signature-input", Some(signed.signature_input)),
            ("signature", Some(signed.signature)),
        ];
        for (name, value) in fields {
            if let Some(value) = value.and_then(|text| text.try_into().ok()) {
                headers.insert(name, value);
            }
        }
    }

    /// The key that signed the request.
    pub(super) fn key_id(&self) -> &str {
        &self.key.0.id
    }
}

/// A request as it arrived, whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    /// All header fields in the order received.
    pub(super) fields: &'a [(&'a str, &'a [u8])],
    pub(super) body: &'a [u8],
    pub(super) request_id: &'a str,
    pub(super) window_s: i64,
}

/// Routes that are asked with a body and write nothing to the bank: a plain quote over JSON, tests, proof,
/// links to sign in, and signed addresses.
const ASKS: [&str; 6] = [
    "/api/v1/quotes",
    "/api/v1/rates/test",
    "/api/v1/mappings/test",
    "/api/v1/verifications",
    "/api/v1/web/logins",
    "/api/v1/web/links",
];

/// Whether a request writes, so that nonce and `Idempotency-Key` are required.
pub(super) fn is_mutating(method: &Method, path: &str) -> bool {
    // Other methods have no route. They are refused without authentication.
    let changes = [Method::POST, Method::PATCH, Method::DELETE];
    changes.contains(method) && !ASKS.contains(&path)
}

impl Arrived<'_> {
    pub(super) fn is_mutating(&self) -> bool {
        is_mutating(self.method, self.uri.path())
    }

    fn origin(&self) -> Origin {
        if self.uri.path().starts_with("/nami/") {
            Origin::Nami
        } else {
            Origin::Cli
        }
    }

    fn known(&self, who: Who, nonce: Option<&str>, headers: CommandHeaders<'_>) -> Authenticated {
        let key = headers.idempotency_key.map(|key| IdempotencyKey {
            whole: None,
            key: key.to_owned(),
            fingerprint: fingerprint(self.method, self.uri, self.body),
            nonce: nonce.unwrap_or_default().to_owned(),
            is_content: false,
        });
        Authenticated {
            caller: Caller {
                actor: who.actor,
                client: who.client,
                origin: who.origin.unwrap_or_else(|| self.origin()),
                scope: who.scope,
            },
            roles: who.roles,
            user: who.user,
            uid: who.uid,
            of_own_projects: false,
            key,
            event_time: headers.event_time_us.map(Timestamp),
            signed_at_s: 0,
            request_id: self.request_id.to_owned(),
            turn: None,
        }
    }
}

/// SHA-256 over method, path, query and body, each preceded by its length as eight bytes, the greatest first
/// (`http-auth.md` 3).
fn fingerprint(method: &Method, uri: &Uri, body: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    let query = uri.query().unwrap_or_default();
    let (method, path, query) = (method.as_str(), uri.path(), query.as_bytes());
    for part in [method.as_bytes(), path.as_bytes(), query, body] {
        let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
        digest.update(length.to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

/// The caller of a batch as that of one of its commands, at its position from 1 on. `fields` are the header fields
/// that the command would have alone; one without a key has a part of the key of the batch.
pub(super) fn of_command(
    batch: &Authenticated,
    number: usize,
    (method, uri, body): (&Method, &Uri, &[u8]),
    fields: &[(&str, &str)],
    window_s: i64,
) -> Result<Authenticated, Condition> {
    let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes()));
    let own = command_headers(fields, false, clock::auth_now_s(), window_s)?;
    let key = own.idempotency_key.map(|key| IdempotencyKey {
        whole: None,
        key: key.to_owned(),
        fingerprint: fingerprint(method, uri, body),
        nonce: String::new(),
        is_content: false,
    });
    Ok(Authenticated {
        key: key.or_else(|| batch.key.as_ref().map(|key| key.part(number))),
        event_time: own.event_time_us.map(Timestamp).or(batch.event_time),
        request_id: format!("{}#{number}", batch.request_id),
        ..batch.clone()
    })
}

struct Who {
    actor: String,
    client: String,
    scope: Scope,
    roles: Roles,
    user: Option<String>,
    uid: Option<u32>,
    origin: Option<Origin>,
}

/// Verifies a signed request. `Ok` means that its answer is signed, whatever its status.
pub(super) fn verify(
    keys: &KeyRing,
    request: &Arrived<'_>,
) -> Result<(Signer, Result<Authenticated, Condition>), Failure> {
    let now_s = clock::auth_now_s();
    let target = match (request.uri.scheme(), request.uri.path_and_query()) {
        (None, Some(target)) => std::borrow::Cow::Borrowed(target.as_str()),
        _ => std::borrow::Cow::Owned(request.uri.to_string()),
    };
    let received = ReceivedRequest {
        method: request.method.as_str(),
        target: &target,
        scheme: "http",
        headers: request.fields.iter().copied(),
        body: request.body,
        mutating: request.is_mutating(),
    };
    let mut tried: Vec<Found> = Vec::with_capacity(1);
    let verified = verify_request(&received, now_s, request.window_s, |id| {
        let found = keys.look_up(id, now_s);
        if let bank_api::sign::KeyLookup::Found(found) = &found {
            tried.push(found.clone());
        }
        found
    })?;
    let key = tried
        .into_iter()
        .find(|found| found.0.id == verified.keyid)
        .ok_or(Failure::UnknownKey)?;
    remember(&key, &verified, request.window_s, now_s)?;
    key.0.was_used(now_s);
    let caller = verified.command.map(|headers| {
        let who = Who {
            actor: key.0.id.clone(),
            client: key.0.client.clone(),
            scope: key.0.scope.clone(),
            roles: key.0.roles,
            user: key.0.roles.has(Role::User).then(|| key.0.client.clone()),
            uid: None,
            origin: None,
        };
        Authenticated {
            signed_at_s: verified.created,
            ..request.known(who, verified.nonce, headers)
        }
    });
    let signer = Signer {
        key,
        label: verified.label.to_owned(),
        signature: verified.signature.to_owned(),
    };
    Ok((signer, caller))
}

/// The token of a request (RFC 6750); `None` without an `Authorization`. Two of them, or a token and a signature, are
/// ambiguous. Another scheme beside a signature is for somebody else, such as a proxy; alone it identifies nobody, also
/// on the socket.
pub(super) fn bearer<'a>(request: &Arrived<'a>) -> Result<Option<&'a str>, Failure> {
    let named = |wanted: &'static str| {
        let fields = request.fields.iter();
        fields.filter(move |(name, _)| *name == wanted)
    };
    let is_signed = named("signature").next().is_some();
    let mut values = named("authorization").map(|(_, value)| token_of(value));
    let Some(first) = values.next() else {
        return Ok(None);
    };
    let others: Vec<_> = values.collect();
    match first {
        Some(token) if others.is_empty() && !is_signed => Ok(Some(token)),
        None if is_signed && others.iter().all(Option::is_none) => Ok(None),
        _ => Err(Failure::Malformed),
    }
}

/// The token, possibly empty, of an `Authorization` of that scheme.
pub(super) fn token_of(value: &[u8]) -> Option<&str> {
    let value = std::str::from_utf8(value).ok()?.trim();
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// Verifies a request with a token. It must arrive over the socket, from this host, or from a proxy with
/// TLS in the settings. On any other path a third party could read it.
pub(super) fn by_token(
    keys: &KeyRing,
    token: &str,
    peer: Peer,
    proxies: &[std::net::IpAddr],
    request: &Arrived<'_>,
) -> Result<Result<Authenticated, Condition>, Failure> {
    let is_private = match peer {
        Peer::Unix(_) => true,
        Peer::Nobody | Peer::Web | Peer::Node => false,
        Peer::Tcp(address) => {
            let address = address.ip().to_canonical();
            address.is_loopback() || proxies.contains(&address)
        }
    };
    if !is_private {
        return Err(Failure::TokenInTheOpen);
    }
    let hash = tokens::hash(token).ok_or(Failure::UnknownToken)?;
    by_hash(keys, &hash, request)
}

/// The caller of a token that arrived here, or at the node that passed the request.
pub(super) fn by_hash(
    keys: &KeyRing,
    hash: &tokens::Hash,
    request: &Arrived<'_>,
) -> Result<Result<Authenticated, Condition>, Failure> {
    let now_s = clock::auth_now_s();
    let token = match keys.look_up_token(hash, now_s) {
        Shown::Unknown => return Err(Failure::UnknownToken),
        Shown::Disabled => return Err(Failure::DisabledToken),
        Shown::Expired => return Err(Failure::ExpiredToken),
        Shown::Found(token) => token,
    };
    let headers = match command_headers(
        request.fields.iter().copied(),
        request.is_mutating(),
        now_s,
        request.window_s,
    ) {
        Ok(headers) => headers,
        Err(condition) => return Ok(Err(condition)),
    };
    let who = Who {
        actor: token.id.clone(),
        client: token.client.clone(),
        scope: token.scope.clone(),
        roles: token.roles,
        user: token.roles.has(Role::User).then(|| token.client.clone()),
        uid: None,
        origin: None,
    };
    Ok(Ok(request.known(who, None, headers)))
}

/// Only a request with a valid signature takes an entry (`http-auth.md` 2).
fn remember(
    key: &Found,
    verified: &VerifiedRequest<'_>,
    window_s: i64,
    now_s: i64,
) -> Result<(), Failure> {
    let fresh = verified
        .nonce
        .is_none_or(|nonce| key.0.accept_nonce(nonce, verified.created, window_s, now_s));
    if fresh { Ok(()) } else { Err(Failure::Replay) }
}

/// The roles of a person: those granted by name, those from projects, and those of every user of the socket.
pub fn roles_of(person: &Person, directory: &Directory, now: Timestamp) -> Roles {
    if person.known {
        access::roles_of(&person.name, person.roles, directory, now)
    } else {
        person.roles
    }
}

/// A request of a person: on the socket with a uid, whom the kernel identifies, or on the web pages, whom a
/// session identifies. Both are the same client.
pub(super) fn of_person(
    person: Person,
    uid: Option<u32>,
    directory: &Directory,
    now: Timestamp,
    request: &Arrived<'_>,
) -> Result<Authenticated, Condition> {
    let headers = command_headers(
        request.fields.iter().copied(),
        request.is_mutating(),
        clock::auth_now_s(),
        request.window_s,
    )?;
    let client = format!("unix:{}", person.name);
    let known = person.known.then(|| person.name.clone());
    let roles = roles_of(&person, directory, now);
    let scope = person.scope();
    let who = Who {
        client,
        actor: person.name,
        scope,
        roles,
        user: known,
        uid,
        origin: uid.is_none().then_some(Origin::Web),
    };
    Ok(request.known(who, None, headers))
}

/// The peer of a connection, put there when it was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A network address. Its requests must be signed.
    Tcp(std::net::SocketAddr),
    /// A uid that the kernel vouches for.
    Unix(u32),
    /// The web pages, inside this process: the request carries a [`SignedIn`].
    Web,
    /// Another node of the cluster, which this process verified: the request carries its caller.
    Node,
    /// A socket without a peer from the kernel: no identity.
    Nobody,
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Peer::Tcp(address) => write!(f, "{address}"),
            Peer::Unix(uid) => write!(f, "uid:{uid}"),
            Peer::Web => f.write_str("web"),
            Peer::Node => f.write_str("node"),
            Peer::Nobody => f.write_str("unknown"),
        }
    }
}

/// The person of a session on the web pages, in the extensions of a request. Only this process can put it
/// there.
#[derive(Clone, Debug)]
pub struct SignedIn(pub Person);

/// The user of a uid. The first look-up may wait for a directory service, so it runs outside of the event
/// loop.
pub(super) async fn person(services: &Arc<bankd_services::Services>, uid: u32) -> Option<Person> {
    if let Some(person) = services.people.remembered(uid) {
        return Some(person);
    }
    let services = Arc::clone(services);
    tokio::task::spawn_blocking(move || services.people.find(uid))
        .await
        .ok()
}

/// A person without a login on this system, whom a proxy or an identity provider vouches for: the bank grants
/// their roles.
pub fn outside(name: &str) -> Person {
    Person {
        name: name.to_owned(),
        known: true,
        roles: Roles::of(&[Role::User]),
    }
}

#[cfg(test)]
mod tests;
