//! Judging a request that arrives (`http-auth.md` 1).
//!
//! The order of checks: form of the fields, coverage, HMAC, time, digest, and the headers of a command. A
//! sender without a secret therefore causes little work and learns nothing. Faults of command headers are
//! reported only to a verified sender.

use std::sync::OnceLock;

use super::base::Base;
use super::command::{CommandHeaders, Condition, Fields};
use super::digest;
use super::field::{
    Component, ComponentParameter, Cursor, Malformed, SignatureInput, signature_of, trim,
};
use super::key::SigningKey;

/// Maximum number of labels in one `Signature-Input`. A field with more is malformed.
const MAX_LABELS: usize = 8;

/// A received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest<'a, H> {
    /// The method as sent.
    pub method: &'a str,
    /// The target as sent: path and query, or the absolute form of a proxy's client.
    pub target: &'a str,
    /// `http` or `https`.
    pub scheme: &'a str,
    /// All header fields in the order received; the iterator is run through several times.
    pub headers: H,
    /// The whole body.
    pub body: &'a [u8],
    /// Whether the command writes. It then requires a nonce and an `Idempotency-Key`.
    pub mutating: bool,
}

/// The result of the caller's look-up of a key id.
#[derive(Debug, Clone)]
pub enum KeyLookup<K> {
    /// A key in use.
    Found(K),
    /// A key that exists and is switched off, not yet valid or no longer so.
    Disabled(K),
    /// No such key.
    Unknown,
}

/// A request with a valid signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedRequest<'a> {
    /// The label of the verified signature. The answer is signed under it.
    pub label: &'a str,
    /// The key that signed.
    pub keyid: &'a str,
    /// 8 to 128 characters; always there for a mutating request. The caller keeps (keyid, nonce)
    /// against replays until `created` + window.
    pub nonce: Option<&'a str>,
    /// Seconds since 1970 at which the client signed.
    pub created: i64,
    /// The `Signature` field as received, trimmed; the answer's signature covers it.
    pub signature: &'a [u8],
    /// The headers of a command, or why they are refused (400).
    pub command: Result<CommandHeaders<'a>, Condition>,
}

/// Reasons for a 401 answer: for the log and the counters, never for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{}", self.reason())]
pub enum Failure {
    /// No key of that id.
    UnknownKey,
    /// The HMAC differs.
    BadSignature,
    /// `created` is outside the window, or `expires` is over.
    Stale,
    /// The nonce was used before. Found by the caller, never here.
    Replay,
    /// `Content-Digest` does not match the body.
    Digest,
    /// Something that must be covered is not, or something covered cannot be resolved.
    Component,
    /// The fields are absent or not of the form.
    Malformed,
    /// The key is switched off.
    DisabledKey,
    /// No such token. Found by the caller, as all that is about tokens.
    UnknownToken,
    /// The token is switched off, or its time has not come.
    DisabledToken,
    /// The token's time is over.
    ExpiredToken,
    /// A token arrived over an unencrypted connection.
    TokenInTheOpen,
}

impl Failure {
    /// The word of the log line and of the counter (`http-auth.md` 5).
    pub fn reason(self) -> &'static str {
        match self {
            Self::UnknownKey => "unknown_key",
            Self::BadSignature => "bad_signature",
            Self::Stale => "stale",
            Self::Replay => "replay",
            Self::Digest => "digest",
            Self::Component => "component",
            Self::Malformed => "malformed",
            Self::DisabledKey => "disabled_key",
            Self::UnknownToken => "unknown_token",
            Self::DisabledToken => "disabled_token",
            Self::ExpiredToken => "expired_token",
            Self::TokenInTheOpen => "token_in_the_open",
        }
    }
}

