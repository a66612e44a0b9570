//! Which tables have versions, and which of their columns belong to one.

use super::super::access;
use super::super::kind::{COLUMNS, columns, is_numbered, list, shown};
use bank_core::effects::DirectoryRow;
use bank_core::ids::{ProjectId, UserId};
use bank_core::kind::{self, Key, KeyType, Kind, Record};
use bank_core::model::LimitOf;
use rusqlite::types::Value;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A table with versions.
#[derive(Clone)]
pub(super) struct Versioned {
    /// The word of its versions.
    pub(super) word: &'static str,
    /// The table; its rows are `t`.
    pub(super) table: &'static str,
    /// Its key as text.
    key: &'static str,
    /// The condition that picks a row by the parts of its key.
    pick: &'static str,
    /// Its columns, in the order in which its row is read.
    pub(super) columns: Cow<'static, [&'static str]>,
    /// Those of them that hold bytes, which JSON has in hexadecimal digits.
    blobs: &'static [&'static str],
    /// The list that belongs to a row, as a JSON array.
    list: Option<Cow<'static, str>>,
    /// The kind that declares it, where one does.
    kind: Option<&'static Kind>,
}

impl Versioned {
    fn state(&self) -> String {
        let columns = self.columns.iter().map(|name| {
            if self.blobs.contains(name) {
                return format!("iif(t.{name} IS NULL, NULL, hex(t.{name}))");
            }
            format!("t.{name}")
        });
        let list = self.list.as_ref().map(|list| format!("json(({list}))"));
        let all: Vec<String> = columns.chain(list).collect();
        format!("json_array({})", all.join(", "))
    }

    /// The state of one row.
    pub(super) fn one(&self) -> String {
        let (state, table, pick) = (self.state(), self.table, self.pick);
        format!("SELECT {state} FROM {table} t WHERE {pick}")
    }

    /// The key `k` and the state `s` of every row.
    pub(super) fn all(&self) -> String {
        let (state, table, key) = (self.state(), self.table, self.key);
        format!("SELECT {key} AS k, {state} AS s FROM {table} t")
    }

    /// The keys whose newest version is not the row, or that one of both lacks.
    pub(super) fn differing(&self) -> String {
        let (today, key) = (self.all(), self.version_key());
        // Versions of before a column was added have nothing there.
        let places = 0..self.columns.len() + usize::from(self.list.is_some());
        let places: Vec<String> = places.map(|place| format!("state -> {place}")).collect();
        let state = format!(
            "iif(state IS NULL, NULL, json_array({}))",
            places.join(", ")
        );
        format!(
            "WITH today AS ({today}),
                 newest AS (SELECT {key} AS k, {state} AS s, max(tx) FROM version WHERE kind = ?1
                            GROUP BY {key})
             SELECT k FROM today LEFT JOIN newest USING (k) WHERE newest.s IS NOT today.s
             UNION
             SELECT k FROM newest LEFT JOIN today USING (k)
             WHERE today.k IS NULL AND newest.s IS NOT NULL
             ORDER BY 1"
        )
    }

    /// The columns of the rows that there were when a transaction had been written, with it last.
    pub(super) fn then(&self) -> String {
        self.past("")
    }

    /// The same of the row with a key.
    pub(super) fn one_then(&self) -> String {
        self.past(&format!(" AND {} = ?3", self.version_key()))
    }

    /// The key of its versions. Attributes were once named in any case again, and are the same.
    fn version_key(&self) -> &'static str {
        match self.kind.map(|kind| kind.key) {
            Some(KeyType::AnyCase) => "key COLLATE NOCASE",
            _ => "key",
        }
    }

    fn past(&self, only: &str) -> String {
        let key = self.version_key();
        let places = 0..self.columns.len() + usize::from(self.list.is_some());
        let is_blob = |place| {
            let name = self.columns.get(place);
            name.is_some_and(|name| self.blobs.contains(name))
        };
        let column = |place| {
            let text = format!("json_extract(state, '$[{place}]')");
            match self.kind {
                Some(kind) => shown(kind, place, text),
                None if is_blob(place) => format!("unhex({text})"),
                None => text,
            }
        };
        let columns: Vec<String> = places.map(column).collect();
        format!(
            "SELECT {}, tx FROM (SELECT key, state, max(tx) AS tx FROM version
                 WHERE kind = ?1 AND tx <= ?2{only} GROUP BY {key})
             WHERE state IS NOT NULL ORDER BY 1, 2",
            columns.join(", ")
        )
    }
}

const BY_ID: &str = "t.id = ?1";
const ID: &str = "CAST(t.id AS TEXT)";

