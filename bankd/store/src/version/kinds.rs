//! Which tables have versions, and which of their columns belong to one.

use super::super::access;
use bank_core::effects::DirectoryRow;
use bank_core::ids::{ProjectId, UserId};
use bank_core::model::LimitOf;
use rusqlite::types::Value;

/// A table with versions.
pub(super) struct Kind {
    /// The word of its versions.
    pub(super) word: &'static str,
    /// The table; its rows are `t`.
    pub(super) table: &'static str,
    /// Its key as text.
    key: &'static str,
    /// The condition that picks a row by the parts of its key.
    pick: &'static str,
    /// Its columns, in the order in which its row is read.
    pub(super) columns: &'static [&'static str],
    /// Those of them that hold bytes, which JSON has in hexadecimal digits.
    blobs: &'static [&'static str],
    /// The list that belongs to a row, as a JSON array.
    list: Option<&'static str>,
}

impl Kind {
    fn state(&self) -> String {
        let columns = self.columns.iter().map(|name| {
            if self.blobs.contains(name) {
                return format!("iif(t.{name} IS NULL, NULL, hex(t.{name}))");
            }
            format!("t.{name}")
        });
        let list = self.list.map(|list| format!("json(({list}))"));
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
        let today = self.all();
        format!(
            "WITH today AS ({today}),
                 newest AS (SELECT key AS k, state AS s, max(tx) FROM version WHERE kind = ?1
                            GROUP BY key)
             SELECT k FROM today LEFT JOIN newest USING (k) WHERE newest.s IS NOT today.s
             UNION
             SELECT k FROM newest LEFT JOIN today USING (k)
             WHERE today.k IS NULL AND newest.s IS NOT NULL
             ORDER BY 1"
        )
    }

    /// The columns of the rows that there were when a transaction had been written, with it last.
    pub(super) fn then(&self) -> String {
        let places = 0..self.columns.len() + usize::from(self.list.is_some());
        let is_blob = |place| {
            let name = self.columns.get(place);
            name.is_some_and(|name| self.blobs.contains(name))
        };
        let column = |place| {
            let text = format!("json_extract(state, '$[{place}]')");
            if is_blob(place) {
                format!("unhex({text})")
            } else {
                text
            }
        };
        let columns: Vec<String> = places.map(column).collect();
        format!(
            "SELECT {}, tx FROM (SELECT key, state, max(tx) AS tx FROM version
                 WHERE kind = ?1 AND tx <= ?2 GROUP BY key)
             WHERE state IS NOT NULL ORDER BY 1, 2",
            columns.join(", ")
        )
    }
}

const BY_ID: &str = "t.id = ?1";
const ID: &str = "CAST(t.id AS TEXT)";

