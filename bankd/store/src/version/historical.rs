//! Reference data of the past: versions read as the rows of today are.

use super::super::kind::{key_of_version, put_state, read, site_kinds};
use super::super::{Error, access, bank, codec, cycle};
use super::tables::{MEMBER, RECORD, table};
use bank_core::directory::Directory;
use bank_core::history::{Changed, PastRecord};
use bank_core::ids::{ProjectId, UserId};
use bank_core::kind::{self, Record, Records, site};
use bank_core::model::{Account, Constraint, Member};
use rusqlite::{Connection, Row};

/// Puts everything that there was when a transaction had been written into a directory. Tells of each
/// account whether that is known, and not said of transaction 0.
pub(crate) fn decoded(
    connection: &Connection,
    tx: i64,
    directory: &mut Directory,
    account: impl FnMut(&mut Account, bool),
) -> Result<(), Error> {
    let then = Then { connection, tx };
    then.members(directory)?;
    then.accounts(directory, account)?;
    then.each("rate", |r| {
        directory.put_rate(bank::rate(r)?);
        Ok(())
    })?;
    then.each("key", |r| {
        directory.put_key(bank::key(r)?);
        Ok(())
    })?;
    then.each("role", |r| {
        directory.put_grant(access::grant(r)?);
        Ok(())
    })?;
    then.each("limit", |r| {
        directory.put_limit(access::limit(r)?);
        Ok(())
    })?;
    then.each("cycle", |r| {
        directory.put_cycle(cycle::read(r)?);
        Ok(())
    })?;
    then.records(directory)?;
    then.each("attention_off", |r| {
        directory.put_quiet(ProjectId(r.get(0)?), true);
        Ok(())
    })
}

/// What a transaction changed of the reference data.
pub(crate) fn changed_by(connection: &Connection, tx: i64) -> Result<Changed, Error> {
    let sql = "SELECT kind, key, state IS NULL FROM version WHERE tx = ?1 ORDER BY kind, key";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([tx])?;
    let mut changed: Vec<(String, String)> = Vec::new();
    let mut found = Changed::default();
    while let Some(row) = rows.next()? {
        let (word, key): (String, String) = (row.get(0)?, row.get(1)?);
        if word == MEMBER && row.get(2)? {
            found
                .ended
                .extend(membership(connection, tx.saturating_sub(1), &key)?);
            continue;
        }
        // The values of the site have the kind in front of the key.
        let (own, is_record) = match key.split_once('/') {
            Some((of, key)) if word == RECORD => ((of.to_owned(), key.to_owned()), true),
            _ => match kind::of(&word).filter(|kind| kind.table.is_some()) {
                Some(kind) => {
                    let key = key_of_version(connection, kind, &key, true)?;
                    ((word, key), true)
                }
                None => ((word, key), false),
            },
        };
        found.others |= !is_record;
        if is_record && !changed.contains(&own) {
            changed.push(own);
        }
    }
    let kinds = site_kinds(connection)?;
    for (word, key) in &changed {
        let before = then(connection, tx.saturating_sub(1), word, key, &kinds)?;
        if let Some(after) = then(connection, tx, word, key, &kinds)? {
            found.records.push(PastRecord { before, after });
        }
    }
    let records = &mut found.records;
    records.sort_by_cached_key(|past| (past.after.kind.clone(), past.after.key.clone()));
    Ok(found)
}

/// A membership as it was when a transaction had been written, by the key of its versions.
fn membership(connection: &Connection, tx: i64, key: &str) -> Result<Option<Member>, Error> {
    let mut statement = connection.prepare_cached(&table(MEMBER).one_then())?;
    let mut rows = statement.query((MEMBER, tx, key))?;
    rows.next()?.map(member).transpose()
}

fn member(r: &Row<'_>) -> Result<Member, Error> {
    Ok(Member {
        project: ProjectId(r.get(0)?),
        user: UserId(r.get(1)?),
        active: r.get(2)?,
        role: access::member_role(&r.get::<_, String>(3)?)?,
    })
}

