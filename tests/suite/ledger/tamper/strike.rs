//! One change of a database, as somebody makes it who has the file: past the triggers and checks.

use super::super::wild::Dice;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// Tables with their columns, and the rows of each by what finds one again.
pub(super) struct Map {
    pub(super) tables: Vec<Table>,
}

/// A table.
pub(super) struct Table {
    pub(super) name: String,
    /// Columns that are stored.
    pub(super) columns: Vec<String>,
    /// Columns that find a row.
    key: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// One change of one column of one row.
pub(super) struct Other {
    pub(super) sql: String,
    row: Vec<Value>,
}

impl Other {
    /// Makes it; false where the table does not take it.
    pub(super) fn make(&self, bank: &Connection) -> bool {
        let made = bank.execute(&self.sql, params_from_iter(&self.row));
        made.is_ok_and(|rows| rows == 1)
    }
}

impl Map {
    pub(super) fn of(bank: &Connection) -> Map {
        // `place` has a row in a node of a cluster only, which compares it with the log.
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table'
                       AND name NOT LIKE 'sqlite_%' AND name <> 'place' ORDER BY name";
        let mut statement = bank.prepare(sql).unwrap();
        let names = statement.query_map([], |r| r.get(0)).unwrap();
        let tables = names.map(|name| Table::of(bank, name.unwrap()));
        Map {
            tables: tables.collect(),
        }
    }

    pub(super) fn table(&self, name: &str) -> &Table {
        self.tables.iter().find(|t| t.name == name).unwrap()
    }
}

impl Table {
    fn of(bank: &Connection, name: String) -> Table {
        let sql = format!("SELECT name, pk, hidden FROM pragma_table_xinfo('{name}')");
        let mut statement = bank.prepare(&sql).unwrap();
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)));
        let all: Vec<(String, i64, i64)> = rows.unwrap().map(Result::unwrap).collect();
        let stored = all.iter().filter(|(_, _, hidden)| *hidden == 0);
        let columns = stored.map(|(name, ..)| name.clone()).collect();
        let key: Vec<String> = all
            .iter()
            .filter(|(_, pk, _)| *pk > 0)
            .map(|(name, ..)| name.clone())
            .collect();
        assert!(!key.is_empty(), "{name} has a primary key");
        let sql = format!("SELECT {} FROM {name}", key.join(", "));
        let mut statement = bank.prepare(&sql).unwrap();
        let width = key.len();
        let rows = statement.query_map([], |r| (0..width).map(|n| r.get(n)).collect());
        let rows = rows.unwrap().map(Result::unwrap).collect();
        Table {
            name,
            columns,
            key,
            rows,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn any<'a>(&'a self, dice: &mut Dice) -> &'a [Value] {
        let n = dice.below(self.rows.len().try_into().unwrap());
        &self.rows[usize::try_from(n).unwrap()]
    }

    fn one(&self) -> String {
        let each = self.key.iter().enumerate();
        let parts: Vec<String> = each.map(|(n, k)| format!("{k} = ?{}", n + 1)).collect();
        parts.join(" AND ")
    }

    /// Changes one byte of a column of some row; says what was done.
    pub(super) fn flip(&self, bank: &Connection, column: &str, dice: &mut Dice) -> Option<String> {
        let row = self.any(dice);
        let (name, one) = (&self.name, self.one());
        let sql = format!("SELECT {column} FROM {name} WHERE {one}");
        let old: Value = bank
            .query_row(&sql, params_from_iter(row), |r| r.get(0))
            .unwrap();
        let new = flipped(&old, &self.kind(bank, column), dice);
        let (value, holder) = match &new {
            Value::Text(_) => unreachable!("texts are changed as bytes"),
            Value::Blob(_) if self.kind(bank, column) == "TEXT" => (new.clone(), "CAST(? AS TEXT)"),
            _ => (new.clone(), "?"),
        };
        let holder = holder.replace('?', &format!("?{}", self.key.len() + 1));
        let sql = format!("UPDATE {name} SET {column} = {holder} WHERE {one}");
        let values = row.iter().cloned().chain([value]);
        let changed = bank.execute(&sql, params_from_iter(values)).ok()?;
        (changed == 1).then(|| format!("{name}.{column} of {row:?}: {old:?} is {new:?}"))
    }

    /// Other values of a column of a row, one that has one if there is one.
    pub(super) fn others(&self, bank: &Connection, column: &str) -> Vec<Other> {
        let (name, key) = (&self.name, self.key.join(", "));
        let sql = format!("SELECT {key}, {column} FROM {name} ORDER BY {column} IS NULL LIMIT 1");
        let width = self.key.len();
        let read = |row: &rusqlite::Row<'_>| (0..=width).map(|n| row.get(n)).collect();
        let mut row: Vec<Value> = bank.query_row(&sql, [], read).unwrap();
        let old = row.pop().unwrap();
        let kind = self.kind(bank, column);
        let values = match (&old, kind.as_str()) {
            // What is a truth may be another one, and the same one by another number.
            (Value::Integer(0 | 1), _) => vec!["1 - old", "old + 2"],
            (Value::Integer(_), _) => vec!["old + 1"],
            (Value::Text(text), _) if text.is_empty() => vec!["'x'"],
            (Value::Text(_), _) => vec!["old || 'x'", "''"],
            (Value::Blob(_), _) => vec!["randomblob(length(old) + 1)"],
            (_, "INTEGER") => vec!["1"],
            (_, "BLOB") => vec!["x'01'"],
            _ => vec!["'x'"],
        };
        let other = |value: &str| {
            let value = value.replace("old", column);
            Other {
                sql: format!("UPDATE {name} SET {column} = {value} WHERE {}", self.one()),
                row: row.clone(),
            }
        };
        values.into_iter().map(other).collect()
    }

    fn kind(&self, bank: &Connection, column: &str) -> String {
        let sql = "SELECT type FROM pragma_table_xinfo(?1) WHERE name = ?2";
        bank.query_row(sql, (&self.name, column), |r| r.get(0))
            .unwrap()
    }

    /// Removals: of each of few rows, of the first and the last one of many.
    pub(super) fn removals(&self) -> Vec<Other> {
        let rows = match self.rows.as_slice() {
            [first, .., last] if self.rows.len() > 40 => vec![first, last],
            rows => rows.iter().collect(),
        };
        let sql = format!("DELETE FROM {} WHERE {}", self.name, self.one());
        let removal = |row: &Vec<Value>| Other {
            sql: sql.clone(),
            row: row.clone(),
        };
        rows.into_iter().map(removal).collect()
    }

    /// Removes a row: the newest, or any.
    pub(super) fn remove(
        &self,
        bank: &Connection,
        newest: bool,
        dice: &mut Dice,
    ) -> Option<String> {
        let row = if newest {
            self.rows.last()?
        } else {
            self.any(dice)
        };
        let sql = format!("DELETE FROM {} WHERE {}", self.name, self.one());
        let gone = bank.execute(&sql, params_from_iter(row)).ok()?;
        (gone == 1).then(|| format!("{} without {row:?}", self.name))
    }

    /// Adds a row: another one under a key of its own.
    pub(super) fn copy(&self, bank: &Connection, dice: &mut Dice) -> Option<String> {
        let row = self.any(dice);
        let far = i64::try_from(dice.below(40)).unwrap();
        let value = |column: &String| {
            if !self.key.contains(column) {
                return match column.as_str() {
                    // Where a name must be another one too.
                    "name" | "tid" | "record_id" => format!("{column} || 'x'"),
                    "number" if self.name == "instance" => format!("{column} + 1000"),
                    _ => column.clone(),
                };
            }
            let newest = format!("(SELECT max({column}) FROM {})", self.name);
            match self.kind(bank, column).as_str() {
                "INTEGER" if self.key.len() == 1 && far % 2 == 0 => format!("{newest} + 1"),
                "INTEGER" if self.key.len() == 1 => format!("{newest} + {}", 1 + far),
                "TEXT" => format!("{column} || 'x'"),
                _ => column.clone(),
            }
        };
        let values: Vec<String> = self.columns.iter().map(value).collect();
        let (name, columns) = (&self.name, self.columns.join(", "));
        let values = values.join(", ");
        let sql = format!(
            "INSERT INTO {name} ({columns}) SELECT {values} FROM {name} WHERE {}",
            self.one()
        );
        let made = bank.execute(&sql, params_from_iter(row)).ok()?;
        (made == 1).then(|| format!("{name} with a copy of {row:?} ({values})"))
    }
}