impl From<Malformed> for Failure {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

/// Verifies a request. `now_s` is the authentication clock in seconds since 1970. `window_s` is the allowed
/// distance of `created`. `keys` is called at most once per label, and only for ids of the right form. An
/// unknown id costs as much time as a known one.
pub fn verify_request<'a, H, K>(
    request: &ReceivedRequest<'a, H>,
    now_s: i64,
    window_s: i64,
    mut keys: impl FnMut(&str) -> KeyLookup<K>,
) -> Result<VerifiedRequest<'a>, Failure>
where
    H: Iterator<Item = (&'a str, &'a [u8])> + Clone,
    K: std::borrow::Borrow<SigningKey>,
{
    let fields = Fields::collect(request.headers.clone());
    if fields.input.count != 1 || fields.signature.count != 1 {
        return Err(Failure::Malformed);
    }
    let (input, lookup) = choose(fields.input.value, &mut keys)?;
    let keyid = input.keyid.ok_or(Failure::Malformed)?;
    let created = input.created.ok_or(Failure::Malformed)?;
    if input.alg.is_some_and(|alg| alg != "hmac-sha256") {
        return Err(Failure::Malformed);
    }
    let nonce_fits = input.nonce.map(|nonce| (8..=128).contains(&nonce.len()));
    if nonce_fits == Some(false) || (request.mutating && nonce_fits.is_none()) {
        return Err(Failure::Malformed);
    }
    let signature = signature_of(fields.signature.value, input.label)?;
    demand_coverage(request, &fields, &input.components)?;
    let base = base(request, &input)?;

    let dummy = dummy_key();
    let key = match &lookup {
        KeyLookup::Found(key) | KeyLookup::Disabled(key) => key.borrow(),
        KeyLookup::Unknown => dummy,
    };
    let genuine = key.verifies(&base, &signature);
    match lookup {
        KeyLookup::Unknown => return Err(Failure::UnknownKey),
        _ if !genuine => return Err(Failure::BadSignature),
        KeyLookup::Disabled(_) => return Err(Failure::DisabledKey),
        KeyLookup::Found(_) => {}
    }
    let expired = input.expires.is_some_and(|expires| expires < now_s);
    if expired || created.abs_diff(now_s) > window_s.unsigned_abs() {
        return Err(Failure::Stale);
    }
    if covers(&input.components, "content-digest") {
        digest_holds(request)?;
    }
    Ok(VerifiedRequest {
        label: input.label,
        keyid,
        nonce: input.nonce,
        created,
        signature: trim(fields.signature.value),
        command: fields.command(request.mutating, now_s, window_s),
    })
}

