//! Seals: a checksum in each row that the journal does not prove, over all its columns. Seals
//! detect changes that bypass the daemon, by accident or by hand. An attacker with the algorithm
//! can create valid seals, so they protect against malice no better than the journal's hash; use
//! signed checkpoints for that.
//!
//! Rows that every charge writes get their seal from the written values. All others are sealed by
//! [`renew`], which reads the row again. [`TABLES`] lists the tables with seals; `verify` computes
//! them from the stored columns, and [`fill`] creates them after a migration.

use super::Error;
use super::instance::INSTANCE;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, Statement, params_from_iter};

/// A table with seals.
pub(super) struct Sealed {
    pub(super) name: &'static str,
    /// Columns that find a row, in the order of the primary key.
    pub(super) key: &'static [&'static str],
    /// The columns under the seal in their order; `*` for all of them as the schema has them.
    pub(super) columns: &'static str,
}

const fn whole(name: &'static str, key: &'static [&'static str]) -> Sealed {
    Sealed {
        name,
        key,
        columns: "*",
    }
}

/// Every table with seals: all tables that no transaction's hash covers and that cannot be rebuilt.
/// Reference data has versions instead.
pub(super) const TABLES: [Sealed; 40] = [
    whole("bank", &["id"]),
    whole("clock", &["id"]),
    whole("quote", &["id"]),
    whole("moved", &["day", "client", "actor"]),
    whole("key_use", &["key"]),
    whole("web_session", &["id"]),
    whole("removal", &["account"]),
    whole("billed_window", &["instance", "start_at"]),
    whole("reservation_time", &["tx", "n"]),
    whole(
        "shortage",
        &["object_id", "machine", "object_type", "project"],
    ),
    whole("refused_reserve", &["object_id", "machine", "object_type"]),
    whole("source", &["id"]),
    whole("source_reading", &["source"]),
    whole("raw_block", &["id"]),
    whole("quarantine", &["id"]),
    whole("quarantine_total", &["id"]),
    whole("follow", &["source", "path"]),
    whole("follow_file", &["source", "path", "number"]),
    whole("sink", &["name"]),
    whole("proposal", &["id"]),
    whole("partner_entry", &["partner", "sent", "number"]),
    whole("partner_question", &["id"]),
    whole("target", &["name"]),
    whole("notice", &["id"]),
    whole("schedule", &["name"]),
    whole("report_run", &["id"]),
    whole("auditor_record", &["id"]),
    whole("waypoint", &["n"]),
    whole("rollup_key", &["id"]),
    whole("rollup", &["day", "key"]),
    whole("use_change", &["id"]),
    whole("swf_id", &["kind", "name"]),
    whole("snapshot_key", &["id"]),
    whole("snapshot", &["id"]),
    Sealed {
        name: "instance",
        key: &["id"],
        columns: INSTANCE,
    },
    Sealed {
        name: "lien",
        key: &["id"],
        // An unused portion of an open lien has no sum in the journal: their number proves that it is there.
        columns: "id, instance, state, placed, start_at, end_at, shadow, lapsed,
            (SELECT count(*) FROM lien_allocation WHERE lien = lien.id)",
    },
    Sealed {
        name: "idempotency",
        key: &["client", "key"],
        columns: "client, key, fingerprint, nonce, status, media, body, until_at",
    },
    Sealed {
        name: "answer",
        key: &["place", "tx"],
        columns: "place, tx, stays, request, status, media, body",
    },
    Sealed {
        name: "record",
        key: &["id"],
        columns: "created_at, number, text",
    },
    Sealed {
        name: "usage_identity",
        key: &["id"],
        columns: USE_COLUMNS,
    },
];

/// The columns of a finished use but its number, which is given when it is written.
const USE_COLUMNS: &str = "source, object_id, start_at, end_at, submit_at, machine, object_type,
    account, login, project, user, group_name, queue, qos, state, exit_code, flags, millis, nodes,
    gpus, memory_bytes, wall_us, cpu_us, requested_s, revision, became, policy, counted, instance,
    amount, allocation, refusal, tx, block, place, available, host, disk_bytes, more,
    pi, given, refused_tx, digest";

/// Seals are below this: sums of two of them fit an integer of SQL.
pub(super) const BOUND: i64 = 1 << 61;

/// A seal under construction: values in order, 64 bits at a time. Each step is invertible, so
/// different values lead to different states until the end, where three bits are cut.
pub(super) struct Seal(u64);

impl Seal {
    pub(super) fn new() -> Seal {
        Seal(0x6261_6e6b_5ea1_0001)
    }

    fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn bytes(&mut self, tag: u64, bytes: &[u8]) {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.word(tag | (length << 3));
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let last = rest.iter().rev();
            self.word(last.fold(0, |word, byte| (word << 8) | u64::from(*byte)));
        }
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.word(1),
            ValueRef::Integer(number) => {
                self.word(2);
                self.word(u64::from_ne_bytes(number.to_ne_bytes()));
            }
            ValueRef::Text(bytes) => self.bytes(3, bytes),
            ValueRef::Blob(bytes) => self.bytes(4, bytes),
            // No column holds fractions.
            ValueRef::Real(number) => self.word(number.to_bits()),
        }
    }

    pub(super) fn finish(mut self) -> i64 {
        self.word(5);
        i64::try_from(self.0 >> 3).unwrap_or_default()
    }
}