/// A value with one byte changed; where there is none, one that was not there.
fn flipped(old: &Value, kind: &str, dice: &mut Dice) -> Value {
    let mask = u8::try_from(1 << dice.below(8)).unwrap();
    let change = |bytes: &mut Vec<u8>, dice: &mut Dice| {
        if bytes.is_empty() {
            bytes.push(b'x');
            return;
        }
        let at = dice.below(bytes.len().try_into().unwrap());
        bytes[usize::try_from(at).unwrap()] ^= mask;
    };
    match old {
        Value::Integer(number) => {
            let place = 8 * dice.below(if *number == 0 { 2 } else { 8 });
            Value::Integer(number ^ i64::from_ne_bytes((u64::from(mask) << place).to_ne_bytes()))
        }
        Value::Text(text) => {
            let mut bytes = text.clone().into_bytes();
            change(&mut bytes, dice);
            Value::Blob(bytes)
        }
        Value::Blob(bytes) => {
            let mut bytes = bytes.clone();
            change(&mut bytes, dice);
            Value::Blob(bytes)
        }
        Value::Null if kind == "INTEGER" => Value::Integer(i64::from(mask)),
        Value::Null => Value::Blob(b"x".to_vec()),
        Value::Real(_) => unreachable!("nothing here is a fraction"),
    }
}

/// Opens a bank as somebody does who has its file; what guards it is put back by [`guard`].
pub(super) fn unguarded(bank: &Connection) -> Vec<String> {
    bank.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;")
        .unwrap();
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid";
    let mut statement = bank.prepare(sql).unwrap();
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)));
    let all: Vec<(String, String)> = rows.unwrap().map(Result::unwrap).collect();
    for (name, _) in &all {
        bank.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    all.into_iter().map(|(_, sql)| sql).collect()
}

/// Puts the triggers back.
pub(super) fn guard(bank: &Connection, triggers: &[String]) {
    for sql in triggers {
        bank.execute_batch(sql).unwrap();
    }
}
