//! Signing keys. A secret is in the live answer to its making and nowhere else: not in the journal,
//! not in the answer stored for repeats, not in a log.

use axum::response::{IntoResponse, Response};
use bank_api::sign::{Secret, SigningKey};
use bank_api::v1::{self, KeyQuery, NewKey, NewKeyAnswer, PatchKey, RotateKey};
use bank_core::command::{self, Access, Command, SetKey};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::model::Key;
use bank_core::refusal::Refusal;
use bank_core::time::{Timestamp, Window};
use bankd_ledger::access::Role;
use bankd_ledger::keys::KeyRing;
use bankd_ledger::keys::hmac64::{self, Hmac64};
use bankd_ledger::writer::Decided;
use bankd_ledger::{clock, keys};
use bankd_store::answer::Answer;
use zeroize::Zeroizing;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::covered;
use super::json::{self, read_bound, read_time};
use super::pages::Turn;
use super::path::Path;
use crate::error::Failure;

/// `GET /api/v1/keys`: by id, as far as the caller's scope covers them.
pub(super) async fn list(call: Call) -> Handled {
    let query: KeyQuery = call.query()?;
    let turn = Turn::of(&call, query.limit, query.after)?;
    let seen = call
        .directory()
        .keys()
        .filter(|k| covered::key(&call.view, k));
    let keys = seen.filter(|k| k.token.is_none());
    let wanted = keys.filter(|k| query.client.as_ref().is_none_or(|c| *c == k.client));
    let shape = |key| with_fingerprint(&call, key);
    turn.list(&call, wanted.collect(), |key| key.id.clone(), shape)
}

/// `GET /api/v1/keys/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    check_is_key(&call, &id)?;
    let key = call.directory().key(&id);
    let key = key.filter(|key| covered::key(&call.view, key));
    let unknown = || call.refused(&Refusal::not_found("key", &id));
    ok(&with_fingerprint(&call, key.ok_or_else(unknown)?))
}

/// A token is none of the signing keys, though they share their ids.
fn check_is_key(call: &Call, id: &str) -> Result<(), Failure> {
    let token = call.directory().key(id).filter(|key| key.token.is_some());
    // One that the caller may not see is refused by the ledger, like a missing one.
    match token.filter(|token| covered::key(&call.view, token)) {
        Some(_) => Err(call.refused(&Refusal::not_found("key", id))),
        None => Ok(()),
    }
}

/// `POST /api/v1/keys`
pub(super) async fn add(call: Call) -> Handled {
    let new: NewKey = call.json()?;
    let (shown, secret) = secret(&new)?;
    let key = match read_new(&call, new) {
        Ok(key) => key,
        Err(refusal) => return call.answered_or(call.refused(&refusal)).await,
    };
    let id = key.id.clone();
    let command = Command::AddKey(key);
    finish(async move { Box::pin(make(call, &id, command, shown, secret)).await }).await
}

/// `PATCH /api/v1/keys/{id}`
pub(super) async fn set(Path(id): Path<String>, call: Call) -> Handled {
    check_is_key(&call, &id)?;
    let patch: PatchKey = call.json()?;
    let change = match patched(&id, patch) {
        Ok(change) => change,
        Err(refusal) => return call.answered_or(call.refused(&refusal)).await,
    };
    finish(async move {
        let ring = call.services.keys.clone();
        let _changing = ring.changing().await;
        let fingerprint = ring.fingerprint(&id).unwrap_or_default();
        let command = Command::SetKey(change);
        let done = call.write_key(command, render, fingerprint).await?;
        ring.reload(&call.services.writer.directory());
        Ok(done.into_response())
    })
    .await
}

/// `DELETE /api/v1/keys/{id}`
pub(super) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    check_is_key(&call, &id)?;
    finish(async move {
        let ring = call.services.keys.clone();
        let _changing = ring.changing().await;
        let done = call.write(Command::RemoveKey(id.clone()), removed).await?;
        if done.is_accepted() && !done.is_dry_run() {
            ring.reload(&call.services.writer.directory());
            call.services.secrets.remove(&id).await;
            let folder = ring.folder().to_owned();
            let gone = tokio::task::spawn_blocking(move || keys::remove_secret(&folder, &id));
            if !matches!(gone.await, Ok(Ok(()))) {
                // The key is gone from the ring all the same; a repeat tries again.
                tracing::error!("the file of a removed key's secret could not be removed");
            }
        }
        Ok(done.into_response())
    })
    .await
}

/// Longest time in which an old key and its new one are both accepted: a year.
const OVERLAP_MAX_S: i64 = 366 * 86_400;
/// Default overlap of two secrets: a week.
const OVERLAP_S: i64 = 7 * 86_400;

