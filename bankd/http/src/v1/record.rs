//! Records of declared kinds: one handler for all, by the declaration of the kind (decision 0164).
//!
//! Kinds of the program have paths of their own, `/api/v1/hardware`; kinds of the site are below
//! `/api/v1/records/{kind}`.

mod body;

use std::borrow::Cow;

use axum::response::IntoResponse;
use bank_api::v1::List;
use bank_core::command::{Command, RecordAction, RecordChange};
use bank_core::directory::{Bank, Directory};
use bank_core::effects::Outcome;
use bank_core::kind::{Key, Kind, Readers, Record, Type, Value, Writers, decimal};
use bank_core::refusal::Refusal;
use bankd_ledger::access::Roles;
use bankd_ledger::access::right::Right;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::pages::Turn;
use super::share::whole;
use super::{covered, historical, json};
use crate::error::Failure;

/// The right to see the records of a kind.
pub(super) fn see(kind: &Kind) -> Right {
    match kind.readers {
        Readers::Everyone => Right::SeeSettings,
        Readers::Auditors => Right::SeeShares,
        Readers::Administrators => Right::ChangeReference,
    }
}

/// The most guarded kinds whose records a caller with these roles may see.
pub(super) fn readers(roles: Roles) -> Readers {
    if Right::ChangeReference.is_held(roles) {
        Readers::Administrators
    } else if Right::SeeShares.is_held(roles) {
        Readers::Auditors
    } else {
        Readers::Everyone
    }
}

/// The right to change the records of a kind.
pub(super) fn change(kind: &Kind) -> Right {
    match kind.writers {
        Writers::Administrators => Right::ChangeReference,
        Writers::Operators => Right::ChangeOpenReference,
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
    let bank = &directory.bank;
    let shown = |record| Shown {
        kind,
        record: Cow::Borrowed(record),
        bank,
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
    let unknown = || call.refused(&Refusal::not_found(kind.word.clone(), &key));
    let key = kind.read_key(&key).ok_or_else(unknown)?;
    let key = directory.records.spelled(kind, &key);
    let record = directory.records.get(&kind.word, &key);
    let record = record.filter(|record| covered::record(view, kind, record));
    let record = record.ok_or_else(unknown)?;
    let record = Cow::Borrowed(record);
    let bank = &directory.bank;
    ok(&Shown { kind, record, bank })
}

/// Adds a record.
pub(super) async fn add(kind: &Kind, call: Call) -> Handled {
    call.demand(change(kind))?;
    let kind = call.directory().records.kind(&kind.word).unwrap_or(kind);
    let (key, set) = match body::read(kind, &call, true) {
        Ok(read) => read,
        // What it names may have changed since the first request.
        Err(failure) => return call.answered_or(failure).await,
    };
    let action = RecordAction::Add(key, set);
    Ok(call
        .write(command(kind, action), added)
        .await?
        .into_response())
}

/// Changes a record.
pub(super) async fn set(kind: &Kind, key: String, call: Call) -> Handled {
    call.demand(change(kind))?;
    let kind = call.directory().records.kind(&kind.word).unwrap_or(kind);
    let key = read_key(kind, &key, &call)?;
    let (_, set) = match body::read(kind, &call, false) {
        Ok(read) => read,
        Err(failure) => return call.answered_or(failure).await,
    };
    let action = RecordAction::Set(key, set);
    Ok(call
        .write(command(kind, action), changed)
        .await?
        .into_response())
}

/// Removes a record.
pub(super) async fn remove(kind: &Kind, key: String, call: Call) -> Handled {
    call.demand(change(kind))?;
    let action = RecordAction::Remove(read_key(kind, &key, &call)?);
    Ok(call
        .write(command(kind, action), removed)
        .await?
        .into_response())
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

fn added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn changed(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Record(record) => {
            // Of a new kind its own kind is in force already.
            let kind = decided.directory.records.kind(&record.kind)?;
            let bank = &decided.directory.bank;
            let record = Cow::Owned((**record).clone());
            Some(new_state(Shown { kind, record, bank }, decided))
        }
        _ => None,
    })
}

/// A record as JSON: its key, then its fields in the order of the declaration.
struct Shown<'a> {
    kind: &'a Kind,
    record: Cow<'a, Record>,
    bank: &'a Bank,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.record.key {
            Key::Number(number) => map.serialize_entry("id", number)?,
            Key::Name(name) => map.serialize_entry("name", name)?,
        }
        for field in &self.kind.fields {
            let value = self.record.value(&field.name);
            let name = field.name.as_str();
            match (&field.of, value) {
                (Type::Texts(..) | Type::References(..), _) => {
                    map.serialize_entry(name, self.record.list(name))?;
                }
                (Type::Decimal(places, ..), Value::Whole(units)) => {
                    map.serialize_entry(name, &decimal(*units, *places))?;
                }
                (Type::Amount(..), Value::Whole(minor)) => {
                    let amount = bank_core::amount::Amount(*minor);
                    map.serialize_entry(name, &json::amount(amount, self.bank))?;
                }
                (_, Value::Whole(number)) => map.serialize_entry(name, number)?,
                (_, Value::Text(text)) => map.serialize_entry(name, text)?,
                (_, Value::Flag(flag)) => map.serialize_entry(name, flag)?,
                (_, Value::Time(at)) => map.serialize_entry(name, &json::time(*at))?,
                (_, Value::None | Value::List(_)) => map.serialize_entry(name, &())?,
            }
        }
        map.end()
    }
}
