//! Records as JSON, by the declaration of their kind.

use std::borrow::Cow;

use bank_core::amount::Amount;
use bank_core::directory::Directory;
use bank_core::ids::{ProjectId, UserId};
use bank_core::kind::{Field, Key, Kind, Record, Type, Value, decimal};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value as Json;

use super::super::view::View;
use super::super::{account, covered, json, member};

/// A record as JSON: its key, its fields in the order of the declaration, then its derived values. A
/// reference to an object that the view hides is left out.
pub(super) struct Shown<'a> {
    pub(super) kind: &'a Kind,
    pub(super) record: Cow<'a, Record>,
    pub(super) directory: &'a Directory,
    pub(super) view: &'a View,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.record.key {
            Key::Number(number) => map.serialize_entry("id", number)?,
            Key::Name(name) => map.serialize_entry("name", name)?,
        }
        for field in &self.kind.fields {
            map.serialize_entry(&field.name, &self.value(field))?;
        }
        for field in &self.kind.derived {
            map.serialize_entry(&field.name, &self.derived(&field.name))?;
        }
        map.end()
    }
}

impl Shown<'_> {
    fn value(&self, field: &Field) -> Json {
        match (&field.of, self.record.value(&field.name)) {
            (Type::References(of, _), _) => {
                let all = self.record.list(&field.name).iter();
                all.filter(|name| self.sees(of, name)).cloned().collect()
            }
            (Type::Texts(..), _) => self.record.list(&field.name).into(),
            (Type::Reference(of), Value::Text(name)) if !self.sees(of, name) => Json::Null,
            (Type::Reference(of), Value::Whole(number)) if !self.sees(of, &number.to_string()) => {
                Json::Null
            }
            (_, Value::Text(name)) if field.payer && !self.sees_payer(name) => Json::Null,
            (Type::Decimal(places, ..), Value::Whole(units)) => decimal(*units, *places).into(),
            (Type::Amount(..), Value::Whole(minor)) => {
                json::amount(Amount(*minor), &self.directory.bank).into()
            }
            (_, Value::Whole(number)) => (*number).into(),
            (_, Value::Text(text)) => text.as_str().into(),
            (_, Value::Flag(flag)) => (*flag).into(),
            (_, Value::Time(at)) => json::time(*at).into(),
            (_, Value::None | Value::List(_)) => Json::Null,
        }
    }

    /// A value that comes from other objects.
    fn derived(&self, name: &str) -> Json {
        let own = self.record.name();
        match (self.kind.word.as_str(), name) {
            ("project", "accounts") => {
                let all = self.directory.accounts();
                let all = all.filter(|account| account::lists_project(account, own));
                let seen = all.filter(|a| self.view.sees_account(a));
                seen.map(|account| account.name.as_str()).collect()
            }
            ("project", "members") => {
                let members = member::members_of(self.directory, ProjectId(self.record.id));
                serde_json::to_value(members).unwrap_or_default()
            }
            ("user", "projects") => {
                let user = UserId(self.record.id);
                let all = self.directory.projects();
                let theirs = all.filter(|p| self.directory.membership(p.id, user).is_some());
                let seen = theirs.filter(|p| self.view.sees_project(p));
                seen.map(|project| project.name.as_str()).collect()
            }
            _ => Json::Null,
        }
    }

    fn sees(&self, kind: &str, key: &str) -> bool {
        covered::name(self.view, kind, key)
    }

    /// Whether a project or account is visible. A suffix names none.
    fn sees_payer(&self, name: &str) -> bool {
        name.starts_with('+') || self.sees("project", name) || self.sees("account", name)
    }
}