/// `POST /api/v1/keys/{id}/rotate`: a second key for the same client; the first ends by itself.
pub(super) async fn rotate(Path(id): Path<String>, call: Call) -> Handled {
    check_is_key(&call, &id)?;
    let new: RotateKey = call.json()?;
    let overlap_s = new.overlap_s.unwrap_or(OVERLAP_S);
    if !(0..=OVERLAP_MAX_S).contains(&overlap_s) {
        let refused = call.refused(&Refusal::BadDuration);
        return call
            .answered_or(refused.hint("the overlap is 0 s to 366 days"))
            .await;
    }
    let (shown, secret) = secret(&NewKey {
        secret: new.secret,
        gold: new.gold,
        ..NewKey::default()
    })?;
    let key = Key {
        id: new.id.unwrap_or_else(|| next_id(call.directory(), &id)),
        client: String::new(),
        roles: Vec::new(),
        projects: Vec::new(),
        machines: Vec::new(),
        window: Window::ALWAYS,
        disabled: false,
        deleted: false,
        token: None,
    };
    let until = Timestamp::from_seconds(clock::auth_now_s().saturating_add(overlap_s));
    let new_id = key.id.clone();
    let rotate = Command::Access(Access::RotateKey(Box::new(command::RotateKey {
        id,
        new: key,
        until,
    })));
    finish(async move { Box::pin(make(call, &new_id, rotate, shown, secret)).await }).await
}

/// `moab` becomes `moab-2`, and that `moab-3`: the first that no key ever had.
fn next_id(directory: &Directory, id: &str) -> String {
    let (base, number) = match id.rsplit_once('-') {
        Some((base, number)) if !base.is_empty() => (base, number.parse::<u32>().ok()),
        _ => (id, None),
    };
    let base = if number.is_some() { base } else { id };
    let first = number.unwrap_or(1).saturating_add(1);
    let ids = (first..).map(|number| format!("{base}-{number}"));
    let mut free = ids.filter(|id| directory.number_for("key", id).is_some());
    free.next().unwrap_or_default()
}

/// Completes even if the caller disconnects: file, ledger and key ring must agree.
pub(super) async fn finish(work: impl Future<Output = Handled> + Send + 'static) -> Handled {
    let ended = tokio::spawn(work).await;
    ended.unwrap_or_else(|_| Err(Failure::new("internal", "the key could not be changed")))
}

/// Stores the secret first, then the key in the ledger, so that each key in the ledger has its secret. A
/// generated secret is returned once, in this form.
async fn make(
    call: Call,
    id: &str,
    command: Command,
    shown: Option<Zeroizing<String>>,
    secret: Secret,
) -> Result<Response, Failure> {
    let ring = call.services.keys.clone();
    let _changing = ring.changing().await;
    // An id that is taken keeps its own secret; the ledger refuses, or answers a repeat.
    let taken = call
        .services
        .writer
        .directory()
        .number_for("key", id)
        .is_none();
    let stored = !taken && !call.dry_run()? && store(&call, id, secret.clone()).await?;
    if stored && let Err(error) = call.services.secrets.keep(id, &secret).await {
        discard(&ring, id).await;
        let text = format!("the secret could not be stored for the other nodes: {error}");
        return Err(Failure::new("busy", text));
    }
    let fingerprint = SigningKey::new(&secret).fingerprint();
    let done = call.write_key(command, render_new, fingerprint).await;
    // Without an answer, the key may be in the log of a cluster: its secret stays there, and a repeat replaces it.
    let is_refused = match &done {
        Ok(done) => !done.is_accepted(),
        Err(_) => call.services.writer.cluster().is_none(),
    };
    if stored && is_refused {
        discard(&ring, id).await;
        call.services.secrets.remove(id).await;
    }
    let mut done = done?;
    ring.reload(&call.services.writer.directory());
    let shown = shown.filter(|_| done.is_accepted() && done.is_fresh() && !done.is_dry_run());
    if let Some(text) = shown {
        done.tell_secret(&text, |answer: &mut NewKeyAnswer| {
            answer.secret = Some(text.to_string());
        });
    }
    Ok(done.into_response())
}

/// Removes the secret of a key that was not added.
async fn discard(ring: &KeyRing, id: &str) {
    let (folder, id) = (ring.folder().to_owned(), id.to_owned());
    let undone = tokio::task::spawn_blocking(move || keys::remove_secret(&folder, &id));
    let _ = undone.await;
}

/// False for an invalid id, which the ledger reports.
async fn store(call: &Call, id: &str, secret: Secret) -> Result<bool, Failure> {
    let (folder, id) = (call.services.keys.folder().to_owned(), id.to_owned());
    let written = tokio::task::spawn_blocking(move || keys::write_secret(&folder, &id, &secret));
    match written.await {
        Ok(Ok(_)) => Ok(true),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(false),
        Ok(Err(error)) => {
            tracing::error!(%error, "a secret could not be written");
            Err(Failure::new("internal", "the secret could not be written"))
        }
        Err(_) => Err(Failure::new("internal", "the secret could not be written")),
    }
}

