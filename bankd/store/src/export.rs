//! State of exports: finished uses that changed after their arrival, and the numbers for names in
//! the Standard Workload Format (usage-records.md 5.2).

use super::sqlite::SqliteStore;
use super::{Error, seal};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

/// Kinds of names with numbers in the Standard Workload Format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Numbering {
    /// Users of jobs.
    User,
    /// Projects of jobs: the format has groups instead of projects.
    Group,
    /// Classes, queues and partitions.
    Queue,
}

impl Numbering {
    /// All of them.
    pub const ALL: [Numbering; 3] = [Numbering::User, Numbering::Group, Numbering::Queue];

    /// The word of the table.
    pub const fn word(self) -> &'static str {
        match self {
            Numbering::User => "user",
            Numbering::Group => "group",
            Numbering::Queue => "queue",
        }
    }
}

/// A name of a kind that is to have a number.
pub type Numbered = (Numbering, String);

/// A finished use before a change.
#[derive(Default)]
pub(super) struct Before {
    /// Its end, if it only becomes longer.
    pub(super) ended: Option<i64>,
    /// Project, user and machine; none if exports did not have it.
    pub(super) owner: Option<(String, String, String)>,
    /// The digest of its record, if that is replaced and can come again.
    pub(super) digest: Option<Vec<u8>>,
}

impl Before {
    /// As it is stored.
    pub(super) fn of(connection: &Connection, identity: i64) -> Result<Before, Error> {
        let sql = "SELECT project, user, machine FROM usage_identity
                   WHERE id = ?1 AND instance IS NULL AND end_at IS NOT NULL
                       AND became NOT IN ('kept', 'unused', 'duplicate')";
        let mut statement = connection.prepare_cached(sql)?;
        let owner = statement.query_row([identity], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)));
        Ok(Before {
            ended: None,
            owner: owner.optional()?,
            digest: None,
        })
    }
}

/// Notes that a finished use became another one.
pub(super) fn changed(connection: &Connection, identity: i64, before: Before) -> Result<(), Error> {
    let sql = "INSERT INTO use_change
                   (identity, ended_before, project_before, user_before, machine_before, digest)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (project, user, machine) = before
        .owner
        .map_or((None, None, None), |(p, u, m)| (Some(p), Some(u), Some(m)));
    let values = (
        identity,
        before.ended,
        project,
        user,
        machine,
        before.digest,
    );
    let number = connection.prepare_cached(sql)?.insert(values)?;
    seal::renew(connection, "use_change", &[&number])
}

impl SqliteStore {
    /// Assigns numbers to names without one, in order; returns how many.
    pub fn number_names(&self, names: &[Numbered]) -> Result<u64, Error> {
        let mut given = 0_u64;
        let known = "SELECT number FROM swf_id WHERE kind = ?1 AND name = ?2";
        let give = "INSERT INTO swf_id (kind, name, number, seal)
                    VALUES (?1, ?2, (SELECT count(*) + 1 FROM swf_id WHERE kind = ?1), 0)";
        for (kind, name) in names {
            let found: Option<i64> = self
                .connection
                .prepare_cached(known)?
                .query_row(params![kind.word(), name], |r| r.get(0))
                .optional()?;
            if found.is_some() {
                continue;
            }
            self.connection
                .prepare_cached(give)?
                .execute(params![kind.word(), name])?;
            seal::renew(&self.connection, "swf_id", &[&kind.word(), name])?;
            given = given.saturating_add(1);
        }
        Ok(given)
    }
}

/// All numbers that were given, by kind and name.
pub fn swf_numbers(connection: &Connection) -> Result<HashMap<Numbered, i64>, Error> {
    let sql = "SELECT kind, name, number FROM swf_id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut numbers = HashMap::new();
    while let Some(row) = rows.next()? {
        let word: String = row.get(0)?;
        let kind = Numbering::ALL.into_iter().find(|kind| kind.word() == word);
        let kind = kind.ok_or(Error::Value {
            what: "swf_id.kind",
            value: word,
        })?;
        numbers.insert((kind, row.get(1)?), row.get(2)?);
    }
    Ok(numbers)
}