/// Every kind.
pub(super) const KINDS: &[Kind] = &[
    Kind {
        word: "project",
        table: "project",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id",
            "name",
            "parent",
            "active",
            "deleted",
            "mode",
            "description",
            "organization",
        ],
        blobs: &[],
        list: Some(
            "SELECT json_group_array(machine) FROM (SELECT machine FROM project_machine
                 WHERE project = t.id ORDER BY machine)",
        ),
    },
    Kind {
        word: "user",
        table: "user",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id",
            "name",
            "active",
            "deleted",
            "common_name",
            "email",
            "default_project",
            "organization",
            "phone",
            "description",
        ],
        blobs: &[],
        list: Some(
            "SELECT json_group_array(alias) FROM (SELECT alias FROM user_alias
                 WHERE user = t.id ORDER BY alias)",
        ),
    },
    Kind {
        word: "machine",
        table: "machine",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id",
            "name",
            "active",
            "deleted",
            "mode",
            "flush_interval_s",
            "fallback",
            "description",
            "architecture",
            "operating_system",
            "source",
            "charge_policy",
            "fallback_qos",
            "fqdn",
            "reservation_account",
            "test",
            "charge_duration",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "member",
        table: "member",
        key: "t.project || '/' || t.user",
        pick: "t.project = ?1 AND t.user = ?2",
        columns: &["project", "user", "active", "role"],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "account",
        table: "account",
        key: ID,
        pick: BY_ID,
        columns: &[
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
        ],
        blobs: &[],
        list: Some(
            "SELECT json_group_array(json_array(dimension, value, allow, subtree))
             FROM (SELECT * FROM account_constraint WHERE account = t.id ORDER BY n)",
        ),
    },
    Kind {
        word: "rate",
        table: "rate",
        key: ID,
        pick: BY_ID,
        columns: &[
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
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "key",
        table: "auth_key",
        key: "t.id",
        pick: BY_ID,
        columns: &[
            "id", "client", "roles", "projects", "machines", "from_at", "until_at", "disabled",
            "deleted", "token",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "role",
        table: "role_grant",
        key: ID,
        pick: BY_ID,
        columns: &["id", "name", "role", "project", "until_at", "revoked"],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "limit",
        table: "amount_limit",
        key: "t.subject || '/' || t.name",
        pick: "t.subject = ?1 AND t.name = ?2",
        columns: &["subject", "name", "per_operation", "per_day"],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "attribute",
        table: "attribute",
        key: "t.name",
        pick: "t.name = ?1",
        columns: &["name", "kind", "description", "deleted"],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "cycle",
        table: "cycle",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id", "name", "account", "every", "amount", "rollover", "start_at", "number", "last",
            "active", "deleted", "note",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "mapping",
        table: "mapping",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id",
            "priority",
            "conditions",
            "project",
            "user",
            "description",
            "deleted",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "hardware",
        table: "hardware",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id",
            "priority",
            "name",
            "machine",
            "hosts",
            "factor",
            "processors",
            "nodes",
            "counts",
            "from_at",
            "until_at",
            "description",
            "deleted",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "downtime",
        table: "downtime",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id", "hardware", "nodes", "from_at", "until_at", "reason", "deleted",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "contributor",
        table: "contributor",
        key: "t.name",
        pick: "t.name = ?1",
        columns: &[
            "name",
            "user",
            "exempt",
            "projects",
            "description",
            "deleted",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "contribution",
        table: "contribution",
        key: ID,
        pick: BY_ID,
        columns: &[
            "id",
            "contributor",
            "paid_by",
            "what",
            "processors",
            "split",
            "factor",
            "from_at",
            "until_at",
            "description",
            "deleted",
        ],
        blobs: &[],
        list: None,
    },
    Kind {
        word: "attention_off",
        table: "attention_off",
        key: "CAST(t.project AS TEXT)",
        pick: "t.project = ?1",
        columns: &["project"],
        blobs: &[],
        list: None,
    },
];

/// The kind of a row, and the parts of its key.
pub(super) fn of(row: &DirectoryRow) -> (&'static Kind, Vec<Value>) {
    let number = |id: i64| vec![Value::Integer(id)];
    let (word, key) = match row {
        DirectoryRow::Project(p) => ("project", number(p.id.0)),
        DirectoryRow::User(u) => ("user", number(u.id.0)),
        DirectoryRow::Machine(m) => ("machine", number(m.id.0)),
        DirectoryRow::Member(m) => ("member", pair(m.project, m.user)),
        DirectoryRow::MemberGone(project, user) => ("member", pair(*project, *user)),
        DirectoryRow::Account(a) => ("account", number(a.id.0)),
        DirectoryRow::Rate(r) => ("rate", number(r.id.0)),
        DirectoryRow::Key(k) => ("key", vec![Value::Text(k.id.clone())]),
        DirectoryRow::Grant(g) => ("role", number(g.id.0)),
        DirectoryRow::Limit(l) => ("limit", subject(&l.of)),
        DirectoryRow::LimitGone(of) => ("limit", subject(of)),
        DirectoryRow::Cycle(c) => ("cycle", number(c.id.0)),
        DirectoryRow::Attribute(a) => ("attribute", vec![Value::Text(a.name.clone())]),
        DirectoryRow::Mapping(m) => ("mapping", number(m.id.0)),
        DirectoryRow::Hardware(own) => ("hardware", number(own.id.0)),
        DirectoryRow::Downtime(own) => ("downtime", number(own.id.0)),
        DirectoryRow::Contributor(own) => ("contributor", vec![Value::Text(own.name.clone())]),
        DirectoryRow::Contribution(own) => ("contribution", number(own.id.0)),
        DirectoryRow::Quiet(project, _) => ("attention_off", number(project.0)),
    };
    (kind(word), key)
}

fn pair(project: ProjectId, user: UserId) -> Vec<Value> {
    vec![Value::Integer(project.0), Value::Integer(user.0)]
}

fn subject(of: &LimitOf) -> Vec<Value> {
    let (kind, name) = access::subject(of);
    vec![Value::Text(kind.to_owned()), Value::Text(name.to_owned())]
}

pub(super) fn kind(word: &str) -> &'static Kind {
    let found = KINDS.iter().find(|kind| kind.word == word);
    // Every word is in the table; the first one keeps this total.
    found.or(KINDS.first()).unwrap_or(&NOTHING)
}

const NOTHING: Kind = Kind {
    word: "",
    table: "version",
    key: "t.key",
    pick: "FALSE",
    columns: &["key"],
    blobs: &[],
    list: None,
};