/// The secret, and its text if it was generated.
fn secret(new: &NewKey) -> Result<(Option<Zeroizing<String>>, Secret), Failure> {
    let bad = |why: &dyn std::fmt::Display| Failure::new("bad_value", format!("secret: {why}"));
    let no_chance = |_| Failure::new("internal", "no random numbers");
    let Some(text) = &new.secret else {
        if new.gold {
            let (text, secret) = hmac64::new_secret().map_err(no_chance)?;
            return Ok((Some(text), secret));
        }
        let secret = keys::new_secret().map_err(no_chance)?;
        return Ok((Some(secret.to_text()), secret));
    };
    let secret = Secret::parse(text).map_err(|error| bad(&error))?;
    if new.gold {
        Hmac64::new(&secret).map_err(|unfit| bad(&unfit))?;
    }
    Ok((None, secret))
}

/// Roles and scopes belong to the client: a second key of it has those of the first.
fn read_new(call: &Call, new: NewKey) -> Result<Key, Refusal> {
    let client = new.client.unwrap_or_else(|| new.id.clone());
    let keys = call.directory().keys().filter(|k| k.token.is_none());
    let mut seen = keys.filter(|k| covered::key(&call.view, k));
    let sibling = seen.find(|k| k.client == client);
    let valid_from = new.valid_from.as_deref();
    let valid_from = valid_from.map(|text| read_time(text, "valid_from"));
    let valid_until = new.valid_until.as_deref();
    let valid_until = valid_until.map(|text| read_bound(text, "valid_until", "infinity"));
    let inherited = |given: Vec<String>, of: fn(&Key) -> &Vec<String>| match sibling {
        Some(sibling) if given.is_empty() => Ok(of(sibling).clone()),
        Some(sibling) if !equal(&given, of(sibling)) => Err(Refusal::BadValue {
            field: "roles, projects and machines",
            expected: "those of the client's other keys, or none",
        }),
        _ => Ok(given),
    };
    let mut roles = inherited(new.roles, |k| &k.roles)?;
    if new.gold && roles.is_empty() {
        roles.push(Role::Scheduler.word().to_owned());
    }
    Ok(Key {
        roles: known_roles(roles)?,
        projects: inherited(new.projects, |k| &k.projects)?,
        machines: inherited(new.machines, |k| &k.machines)?,
        id: new.id,
        client,
        window: Window {
            start: valid_from.transpose()?,
            end: valid_until.transpose()?.flatten(),
        },
        disabled: false,
        deleted: false,
        token: None,
    })
}

/// Only the fields in the request: another request may change the others at the same time.
fn patched(id: &str, patch: PatchKey) -> Result<SetKey, Refusal> {
    let until = patch.valid_until.as_deref();
    let until = until.map(|text| read_bound(text, "valid_until", "infinity"));
    let disabled = match patch.state.as_deref() {
        None => None,
        Some("active") => Some(false),
        Some("disabled") => Some(true),
        Some(_) => {
            return Err(Refusal::bad_value("state", "active or disabled"));
        }
    };
    Ok(SetKey {
        id: id.to_owned(),
        roles: patch.roles.map(known_roles).transpose()?,
        projects: patch.projects,
        machines: patch.machines,
        until: until.transpose()?,
        disabled,
    })
}

/// A key without a role could do nothing, and a word that is none would be a silent lock-out.
pub(super) fn known_roles(roles: Vec<String>) -> Result<Vec<String>, Refusal> {
    let known = roles.iter().all(|word| Role::parse(word).is_some());
    if known && !roles.is_empty() {
        return Ok(roles);
    }
    Err(Refusal::BadValue {
        field: "roles",
        expected: "admin, operator, manager, pi, auditor, scheduler, collector or user, at least one",
    })
}

fn equal(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().all(|word| b.contains(word))
}

fn with_fingerprint(call: &Call, key: &Key) -> v1::Key {
    let used_s = call.services.keys.used_s(&key.id);
    v1::Key {
        last_used: used_s.map(|s| json::time(Timestamp::from_seconds(s))),
        ..shaped(
            key,
            call.services.keys.fingerprint(&key.id).unwrap_or_default(),
        )
    }
}

/// State of a key or a token, by the clock that verifies requests.
pub(super) fn state(key: &Key) -> &'static str {
    let now = Timestamp::from_seconds(clock::auth_now_s());
    match (key.disabled, key.window.is_over(now)) {
        (true, _) => "disabled",
        (false, true) => "expired",
        (false, false) => "active",
    }
}

fn shaped(key: &Key, fingerprint: String) -> v1::Key {
    let time = |at: Option<Timestamp>| at.map(json::time);
    v1::Key {
        id: key.id.clone(),
        client: key.client.clone(),
        roles: key.roles.clone(),
        projects: key.projects.clone(),
        machines: key.machines.clone(),
        valid_from: time(key.window.start),
        valid_until: time(key.window.end),
        state: state(key).to_owned(),
        fingerprint,
        last_used: None,
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::Key(key) => {
            let shape = shaped(key, decided.fingerprint.to_owned());
            Some(new_state(shape, decided))
        }
        _ => None,
    })
}

fn render_new(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Key(key) => Some(NewKeyAnswer {
            key: shaped(key, decided.fingerprint.to_owned()),
            secret: None,
            transaction: decided.transaction,
            dry_run: decided.dry_run,
        }),
        _ => None,
    })
}