/// Tables of reference data that no kind declares.
const TABLES: &[Versioned] = &[
    Versioned {
        word: MEMBER,
        table: "member",
        key: "t.project || '/' || t.user",
        pick: "t.project = ?1 AND t.user = ?2",
        columns: Cow::Borrowed(&["project", "user", "active", "role"]),
        blobs: &[],
        list: None,
        kind: None,
    },
    Versioned {
        word: "account",
        table: "account",
        key: ID,
        pick: BY_ID,
        columns: Cow::Borrowed(&[
            "id",
            "name",
            "priority",
            "fallback",
            "blocked",
            "deleted",
            "description",
            "parent",
            "share",
            "overflow",
            "discrete",
        ]),
        blobs: &[],
        list: Some(Cow::Borrowed(
            "SELECT json_group_array(json_array(dimension, value, allow, subtree))
             FROM (SELECT * FROM account_constraint WHERE account = t.id ORDER BY n)",
        )),
        kind: None,
    },
    Versioned {
        word: "rate",
        table: "rate",
        key: ID,
        pick: BY_ID,
        columns: Cow::Borrowed(&[
            "id",
            "kind",
            "name",
            "instance",
            "billionths",
            "per_s",
            "machine",
            "from_at",
            "until_at",
            "description",
            "hours",
            "zone",
        ]),
        blobs: &[],
        list: None,
        kind: None,
    },
    Versioned {
        word: "key",
        table: "auth_key",
        key: "t.id",
        pick: BY_ID,
        columns: Cow::Borrowed(&[
            "id", "client", "roles", "projects", "machines", "from_at", "until_at", "disabled",
            "deleted", "token",
        ]),
        blobs: &[],
        list: None,
        kind: None,
    },
    Versioned {
        word: "role",
        table: "role_grant",
        key: ID,
        pick: BY_ID,
        columns: Cow::Borrowed(&["id", "name", "role", "project", "until_at", "revoked"]),
        blobs: &[],
        list: None,
        kind: None,
    },
    Versioned {
        word: "limit",
        table: "amount_limit",
        key: "t.subject || '/' || t.name",
        pick: "t.subject = ?1 AND t.name = ?2",
        columns: Cow::Borrowed(&["subject", "name", "per_operation", "per_day"]),
        blobs: &[],
        list: None,
        kind: None,
    },
    Versioned {
        word: "cycle",
        table: "cycle",
        key: ID,
        pick: BY_ID,
        columns: Cow::Borrowed(&[
            "id", "name", "account", "every", "amount", "rollover", "start_at", "number", "last",
            "active", "deleted", "note",
        ]),
        blobs: &[],
        list: None,
        kind: None,
    },
    Versioned {
        word: RECORD,
        table: "kind_record",
        key: "t.kind || '/' || t.key",
        pick: "t.kind = ?1 AND t.key = ?2",
        columns: Cow::Borrowed(&COLUMNS),
        blobs: &[],
        list: None,
        kind: None,
    },
    Versioned {
        word: "attention_off",
        table: "attention_off",
        key: "CAST(t.project AS TEXT)",
        pick: "t.project = ?1",
        columns: Cow::Borrowed(&["project"]),
        blobs: &[],
        list: None,
        kind: None,
    },
];

/// The tables of a row, each with the parts of its key.
pub(super) fn of(row: &DirectoryRow) -> Vec<(&'static Versioned, Vec<Value>)> {
    let number = |id: i64| vec![Value::Integer(id)];
    let (word, key) = match row {
        DirectoryRow::Member(m) => (MEMBER, pair(m.project, m.user)),
        DirectoryRow::MemberGone(project, user) => (MEMBER, pair(*project, *user)),
        DirectoryRow::Account(a) => ("account", number(a.id.0)),
        DirectoryRow::Rate(r) => ("rate", number(r.id.0)),
        DirectoryRow::Key(k) => ("key", vec![Value::Text(k.id.clone())]),
        DirectoryRow::Grant(g) => ("role", number(g.id.0)),
        DirectoryRow::Limit(l) => ("limit", subject(&l.of)),
        DirectoryRow::LimitGone(of) => ("limit", subject(of)),
        DirectoryRow::Cycle(c) => ("cycle", number(c.id.0)),
        DirectoryRow::Record(record) => return of_record(record),
        DirectoryRow::Quiet(project, _) => ("attention_off", number(project.0)),
    };
    vec![(table(word), key)]
}

fn of_record(record: &Record) -> Vec<(&'static Versioned, Vec<Value>)> {
    let state = vec![
        Value::Text(record.kind.clone()),
        Value::Text(record.key.to_string()),
    ];
    let own = tables().iter().find(|table| table.word == record.kind);
    let key = match &record.key {
        Key::Number(number) => Value::Integer(*number),
        Key::Name(_) if record.id > 0 => Value::Integer(record.id),
        Key::Name(name) => Value::Text(name.clone()),
    };
    let own = own.map(|own| (own, vec![key]));
    own.into_iter().chain([(table(RECORD), state)]).collect()
}

fn pair(project: ProjectId, user: UserId) -> Vec<Value> {
    vec![Value::Integer(project.0), Value::Integer(user.0)]
}

fn subject(of: &LimitOf) -> Vec<Value> {
    let (kind, name) = access::subject(of);
    vec![Value::Text(kind.to_owned()), Value::Text(name.to_owned())]
}

/// Every table with versions: those below, and one for each declared kind.
pub(super) fn tables() -> &'static [Versioned] {
    static ALL: LazyLock<Vec<Versioned>> = LazyLock::new(|| {
        let declared = kind::declared().iter().filter_map(|own| {
            let (key, pick) = if is_numbered(own) {
                (ID, BY_ID)
            } else {
                ("t.name", "t.name = ?1")
            };
            Some(Versioned {
                word: own.table?,
                table: own.table?,
                key,
                pick,
                columns: columns(own).into(),
                blobs: &[],
                list: list(own).map(Cow::Owned),
                kind: Some(own),
            })
        });
        TABLES.iter().cloned().chain(declared).collect()
    });
    &ALL
}

/// The table of a word.
pub(super) fn table(word: &str) -> &'static Versioned {
    let found = tables().iter().find(|table| table.word == word);
    // Every word is in the table; the first one keeps this total.
    found.or(tables().first()).unwrap_or(&NOTHING)
}

/// The word of memberships.
pub(super) const MEMBER: &str = "member";

/// The word of the table of kinds and fields of the site.
pub(super) const RECORD: &str = "kind_record";

const NOTHING: Versioned = Versioned {
    word: "",
    table: "version",
    key: "t.key",
    pick: "FALSE",
    columns: Cow::Borrowed(&["key"]),
    blobs: &[],
    list: None,
    kind: None,
};