/// The first label with a known key, else the first label, as unknown.
fn choose<'a, K>(
    field: &'a [u8],
    keys: &mut impl FnMut(&str) -> KeyLookup<K>,
) -> Result<(SignatureInput<'a>, KeyLookup<K>), Failure> {
    let mut cursor = Cursor::new(field);
    let mut chosen: Option<(SignatureInput<'a>, KeyLookup<K>)> = None;
    let mut labels: [&str; MAX_LABELS] = [""; MAX_LABELS];
    for count in 0.. {
        let input = cursor.signature_input()?;
        if labels.contains(&input.label) {
            return Err(Failure::Malformed);
        }
        *labels.get_mut(count).ok_or(Failure::Malformed)? = input.label;
        let open = chosen
            .as_ref()
            .is_none_or(|(_, found)| matches!(found, KeyLookup::Unknown));
        if open {
            let found = match input.keyid {
                Some(id) if is_key_id(id) => keys(id),
                _ => KeyLookup::Unknown,
            };
            if chosen.is_none() || !matches!(found, KeyLookup::Unknown) {
                chosen = Some((input, found));
            }
        }
        if !cursor.next_member()? {
            break;
        }
    }
    chosen.ok_or(Failure::Malformed)
}

/// `[A-Za-z0-9._-]{1,64}` (`http-auth.md` 4).
fn is_key_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn covers(components: &[Component<'_>], name: &str) -> bool {
    components.iter().any(|component| component.name == name)
}

/// The second table of `http-auth.md` 1: the signature must cover these fields if present, so that no
/// intermediary can add them.
fn demand_coverage<H>(
    request: &ReceivedRequest<'_, H>,
    fields: &Fields<'_>,
    components: &[Component<'_>],
) -> Result<(), Failure> {
    for (index, component) in components.iter().enumerate() {
        let twice = components
            .iter()
            .skip(index + 1)
            .any(|other| other.name == component.name);
        if twice || component.parameter != ComponentParameter::None {
            return Err(Failure::Component);
        }
    }
    let covered = |name: &str| covers(components, name);
    let whole_target = covered("@target-uri") || covered("@request-target");
    let complete = covered("@method")
        && (whole_target || covered("@path"))
        && (whole_target || !request.target.contains('?') || covered("@query"))
        && (request.body.is_empty() || covered("content-digest"))
        && (fields.key.count == 0 || covered("idempotency-key"))
        && (fields.event_time.count == 0 || covered("bank-event-time"));
    if complete {
        Ok(())
    } else {
        Err(Failure::Component)
    }
}

/// Builds the signature base of a request.
fn base<'a, H>(
    request: &ReceivedRequest<'a, H>,
    input: &SignatureInput<'a>,
) -> Result<Vec<u8>, Failure>
where
    H: Iterator<Item = (&'a str, &'a [u8])> + Clone,
{
    let (path, query) = split_target(request.target);
    let mut base = Base::new();
    for component in &input.components {
        let name = component.name;
        let text = match name {
            "@method" => request.method,
            "@path" => path,
            "@query" => query,
            "@scheme" => request.scheme,
            "@authority" => {
                let host = host_of(request)
                    .ok_or(Failure::Component)?
                    .to_ascii_lowercase();
                let default = if request.scheme == "https" {
                    ":443"
                } else {
                    ":80"
                };
                base.line(name, host.strip_suffix(default).unwrap_or(&host).as_bytes());
                continue;
            }
            "@target-uri" if request.target.starts_with('/') => {
                base.begin(name);
                base.push(request.scheme.as_bytes());
                base.push(b"://");
                base.push(host_of(request).ok_or(Failure::Component)?.as_bytes());
                base.push(request.target.as_bytes());
                base.end();
                continue;
            }
            "@request-target" | "@target-uri" => request.target,
            _ if name.starts_with('@') || name.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                return Err(Failure::Component);
            }
            _ if base.field(name, request.headers.clone()) => continue,
            _ => return Err(Failure::Component),
        };
        base.line(name, text.as_bytes());
    }
    Ok(base.finish(input.raw))
}

/// Path and query as the components `@path` and `@query` have them: never empty.
pub(super) fn split_target(target: &str) -> (&str, &str) {
    let local = if target.starts_with('/') {
        target
    } else {
        let after_scheme = target.split_once("://").map_or(target, |(_, rest)| rest);
        after_scheme
            .find(['/', '?'])
            .and_then(|at| after_scheme.get(at..))
            .unwrap_or("/")
    };
    match local.find('?') {
        Some(at) => {
            let (path, query) = local.split_at(at);
            (if path.is_empty() { "/" } else { path }, query)
        }
        None => (local, "?"),
    }
}

fn host_of<'a, H>(request: &ReceivedRequest<'a, H>) -> Option<&'a str>
where
    H: Iterator<Item = (&'a str, &'a [u8])> + Clone,
{
    let mut hosts = request
        .headers
        .clone()
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let (_, host) = hosts.next()?;
    std::str::from_utf8(trim(host))
        .ok()
        .filter(|_| hosts.next().is_none())
}

/// All `Content-Digest` lines must match. Duplicate lines are reported later.
fn digest_holds<'a, H>(request: &ReceivedRequest<'a, H>) -> Result<(), Failure>
where
    H: Iterator<Item = (&'a str, &'a [u8])> + Clone,
{
    let holds = request
        .headers
        .clone()
        .filter(|(name, _)| name.eq_ignore_ascii_case("content-digest"))
        .all(|(_, value)| digest::matches(trim(value), request.body));
    if holds { Ok(()) } else { Err(Failure::Digest) }
}

/// The key for verification of unknown key ids, for constant timing.
fn dummy_key() -> &'static SigningKey {
    static DUMMY: OnceLock<SigningKey> = OnceLock::new();
    DUMMY.get_or_init(|| SigningKey::from_bytes(b"no such key"))
}
