//! Records of declared kinds: one handler for all, by the declaration of the kind (decision 0164).
//!
//! Kinds of the program have paths of their own, `/api/v1/hardware`; kinds of the site are below
//! `/api/v1/records/{kind}`.

mod body;
mod shown;

use std::borrow::Cow;
use std::sync::Arc;

use axum::response::IntoResponse;
use bank_api::v1::List;
use bank_core::command::{Command, RecordAction, RecordChange};
use bank_core::directory::Directory;
use bank_core::domain::is_sendable;
use bank_core::effects::Outcome;
use bank_core::kind::{Key, Kind, Readers, Record};
use bank_core::refusal::Refusal;
use bankd_ledger::access::right::Right;
use bankd_ledger::writer::{Decided, Render};
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::pages::Turn;
use super::share::whole;
use super::view::{self, Lookup as _, View};
use super::{covered, historical};
use crate::error::Failure;
use shown::Shown;

/// The warning about a name that Maui cannot read (gold-wire.md 5.1).
const UNSENDABLE: &str = "unsendable: Maui cannot read names with &, < or >, or with more than 63 bytes; \
    the gateway does not report this one as a default project";

/// The right to see the records of a kind.
pub(super) fn see(kind: &Kind) -> Right {
    match kind.readers {
        Readers::Everyone => Right::SeeSettings,
        Readers::Auditors => Right::SeeShares,
        Readers::Administrators => Right::ChangeReference,
    }
}

/// Lists the records of a kind, of now or of `at`.
pub(super) async fn list(kind: &Kind, call: Call) -> Handled {
    may_see(kind, &call)?;
    let (then, turn) = historical::listed(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let directory = view.directory();
    let kind = directory.records.kind(&kind.word).unwrap_or(kind);
    let mut all = directory.records.listed(kind);
    all.retain(|record| covered::record(view, kind, record));
    let (page, next) = page(kind, all, turn).map_err(|refusal| call.refused(&refusal))?;
    let shown = |record| Shown {
        kind,
        record: Cow::Borrowed(record),
        directory,
        view,
    };
    ok(&List {
        items: page.into_iter().map(shown).collect(),
        next,
    })
}

fn page<'a>(
    kind: &Kind,
    all: Vec<&'a Record>,
    turn: Turn,
) -> Result<(Vec<&'a Record>, Option<String>), Refusal> {
    let is_number = |record: &&Record| matches!(record.key, Key::Number(_));
    match kind.ordered_by {
        Some(_) => turn.behind(all, |record| record.key.to_string()),
        None if all.first().is_some_and(is_number) => turn.by(all, |record| record.number()),
        None => turn.by(all, |record| record.key.to_string()),
    }
}

/// Shows one record, of now or of `at`.
pub(super) async fn show(kind: &Kind, key: String, call: Call) -> Handled {
    may_see(kind, &call)?;
    let then = historical::requested(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let directory = view.directory();
    let kind = directory.records.kind(&kind.word).unwrap_or(kind);
    let unknown = || view.unknown(&kind.word, &key);
    let key = kind.read_key(&key).ok_or_else(unknown)?;
    let key = directory.records.spelled(kind, &key);
    let record = directory.records.get(&kind.word, &key);
    let record = record.filter(|record| covered::record(view, kind, record));
    let record = record.ok_or_else(unknown)?;
    ok(&Shown {
        kind,
        record: Cow::Borrowed(record),
        directory,
        view,
    })
}

/// Adds a record.
pub(super) async fn add(kind: &Kind, call: Call) -> Handled {
    call.demand(view::change(kind))?;
    let kind = call.directory().records.kind(&kind.word).unwrap_or(kind);
    let command = match added(kind, &call) {
        Ok(command) => command,
        // What it names may have changed since the first request.
        Err(failure) => return call.answered_or(failure).await,
    };
    let name = match &command {
        Command::Record(change) => change.new_name().unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    let has_gateway = !call.services.gold.listen.is_empty();
    let render: Render = if kind.word == "project" && has_gateway && !is_sendable(&name) {
        written_unsendable
    } else {
        written_new
    };
    Ok(call.write(command, render).await?.into_response())
}

/// The new record that a body asks for.
pub(super) fn added(kind: &Kind, call: &Call) -> Result<Command, Failure> {
    let (key, set) = body::read(kind, call, true)?;
    Ok(command(kind, RecordAction::Add(key, set)))
}

/// Changes a record.
pub(super) async fn set(kind: &Kind, key: String, call: Call) -> Handled {
    call.demand(view::change(kind))?;
    let kind = call.directory().records.kind(&kind.word).unwrap_or(kind);
    let key = read_key(kind, &key, &call)?;
    let (_, set) = match body::read(kind, &call, false) {
        Ok(read) => read,
        Err(failure) => return call.answered_or(failure).await,
    };
    let command = command(kind, RecordAction::Set(key, set));
    Ok(call.write(command, changed).await?.into_response())
}

/// Removes a record.
pub(super) async fn remove(kind: &Kind, key: String, call: Call) -> Handled {
    call.demand(view::change(kind))?;
    let key = read_key(kind, &key, &call)?;
    let command = command(kind, RecordAction::Remove(key));
    Ok(call.write(command, removed).await?.into_response())
}

/// Changes a record of a kind that the site added.
pub(super) async fn write_of_site(
    word: &str,
    call: Call,
    write: impl AsyncFnOnce(&Kind, Call) -> Handled,
) -> Handled {
    let directory = Arc::clone(call.directory());
    match of_site(&directory, word, &call) {
        Ok(kind) => Box::pin(write(kind, call)).await,
        Err(failure) => call.answered_or(failure).await,
    }
}

/// The kind that the site added, of a path.
pub(super) fn of_site<'a>(
    directory: &'a Directory,
    word: &str,
    call: &Call,
) -> Result<&'a Kind, Failure> {
    let word = word.to_ascii_lowercase();
    let mut all = directory.records.site_kinds();
    let unknown = || call.refused(&Refusal::not_found("kind", &word));
    all.find(|kind| kind.word == word).ok_or_else(unknown)
}

fn may_see(kind: &Kind, call: &Call) -> Result<(), Failure> {
    call.demand(see(kind))?;
    if kind.readers != Readers::Everyone && kind.concerns.is_none() {
        whole(call)?;
    }
    Ok(())
}

fn read_key(kind: &Kind, key: &str, call: &Call) -> Result<Key, Failure> {
    let unknown = || call.refused(&Refusal::not_found(kind.word.clone(), key));
    kind.read_key(key).ok_or_else(unknown)
}

fn command(kind: &Kind, action: RecordAction) -> Command {
    Command::Record(Box::new(RecordChange::new(kind, action)))
}

fn written_new(decided: &Decided<'_>) -> Answer {
    written(decided, 201, None)
}

fn written_unsendable(decided: &Decided<'_>) -> Answer {
    written(decided, 201, Some(UNSENDABLE))
}

fn changed(decided: &Decided<'_>) -> Answer {
    written(decided, 200, None)
}

fn written(decided: &Decided<'_>, status: u16, warning: Option<&str>) -> Answer {
    let view = View::of_caller(decided);
    rendered(decided, status, |outcome| match outcome {
        Outcome::Record(record) => {
            let directory = decided.directory;
            // Of a new kind its own kind is in force already.
            let kind = directory.records.kind(&record.kind)?;
            let record = Cow::Owned((**record).clone());
            let shown = Shown {
                kind,
                record,
                directory,
                view: &view,
            };
            let mut written = new_state(shown, decided);
            written.warnings.extend(warning.map(str::to_owned));
            Some(written)
        }
        _ => None,
    })
}
