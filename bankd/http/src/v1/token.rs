//! API tokens. The text of one is in the live answer to its making and nowhere else: not in the
//! journal, not in the answer stored for repeats, not in a log.

use axum::response::IntoResponse;
use bank_api::v1::{self, NewToken, NewTokenAnswer, TokenQuery};
use bank_core::command::Command;
use bank_core::effects::Outcome;
use bank_core::model::Key;
use bank_core::refusal::Refusal;
use bank_core::time::{Timestamp, Window};
use bankd_ledger::clock;
use bankd_ledger::keys::tokens;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, ok, removed, rendered};
use super::covered;
use super::json::{self, read_time};
use super::key::{finish, known_roles, state};
use super::outcome::Done;
use super::pages::Turn;
use super::path::Path;
use crate::error::Failure;

/// `GET /api/v1/tokens`: by id, as far as the caller's scope covers them.
pub(super) async fn list(call: Call) -> Handled {
    let query: TokenQuery = call.query()?;
    let seen = call
        .directory()
        .keys()
        .filter(|k| covered::key(&call.view, k));
    let all = seen.filter(|key| key.token.is_some());
    let wanted = all.filter(|k| query.client.as_ref().is_none_or(|c| *c == k.client));
    let turn = Turn::of(&call, query.limit, query.after)?;
    let shape = |token| with_use(&call, token);
    turn.list(&call, wanted.collect(), |token| token.id.clone(), shape)
}

/// `GET /api/v1/tokens/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let token = known(&call, &id)?;
    ok(&with_use(&call, token))
}

/// `POST /api/v1/tokens`
pub(super) async fn add(call: Call) -> Handled {
    let new: NewToken = call.json()?;
    let no_chance = |_| Failure::new("internal", "no random numbers");
    let (text, hash) = tokens::new_token().map_err(no_chance)?;
    let key = match read_new(new, hash) {
        Ok(key) => key,
        Err(refusal) => return call.answered_or(call.refused(&refusal)).await,
    };
    finish(async move {
        let _changing = call.services.keys.changing().await;
        let mut done = call.write(Command::AddKey(key), render_new).await?;
        call.services.keys.reload(&call.services.writer.directory());
        if done.is_accepted() && done.is_fresh() && !done.is_dry_run() {
            done.tell_secret(&text, |answer: &mut NewTokenAnswer| {
                answer.secret = Some(text.to_string());
            });
        }
        Ok(done.into_response())
    })
    .await
}

/// `DELETE /api/v1/tokens/{id}`: from the answer on it is a stranger's.
pub(super) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    if let Err(unknown) = known(&call, &id) {
        return call.answered_or(unknown).await;
    }
    finish(async move {
        let _changing = call.services.keys.changing().await;
        let done: Done = call.write(Command::RemoveKey(id), removed).await?;
        call.services.keys.reload(&call.services.writer.directory());
        Ok(done.into_response())
    })
    .await
}

fn known<'a>(call: &'a Call, id: &str) -> Result<&'a Key, Failure> {
    let token = call.directory().key(id).filter(|key| key.token.is_some());
    let token = token.filter(|token| covered::key(&call.view, token));
    token.ok_or_else(|| call.refused(&Refusal::not_found("token", id)))
}

/// A token has roles, independent of other keys and tokens of its client, and an expiry.
fn read_new(new: NewToken, hash: tokens::Hash) -> Result<Key, Refusal> {
    let made = || format!("token-{}", short(&hash));
    let id = new.id.unwrap_or_else(made);
    let until = read_time(&new.valid_until, "valid_until")?;
    if until <= Timestamp::from_seconds(clock::auth_now_s()) {
        return Err(Refusal::WindowInPast);
    }
    Ok(Key {
        client: new.client.unwrap_or_else(|| id.clone()),
        id,
        roles: known_roles(new.roles)?,
        projects: new.projects,
        machines: new.machines,
        window: Window {
            start: None,
            end: Some(until),
        },
        disabled: false,
        deleted: false,
        token: Some(hash),
    })
}

/// A prefix of the hash, long enough for a name. It does not reveal the token.
fn short(hash: &tokens::Hash) -> String {
    let [a, b, c, d, ..] = *hash;
    format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
}

fn with_use(call: &Call, token: &Key) -> v1::Token {
    let mut shape = shaped(token);
    let used_s = call.services.keys.used_s(&token.id);
    shape.last_used = used_s.map(|s| json::time(Timestamp::from_seconds(s)));
    shape
}

fn shaped(token: &Key) -> v1::Token {
    let time = |at: Option<Timestamp>| at.map(json::time);
    v1::Token {
        id: token.id.clone(),
        client: token.client.clone(),
        roles: token.roles.clone(),
        projects: token.projects.clone(),
        machines: token.machines.clone(),
        valid_from: time(token.window.start),
        valid_until: time(token.window.end),
        state: state(token).to_owned(),
        last_used: None,
    }
}

fn render_new(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Key(key) => Some(NewTokenAnswer {
            token: shaped(key),
            secret: None,
            transaction: decided.transaction,
            dry_run: decided.dry_run,
        }),
        _ => None,
    })
}
