//! Reference data of the past: what each row was from a transaction on (decision note 0056).
//!
//! One mechanism for all kinds: whenever a row is written, its columns, with the lists that belong to
//! it, go as one JSON array into `version`, under the hash of the transaction that changed it. Such
//! a change counts from when it was recorded, whatever its transaction is effective from: nobody
//! could have known it before. What there was before the table is said to be of transaction 0.
//!
//! [`tables`] lists their columns; [`check`] proves the tables of today against the newest versions.

mod historical;
mod tables;

use self::tables::{Versioned, tables};
use super::{Error, choice};
use bank_core::effects::DirectoryRow;
use bank_core::model::Lien;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

pub(crate) use historical::{changed_by, decoded, top_of};

/// A row as it is from a transaction on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    /// Of which table, by its word.
    pub(super) kind: String,
    /// Which row of it.
    pub(super) key: String,
    /// Its columns as a JSON array; none where it is gone.
    pub(super) state: Option<String>,
}

/// The word of the versions of liens: they are told only where their end was moved.
pub(super) const LIEN: &str = "lien";

/// The rows that a command changed, as they are now that they are written. Each comes once.
pub(super) fn of(connection: &Connection, rows: &[DirectoryRow]) -> Result<Vec<Version>, Error> {
    let mut found: Vec<Version> = Vec::new();
    for row in rows {
        for (table, key) in tables::of(row) {
            let version = read(connection, table, &key)?;
            // A record without fields of the site has no row of the table `kind_record`.
            let has_row = version.state.is_some() || table.word != tables::RECORD;
            if has_row && !found.contains(&version) {
                found.push(version);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn read(connection: &Connection, kind: &Versioned, key: &[Value]) -> Result<Version, Error> {
    let mut statement = connection.prepare_cached(&kind.one())?;
    let state = statement.query_row(params_from_iter(key), |r| r.get(0));
    let part = |value: &Value| match value {
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        _ => String::new(),
    };
    let key: Vec<String> = key.iter().map(part).collect();
    Ok(Version {
        kind: kind.word.to_owned(),
        key: key.join("/"),
        state: state.optional()?,
    })
}

/// Liens whose end is moved, before they are written: the end that they had and the one they get.
pub(super) fn of_liens(connection: &Connection, relaid: &[Lien]) -> Result<Vec<Version>, Error> {
    if relaid.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached("SELECT end_at FROM lien WHERE id = ?1")?;
    let mut found = Vec::new();
    for lien in relaid {
        let was: Option<i64> = statement
            .query_row([lien.id.0], |r| r.get(0))
            .optional()?
            .filter(|was| *was != lien.end.0);
        found.extend(was.map(|was| Version {
            kind: LIEN.to_owned(),
            key: lien.id.0.to_string(),
            state: Some(format!("[{was},{}]", lien.end.0)),
        }));
    }
    found.sort_unstable();
    Ok(found)
}

/// Writes versions down beside their transaction.
pub(super) fn write(connection: &Connection, tx: i64, versions: &[Version]) -> Result<(), Error> {
    for version in versions {
        connection
            .prepare_cached("INSERT INTO version (kind, key, tx, state) VALUES (?1, ?2, ?3, ?4)")?
            .execute((&version.kind, &version.key, tx, &version.state))?;
    }
    Ok(())
}

/// The versions of the transactions from a number on, by their numbers.
pub(super) fn since(
    connection: &Connection,
    tx: i64,
) -> Result<BTreeMap<i64, Vec<Version>>, Error> {
    let sql = "SELECT kind, key, state, tx FROM version WHERE tx >= ?1 ORDER BY tx, kind, key";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([tx])?;
    let mut found: BTreeMap<i64, Vec<Version>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        found.entry(row.get(3)?).or_default().push(Version {
            kind: row.get(0)?,
            key: row.get(1)?,
            state: row.get(2)?,
        });
    }
    Ok(found)
}

/// Writes down what there is where nothing tells of it yet, once in the life of a database.
pub(super) fn seed(connection: &mut Connection) -> Result<(), Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM origin)";
    if connection.query_row(sql, [], |r| r.get(0))? {
        return Ok(());
    }
    let all = connection.transaction()?;
    for kind in tables() {
        let sql = format!(
            "INSERT INTO version (kind, key, tx, state) SELECT ?1, k, 0, s FROM ({})",
            kind.all()
        );
        all.execute(&sql, [kind.word])?;
    }
    let digest = digest(&all)?;
    all.execute("INSERT INTO origin (id, digest) VALUES (1, ?1)", [digest])?;
    all.commit()?;
    Ok(())
}

/// SHA-256 over what is said to be of transaction 0.
fn digest(connection: &Connection) -> Result<Vec<u8>, Error> {
    let mut sum = Sha256::new();
    for sql in [
        "SELECT json_array(kind, key, state) FROM version WHERE tx = 0 ORDER BY kind, key",
        "SELECT json_array(allocation, start_at, end_at, credit_limit) FROM shape WHERE tx = 0
         ORDER BY allocation",
        "SELECT json_array(account, there) FROM presence WHERE tx = 0 ORDER BY account",
    ] {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            sum.update(text.as_bytes());
            sum.update(b"\n");
        }
        sum.update(b"\0");
    }
    // Banks that were there before settings were told have none.
    if let Some(settings) = choice::origin(connection)? {
        sum.update(settings.as_bytes());
        sum.update(b"\0");
    }
    Ok(sum.finalize().to_vec())
}