/// The seal of a row that is about to be written, of the values of its columns in their order.
pub(super) fn of_values<T: ToSql>(values: &[T]) -> Result<i64, Error> {
    let mut seal = Seal::new();
    for value in values {
        match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => seal.value(value),
            ToSqlOutput::Owned(value) => seal.value(ValueRef::from(&value)),
            // Nothing else is ever written.
            _ => seal.word(0),
        }
    }
    Ok(seal.finish())
}

/// The same of values as `SQLite` has them.
pub(super) fn of_refs<'v>(values: impl Iterator<Item = ValueRef<'v>>) -> i64 {
    let mut seal = Seal::new();
    values.for_each(|value| seal.value(value));
    seal.finish()
}

/// Rows of a sealed table as they are stored.
pub(super) struct Reading {
    /// How many columns there are to read, and which of them is the seal.
    columns: usize,
    own: usize,
}

impl Reading {
    /// Of a statement made by [`Sealed::query`].
    pub(super) fn of(sealed: &Sealed, statement: &Statement<'_>) -> Result<Reading, Error> {
        let own = statement.column_index("seal")?;
        let columns = if sealed.columns == "*" {
            statement.column_count()
        } else {
            own
        };
        Ok(Reading { columns, own })
    }

    /// The stored seal of a row, and the seal of its columns.
    pub(super) fn seals(&self, row: &Row<'_>) -> Result<(i64, i64), Error> {
        let mut seal = Seal::new();
        for column in (0..self.columns).filter(|column| *column != self.own) {
            seal.value(row.get_ref(column)?);
        }
        Ok((row.get(self.own)?, seal.finish()))
    }
}

impl Sealed {
    /// Reads rows with all sealed columns and the seal; `rest` follows the table name.
    pub(super) fn query(&self, rest: &str) -> String {
        let (name, columns) = (self.name, self.columns);
        if columns == "*" {
            return format!("SELECT * FROM {name} {rest}");
        }
        let key = self.key.join(", ");
        format!("SELECT {columns}, seal, {key} FROM {name} {rest}")
    }

    /// Positions of the key columns in the result of [`Sealed::query`].
    pub(super) fn places(&self, statement: &Statement<'_>) -> Result<Vec<usize>, Error> {
        let places = self.key.iter().map(|column| statement.column_index(column));
        Ok(places.collect::<Result<_, _>>()?)
    }

    /// `k1 = ?1 AND k2 = ?2`, with the numbers of parameters from one on.
    fn one(&self, first: usize) -> String {
        let each = (first..).zip(self.key);
        let parts: Vec<String> = each.map(|(n, column)| format!("{column} = ?{n}")).collect();
        parts.join(" AND ")
    }
}

/// Renews the seal of a row that was written by other means.
pub(super) fn renew(connection: &Connection, table: &str, key: &[&dyn ToSql]) -> Result<(), Error> {
    let Some(sealed) = TABLES.iter().find(|t| t.name == table) else {
        return Ok(());
    };
    let sql = sealed.query(&format!("WHERE {}", sealed.one(1)));
    let mut statement = connection.prepare_cached(&sql)?;
    let reading = Reading::of(sealed, &statement)?;
    let mut rows = statement.query(key)?;
    let Some(row) = rows.next()? else {
        return Ok(());
    };
    let (_, seal) = reading.seals(row)?;
    drop(rows);
    let sql = format!("UPDATE {table} SET seal = ?1 WHERE {}", sealed.one(2));
    let values = std::iter::once(&seal as &dyn ToSql).chain(key.iter().copied());
    connection
        .prepare_cached(&sql)?
        .execute(params_from_iter(values))?;
    Ok(())
}

/// Seals every row of every table, once after a migration, because its columns changed. Runs in the
/// migration's transaction; the append-only triggers are disabled meanwhile.
pub(super) fn fill(connection: &Connection) -> Result<(), Error> {
    let sql = "SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'";
    let mut statement = connection.prepare(sql)?;
    let triggers = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
    let triggers: Vec<(String, String)> = triggers.collect::<Result<_, _>>()?;
    for (name, _) in &triggers {
        connection.execute_batch(&format!("DROP TRIGGER main.{name}"))?;
    }
    fill_all(connection)?;
    for (_, sql) in &triggers {
        connection.execute_batch(sql)?;
    }
    Ok(())
}

fn fill_all(connection: &Connection) -> Result<(), Error> {
    for sealed in &TABLES {
        let sql = format!(
            "UPDATE {} SET seal = ?1 WHERE {}",
            sealed.name,
            sealed.one(2)
        );
        let mut update = connection.prepare(&sql)?;
        let mut read = connection.prepare(&sealed.query(""))?;
        let reading = Reading::of(sealed, &read)?;
        let places = sealed.places(&read)?;
        let mut rows = read.query([])?;
        while let Some(row) = rows.next()? {
            let (_, seal) = reading.seals(row)?;
            let mut values = vec![Value::Integer(seal)];
            for place in &places {
                values.push(row.get(*place)?);
            }
            update.execute(params_from_iter(values))?;
        }
    }
    Ok(())
}