/// The project at the top of one when a transaction had been written: itself if it was below none, or not there yet.
pub(crate) fn top_of(connection: &Connection, project: &str, tx: i64) -> Result<String, Error> {
    let mut line = vec![project.to_owned()];
    while let Some(own) = line.last() {
        let record = then(connection, tx, "project", own, &Records::default())?;
        let above = record.map_or_else(String::new, |own| own.text("parent").to_owned());
        if above.is_empty() || line.contains(&above) {
            break;
        }
        line.push(above);
    }
    Ok(line.pop().unwrap_or_default())
}

/// A record as it was when a transaction had been written; none where it was not there yet.
fn then(
    connection: &Connection,
    tx: i64,
    word: &str,
    key: &str,
    kinds: &Records,
) -> Result<Option<Record>, Error> {
    // The kinds of today declare the fields; a kind itself is as it was.
    let mut records = match word {
        site::WORD => Records::default(),
        _ => kinds.clone(),
    };
    if let Some((kind, table_word)) = kind::of(word).and_then(|kind| Some((kind, kind.table?))) {
        let mut statement = connection.prepare_cached(&table(table_word).one_then())?;
        let key = key_of_version(connection, kind, key, false)?;
        let mut rows = statement.query((table_word, tx, key))?;
        if let Some(row) = rows.next()? {
            records.put(read(kind, row)?);
        }
    }
    let mut statement = connection.prepare_cached(&table(RECORD).one_then())?;
    let mut rows = statement.query((RECORD, tx, format!("{word}/{key}")))?;
    if let Some(row) = rows.next()? {
        put_state(row, &mut records)?;
    }
    let kind = records.declaration(word);
    let key = kind.and_then(|kind| Some(records.spelled(kind, &kind.read_key(key)?)));
    Ok(key.and_then(|key| records.ever(word, &key).cloned()))
}

/// The tables as a transaction left them.
struct Then<'a> {
    connection: &'a Connection,
    tx: i64,
}

impl Then<'_> {
    fn each(
        &self,
        word: &str,
        mut row: impl FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let kind = table(word);
        let mut statement = self.connection.prepare_cached(&kind.then())?;
        let mut rows = statement.query((kind.word, self.tx))?;
        while let Some(r) = rows.next()? {
            row(r)?;
        }
        Ok(())
    }

    /// Records of declared kinds. The kinds of the site come first: they declare the rest.
    fn records(&self, directory: &mut Directory) -> Result<(), Error> {
        let is_kind = |r: &Row<'_>| Ok::<_, Error>(r.get::<_, String>(0)? == site::WORD);
        self.each(RECORD, |r| {
            if is_kind(r)? {
                put_state(r, &mut directory.records)
            } else {
                Ok(())
            }
        })?;
        let mut all = Vec::new();
        for kind in kind::declared() {
            if let Some(word) = kind.table {
                self.each(word, |r| {
                    all.push(read(kind, r)?);
                    Ok(())
                })?;
            }
        }
        directory.put_records(all);
        self.each(RECORD, |r| {
            if is_kind(r)? {
                Ok(())
            } else {
                put_state(r, &mut directory.records)
            }
        })
    }

    /// Who is a member of what.
    fn members(&self, directory: &mut Directory) -> Result<(), Error> {
        self.each(MEMBER, |r| {
            directory.put_member(member(r)?);
            Ok(())
        })
    }

    fn accounts(
        &self,
        directory: &mut Directory,
        mut visit: impl FnMut(&mut Account, bool),
    ) -> Result<(), Error> {
        self.each("account", |r| {
            let rows: Vec<(String, String, i64, i64)> =
                list("version.account", &r.get::<_, String>(11)?)?;
            let mut own = bank::account(r)?;
            for (dimension, value, allow, subtree) in rows {
                own.constraints.push(Constraint {
                    dimension: codec::word("dimension", &dimension, codec::dimension)?,
                    value,
                    allow: allow != 0,
                    subtree: subtree != 0,
                });
            }
            visit(&mut own, r.get::<_, i64>(12)? > 0);
            directory.put_account(own);
            Ok(())
        })
    }
}

fn list<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<Vec<T>, Error> {
    codec::word(what, text, |t| serde_json::from_str(t).ok())
}