/// What of today's tables is not as the newest versions say, what versions tell of that is not there,
/// and whether what is said of transaction 0 was changed.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut findings = Vec::new();
    for kind in tables() {
        let mut statement = connection.prepare(&kind.differing())?;
        let mut rows = statement.query([kind.word])?;
        while let Some(row) = rows.next()? {
            let key: String = row.get(0)?;
            findings.push(format!("{} {key}: it differs from the journal", kind.word));
        }
    }
    let sql = "SELECT l.id FROM lien l JOIN
                   (SELECT CAST(key AS INTEGER) AS id, json_extract(state, '$[1]') AS until, max(tx)
                    FROM version WHERE kind = ?1 GROUP BY key) v ON v.id = l.id
               WHERE l.end_at IS NOT v.until ORDER BY l.id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([LIEN])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        findings.push(format!("lien {id}: its end differs from the journal"));
    }
    let sql = "SELECT digest FROM origin";
    let stored: Option<Vec<u8>> = connection.query_row(sql, [], |r| r.get(0)).optional()?;
    if stored != Some(digest(connection)?) {
        findings.push("the state before the first transaction was changed".to_owned());
    }
    let words: Vec<&str> = tables()
        .iter()
        .map(|kind| kind.word)
        .chain([LIEN])
        .collect();
    let mut statement = connection.prepare("SELECT DISTINCT kind FROM version")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let word: String = row.get(0)?;
        if !words.contains(&word.as_str()) {
            findings.push(format!("versions of {word}: there is no such table"));
        }
    }
    Ok(findings)
}

/// Whether a command changed rows of a kind after a transaction.
pub(super) fn changed_since(connection: &Connection, kind: &str, tx: i64) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM version WHERE kind = ?1 AND tx > ?2)";
    Ok(connection.query_row(sql, (kind, tx), |r| r.get(0))?)
}

/// The transactions that moved the end of a lien, or held an expired one again.
pub(super) fn lien_changes(connection: &Connection, lien: i64) -> Result<Vec<i64>, Error> {
    let sql = "SELECT tx FROM version WHERE kind = ?1 AND key = ?2 ORDER BY tx";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((LIEN, lien.to_string()), |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The end of a lien as it was when a transaction had been written; none where it never moved.
pub(super) fn lien_end(connection: &Connection, lien: i64, tx: i64) -> Result<Option<i64>, Error> {
    let sql = "SELECT json_extract(state, '$[1]') FROM version
               WHERE kind = ?1 AND key = ?2 AND tx <= ?3 ORDER BY tx DESC LIMIT 1";
    let key = lien.to_string();
    let before = connection
        .prepare_cached(sql)?
        .query_row((LIEN, &key, tx), |r| r.get(0));
    if let Some(end) = before.optional()? {
        return Ok(Some(end));
    }
    let sql = "SELECT json_extract(state, '$[0]') FROM version
               WHERE kind = ?1 AND key = ?2 ORDER BY tx LIMIT 1";
    let after = connection
        .prepare_cached(sql)?
        .query_row((LIEN, &key), |r| r.get(0));
    Ok(after.optional()?)
}

#[cfg(test)]
mod tests;
